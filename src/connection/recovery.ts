// Owns how one server's lost connection is tried again: its schedule, then for a remote server now and then for as long as it takes.

import { createBackoff, type DelayFor } from '../kernel/backoff.ts';
import { limits } from '../model/limits.ts';
import type { ReconnectPolicy } from '../model/server.ts';

export interface Recovery {
  /** How long to wait after so many attempts; nothing when they are used up. */
  readonly delayFor: DelayFor;
  /** How long to wait once they are, where the server is tried on in the background. */
  readonly backgroundDelayFor: DelayFor;
  /** Whether a call may have it tried again once the attempts are used up; where there are none at all, only a person may. */
  readonly retriesOnCall: boolean;
}

const never: DelayFor = () => undefined;

/** A local server that is down stays down: nobody but a person can have changed that. A remote one comes back by itself. */
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
