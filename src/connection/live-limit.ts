// Owns a limit that an edit may change while it runs: the time that has passed counts against the new one.

import type { CancelTimer, Clock } from '../kernel/clock.ts';

export interface LiveLimit {
  /** Asks for the limit again: it may be shorter, longer, or there now. */
  readonly recheck: () => void;
  readonly cancel: CancelTimer;
}

export interface LiveLimitOptions {
  readonly clock: Clock;
  /** 0 turns the limit off. */
  readonly limitMs: () => number;
  readonly hold?: 'process' | 'background';
  /** Called once, with the limit that is over. */
  readonly expire: (limitMs: number) => void;
}

export function startLimit({ clock, limitMs, hold, expire }: LiveLimitOptions): LiveLimit {
  const startedAt = clock.now();
  let isOver = false;
  let cancelTimer: CancelTimer = () => undefined;
  const arm = (passedMs: number): void => {
    const limit = limitMs();
    if (limit === 0) return;
    if (limit > passedMs) {
      // What the timer has waited counts, not the clock: that may have been set meanwhile.
      cancelTimer = clock.after(limit - passedMs, () => arm(limit), hold);
      return;
    }
    isOver = true;
    expire(limit);
  };
  arm(0);
  return {
    recheck() {
      if (isOver) return;
      cancelTimer();
      arm(clock.now() - startedAt);
    },
    cancel() {
      isOver = true;
      cancelTimer();
    },
  };
}
