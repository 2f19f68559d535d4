// Owns waiting for several promises with a limit: until all have settled, the time is up, or the signal aborts.

import type { Clock } from './clock.ts';

export interface SettleOptions {
  readonly limitMs: number;
  readonly clock: Clock;
  /** Ends the waiting, not the work. */
  readonly signal?: AbortSignal | undefined;
}

/** Resolves with whether everything had settled; never rejects. */
export async function settleWithin(work: readonly Promise<unknown>[], options: SettleOptions): Promise<boolean> {
  const { limitMs, clock, signal } = options;
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
