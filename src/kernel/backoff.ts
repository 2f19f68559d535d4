// Owns how long to wait before the next attempt. Pure, given its random source.

export type Schedule =
  | { readonly delaysMs: readonly number[]; readonly jitter: number }
  | {
      readonly initialMs: number;
      readonly multiplier: number;
      readonly maxMs: number;
      readonly maxAttempts: number;
      readonly jitter: number;
    };

/** Milliseconds before attempt number `failed + 1`, or `undefined` when the attempts are used up. */
export type DelayFor = (failed: number) => number | undefined;

/**
 * The jitter spreads symmetrically, so a random source that gives 0.5 yields the exact figures of the schedule. No delay
 * exceeds the maximum of the schedule.
 */
export function createBackoff(schedule: Schedule, random: () => number = Math.random): DelayFor {
  return (failed) => {
    const base = baseDelay(schedule, failed);
    if (base === undefined) return undefined;
    const delay = Math.round(base * (1 + schedule.jitter * (2 * random() - 1)));
    return 'maxMs' in schedule ? Math.min(schedule.maxMs, delay) : delay;
  };
}

function baseDelay(schedule: Schedule, failed: number): number | undefined {
  if ('delaysMs' in schedule) return schedule.delaysMs[failed - 1];
  if (failed > schedule.maxAttempts) return undefined;
  return Math.min(schedule.maxMs, schedule.initialMs * schedule.multiplier ** (failed - 1));
}
