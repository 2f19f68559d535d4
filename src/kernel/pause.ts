// Owns waiting in the background: the timer does not keep the process alive, and aborting resolves the promise early.

import type { Clock } from './clock.ts';

export function pause(clock: Pick<Clock, 'after'>, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = () => {
      cancel();
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const cancel = clock.after(ms, finish, 'background');
    signal.addEventListener('abort', finish, { once: true });
  });
}
