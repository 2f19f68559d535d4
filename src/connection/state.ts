// Owns the life of one connection as pure data: which state follows which, and what to do on the way.
// Performs nothing. `connection.ts` runs the effects and feeds back what happened.

import type { DelayFor } from '../kernel/backoff.ts';
import { unreachable } from '../kernel/unreachable.ts';
import type { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';

export type ConnectionState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'connecting'; readonly attempt: number }
  /** `attempt` is the one that succeeded: a server that dies soon after does not get a fresh set of attempts. */
  | { readonly kind: 'ready'; readonly since: number; readonly attempt: number }
  | { readonly kind: 'waiting'; readonly attempt: number; readonly retryAt: number; readonly cause: RuntimeError }
  | { readonly kind: 'blocked'; readonly cause: RuntimeError }
  | { readonly kind: 'failed'; readonly cause: RuntimeError }
  | { readonly kind: 'closed' };

export type ConnectionInput =
  /** Somebody needs it: the start, or the first call. */
  | { readonly kind: 'wake' }
  | { readonly kind: 'opened'; readonly at: number }
  /** An attempt failed, or a ready session ended. */
  | { readonly kind: 'lost'; readonly at: number; readonly cause: RuntimeError }
  /** The retry timer ran out, or a call pulls the retry forward. */
  | { readonly kind: 'retry' }
  /** What blocked it is gone: it was trusted, logged in, or its configuration changed. */
  | { readonly kind: 'unblock' }
  /** A person asks for a fresh start, whatever the state. */
  | { readonly kind: 'reconnect' }
  | { readonly kind: 'idle-stop' }
  | { readonly kind: 'close' };

export type ConnectionEffect =
  | { readonly kind: 'open' }
  | { readonly kind: 'schedule-retry'; readonly at: number }
  /** Ends whatever is open or under way, and its timer. */
  | { readonly kind: 'release' };

export type Step = readonly [ConnectionState, ...ConnectionEffect[]];

const release: ConnectionEffect = { kind: 'release' };

export function step(state: ConnectionState, input: ConnectionInput, delayFor: DelayFor): Step {
  if (state.kind === 'closed') return [state];
  switch (input.kind) {
    case 'wake':
      return state.kind === 'idle' ? connect(1) : [state];
    case 'opened':
      return state.kind === 'connecting' ? [{ kind: 'ready', since: input.at, attempt: state.attempt }] : [state];
    case 'lost':
      return recover(state, input, delayFor);
    case 'retry':
      return state.kind === 'waiting' ? connect(state.attempt + 1) : [state];
    case 'unblock':
      return state.kind === 'blocked' ? connect(1) : [state];
    case 'reconnect':
      return [{ kind: 'connecting', attempt: 1 }, release, { kind: 'open' }];
    case 'idle-stop':
      return state.kind === 'ready' ? [{ kind: 'idle' }, release] : [state];
    case 'close':
      return [{ kind: 'closed' }, release];
    default:
      return unreachable(input);
  }
}

function connect(attempt: number): Step {
  return [{ kind: 'connecting', attempt }, { kind: 'open' }];
}

/** The failure's row decides: what waiting cures is waited for until the attempts are used up, the rest is blocked. */
function recover(state: ConnectionState, input: Extract<ConnectionInput, { kind: 'lost' }>, delayFor: DelayFor): Step {
  if (state.kind !== 'connecting' && state.kind !== 'ready') return [state];
  const { cause, at } = input;
  if (!cause.reconnect) return [{ kind: 'blocked', cause }, release];
  const stable = state.kind === 'ready' && at - state.since >= limits.stableMs;
  const attempt = stable ? 1 : state.attempt;
  const delay = delayFor(attempt);
  if (delay === undefined) return [{ kind: 'failed', cause }, release];
  const retryAt = at + delay;
  return [{ kind: 'waiting', attempt, retryAt, cause }, release, { kind: 'schedule-retry', at: retryAt }];
}
