// Owns when a lost connection is retried: first by its schedule, then in the background for a remote server, without end.

import { createBackoff, type DelayFor } from '../kernel/backoff.ts';
import { limits } from '../model/limits.ts';
import type { ReconnectPolicy } from '../model/server.ts';

export interface Recovery {
  /** The delay after so many failed attempts; undefined when the schedule is used up. */
  readonly delayFor: DelayFor;
  /** The delay of background retries after that; undefined if there are none. */
  readonly backgroundDelayFor: DelayFor;
  /** Whether a call may trigger an attempt after the schedule is used up. With an empty schedule, only a person may. */
  readonly retriesOnCall: boolean;
}

const never: DelayFor = () => undefined;

/** Only a remote server is retried in the background: it may come back by itself, while a person has to fix a local one. */
export function createRecovery(policy: ReconnectPolicy, isRemote: boolean, random?: () => number): Recovery {
  const { schedule, background } = policy;
  const delayFor = createBackoff(schedule, random);
  const attempts = attemptsOf(schedule);
  if (!isRemote || background === undefined)
    return { delayFor, backgroundDelayFor: never, retriesOnCall: attempts > 0 };
  const { baseMs, maxMs } = background;
  const slow = createBackoff(
    {
      initialMs: baseMs,
      multiplier: 2,
      maxMs,
      maxAttempts: Number.POSITIVE_INFINITY,
      jitter: limits.backgroundJitter,
    },
    random,
  );
  return { delayFor, backgroundDelayFor: (failed) => slow(Math.max(1, failed - attempts)), retriesOnCall: true };
}

const attemptsOf = (schedule: ReconnectPolicy['schedule']) =>
  'delaysMs' in schedule ? schedule.delaysMs.length : schedule.maxAttempts;
