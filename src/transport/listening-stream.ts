// Owns the stream on which a server of the older era speaks unasked: opened in the background, opened again when it ends,
// and never missed where a server has none.

import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { isObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { MessageId, RequestFailure } from '../model/server.ts';
import { type AnswerListener, EventBody, kindOfAnswer } from './answer.ts';
import type { AnswerHeaders, Exchange, HttpClient, HttpListener, Target } from './exchange.ts';
import { type HeaderBlock, headerValue } from './http-headers.ts';
import type { PostOffice } from './post.ts';
import { isPassing } from './retry.ts';

export interface ListeningOptions {
  readonly client: HttpClient;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
  readonly target: Target;
  readonly headers: HeaderBlock;
  /** Told each time the server has answered, whatever it said. */
  readonly onAnswered: () => void;
  readonly office: Pick<PostOffice, 'deliver' | 'oversized' | 'noise' | 'unreachable'>;
}

export class ListeningStream implements HttpListener, AnswerListener {
  readonly #options: ListeningOptions;
  #exchange: Exchange | undefined;
  #cancelPause: CancelTimer | undefined;
  #body: EventBody | undefined;
  #lastEventId: string | undefined;
  #openedAt = 0;
  #firstPauseMs: number = limits.listenAgainMs;
  /** How often it ended soon after it was opened. */
  #shortLives = 0;

  constructor(options: ListeningOptions) {
    this.#options = options;
  }

  readonly open = (): void => {
    const { client, target, headers } = this.#options;
    const place = this.#lastEventId === undefined ? undefined : headerValue(this.#lastEventId);
    const block = place === undefined ? headers : [...headers, 'last-event-id', place];
    this.#cancelPause = undefined;
    this.#exchange = client.exchange({ method: 'GET', target, headers: block }, this);
  };

  stop(): void {
    this.#cancelPause?.();
    this.#abort();
  }

  head(status: number, headers: AnswerHeaders): void {
    const { clock, maxMessageBytes, onAnswered } = this.#options;
    onAnswered();
    this.#openedAt = clock.now();
    if (status === 200 && kindOfAnswer(status, headers) === 'events') {
      this.#body = new EventBody(maxMessageBytes, this);
      return;
    }
    this.#abort();
    // Most servers have no such stream, and say so in many ways; only a trouble that may pass is worth another try.
    if (isPassing(status)) this.#openAgain();
  }

  data(chunk: Buffer): void {
    this.#body?.push(chunk);
  }

  end(): void {
    this.#body?.end();
    this.#over();
  }

  failed({ sent, status, cause }: RequestFailure): void {
    this.#options.onAnswered();
    if (status !== undefined) return;
    if (sent) this.#over();
    else this.#options.office.unreachable(cause);
  }

  onValue(value: unknown): void {
    if (Array.isArray(value)) for (const each of value) this.onValue(each);
    else if (isObject(value)) this.#options.office.deliver(value);
    else this.onNoise(JSON.stringify(value));
  }

  onNoise(text: string): void {
    this.#options.office.noise(text);
  }

  onOversized(id: MessageId | undefined): void {
    this.#options.office.oversized(id);
  }

  /** Let go of at once: it holds on to its connection. */
  #abort(): void {
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

  /** The server may ask for a pause of its own; one that ends every stream at once is asked less and less. */
  #openAgain(): void {
    const firstMs = this.#firstPauseMs;
    const pauseMs = Math.max(firstMs, Math.min(firstMs * 2 ** this.#shortLives, limits.listenAgainMostMs));
    this.#shortLives += 1;
    this.#cancelPause = this.#options.clock.after(pauseMs, this.open, 'background');
  }
}
