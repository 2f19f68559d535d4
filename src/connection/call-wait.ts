// Owns how long a call waits for its server, and how it fails then: why the server is not up, and when the next attempt comes.

import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { type FailureData, RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { type LiveLimit, startLimit } from './live-limit.ts';
import type { ConnectionState } from './state.ts';

export interface CallWait {
  readonly clock: Clock;
  /** 0 turns the limit off. Asked again when the entry is edited. */
  readonly limitMs: () => number;
  /** Whether the attempt under way began with this wait or before it, so that its own limit is over as well. */
  readonly isAttemptDue: () => boolean;
  /** Whether the start waits for a person: for an approval, or for the answer to an input. */
  readonly isPersonAsked: () => boolean;
  readonly expire: (limitMs: number) => void;
}

/** Calls `expire` when the wait is over. */
export function limitWait({ clock, limitMs, isAttemptDue, isPersonAsked, expire }: CallWait): LiveLimit {
  let cancelGrace: CancelTimer = () => undefined;
  const check = (limit: number): void => {
    if (isPersonAsked()) running = begin();
    // The failure of the attempt says more, such as the server's stderr; it comes when the process has ended.
    else if (isAttemptDue()) cancelGrace = clock.after(limits.startFailureMs, () => expire(limit), 'background');
    else expire(limit);
  };
  const begin = () => startLimit({ clock, limitMs, hold: 'background', expire: check });
  let running = begin();
  return {
    recheck: () => running.recheck(),
    cancel() {
      running.cancel();
      cancelGrace();
    },
  };
}

export interface AwaitedServer {
  readonly server: ServerName;
  readonly state: ConnectionState;
  readonly lastFailure: { readonly cause: RuntimeError } | undefined;
  readonly now: number;
}

/** The failure of a call that waited for the server and was not sent. */
export function waitFailure(
  { server, state, lastFailure, now }: AwaitedServer,
  afterMs: number,
  cause?: unknown,
): RuntimeError<'STARTUP_TIMEOUT'> {
  const isWaiting = state.kind === 'waiting';
  const isRepeated = isWaiting || (state.kind === 'connecting' && (state.attempt > 1 || state.hurried));
  return new RuntimeError(
    'STARTUP_TIMEOUT',
    {
      server,
      afterMs,
      reason: isWaiting ? 'it waits for its next attempt' : 'a call waited for it',
      ...(isRepeated && lastFailure && formerFailure(lastFailure.cause)),
      ...(isWaiting && { retryInMs: Math.max(0, state.retryAt - now) }),
    },
    { cause: cause ?? lastFailure?.cause },
  );
}

function formerFailure({ data }: RuntimeError): Partial<FailureData<'STARTUP_TIMEOUT'>> {
  if (!('reason' in data)) return {};
  return {
    before: data.reason,
    ...('stderr' in data && data.stderr !== undefined && { stderr: data.stderr }),
    ...('isRemote' in data && data.isRemote && { isRemote: true }),
  };
}
