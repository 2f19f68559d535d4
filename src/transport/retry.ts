// Owns what is asked again by itself, and when: a pure table, no timers.

import { limits } from '../model/limits.ts';
import type { SendOptions } from '../model/server.ts';

export type RetryAdvice =
  | { readonly kind: 'again'; readonly afterMs: number }
  | { readonly kind: 'too-long'; readonly waitMs: number }
  | { readonly kind: 'final' };

const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

/** By these a server, or a proxy before it, says that the same request may succeed later. */
export const isPassing = (status: number): boolean => PASSING.has(status);

/**
 * By these it also says that it has not handled the request, so that asking again does nothing twice. A bare 503 is not one of
 * them: proxies send it while the server behind them is still at work. With a date to come back it is an invitation.
 */
export function isUnhandled(status: number, retryAfter: string | undefined): boolean {
  return status === 429 || (status === 503 && waitWanted(retryAfter, 0) !== undefined);
}

const REPEATABLE = new Set(['initialize', 'server/discover', 'ping', 'notifications/initialized']);

/** Doing it twice does no harm. A `tools/call` is none of these unless its caller says so. */
export function isRepeatable(method: string | undefined, options: SendOptions | undefined): boolean {
  if (options?.repeatable === true) return true;
  return method !== undefined && (REPEATABLE.has(method) || method.endsWith('/list'));
}

export interface Refused {
  readonly status: number;
  readonly repeatable: boolean;
  /** How often it has been asked again by now. */
  readonly retries: number;
  readonly retryAfter: string | undefined;
  readonly now: number;
}

export function retryAdvice({ status, repeatable, retries, retryAfter, now }: Refused): RetryAdvice {
  const mayPass = repeatable ? isPassing(status) : isUnhandled(status, retryAfter);
  const delayMs = limits.httpRetryDelaysMs[retries];
  if (!mayPass || delayMs === undefined) return { kind: 'final' };
  const waitMs = waitWanted(retryAfter, now) ?? delayMs;
  return waitMs > limits.retryAfterMs ? { kind: 'too-long', waitMs } : { kind: 'again', afterMs: waitMs };
}

/** A number of seconds or a date; what is neither says nothing. */
function waitWanted(retryAfter: string | undefined, now: number): number | undefined {
  if (retryAfter === undefined) return undefined;
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1_000;
  // Nearly anything passes for a date, and then for one long ago.
  if (!/^[A-Z][a-z]{2}, \d/.test(retryAfter)) return undefined;
  const date = Date.parse(retryAfter);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
