// Owns one HTTP request from its dispatch to its end, redirects included. Redirects are followed only within the origin,
// so that messages and headers for one server never reach another.

import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { RequestFailure } from '../model/server.ts';
import type { RequestControl, ResponseHandler } from './http-connection.ts';
import { broken, lost } from './http-failure.ts';
import type { HeaderBlock } from './http-headers.ts';
import { HttpFault, type HttpFaultKind, type ResponseHeaders } from './http-message.ts';
import { networkReason } from './network-failure.ts';

export type { ResponseHeaders } from './http-message.ts';

/** An address, parsed once. */
export interface Target {
  readonly href: string;
  readonly origin: string;
  readonly path: string;
}

/** `address` may be relative to `base`. `undefined` for an address that is not http or https. */
export function targetOf(address: string, base?: string): Target | undefined {
  if (!URL.canParse(address, base)) return undefined;
  const { origin, pathname, search, protocol } = new URL(address, base);
  if (protocol !== 'http:' && protocol !== 'https:') return undefined;
  return { href: `${origin}${pathname}${search}`, origin, path: `${pathname}${search}` };
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly target: Target;
  readonly headers: HeaderBlock;
  readonly body?: string | undefined;
  /** How often it may be sent to another address of the same origin; `limits.redirects` unless it says less. */
  readonly maxRedirects?: number | undefined;
}

/** The first value, if a header was sent twice. */
export function headerIn(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** The methods must not throw. After `end`, `failed` or an abort, no further method is called. */
export interface HttpListener {
  head(status: number, headers: ResponseHeaders, statusText: string): void;
  /** While a returned promise is pending, no more is read: neither `data` nor `end` is called. */
  data(chunk: Buffer): Promise<void> | undefined;
  end(): void;
  /** Without a status, `sent: false` means that no server was reached: not one byte was handed to a connection. */
  failed(failure: RequestFailure): void;
  /** The request is sent again, to another address of the same origin. */
  redirected?(): void;
}

export interface Exchange {
  /** Whether a byte of the request may have left. */
  readonly sent: boolean;
  abort(): void;
}

export interface HttpClient {
  readonly server: ServerName;
  exchange(request: HttpRequest, listener: HttpListener): Exchange;
  /** Resolves when no socket is left; exchanges that were under way have failed by then. */
  close(): Promise<void>;
}

export interface HttpDispatcher {
  readonly server: ServerName;
  dispatch(request: HttpRequest, handler: ResponseHandler): void;
}

/** These redirects repeat the same request; the others turn a POST into a GET, which carries no message. */
const KEEPS_METHOD = new Set([307, 308]);
const REDIRECTS = new Set([301, 302, 303, ...KEEPS_METHOD]);

const ABORTED = new DOMException('the request was aborted', 'AbortError');

export class HttpExchange implements Exchange, ResponseHandler {
  readonly #dispatcher: HttpDispatcher;
  #request: HttpRequest;
  #listener: HttpListener | undefined;
  #connection: RequestControl | undefined;
  #redirects = 0;
  /** Where to send the request again, once the response that said so is over. */
  #next: Target | undefined;
  /** How much of that response was read, which nobody needs. */
  #skippedBytes = 0;
  #isDispatching = false;

  constructor(dispatcher: HttpDispatcher, request: HttpRequest, listener: HttpListener) {
    this.#dispatcher = dispatcher;
    this.#request = request;
    this.#listener = listener;
    this.#dispatch();
  }

  get sent(): boolean {
    return this.#connection !== undefined;
  }

  abort(): void {
    if (this.#listener === undefined) return;
    this.#listener = undefined;
    this.#connection?.abort(ABORTED);
  }

  started(connection: RequestControl): void {
    this.#connection = connection;
    if (this.#listener === undefined) connection.abort(ABORTED);
  }

  head(status: number, headers: ResponseHeaders, statusText: string): void {
    const location = REDIRECTS.has(status) ? headerIn(headers, 'location') : undefined;
    if (location === undefined) this.#listener?.head(status, headers, statusText);
    else this.#redirect(status, location);
  }

  data(chunk: Buffer): void {
    const connection = this.#connection;
    if (this.#next !== undefined) {
      this.#skippedBytes += chunk.length;
      if (this.#skippedBytes > limits.refusalBytes) connection?.abort(ABORTED);
      return;
    }
    const busy = this.#listener?.data(chunk);
    if (busy === undefined || connection === undefined) return;
    connection.pause();
    void busy.then(() => connection.resume());
  }

  end(): void {
    const target = this.#next;
    if (target === undefined) {
      this.#take()?.end();
      return;
    }
    this.#next = undefined;
    this.#skippedBytes = 0;
    this.#connection = undefined;
    if (this.#listener === undefined) return;
    this.#request = { ...this.#request, target };
    this.#listener.redirected?.();
    this.#dispatch();
  }

  failed(error: Error): void {
    // The constructor is still running: report the failure only once the caller has the exchange.
    if (this.#isDispatching) {
      queueMicrotask(() => this.failed(error));
      return;
    }
    // The head said where to go; how its body ends does not matter.
    if (this.#next !== undefined) {
      this.end();
      return;
    }
    const cause = error instanceof RuntimeError ? error : lost(this.#dispatcher.server, breakdown(error), error);
    this.#take()?.failed({ sent: this.sent, cause });
  }

  #dispatch(): void {
    this.#isDispatching = true;
    this.#dispatcher.dispatch(this.#request, this);
    this.#isDispatching = false;
  }

  #redirect(status: number, location: string): void {
    const { method, target, maxRedirects = limits.redirects } = this.#request;
    const next = targetOf(location, target.href);
    const keepsMethod = KEEPS_METHOD.has(status);
    let problem: string | undefined;
    if (next === undefined) problem = 'to an address that is not http or https';
    else if (next.origin !== target.origin) problem = `to ${next.origin}, which is another origin`;
    else if (method !== 'GET' && !keepsMethod) problem = `with HTTP ${status}, which no message can follow`;
    else if (this.#redirects >= maxRedirects) problem = 'again and again';
    if (problem === undefined) {
      this.#redirects += 1;
      this.#next = next;
      return;
    }
    const listener = this.#take();
    this.#connection?.abort(ABORTED);
    // A server that redirects with 307 or 308 has not handled the message; after another redirect it may have.
    listener?.failed({ sent: !keepsMethod, status, cause: broken(this.#dispatcher.server, `it redirects ${problem}`) });
  }

  #take(): HttpListener | undefined {
    const listener = this.#listener;
    this.#listener = undefined;
    return listener;
  }
}

const BREAKDOWNS: Readonly<Record<HttpFaultKind, string>> = {
  'hung-up': 'it hung up',
  'cut-off': 'its answer was cut off',
  'head-too-large': 'the head of its answer is too large',
  'not-http': 'its answer is not valid HTTP',
  closed: 'it was closed',
};

const breakdown = (error: Error) => (error instanceof HttpFault ? BREAKDOWNS[error.kind] : networkReason(error));
