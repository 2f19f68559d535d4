// Owns what an HTTP server's no means: the failure it is, and whether the request may have been acted on.

import { isObject, parseJson } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { Message, MessageId, RequestFailure } from '../model/server.ts';
import { printable } from './printable.ts';
import { isUnhandled } from './retry.ts';

/** An answer that is no success, as far as it was read. */
export interface Refusal {
  readonly status: number;
  readonly statusText: string;
  readonly body: string;
  readonly retryAfter?: string | undefined;
  /** How long it wants to be left alone; longer than we wait. */
  readonly waitMs?: number | undefined;
}

export interface Asked {
  readonly server: ServerName;
  readonly method: string | undefined;
  /** Whether the entry brought an Authorization header along. */
  readonly hasToken: boolean;
}

/** Refused before it was handled. After any other status the server may have begun with it. */
const UNTOUCHED = new Set([400, 401, 403, 404, 405, 406, 407, 411, 413, 414, 415, 421, 425, 426, 431, 501]);

const WRONG_ADDRESS = new Set([400, 404, 405]);

/** It does not want this request, now or later; about the server itself that says nothing. */
const isRefusal = (status: number) => status >= 400 && status < 500 && UNTOUCHED.has(status) && status !== 425;

/** Where the whole address is wrong, a server says so to the very first message. */
export function isWrongAddress(method: string | undefined, status: number): boolean {
  return method === 'initialize' && WRONG_ADDRESS.has(status);
}

export function failureOf(refusal: Refusal, asked: Asked): RequestFailure {
  const { status, retryAfter } = refusal;
  const sent = !UNTOUCHED.has(status) && !isUnhandled(status, retryAfter);
  return { sent, status, cause: causeOf(refusal, asked) };
}

function causeOf(refusal: Refusal, { server, method, hasToken }: Asked): RuntimeError {
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

/** The body is quoted without its line ends: it stands in the middle of a sentence. */
function answered({ status, statusText, body, waitMs }: Refusal): string {
  const wait = waitMs === undefined ? '' : ` and wants to be left alone for ${Math.ceil(waitMs / 1_000)} s`;
  const words = printable(statusText).trim();
  const quote = printable(body).replace(/\s+/g, ' ').trim().slice(0, limits.noiseQuoteChars);
  return `answered HTTP ${status}${words === '' ? '' : ` (${words})`}${wait}${quote === '' ? '' : `: ${quote}`}`;
}

/** The request itself is fine: on a new session it can be sent again. */
export function sessionExpired(server: ServerName, status: number): RequestFailure {
  return { sent: false, status: 404, cause: lost(server, `its session expired (HTTP ${status})`) };
}

/** What is not found here is what the request asked for: a method, a tool, a resource. */
const ABOUT_REQUEST: ReadonlySet<unknown> = new Set([-32601, -32602, -32002]);
const SERVER_ERROR = -32000;

/**
 * The protocol's word is 404, unless the request itself is answered with it. Many servers say it with a 400 and an error of
 * their own that names no request.
 */
export function isUnknownSession(status: number, answer: ErrorAnswer | undefined): boolean {
  const error = answer?.message['error'];
  const code = isObject(error) ? error['code'] : undefined;
  if (status === 404) return answer === undefined || answer.loose || !ABOUT_REQUEST.has(code);
  return status === 400 && answer?.loose === true && code === SERVER_ERROR;
}

export interface ErrorAnswer {
  readonly message: Message;
  /** It names no request: the one it came for is meant. */
  readonly loose: boolean;
}

export function lost(server: ServerName, reason: string, cause?: unknown): RuntimeError {
  return new RuntimeError('CONNECTION_LOST', { server, reason, isRemote: true }, { cause });
}

export function broken(server: ServerName, reason: string, cause?: unknown): RuntimeError {
  return new RuntimeError('PROTOCOL_BROKEN', { server, reason, isRemote: true }, { cause });
}

/** A no in the protocol's own words is an answer. `loose` when it names no request and only one can be meant. */
export function errorAnswerIn(body: string, id: MessageId): ErrorAnswer | undefined {
  const parsed = body.trimStart().startsWith('{') ? parseJson(body) : undefined;
  if (!parsed?.ok || !isObject(parsed.value)) return undefined;
  const message = parsed.value;
  if (message['jsonrpc'] !== '2.0' || !isObject(message['error']) || message['method'] !== undefined) return undefined;
  if (message['id'] === id) return { message, loose: false };
  const namesNobody = message['id'] === null || message['id'] === undefined;
  return namesNobody ? { message: { ...message, id }, loose: true } : undefined;
}

/** What a server of the older era answers to a question that only the modern one knows. */
export function unknownMethod(id: MessageId): Message {
  return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } };
}

/** A login, a ban or a rush say nothing about what a server can speak; every other 4xx to the era's probe does. */
export function tellsOlderEra(status: number): boolean {
  return status >= 400 && status < 500 && status !== 401 && status !== 403 && status !== 407 && status !== 429;
}

/** What a report can say of it. */
export function reasonIn({ data }: RuntimeError): string {
  if ('reason' in data) return data.reason;
  return 'problem' in data ? data.problem : 'it wants a login';
}
