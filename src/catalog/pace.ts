// Owns how soon a list that is said to have changed is fetched: a moment later, but ever more seldom from a server that never
// stops saying so.

import type { Clock } from '../kernel/clock.ts';
import { limits } from '../model/limits.ts';

export class Pace {
  readonly #clock: Pick<Clock, 'now'>;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  /** How often in a row it was said without rest. */
  #said = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Milliseconds until the list that is said to have changed is fetched. */
  next(): number {
    const { calmMs, doublings } = limits.listChanges;
    if (this.#clock.now() - this.#fetchedAt >= calmMs) this.#said = 0;
    // The second is as quick as the first: many servers say it twice.
    const doubled = Math.min(Math.max(0, this.#said - 1), doublings);
    this.#said += 1;
    return limits.listChangedMs * 2 ** doubled;
  }

  /** What does bring something new is worth more haste. */
  fetched(isNews: boolean): void {
    this.#fetchedAt = this.#clock.now();
    if (isNews) this.#said = Math.min(this.#said, limits.listChanges.doublingsWithNews + 1);
  }
}
