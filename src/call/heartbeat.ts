// Owns the heartbeat of calls without progress: reports at an interval that they still run, with one timer for all calls.

import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { Roster, type RosterEntry } from '../kernel/roster.ts';

/** One running call. */
export interface Beat {
  /** When the call was last reported. */
  lastAt: number;
  readonly tell: () => void;
}

export class Heartbeat {
  readonly #clock: Pick<Clock, 'now' | 'after'>;
  readonly #everyMs: number;
  readonly #running = new Roster<Beat>();
  #cancel: CancelTimer | undefined;

  constructor(clock: Pick<Clock, 'now' | 'after'>, everyMs: number) {
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  /** Returns how to end it. */
  begin(beat: Beat): RosterEntry<Beat> {
    this.#cancel ??= this.#clock.after(this.#everyMs, this.#look, 'background');
    return this.#running.add(beat);
  }

  end(beat: RosterEntry<Beat>): void {
    this.#running.remove(beat);
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
    for (const beat of this.#running.items()) {
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
