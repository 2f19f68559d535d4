// Owns the subscriptions of clients to resources: one at the server for all clients of a fleet, ended with the last of them.

import type { ServerName } from '../model/names.ts';
import type { GatewayFleet } from './gateway-fleet.ts';

export interface WatchedResource {
  readonly server: ServerName;
  readonly uri: string;
  /** The uri by which the clients of the route know it. */
  readonly told: string;
}

interface Watch {
  clients: number;
  readonly opened: Promise<() => Promise<void>>;
}

export class Watched {
  readonly #watches = new Map<GatewayFleet, Map<string, Watch>>();
  readonly #onUpdated: (fleet: GatewayFleet, told: string) => void;

  constructor(onUpdated: (fleet: GatewayFleet, told: string) => void) {
    this.#onUpdated = onUpdated;
  }

  /** Resolves when the server has agreed. */
  async add(fleet: GatewayFleet, { server, uri, told }: WatchedResource): Promise<void> {
    const watches = this.#watches.get(fleet) ?? new Map<string, Watch>();
    this.#watches.set(fleet, watches);
    const known = watches.get(told);
    if (known !== undefined) {
      known.clients++;
      await known.opened;
      return;
    }
    const tell = () => this.#onUpdated(fleet, told);
    const opened = fleet.runtime.resources.subscribe(uri, tell, { server });
    watches.set(told, { clients: 1, opened });
    try {
      await opened;
    } catch (error) {
      watches.delete(told);
      throw error;
    }
  }

  remove(fleet: GatewayFleet, told: string): void {
    const watches = this.#watches.get(fleet);
    const watch = watches?.get(told);
    if (watch === undefined || --watch.clients > 0) return;
    watches?.delete(told);
    void watch.opened.then((unsubscribe) => unsubscribe()).catch(fleet.parts.host.onError);
  }
}
