// Owns a request with a time limit of its own, for requests that no call waits for: pings and subscriptions.

import { Cancellation } from '../kernel/cancellation.ts';
import type { Clock } from '../kernel/clock.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { RequestOutcome, Session } from './session.ts';

const TIMED_OUT = new DOMException('no answer in time', 'TimeoutError');

/** Resolves with undefined if the server does not answer in time; the request is cancelled then. */
export async function requestWithin(
  limitMs: number,
  { session, clock }: { readonly session: Session; readonly clock: Clock },
  method: string,
  params: JsonObject,
): Promise<RequestOutcome | undefined> {
  const cancellation = new Cancellation();
  const cancelTimeout = clock.after(limitMs, () => cancellation.cancel(TIMED_OUT), 'background');
  try {
    return await session.request(method, params, { cancellation, repeatable: true });
  } catch (error) {
    if (error === TIMED_OUT) return undefined;
    throw error;
  } finally {
    cancelTimeout();
  }
}
