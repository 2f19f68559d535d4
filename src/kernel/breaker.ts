// Owns the circuit breaker as data. Closed: calls pass, and outages in a row are counted. Open: calls are refused for a while.
// Half-open: one call passes as a test, all others are still refused; its outcome closes or reopens the breaker.
// The caller decides which errors are outages (`servers/breakers.ts`), and gives the limits (`limits.breaker`).

import { unreachable } from './unreachable.ts';

export type BreakerState =
  | { readonly kind: 'closed'; readonly outages: number }
  | { readonly kind: 'open'; readonly until: number }
  | { readonly kind: 'half-open' };

export interface BreakerLimits {
  /** So many outages in a row open the breaker. */
  readonly outages: number;
  readonly openMs: number;
}

export const closedBreaker: BreakerState = { kind: 'closed', outages: 0 };

export type Admission =
  | { readonly admitted: true; readonly state: BreakerState }
  | { readonly admitted: false; readonly retryInMs: number };

/** Asked before each call. The first call after the open time is the test. */
export function admit(state: BreakerState, now: number): Admission {
  switch (state.kind) {
    case 'closed':
      return { admitted: true, state };
    case 'open':
      return now >= state.until
        ? { admitted: true, state: { kind: 'half-open' } }
        : { admitted: false, retryInMs: state.until - now };
    case 'half-open':
      return { admitted: false, retryInMs: 0 };
    default:
      return unreachable(state);
  }
}

/** How an admitted call ended. `unknown`, such as a cancelled call, proves nothing about the server. */
export type BreakerOutcome = 'answered' | 'outage' | 'unknown';

/** Called after each admitted call. A call that was admitted earlier may end while the breaker is open. */
export function record(state: BreakerState, outcome: BreakerOutcome, now: number, limits: BreakerLimits): BreakerState {
  // A test without a result leaves the test to the next call.
  if (outcome === 'unknown') return state.kind === 'half-open' ? { kind: 'open', until: now } : state;
  if (outcome === 'answered') return state.kind === 'closed' && state.outages === 0 ? state : closedBreaker;
  if (state.kind === 'open') return state;
  if (state.kind === 'closed' && state.outages + 1 < limits.outages) {
    return { kind: 'closed', outages: state.outages + 1 };
  }
  return { kind: 'open', until: now + limits.openMs };
}
