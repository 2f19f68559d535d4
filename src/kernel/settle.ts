// Owns waiting for several things with a limit: until all have settled, or until the time is up.

import type { Clock } from './clock.ts';

/** Resolves with whether everything had settled; never rejects, whatever becomes of the work. */
export async function settleWithin(work: readonly Promise<unknown>[], limitMs: number, clock: Clock): Promise<boolean> {
  if (work.length === 0) return true;
  return new Promise((resolve) => {
    const cancel = clock.after(limitMs, () => resolve(false));
    void Promise.allSettled(work).then(() => {
      cancel();
      resolve(true);
    });
  });
}
