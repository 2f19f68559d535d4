// Owns the heartbeat of calls without progress: reports at an interval that they still run, with one timer for all calls.

import type { CancelTimer, Clock } from '../kernel/clock.ts';

/** One running call. */
export interface Beat {
  /** When the call was last reported. */
  lastAt: number;
  readonly tell: () => void;
}

export class Heartbeat {
  readonly #clock: Pick<Clock, 'now' | 'after'>;
  readonly #everyMs: number;
  readonly #running = new Set<Beat>();
  #cancel: CancelTimer | undefined;

  constructor(clock: Pick<Clock, 'now' | 'after'>, everyMs: number) {
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  begin(beat: Beat): void {
    this.#running.add(beat);
    this.#cancel ??= this.#clock.after(this.#everyMs, this.#look, 'background');
  }

  end(beat: Beat): void {
    this.#running.delete(beat);
    if (this.#running.size > 0) return;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** Reports calls that are due soon as well, so that many calls never cost more than a few ticks a second. */
  readonly #look = (): void => {
    const now = this.#clock.now();
    const soon = now + this.#everyMs / TOLERANCE;
    let next = now + this.#everyMs;
    this.#cancel = undefined;
    for (const beat of [...this.#running]) {
      const dueAt = Math.min(beat.lastAt, now) + this.#everyMs;
      if (dueAt > soon) next = Math.min(next, dueAt);
      else {
        beat.lastAt = now;
        beat.tell();
      }
    }
    if (this.#running.size > 0) this.#cancel ??= this.#clock.after(next - now, this.#look, 'background');
  };
}

const TOLERANCE = 30;
