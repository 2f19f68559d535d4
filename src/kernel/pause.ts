// Owns waiting in the background, on nobody's account: it keeps no process alive, and ends early, and well, when told to.

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
