// Owns a clock that a test moves by hand: timers fire only during `advance`, in order.

import { type Clock, sleepOn } from '../kernel/clock.ts';

export interface FakeClock extends Clock {
  /** Moves time on and fires due timers in order; promises settle before and after each timer. */
  advance(ms: number): Promise<void>;
  /** How many timers wait; a test checks it to prove that no timer was left behind. */
  pending(): number;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

export function createFakeClock(start = 0): FakeClock {
  let now = start;
  let order = 0;
  const timers = new Set<Timer>();

  const nextDue = (until: number): Timer | undefined =>
    [...timers].filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at || a.order - b.order)[0];

  const clock: FakeClock = {
    now: () => now,
    sleep: (ms, signal) => sleepOn(clock, ms, signal),
    after(ms, run) {
      const timer = { at: now + ms, order: order++, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(ms) {
      const until = now + ms;
      await settle();
      for (let due = nextDue(until); due; due = nextDue(until)) {
        timers.delete(due);
        now = due.at;
        due.run();
        await settle();
      }
      now = until;
      await settle();
    },
    pending: () => timers.size,
  };
  return clock;
}

/** Waits for one turn of the event loop, after which all settled promises have run their callbacks. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
