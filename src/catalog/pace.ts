// Owns how long the catalog waits between a server's `list_changed` and fetching the list: a moment, and ever longer for a
// server that never stops announcing changes.

import type { Clock } from '../kernel/clock.ts';
import { limits } from '../model/limits.ts';

export class Pace {
  readonly #clock: Pick<Clock, 'now'>;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  /** Announcements in a row, without a calm stretch between them. */
  #announcements = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Counts one announcement; gives the milliseconds until its list is fetched. */
  next(): number {
    const { calmMs, doublings } = limits.listChanges;
    if (this.#clock.now() - this.#fetchedAt >= calmMs) this.#announcements = 0;
    // The second waits no longer than the first: many servers announce each change twice.
    const doubled = Math.min(Math.max(0, this.#announcements - 1), doublings);
    this.#announcements += 1;
    return limits.listChangedMs * 2 ** doubled;
  }

  /** A server whose announcements do bring changes keeps a short delay. */
  fetched(isNews: boolean): void {
    this.#fetchedAt = this.#clock.now();
    if (isNews) this.#announcements = Math.min(this.#announcements, limits.listChanges.doublingsWithNews + 1);
  }
}
