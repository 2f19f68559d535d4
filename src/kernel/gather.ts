// Owns doing a thing once although it was asked for many times: a moment after the first of them, whatever comes meanwhile.

import type { CancelTimer, Clock } from './clock.ts';

/** The moment is counted from the first asking and not from the last: a flood delays it, and never starves it. */
export class Gather<Key> {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #spanMs: number;
  readonly #waiting = new Map<Key, CancelTimer>();

  constructor(clock: Pick<Clock, 'after'>, spanMs: number) {
    this.#clock = clock;
    this.#spanMs = spanMs;
  }

  get size(): number {
    return this.#waiting.size;
  }

  has(key: Key): boolean {
    return this.#waiting.has(key);
  }

  /** The first to ask for a key says what is done, and when if not in the usual moment. */
  ask(key: Key, run: () => void, spanMs = this.#spanMs): void {
    if (this.#waiting.has(key)) return;
    const due = () => {
      this.#waiting.delete(key);
      run();
    };
    this.#waiting.set(key, this.#clock.after(spanMs, due, 'background'));
  }

  /** What waits under these keys is not done any more; all of it where none are named. */
  forget(keys: Iterable<Key> = [...this.#waiting.keys()]): void {
    for (const key of keys) {
      this.#waiting.get(key)?.();
      this.#waiting.delete(key);
    }
  }
}
