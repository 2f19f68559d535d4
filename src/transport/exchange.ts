// Owns one request over HTTP from its dispatch to its end, redirects included: they stay within the origin, so that what
// was meant for one server is never shown to another.

import type { Dispatcher } from 'undici';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { RequestFailure } from '../model/server.ts';
import { errorCode } from './error-code.ts';
import { broken, lost } from './http-failure.ts';
import type { HeaderBlock } from './http-headers.ts';
import { networkReason } from './network-failure.ts';

/** An address, taken apart once. */
export interface Target {
  readonly href: string;
  readonly origin: string;
  readonly path: string;
}

/** `address` may be relative to `base`. Nothing for what is no address in HTTP. */
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
}

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The first one, where a header was sent twice. */
export function headerIn(headers: AnswerHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** None of these may throw. After `end` or `failed`, and after an abort, nothing more is told. */
export interface HttpListener {
  head(status: number, headers: AnswerHeaders, statusText: string): void;
  data(chunk: Buffer): void;
  end(): void;
  /** Without a status, `sent: false` means that nobody was reached: not one byte was handed to a connection. */
  failed(failure: RequestFailure): void;
}

export interface Exchange {
  /** Whether a byte of it may have left. */
  readonly sent: boolean;
  abort(): void;
}

export interface HttpClient {
  readonly server: ServerName;
  exchange(request: HttpRequest, listener: HttpListener): Exchange;
  /** Resolves when no socket is left; whatever was under way has failed by then. */
  close(): Promise<void>;
}

export interface Line {
  readonly server: ServerName;
  dispatch(request: HttpRequest, handler: Dispatcher.DispatchHandler): void;
}

/** A redirect with one of these asks for the same request; with another it turns a message into a mere question. */
const KEEPS_METHOD = new Set([307, 308]);
const REDIRECTS = new Set([301, 302, 303, ...KEEPS_METHOD]);

const ABORTED = new DOMException('nobody waits for it', 'AbortError');

export class HttpExchange implements Exchange, Dispatcher.DispatchHandler {
  readonly #line: Line;
  #request: HttpRequest;
  #listener: HttpListener | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #redirects = 0;
  #next: Target | undefined;
  #isDispatching = false;

  constructor(line: Line, request: HttpRequest, listener: HttpListener) {
    this.#line = line;
    this.#request = request;
    this.#listener = listener;
    this.#dispatch();
  }

  get sent(): boolean {
    return this.#controller !== undefined;
  }

  abort(): void {
    if (this.#listener === undefined) return;
    this.#listener = undefined;
    this.#controller?.abort(ABORTED);
  }

  /** Comes right before the first byte is written. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#listener === undefined) controller.abort(ABORTED);
  }

  onResponseStart(_: unknown, status: number, headers: AnswerHeaders, statusText = ''): void {
    // What comes before the answer itself, such as early hints.
    if (status < 200) return;
    const location = REDIRECTS.has(status) ? headerIn(headers, 'location') : undefined;
    if (location === undefined) this.#listener?.head(status, headers, statusText);
    else this.#redirect(status, location);
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    if (this.#next === undefined) this.#listener?.data(chunk);
  }

  onResponseEnd(): void {
    const target = this.#next;
    if (target === undefined) {
      this.#take()?.end();
      return;
    }
    this.#next = undefined;
    this.#controller = undefined;
    if (this.#listener === undefined) return;
    this.#request = { ...this.#request, target };
    this.#dispatch();
  }

  onResponseError(_: unknown, error: Error): void {
    // Never told before the caller knows of the exchange.
    if (this.#isDispatching) {
      queueMicrotask(() => this.onResponseError(_, error));
      return;
    }
    const cause = error instanceof RuntimeError ? error : lost(this.#line.server, breakdown(error), error);
    this.#take()?.failed({ sent: this.sent, cause });
  }

  #dispatch(): void {
    this.#isDispatching = true;
    this.#line.dispatch(this.#request, this);
    this.#isDispatching = false;
  }

  #redirect(status: number, location: string): void {
    const { method, target } = this.#request;
    const next = targetOf(location, target.href);
    const keepsMethod = KEEPS_METHOD.has(status);
    let problem: string | undefined;
    if (next === undefined) problem = 'to an address that is none of HTTP';
    else if (next.origin !== target.origin) problem = `to ${next.origin}, which is another origin`;
    else if (method !== 'GET' && !keepsMethod) problem = `with HTTP ${status}, which no message can follow`;
    else if (this.#redirects === limits.redirects) problem = 'again and again';
    if (problem === undefined) {
      this.#redirects += 1;
      this.#next = next;
      return;
    }
    const listener = this.#take();
    this.#controller?.abort(ABORTED);
    // Whoever sends a message elsewhere has not handled it; the other redirects may well be the end of handling it.
    listener?.failed({ sent: !keepsMethod, status, cause: broken(this.#line.server, `it redirects ${problem}`) });
  }

  #take(): HttpListener | undefined {
    const listener = this.#listener;
    this.#listener = undefined;
    return listener;
  }
}

const BREAKDOWNS: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: 'it hung up',
  UND_ERR_HEADERS_OVERFLOW: 'the head of its answer is too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'its answer was cut off',
  UND_ERR_DESTROYED: 'it was closed',
  UND_ERR_CLOSED: 'it was closed',
};

function breakdown(error: Error): string {
  if (error.name === 'HTTPParserError') return 'it does not speak HTTP';
  return BREAKDOWNS[errorCode(error) ?? ''] ?? networkReason(error);
}
