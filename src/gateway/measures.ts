// Owns the counts of the gateway: calls by server and outcome, how long they took, and how many run or wait. Plain numbers, read
// when they are asked for: no call builds an event for it.

import type { ServerName } from '../model/names.ts';

export type CallEnding = 'ok' | 'error' | 'refused' | 'failed' | 'cancelled' | 'unknown';

/** Upper bounds of the buckets, in seconds. */
export const secondBounds: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export interface ServerMeasures {
  readonly outcomes: Map<CallEnding, number>;
  /** How many calls took at most as long as the bound of the same place, not counting those of smaller bounds. */
  readonly buckets: number[];
  seconds: number;
  count: number;
  inFlight: number;
  /** Calls that were not sent yet, to servers of this name in all workspaces; each of those has a queue of its own. */
  queued: number;
}

export class Measures {
  readonly #servers = new Map<ServerName, ServerMeasures>();

  of(server: ServerName): ServerMeasures {
    const known = this.#servers.get(server);
    if (known !== undefined) return known;
    const made: ServerMeasures = {
      ...{ outcomes: new Map(), buckets: secondBounds.map(() => 0) },
      ...{ seconds: 0, count: 0, inFlight: 0, queued: 0 },
    };
    this.#servers.set(server, made);
    return made;
  }

  get servers(): ReadonlyMap<ServerName, ServerMeasures> {
    return this.#servers;
  }
}

export function countEnd(measures: ServerMeasures, ending: CallEnding, tookMs: number): void {
  const seconds = tookMs / 1_000;
  measures.inFlight--;
  measures.count++;
  measures.seconds += seconds;
  measures.outcomes.set(ending, (measures.outcomes.get(ending) ?? 0) + 1);
  const bucket = secondBounds.findIndex((bound) => seconds <= bound);
  if (bucket >= 0) measures.buckets[bucket] = (measures.buckets[bucket] ?? 0) + 1;
}
