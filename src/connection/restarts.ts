// Owns counting the restarts of one connection's process, so that one which dies again and again is left alone for a while.

import { limits } from '../model/limits.ts';
import type { ConnectionState } from './state.ts';

export class Restarts {
  /** Times of restarts: after an open session was lost, or hurried by a call. */
  #times: number[] = [];
  #wasUp = false;
  #total = 0;

  /** How many there were in all. */
  get total(): number {
    return this.#total;
  }

  /** Further attempts of the schedule do not count: the schedule limits those itself. */
  count(next: ConnectionState, before: ConnectionState, now: number): void {
    if (next.kind === 'connecting' && (this.#wasUp || next.hurried)) {
      this.#times.push(now);
      this.#total++;
    }
    if (next.kind !== 'waiting') this.#wasUp = next.kind === 'ready';
    else if (before.kind !== 'ready') this.#wasUp = false;
  }

  /** How long no restart is allowed, because there were too many of late. */
  restMs(now: number): number {
    const { starts, windowMs } = limits.startBurst;
    this.#times = this.#times.filter((at) => now - at < windowMs);
    const [oldest = now] = this.#times.slice(-starts);
    return this.#times.length >= starts ? oldest + windowMs - now : 0;
  }

  forget(): void {
    this.#times = [];
    this.#wasUp = false;
  }
}
