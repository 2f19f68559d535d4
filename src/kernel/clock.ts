// Owns time as a port: the current time, and timers. Tests use a fake clock that they move by hand.

/** Cancels a timer; cancelling twice, or after it ran, does nothing. */
export type CancelTimer = () => void;

export interface Clock {
  /** Milliseconds since 1970, for differences and for dates. Jumps when the system's clock is set. */
  now(): number;
  /** Resolves after `ms`, or rejects with the signal's reason the moment it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Runs `run` once after `ms`. A `background` timer never keeps the process alive by itself. */
  after(ms: number, run: () => void, hold?: 'process' | 'background'): CancelTimer;
}

/** Node caps a timer at 2^31-1 ms and would fire a longer one at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => sleepOn(systemClock, ms, signal),
  after(ms, run, hold = 'process') {
    const timer = setTimeout(run, Math.min(ms, LONGEST_TIMER_MS));
    if (hold === 'background') timer.unref();
    return () => clearTimeout(timer);
  },
};

/** The one way to build `sleep` from `after`, shared by every clock. */
export function sleepOn(clock: Pick<Clock, 'after'>, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
