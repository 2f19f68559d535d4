// Owns the subscriptions of a route's clients to resources: one at the server for all clients of a fleet, ended with the last of them.

import type { ServerName } from '../model/names.ts';
import type { Peer } from '../serving/service.ts';
import type { GatewayFleet } from './gateway-fleet.ts';

export interface WatchedResource {
  readonly server: ServerName;
  readonly uri: string;
  /** The uri by which the clients of the route know it. */
  readonly told: string;
}

interface Watch {
  readonly peers: Set<Peer>;
  readonly opened: Promise<() => Promise<void>>;
}

export class Watched {
  readonly #fleets = new WeakMap<GatewayFleet, Map<string, Watch>>();
  readonly #onUpdated: (told: string, isMeant: (peer: Peer) => boolean) => void;

  constructor(onUpdated: (told: string, isMeant: (peer: Peer) => boolean) => void) {
    this.#onUpdated = onUpdated;
  }

  /** Resolves when the server has agreed, with how the client ends it. */
  async add(fleet: GatewayFleet, resource: WatchedResource, peer: Peer): Promise<() => void> {
    const watches = this.#fleets.get(fleet) ?? new Map<string, Watch>();
    this.#fleets.set(fleet, watches);
    const key = `${resource.server}\n${resource.told}`;
    const watch = watches.get(key) ?? this.#open(fleet, resource);
    watches.set(key, watch);
    watch.peers.add(peer);
    const leave = () => {
      watch.peers.delete(peer);
      if (watch.peers.size > 0 || watches.get(key) !== watch) return;
      watches.delete(key);
      void watch.opened.then((unsubscribe) => unsubscribe().catch(fleet.parts.host.onError), ignore);
    };
    try {
      await watch.opened;
    } catch (error) {
      leave();
      throw error;
    }
    return leave;
  }

  #open(fleet: GatewayFleet, { server, uri, told }: WatchedResource): Watch {
    const peers = new Set<Peer>();
    const tell = () => this.#onUpdated(told, (peer) => peers.has(peer));
    return { peers, opened: fleet.runtime.resources.subscribe(uri, tell, { server }) };
  }
}

/** The clients that asked were told. */
const ignore = (): void => undefined;
