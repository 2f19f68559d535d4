// Owns what an HTTP status other than success means: which failure it is, and whether the server may have acted on the request.

import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { RequestFailure } from '../model/server.ts';
import { printable } from './printable.ts';

/** A response without success, as far as it was read. */
export interface HttpRefusal {
  readonly status: number;
  readonly statusText: string;
  readonly body: string;
  /** How long the server wants the client to wait; set after a 429, and where that is longer than the client waits. */
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
const NOT_HANDLED = new Set([400, 401, 403, 404, 405, 406, 407, 411, 413, 414, 415, 421, 425, 426, 429, 431, 501]);

/** Not for good: the same request may be taken later. */
const LATER = new Set([425, 429]);

const WRONG_ADDRESS = new Set([400, 404, 405]);

/** The server refuses this request for good, which says nothing about the health of the server. */
const isRefusal = (status: number) => status >= 400 && status < 500 && NOT_HANDLED.has(status) && !LATER.has(status);

/** Whether the server answered the first message in a way that shows that the configured address is wrong. */
export function isWrongAddress(method: string | undefined, status: number): boolean {
  return method === 'initialize' && WRONG_ADDRESS.has(status);
}

export function failureOf(refusal: HttpRefusal, request: RefusedRequest): RequestFailure {
  const { status } = refusal;
  return { sent: !NOT_HANDLED.has(status), status, cause: causeOf(refusal, request) };
}

function causeOf(refusal: HttpRefusal, { server, method, hasToken }: RefusedRequest): RuntimeError {
  const { status } = refusal;
  if (status === 401 && !hasToken) return new RuntimeError('AUTH_REQUIRED', { server });
  if (status === 401) {
    return new RuntimeError('AUTH_FAILED', { server, reason: 'it refused the token it was given (HTTP 401)', status });
  }
  if (status === 403) return new RuntimeError('AUTH_FAILED', { server, reason: `it ${answered(refusal)}` });
  if (status === 407) {
    return new RuntimeError('CONFIG_INVALID', { problem: `the proxy of server "${server}" wants a login (HTTP 407)` });
  }
  const reason = `it ${answered(refusal)}`;
  if (status === 429) {
    const isAtStart = method === 'initialize' || method === 'server/discover';
    return new RuntimeError('RATE_LIMITED', { server, reason, ...waitIn(refusal), ...(isAtStart && { isAtStart }) });
  }
  if (isWrongAddress(method, status)) return broken(server, reason);
  return isRefusal(status) ? new RuntimeError('REQUEST_REFUSED', { server, reason }) : lost(server, reason);
}

const waitIn = ({ waitMs }: HttpRefusal) => (waitMs === undefined ? {} : { waitMs });

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

export function lost(server: ServerName, reason: string, cause?: unknown): RuntimeError {
  return new RuntimeError('CONNECTION_LOST', { server, reason, isRemote: true }, { cause });
}

export function broken(server: ServerName, reason: string, cause?: unknown): RuntimeError {
  return new RuntimeError('PROTOCOL_BROKEN', { server, reason, isRemote: true }, { cause });
}

/** The reason of a failure as a report quotes it. */
export function reasonIn({ data }: RuntimeError): string {
  if ('reason' in data) return data.reason;
  return 'problem' in data ? data.problem : 'it wants a login';
}
