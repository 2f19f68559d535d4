// Owns noticing that a key changed: changes by this process at once, changes by other processes by reading again.

import type { CancelTimer, Clock } from '../kernel/clock.ts';

/** How often the file is read for changes by other processes. */
const POLL_MS = 500;

export class Watcher {
  #last: string | undefined;
  /** How many values `see` has got. */
  #seenCount = 0;
  #cancel: CancelTimer | undefined;
  #stopped = false;
  readonly #read: () => Promise<string | undefined>;
  readonly #changed: (value: string | undefined) => void;

  constructor(
    last: string | undefined,
    read: () => Promise<string | undefined>,
    changed: (value: string | undefined) => void,
  ) {
    this.#last = last;
    this.#read = read;
    this.#changed = changed;
  }

  see(value: string | undefined): void {
    this.#seenCount++;
    if (this.#stopped || value === this.#last) return;
    this.#last = value;
    this.#changed(value);
  }

  start(clock: Clock): void {
    if (this.#stopped) return;
    this.#cancel = clock.after(
      POLL_MS,
      () => {
        void this.#compare().finally(() => this.start(clock));
      },
      'background',
    );
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  /** Ignores a value that was read before the latest `see()`: it is out of date. */
  async #compare(): Promise<void> {
    const seenCount = this.#seenCount;
    const value = await this.#read();
    if (seenCount === this.#seenCount) this.see(value);
  }
}
