// Owns which refused requests are retried without the caller, and when. Pure: it sets no timers.

import { limits } from '../model/limits.ts';
import type { SendOptions } from '../model/server.ts';

export type RetryAdvice =
  | { readonly kind: 'again'; readonly afterMs: number }
  | { readonly kind: 'too-long'; readonly waitMs: number }
  | { readonly kind: 'final' };

const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

/** With these statuses a server, or a proxy before it, says that the same request may succeed later. */
export const isPassing = (status: number): boolean => PASSING.has(status);

/**
 * With these statuses the server also says that it has not handled the request, so that a retry does nothing twice. A bare 503
 * does not count: proxies send it while the server behind them is still working. A 503 with a Retry-After header does.
 */
export function isUnhandled(status: number, retryAfter: string | undefined): boolean {
  return status === 429 || (status === 503 && requestedWaitMs(retryAfter, 0) !== undefined);
}

const REPEATABLE = new Set(['initialize', 'server/discover', 'ping', 'notifications/initialized']);

/** Whether doing it twice does no harm. A `tools/call` is not repeatable unless its caller says so. */
export function isRepeatable(method: string | undefined, options: SendOptions | undefined): boolean {
  if (options?.repeatable === true) return true;
  return method !== undefined && (REPEATABLE.has(method) || method.endsWith('/list'));
}

export interface RefusedAttempt {
  readonly status: number;
  readonly repeatable: boolean;
  /** How many retries there were so far. */
  readonly retries: number;
  readonly retryAfter: string | undefined;
  readonly now: number;
}

export function retryAdvice({ status, repeatable, retries, retryAfter, now }: RefusedAttempt): RetryAdvice {
  const mayPass = repeatable ? isPassing(status) : isUnhandled(status, retryAfter);
  const delayMs = limits.httpRetryDelaysMs[retries];
  if (!mayPass || delayMs === undefined) return { kind: 'final' };
  const waitMs = requestedWaitMs(retryAfter, now) ?? delayMs;
  return waitMs > limits.retryAfterMs ? { kind: 'too-long', waitMs } : { kind: 'again', afterMs: waitMs };
}

/** Reads a number of seconds or a date; ignores anything else. */
function requestedWaitMs(retryAfter: string | undefined, now: number): number | undefined {
  if (retryAfter === undefined) return undefined;
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1_000;
  // `Date.parse` accepts nearly any text, mostly as a date long ago.
  if (!/^[A-Z][a-z]{2}, \d/.test(retryAfter)) return undefined;
  const date = Date.parse(retryAfter);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
