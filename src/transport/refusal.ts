// Owns what follows from a response without success: the answer, a retry, an expired session, or a failure. Pure; no message text
// is read, only statuses, ids and codes.

import { isObject, parseJson } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { Message, MessageId } from '../model/server.ts';
import { isWrongAddress } from './http-failure.ts';
import { EventBody } from './http-response.ts';
import { isRateLimitedCall, requestedWaitMs, retryAdvice } from './retry.ts';

/** A refused request, and the response as far as it was read. */
export interface Refused {
  readonly status: number;
  readonly body: string;
  /** Whether the body was read to its end. */
  readonly isWhole: boolean;
  readonly retryAfter: string | undefined;
  readonly id: MessageId | undefined;
  readonly method: string | undefined;
  readonly repeatable: boolean;
  /** A `tools/call` that may have had an effect: it is sent again only where this file says so. */
  readonly mustNotRepeat: boolean;
  /** Whether the request belongs to a session. */
  readonly isInSession: boolean;
  /** Whether the session may be gone although the server does not say so with 404. */
  readonly mayExpireBy400: boolean;
  /** How many retries there were so far. */
  readonly retries: number;
  readonly now: number;
}

export type RefusalVerdict =
  /** The server has answered. `doubtsSession`: the same answer may mean that the session is gone. */
  | { readonly kind: 'answer'; readonly message: Message; readonly doubtsSession?: true }
  | { readonly kind: 'retry'; readonly afterMs: number }
  | { readonly kind: 'session-expired' }
  /** The session is gone if a ping is refused in the same way; otherwise this is the answer. */
  | { readonly kind: 'check-session'; readonly message: Message }
  /** `mayBeHandled`: the status says that the request was not handled, but did not come from the server. */
  | {
      readonly kind: 'failure';
      readonly waitMs?: number | undefined;
      readonly mayBeHandled?: true;
      readonly doubtsSession?: true;
    };

export function verdictOn(refused: Refused): RefusalVerdict {
  const { status, id, method, mustNotRepeat } = refused;
  const found = id === undefined ? undefined : errorAnswerIn(refused.body, id);
  const isExpired = isSessionExpired(refused, found);
  // A missing login or an expired session concerns more than this request, so an error in the body is not its answer. A call may
  // lack a right that the login as such has: its 403 is an answer where it names the call.
  const isLogin = status === 401 || (status === 403 && !(method === 'tools/call' && found?.loose === false));
  const isAnswer = id !== undefined && !isExpired && !isLogin;
  const doubt = mustNotRepeat && status === 404 && refused.isInSession ? ({ doubtsSession: true } as const) : {};
  if (isAnswer && found?.loose === false) return { kind: 'answer', message: found.message, ...doubt };
  const advice = retryAdvice(refused);
  if (advice.kind === 'again') return { kind: 'retry', afterMs: advice.afterMs };
  const isAboutLoad = (mustNotRepeat && isBusy(status)) || isRateLimitedCall(refused);
  if (isAnswer && found && !isWrongAddress(method, status) && !isAboutLoad) {
    const isInDoubt = mustNotRepeat && refused.mayExpireBy400 && status === 400;
    return { kind: isInDoubt ? 'check-session' : 'answer', message: found.message };
  }
  if (isAnswer && method === 'server/discover' && tellsOlderEra(status))
    return { kind: 'answer', message: unknownMethod(id) };
  if (isExpired) return { kind: 'session-expired' };
  const waitMs = status === 429 ? requestedWaitMs(refused.retryAfter, refused.now) : advice.waitMs;
  return { kind: 'failure', waitMs, ...(mustNotRepeat && isForeign(refused) && { mayBeHandled: true, ...doubt }) };
}

/** With these statuses an error that names no request is about the server's load and not about the request. */
const isBusy = (status: number) => status === 429 || status === 503;

/** JSON-RPC errors that say that a method, a tool or a resource was not found, not the session. */
const ABOUT_REQUEST: ReadonlySet<unknown> = new Set([-32601, -32602, -32002]);
const SERVER_ERROR = -32000;

/**
 * The protocol uses 404 for an expired session, unless the body answers the request itself. Many servers use a 400 instead, with
 * a JSON-RPC error that names no request. A call that must not be repeated needs more: the 404 has to come from the server.
 */
function isSessionExpired(refused: Refused, found: ErrorAnswer | undefined): boolean {
  const { status, isInSession, mustNotRepeat, mayExpireBy400 } = refused;
  if (!isInSession) return false;
  const isNamed = found?.loose === false;
  if (mustNotRepeat) return status === 404 && !isNamed && !isForeign(refused);
  if (status === 404) return !isNamed || !ABOUT_REQUEST.has(codeOf(found));
  return mayExpireBy400 && status === 400 && found?.loose === true && codeOf(found) === SERVER_ERROR;
}

/** A 404 with a page comes from a proxy, which does not know what the server did; the rest of a body that broke off may name the request. */
const isForeign = ({ status, body, isWhole }: Refused) => status === 404 && (!isWhole || /^\s*</.test(body));

export interface ErrorAnswer {
  readonly message: Message;
  /** The error names no request id, so it can only be meant for the request it came back for. */
  readonly loose: boolean;
}

export const codeOf = (answer: ErrorAnswer | undefined): unknown => {
  const error = answer?.message['error'];
  return isObject(error) ? error['code'] : undefined;
};

/** A refusal whose body is a JSON-RPC error is an answer to the request; so is a result that names the request. */
export function errorAnswerIn(body: string, id: MessageId): ErrorAnswer | undefined {
  const responses = messagesIn(body).filter(({ method }) => method === undefined);
  const named = responses.find(
    (each) => each['id'] === id && (isObject(each['error']) || each['result'] !== undefined),
  );
  if (named) return { message: named, loose: false };
  const loose = responses.find((each) => each['jsonrpc'] === '2.0' && isObject(each['error']) && namesNone(each));
  return loose && { message: { ...loose, id }, loose: true };
}

const namesNone = ({ id }: Message) => id === null || id === undefined;

/** Reads one message, a batch, or a stream of events; other text holds none. */
function messagesIn(body: string): Message[] {
  const values: unknown[] = [];
  const parsed = /^\s*[[{]/.test(body) ? parseJson(body.trim()) : undefined;
  if (parsed?.ok) values.push(parsed.value);
  else {
    const ignore = () => undefined;
    const events = new EventBody(limits.refusalBytes, {
      onValue: (value) => values.push(value),
      onNoise: ignore,
      onOversized: ignore,
    });
    events.push(Buffer.from(body));
    events.end();
  }
  return values.flat().filter(isObject);
}

/** The answer of a server of the older era to a method that only the modern era has. */
function unknownMethod(id: MessageId): Message {
  return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } };
}

/** Whether the status of `server/discover` shows a server of the older era. A missing login or a rate limit does not. */
function tellsOlderEra(status: number): boolean {
  return status >= 400 && status < 500 && status !== 401 && status !== 403 && status !== 407 && status !== 429;
}
