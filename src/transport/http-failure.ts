// Owns what an HTTP status other than success means: which failure it is, and whether the server may have acted on the request.

import { isObject, parseJson } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { Message, MessageId, RequestFailure } from '../model/server.ts';
import { printable } from './printable.ts';
import { isUnhandled } from './retry.ts';

/** A response without success, as far as it was read. */
export interface HttpRefusal {
  readonly status: number;
  readonly statusText: string;
  readonly body: string;
  readonly retryAfter?: string | undefined;
  /** How long the server wants the client to wait; set only if that is longer than the client waits. */
  readonly waitMs?: number | undefined;
}

/** The request that was refused. */
export interface RefusedRequest {
  readonly server: ServerName;
  readonly method: string | undefined;
  /** Whether the request carried an Authorization header. */
  readonly hasToken: boolean;
}

/** Statuses of a request that was refused before it was handled. After any other status the server may have begun to. */
const NOT_HANDLED = new Set([400, 401, 403, 404, 405, 406, 407, 411, 413, 414, 415, 421, 425, 426, 431, 501]);

const WRONG_ADDRESS = new Set([400, 404, 405]);

/** The server refuses this request for good, which says nothing about the health of the server. */
const isRefusal = (status: number) => status >= 400 && status < 500 && NOT_HANDLED.has(status) && status !== 425;

/** Whether the server answered the first message in a way that shows that the configured address is wrong. */
export function isWrongAddress(method: string | undefined, status: number): boolean {
  return method === 'initialize' && WRONG_ADDRESS.has(status);
}

export function failureOf(refusal: HttpRefusal, request: RefusedRequest): RequestFailure {
  const { status, retryAfter } = refusal;
  const sent = !NOT_HANDLED.has(status) && !isUnhandled(status, retryAfter);
  return { sent, status, cause: causeOf(refusal, request) };
}

function causeOf(refusal: HttpRefusal, { server, method, hasToken }: RefusedRequest): RuntimeError {
  const { status } = refusal;
  if (status === 401 && !hasToken) return new RuntimeError('AUTH_REQUIRED', { server });
  if (status === 401) {
    return new RuntimeError('AUTH_FAILED', { server, reason: 'it refused the token it was given (HTTP 401)' });
  }
  if (status === 403) return new RuntimeError('AUTH_FAILED', { server, reason: `it ${answered(refusal)}` });
  if (status === 407) {
    return new RuntimeError('CONFIG_INVALID', { problem: `the proxy of server "${server}" wants a login (HTTP 407)` });
  }
  const reason = `it ${answered(refusal)}`;
  if (isWrongAddress(method, status)) return broken(server, reason);
  return isRefusal(status) ? new RuntimeError('REQUEST_REFUSED', { server, reason }) : lost(server, reason);
}

/** Quotes the body on one line, since it stands in the middle of a sentence. */
function answered({ status, statusText, body, waitMs }: HttpRefusal): string {
  const wait = waitMs === undefined ? '' : ` and asks to wait ${Math.ceil(waitMs / 1_000)} s`;
  const phrase = printable(statusText).trim();
  const quote = printable(body).replace(/\s+/g, ' ').trim().slice(0, limits.noiseQuoteChars);
  return `answered HTTP ${status}${phrase === '' ? '' : ` (${phrase})`}${wait}${quote === '' ? '' : `: ${quote}`}`;
}

/** Not handled: the request can be sent again in a new session. */
export function sessionExpired(server: ServerName, status: number): RequestFailure {
  return { sent: false, status: 404, cause: lost(server, `its session expired (HTTP ${status})`) };
}

/** JSON-RPC errors that say that a method, a tool or a resource was not found, not the session. */
const ABOUT_REQUEST: ReadonlySet<unknown> = new Set([-32601, -32602, -32002]);
const SERVER_ERROR = -32000;

/**
 * The protocol uses 404 for an expired session, unless the body answers the request itself. Many servers use a 400 instead,
 * with a JSON-RPC error that names no request.
 */
export function isUnknownSession(status: number, answer: ErrorAnswer | undefined): boolean {
  const error = answer?.message['error'];
  const code = isObject(error) ? error['code'] : undefined;
  if (status === 404) return answer === undefined || answer.loose || !ABOUT_REQUEST.has(code);
  return status === 400 && answer?.loose === true && code === SERVER_ERROR;
}

export interface ErrorAnswer {
  readonly message: Message;
  /** The error names no request id, so it can only be meant for the request it came back for. */
  readonly loose: boolean;
}

export function lost(server: ServerName, reason: string, cause?: unknown): RuntimeError {
  return new RuntimeError('CONNECTION_LOST', { server, reason, isRemote: true }, { cause });
}

export function broken(server: ServerName, reason: string, cause?: unknown): RuntimeError {
  return new RuntimeError('PROTOCOL_BROKEN', { server, reason, isRemote: true }, { cause });
}

/** A refusal whose body is a JSON-RPC error is an answer to the request. */
export function errorAnswerIn(body: string, id: MessageId): ErrorAnswer | undefined {
  const parsed = body.trimStart().startsWith('{') ? parseJson(body) : undefined;
  if (!parsed?.ok || !isObject(parsed.value)) return undefined;
  const message = parsed.value;
  if (message['jsonrpc'] !== '2.0' || !isObject(message['error']) || message['method'] !== undefined) return undefined;
  if (message['id'] === id) return { message, loose: false };
  const hasNoId = message['id'] === null || message['id'] === undefined;
  return hasNoId ? { message: { ...message, id }, loose: true } : undefined;
}

/** The answer of a server of the older era to a method that only the modern era has. */
export function unknownMethod(id: MessageId): Message {
  return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } };
}

/** Whether the status of `server/discover` shows a server of the older era. A missing login or a rate limit does not. */
export function tellsOlderEra(status: number): boolean {
  return status >= 400 && status < 500 && status !== 401 && status !== 403 && status !== 407 && status !== 429;
}

/** The reason of a failure as a report quotes it. */
export function reasonIn({ data }: RuntimeError): string {
  if ('reason' in data) return data.reason;
  return 'problem' in data ? data.problem : 'it wants a login';
}
