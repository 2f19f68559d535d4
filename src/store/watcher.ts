// Owns noticing that a key changed: at once what this process does, and by looking again what others did.

import type { CancelTimer, Clock } from '../kernel/clock.ts';

/** How soon a change by another process is noticed. */
const LOOK_MS = 500;

export class Watcher {
  #last: string | undefined;
  #told = 0;
  #cancel: CancelTimer | undefined;
  #stopped = false;
  readonly #look: () => Promise<string | undefined>;
  readonly #changed: (value: string | undefined) => void;

  constructor(
    last: string | undefined,
    look: () => Promise<string | undefined>,
    changed: (value: string | undefined) => void,
  ) {
    this.#last = last;
    this.#look = look;
    this.#changed = changed;
  }

  see(value: string | undefined): void {
    this.#told++;
    if (this.#stopped || value === this.#last) return;
    this.#last = value;
    this.#changed(value);
  }

  start(clock: Clock): void {
    if (this.#stopped) return;
    this.#cancel = clock.after(
      LOOK_MS,
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

  /** What was read before the latest news is old news. */
  async #compare(): Promise<void> {
    const told = this.#told;
    const value = await this.#look();
    if (told === this.#told) this.see(value);
  }
}
