// Owns the circuit breaker as data: closed, open or on trial. Who counts as a failure is the caller's decision.

export type BreakerState =
  | { readonly kind: 'closed'; readonly failures: number }
  | { readonly kind: 'open'; readonly until: number }
  | { readonly kind: 'trial' };

export interface BreakerLimits {
  readonly failures: number;
  readonly openMs: number;
}

export const closedBreaker: BreakerState = { kind: 'closed', failures: 0 };

export type Admission =
  | { readonly admitted: true; readonly state: BreakerState }
  | { readonly admitted: false; readonly retryInMs: number };

/** One trial at a time: while it runs, everyone else is still turned away. */
export function admit(state: BreakerState, now: number): Admission {
  if (state.kind === 'closed') return { admitted: true, state };
  if (state.kind === 'open' && now >= state.until) return { admitted: true, state: { kind: 'trial' } };
  return { admitted: false, retryInMs: state.kind === 'open' ? state.until - now : 0 };
}

/** How an admitted call ended. `unknown` proves nothing: a trial that ends so leaves the trial to the next call. */
export type CallEnd = 'answered' | 'outage' | 'unknown';

export function record(state: BreakerState, end: CallEnd, now: number, limits: BreakerLimits): BreakerState {
  if (end === 'unknown') return state.kind === 'trial' ? { kind: 'open', until: now } : state;
  if (end === 'answered') return state.kind === 'closed' && state.failures === 0 ? state : closedBreaker;
  if (state.kind === 'closed' && state.failures + 1 < limits.failures) {
    return { kind: 'closed', failures: state.failures + 1 };
  }
  return state.kind === 'open' ? state : { kind: 'open', until: now + limits.openMs };
}
