// Owns running a task once although it was requested many times: a fixed span after the first request (a debounce on the
// leading request).

import type { CancelTimer, Clock } from './clock.ts';

/** The span counts from the first request and not from the last, so that a flood of requests never starves the task. */
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

  /** The first request for a key decides what runs, and after which span. */
  ask(key: Key, run: () => void, spanMs = this.#spanMs): void {
    if (this.#waiting.has(key)) return;
    const due = () => {
      this.#waiting.delete(key);
      run();
    };
    this.#waiting.set(key, this.#clock.after(spanMs, due, 'background'));
  }

  /** Cancels what waits under these keys; without keys, everything. */
  forget(keys: Iterable<Key> = [...this.#waiting.keys()]): void {
    for (const key of keys) {
      this.#waiting.get(key)?.();
      this.#waiting.delete(key);
    }
  }
}
