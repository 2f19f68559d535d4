// Owns waiting for several things with a limit: until all have settled, until the time is up, or until nobody waits.

import type { Clock } from './clock.ts';

export interface SettleOptions {
  readonly limitMs: number;
  readonly clock: Clock;
  /** Aborting it ends the waiting, not the work. */
  readonly signal?: AbortSignal | undefined;
}

/** Resolves with whether everything had settled; never rejects, whatever becomes of the work. */
export async function settleWithin(work: readonly Promise<unknown>[], patience: SettleOptions): Promise<boolean> {
  const { limitMs, clock, signal } = patience;
  if (work.length === 0) return true;
  return new Promise((resolve) => {
    const finish = (settled: boolean) => {
      cancel();
      signal?.removeEventListener('abort', giveUp);
      resolve(settled);
    };
    const giveUp = () => finish(false);
    const cancel = clock.after(limitMs, giveUp);
    signal?.addEventListener('abort', giveUp, { once: true });
    if (signal?.aborted) giveUp();
    void Promise.allSettled(work).then(() => finish(true));
  });
}
