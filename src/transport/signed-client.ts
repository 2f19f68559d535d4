// Owns sending the requests of one server with a person's login: each request gets the headers of the moment, so that a refreshed
// token is used without opening the session anew, and a refused one is sent again where the login has other tokens by then.
// Which login that is, and how it is refreshed, is left to `auth/`.

import { asRuntimeError, type RuntimeError } from '../model/errors.ts';
import type { RequestFailure } from '../model/server.ts';
import {
  type Exchange,
  type HttpClient,
  type HttpListener,
  type HttpRequest,
  headerIn,
  type ResponseHeaders,
} from './exchange.ts';
import type { HeaderBlock } from './http-headers.ts';

export interface RequestLogin {
  /** The headers that authenticate one request. Throws or rejects with a `RuntimeError` where there is no login to use. */
  headersFor(request: { readonly method: string; readonly url: string }): HeaderBlock | Promise<HeaderBlock>;
  /** A response, of whatever status, named the nonce that the next proofs should have (RFC 9449, section 8.2). */
  onNonce(nonce: string): void;
  /**
   * The server refused a request that had these headers. `again`: there are others by now. Otherwise what the request fails with;
   * `undefined`: with what the response says.
   */
  onRefused(headers: HeaderBlock, refusal: LoginRefusal): Promise<'again' | RuntimeError | undefined>;
}

export interface LoginRefusal {
  readonly status: number;
  /** The header `WWW-Authenticate`. */
  readonly challenge?: string | undefined;
  /** The header `DPoP-Nonce`. */
  readonly nonce?: string | undefined;
  /** How often this request was sent again before. */
  readonly repeats: number;
}

export function createSignedClient(client: HttpClient, login: RequestLogin): HttpClient {
  return {
    server: client.server,
    exchange: (request, listener) => new SignedExchange(client, login, { request, listener }),
    close: () => client.close(),
  };
}

interface SignedRequest {
  readonly request: HttpRequest;
  readonly listener: HttpListener;
}

class SignedExchange implements Exchange, HttpListener {
  readonly #client: HttpClient;
  readonly #login: RequestLogin;
  readonly #request: HttpRequest;
  #listener: HttpListener | undefined;
  #exchange: Exchange | undefined;
  #headers: HeaderBlock = [];
  #repeats = 0;
  /** Set while the login decides about a refusal: the rest of the response waits. */
  #decision: Promise<void> | undefined;

  constructor(client: HttpClient, login: RequestLogin, { request, listener }: SignedRequest) {
    this.#client = client;
    this.#login = login;
    this.#request = request;
    this.#listener = listener;
    this.#begin();
  }

  get sent(): boolean {
    return this.#exchange?.sent ?? false;
  }

  abort(): void {
    this.#listener = undefined;
    this.#exchange?.abort();
  }

  head(status: number, headers: ResponseHeaders, statusText: string): void {
    const nonce = headerIn(headers, 'dpop-nonce');
    if (nonce !== undefined) this.#login.onNonce(nonce);
    if (status !== 401 && status !== 403) {
      this.#listener?.head(status, headers, statusText);
      return;
    }
    const challenge = headerIn(headers, 'www-authenticate');
    const refusal = { status, challenge, nonce, repeats: this.#repeats };
    this.#decision = this.#login.onRefused(this.#headers, refusal).then(
      (verdict) => {
        this.#decision = undefined;
        if (verdict === undefined) this.#listener?.head(status, headers, statusText);
        else if (verdict === 'again') this.#repeat();
        else this.#fail(verdict, status);
      },
      (error: unknown) => this.#fail(asRuntimeError(error), status),
    );
  }

  data(chunk: Buffer): Promise<void> | undefined {
    if (this.#decision === undefined) return this.#listener?.data(chunk);
    const exchange = this.#exchange;
    return this.#decision.then(() => (exchange === this.#exchange ? this.#listener?.data(chunk) : undefined));
  }

  end(): void {
    this.#afterDecision((listener) => listener.end());
  }

  failed(failure: RequestFailure): void {
    this.#afterDecision((listener) => listener.failed(failure));
  }

  redirected(): void {
    this.#listener?.redirected?.();
  }

  /** Tells the listener, unless the response that this belongs to was put aside for another one. */
  #afterDecision(tell: (listener: HttpListener) => void): void {
    if (this.#decision === undefined) {
      if (this.#listener) tell(this.#listener);
      return;
    }
    const exchange = this.#exchange;
    void this.#decision.then(() => {
      if (this.#listener && exchange === this.#exchange) tell(this.#listener);
    });
  }

  #begin(): void {
    const { method, target } = this.#request;
    try {
      const headers = this.#login.headersFor({ method, url: target.href });
      if (!(headers instanceof Promise)) this.#dispatch(headers);
      else
        headers.then(
          (given) => this.#dispatch(given),
          (error: unknown) => this.#fail(asRuntimeError(error), 401),
        );
    } catch (error) {
      // Told later, as every failure: the caller does not have the exchange yet.
      queueMicrotask(() => this.#fail(asRuntimeError(error), 401));
    }
  }

  #dispatch(headers: HeaderBlock): void {
    if (this.#listener === undefined) return;
    this.#headers = headers;
    this.#exchange = this.#client.exchange({ ...this.#request, headers: [...this.#request.headers, ...headers] }, this);
  }

  /** A refused request was not handled, so sending it again does no harm. */
  #repeat(): void {
    this.#repeats += 1;
    this.#exchange?.abort();
    this.#exchange = undefined;
    if (this.#listener) this.#begin();
  }

  /** A missing login is told as the 401 that it would lead to; an outage as a server that was not reached. */
  #fail(cause: RuntimeError, status: number): void {
    const listener = this.#listener;
    this.abort();
    listener?.failed(cause.reconnect ? { sent: false, cause } : { sent: false, status, cause });
  }
}
