// Owns how long each server took until it was ready, or had failed for the first time, told by the runtime's events.

import type { RuntimeEvent } from '../events.ts';
import type { ServerName } from '../model/names.ts';

export interface ConnectTimes {
  readonly onEvent: (event: RuntimeEvent) => void;
  /** `undefined` for a server that was not started, or is not settled. */
  readonly tookMs: (server: ServerName) => number | undefined;
  readonly dataOf: (server: ServerName) => { readonly tookMs?: number };
}

export function createConnectTimes(now: () => number = () => performance.now()): ConnectTimes {
  const begun = new Map<ServerName, number>();
  const took = new Map<ServerName, number>();
  const end = (server: ServerName) => {
    const at = begun.get(server);
    if (at !== undefined && !took.has(server)) took.set(server, Math.round(now() - at));
  };
  const tookMs = (server: ServerName) => took.get(server);
  return {
    onEvent(event) {
      if (event.type === 'connection.listed') return end(event.server);
      if (event.type !== 'connection.changed') return;
      if (event.to === 'connecting' && !begun.has(event.server)) begun.set(event.server, now());
      if (event.cause) end(event.server);
    },
    tookMs,
    dataOf: (server) => {
      const ms = tookMs(server);
      return ms === undefined ? {} : { tookMs: ms };
    },
  };
}
