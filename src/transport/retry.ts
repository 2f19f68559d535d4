// Owns which refused requests are retried without the caller, and when. Pure: it sets no timers.

import { limits } from '../model/limits.ts';
import type { SendOptions } from '../model/server.ts';

export type RetryAdvice =
  | { readonly kind: 'again'; readonly afterMs: number }
  /** `waitMs`: the server wants the client to wait longer than it does. */
  | { readonly kind: 'final'; readonly waitMs?: number };

const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

/** With these statuses a server, or a proxy before it, says that the same request may succeed later. */
export const isPassing = (status: number): boolean => PASSING.has(status);

/** With these a server says that it has not begun; a proxy may say so too early, which only a `tools/call` has to fear. */
const isUnhandled = (status: number, retryAfter: string | undefined) =>
  status === 429 || (status === 503 && requestedWaitMs(retryAfter, 0) !== undefined);

const REPEATABLE = new Set(['initialize', 'server/discover', 'ping', 'notifications/initialized']);

/** Whether doing it twice does no harm. A `tools/call` is not repeatable unless its caller says so. */
export function isRepeatable(method: string | undefined, options: SendOptions | undefined): boolean {
  if (options?.repeatable === true) return true;
  return method !== undefined && (REPEATABLE.has(method) || method.endsWith('/list'));
}

/** Whether doing it twice may do harm. Its caller decides whether it is sent again, which knows how much time there is. */
export function mustNotRepeat(method: string | undefined, options: SendOptions | undefined): boolean {
  return method === 'tools/call' && options?.repeatable !== true;
}

/** A call that was refused for its rate waits under the eyes of its caller, which knows how much time it has, also a repeatable one. */
export const isRateLimitedCall = ({ method, status }: Pick<RefusedAttempt, 'method' | 'status'>): boolean =>
  method === 'tools/call' && status === 429;

export interface RefusedAttempt {
  readonly status: number;
  readonly method: string | undefined;
  readonly repeatable: boolean;
  readonly mustNotRepeat: boolean;
  /** How many retries there were so far. */
  readonly retries: number;
  readonly retryAfter: string | undefined;
  readonly now: number;
}

export function retryAdvice(refused: RefusedAttempt): RetryAdvice {
  const { status, retryAfter, now } = refused;
  const mayPass = refused.repeatable ? isPassing(status) : isUnhandled(status, retryAfter);
  const delayMs = limits.httpRetryDelaysMs[refused.retries];
  const isLeft = refused.mustNotRepeat || isRateLimitedCall(refused);
  if (isLeft || !mayPass || delayMs === undefined) return { kind: 'final' };
  const waitMs = requestedWaitMs(retryAfter, now) ?? delayMs;
  return waitMs > limits.retryAfterMs ? { kind: 'final', waitMs } : { kind: 'again', afterMs: waitMs };
}

/** Reads a `Retry-After` header: a number of seconds or a date; ignores anything else. */
export function requestedWaitMs(retryAfter: string | undefined, now: number): number | undefined {
  if (retryAfter === undefined) return undefined;
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1_000;
  // `Date.parse` accepts nearly any text, mostly as a date long ago.
  if (!/^[A-Z][a-z]{2}, \d/.test(retryAfter)) return undefined;
  const date = Date.parse(retryAfter);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
