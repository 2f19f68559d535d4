// Owns the GET stream on which a server of the older era sends its own requests and notifications: opened in the
// background, reopened when it ends. A server without such a stream works as well.

import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { isObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { MessageId, RequestFailure } from '../model/server.ts';
import type { Exchange, HttpClient, HttpListener, ResponseHeaders, Target } from './exchange.ts';
import { type HeaderBlock, headerValue } from './http-headers.ts';
import { EventBody, type ResponseListener, responseKind } from './http-response.ts';
import type { RequestContext } from './in-flight-request.ts';
import { isPassing } from './retry.ts';

export interface ListeningOptions {
  readonly client: HttpClient;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
  readonly target: Target;
  readonly headers: HeaderBlock;
  /** Called whenever the server has answered the request for the stream, with or without success. */
  readonly onAnswered: () => void;
  readonly queue: Pick<RequestContext, 'deliver' | 'oversized' | 'noise' | 'unreachable'>;
}

export class ListeningStream implements HttpListener, ResponseListener {
  readonly #options: ListeningOptions;
  #exchange: Exchange | undefined;
  #cancelPause: CancelTimer | undefined;
  #body: EventBody | undefined;
  #lastEventId: string | undefined;
  #openedAt = 0;
  #firstPauseMs: number = limits.listenAgainMs;
  /** How often in a row the stream ended soon after it was opened. */
  #shortLives = 0;

  constructor(options: ListeningOptions) {
    this.#options = options;
  }

  readonly open = (): void => {
    const { client, target, headers } = this.#options;
    const lastIdHeader = this.#lastEventId === undefined ? undefined : headerValue(this.#lastEventId);
    const block = lastIdHeader === undefined ? headers : [...headers, 'last-event-id', lastIdHeader];
    this.#cancelPause = undefined;
    this.#exchange = client.exchange({ method: 'GET', target, headers: block }, this);
  };

  stop(): void {
    this.#cancelPause?.();
    this.#abort();
  }

  head(status: number, headers: ResponseHeaders): void {
    const { clock, maxMessageBytes, onAnswered } = this.#options;
    onAnswered();
    this.#openedAt = clock.now();
    if (status === 200 && responseKind(status, headers) === 'events') {
      this.#body = new EventBody(maxMessageBytes, this);
      return;
    }
    this.#abort();
    // Most servers have no such stream and refuse it with various statuses; only a temporary one is worth a retry.
    if (isPassing(status)) this.#openAgain();
  }

  data(chunk: Buffer): Promise<void> | undefined {
    this.#body?.push(chunk);
    return this.#body?.whenIdle();
  }

  end(): void {
    this.#body?.end();
    this.#over();
  }

  failed({ sent, status, cause }: RequestFailure): void {
    this.#options.onAnswered();
    if (status !== undefined) return;
    if (sent) this.#over();
    else this.#options.queue.unreachable(cause);
  }

  onValue(value: unknown): void {
    if (Array.isArray(value)) for (const each of value) this.onValue(each);
    else if (isObject(value)) this.#options.queue.deliver(value);
    else this.onNoise(JSON.stringify(value));
  }

  onNoise(text: string): void {
    this.#options.queue.noise(text);
  }

  onOversized(id: MessageId | undefined): void {
    this.#options.queue.oversized(id);
  }

  /** Drops the exchange as well, since it would keep its connection in memory. */
  #abort(): void {
    this.#body?.stop();
    this.#exchange?.abort();
    this.#exchange = undefined;
  }

  #over(): void {
    this.#exchange = undefined;
    const reader = this.#body?.reader;
    this.#body = undefined;
    this.#lastEventId = reader?.lastEventId ?? this.#lastEventId;
    if (reader && this.#options.clock.now() - this.#openedAt >= limits.stableMs) this.#shortLives = 0;
    this.#firstPauseMs = reader?.retryMs || this.#firstPauseMs;
    this.#openAgain();
  }

  /** The server may name the first pause. The pauses double for a server that ends every stream at once. */
  #openAgain(): void {
    const firstMs = this.#firstPauseMs;
    const pauseMs = Math.max(firstMs, Math.min(firstMs * 2 ** this.#shortLives, limits.listenAgainMostMs));
    this.#shortLives += 1;
    this.#cancelPause = this.#options.clock.after(pauseMs, this.open, 'background');
  }
}
