// Owns keeping calls away from a server that fails again and again: asks its circuit breaker before the call, and tells it how the
// call ended.

import type { BreakerOutcome } from '../kernel/breaker.ts';
import { isObject } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import type { Breakers } from '../servers/breakers.ts';
import { attempt, type Stage, toolOf } from './pipeline.ts';

/** Counts only what waiting could cure: a wrong argument must not take a healthy server away from everyone. */
export function guard(breakers: Breakers): Stage {
  return (next) => (call) => {
    const { server } = toolOf(call).id;
    const entered = breakers.enter(server);
    return attempt(next, call).then(
      (outcome) => {
        breakers.leave(server, 'answered', entered);
        return outcome;
      },
      (error: unknown) => {
        breakers.leave(server, endOf(error), entered);
        throw error;
      },
    );
  };
}

/** An abort, and a timeout that the caller chose itself, say nothing about the server. */
function endOf(error: unknown): BreakerOutcome {
  if (!(error instanceof RuntimeError)) return 'unknown';
  if (error.code === 'CALL_TIMEOUT' && isObject(error.data) && error.data['isOwn'] === true) return 'unknown';
  return error.outage ? 'outage' : 'answered';
}
