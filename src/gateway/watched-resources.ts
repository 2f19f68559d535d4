// Owns the subscriptions of a route's clients to resources: one at the server for all clients of a fleet, ended with the last of them;
// and how each client's own subscription ends.

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
  /** With how often each has subscribed: its next subscription may begin before the one before it has ended. */
  readonly peers: Map<Peer, number>;
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
    watch.peers.set(peer, (watch.peers.get(peer) ?? 0) + 1);
    const leave = () => {
      const others = (watch.peers.get(peer) ?? 1) - 1;
      if (others > 0) watch.peers.set(peer, others);
      else watch.peers.delete(peer);
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
    const peers = new Map<Peer, number>();
    const tell = () => this.#onUpdated(told, (peer) => peers.has(peer));
    return { peers, opened: fleet.runtime.resources.subscribe(uri, tell, { server }) };
  }
}

/** The clients that asked were told. */
const ignore = (): void => undefined;

interface Begun {
  /** Set once its server has agreed. */
  end?: () => void;
}

/**
 * How the subscriptions of clients end: where they began, also if the client is of another folder by then. The end of one is told once
 * it has begun, and by then its client may have subscribed to the same uri again: the older one is meant.
 */
export class PeerSubscriptions {
  /** By uri, the oldest first. */
  readonly #ofPeer = new WeakMap<Peer, Map<string, Begun[]>>();

  /** `open` resolves with how the subscription ends. */
  async begin(uri: string, peer: Peer, open: () => Promise<() => void>): Promise<void> {
    const ofPeer = this.#ofPeer.get(peer) ?? new Map<string, Begun[]>();
    this.#ofPeer.set(peer, ofPeer);
    const begun: Begun = {};
    ofPeer.set(uri, [...(ofPeer.get(uri) ?? []), begun]);
    try {
      begun.end = await open();
    } catch (error) {
      forget(ofPeer, uri, begun);
      throw error;
    }
  }

  end(uri: string, peer: Peer): void {
    const ofPeer = this.#ofPeer.get(peer);
    const oldest = ofPeer?.get(uri)?.find(({ end }) => end !== undefined);
    if (ofPeer === undefined || oldest === undefined) return;
    forget(ofPeer, uri, oldest);
    oldest.end?.();
  }
}

function forget(ofPeer: Map<string, Begun[]>, uri: string, begun: Begun): void {
  const others = ofPeer.get(uri)?.filter((each) => each !== begun) ?? [];
  if (others.length > 0) ofPeer.set(uri, others);
  else ofPeer.delete(uri);
}
