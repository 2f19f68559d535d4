// Owns one stream of server-sent events: its messages in order, and in the legacy era their ids and the last ones sent, so that a
// client that lost the connection can fetch the rest. A stream may have several connections; the newest is written to.

import type { ServerResponse } from 'node:http';
import { Outbox, type Outgoing } from './outbox.ts';

/** A message gets its number when it is written: one that gave way before leaves no gap and no disorder. */
interface StreamEvent extends Outgoing {
  readonly number?: number;
}

interface SentEvent extends Outgoing {
  readonly number: number;
}

export interface EventStreamOptions {
  /** Names the stream in the ids of its events; without it the stream cannot be resumed. */
  readonly name?: string;
  /** How many messages may wait before progress and log messages give way. */
  readonly waiting: number;
  /** How many sent events, and how many characters of them, are kept for a client that comes back. */
  readonly kept: { readonly events: number; readonly chars: number };
  /** Told to clients as the pause before they come back. */
  readonly retryMs: number;
}

export class EventStream {
  readonly #options: EventStreamOptions;
  readonly #outbox: Outbox<StreamEvent>;
  #responses: ServerResponse[] = [];
  #sent: SentEvent[] = [];
  #sentChars = 0;
  #last = 0;
  #isFinished = false;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#outbox = new Outbox(options.waiting, (event) => this.#write(event));
    this.#outbox.pause();
  }

  get isOpen(): boolean {
    return this.#responses.length > 0;
  }

  get connections(): number {
    return this.#responses.length;
  }

  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** The number of characters that are kept for a client that comes back. */
  get keptChars(): number {
    return this.#sentChars;
  }

  push(text: string, mergeKey?: string): void {
    if (this.#isFinished) return;
    this.#outbox.push({ text, ...(mergeKey !== undefined && { mergeKey }) });
  }

  /** Writes to this connection from now on: everything after the event with that number, or everything not yet sent. */
  attach(response: ServerResponse, after?: number): void {
    this.#responses.push(response);
    response.on('drain', () => this.#isCurrent(response) && this.#outbox.resume());
    response.on('close', () => this.#detach(response));
    if (this.#options.name !== undefined)
      response.write(`id: ${this.#options.name}.${after ?? this.#last}\nretry: ${this.#options.retryMs}\ndata: \n\n`);
    if (after !== undefined) this.#putBack(after);
    this.#outbox.resume();
    this.#endIfDone();
  }

  /** A comment: proxies and clients see that the connection lives. */
  keepAlive(): void {
    for (const response of this.#responses) response.write(': keep-alive\n\n');
  }

  /** No message follows: connections end once all is written. */
  finish(): void {
    this.#isFinished = true;
    this.#endIfDone();
  }

  /** Ends the connections; the stream goes on and can be resumed. */
  disconnect(): void {
    const responses = this.#responses;
    this.#responses = [];
    this.#outbox.pause();
    for (const response of responses) response.end();
  }

  #write({ number: given, text }: StreamEvent): boolean {
    const response = this.#responses.at(-1);
    if (response === undefined) return false;
    const number = given ?? ++this.#last;
    const { name } = this.#options;
    const id = name === undefined ? '' : `id: ${name}.${number}\n`;
    const goesOn = response.write(`event: message\n${id}data: ${text}\n\n`);
    if (name !== undefined) this.#keep({ number, text });
    return goesOn;
  }

  #keep(event: SentEvent): void {
    this.#sent.push(event);
    this.#sentChars += event.text.length;
    const { events, chars } = this.#options.kept;
    while (this.#sent.length > 1 && (this.#sent.length > events || this.#sentChars > chars))
      this.#sentChars -= this.#sent.shift()?.text.length ?? 0;
  }

  #putBack(after: number): void {
    const missed = this.#sent.filter(({ number }) => number > after);
    this.#sent = this.#sent.filter(({ number }) => number <= after);
    this.#sentChars = this.#sent.reduce((sum, { text }) => sum + text.length, 0);
    this.#outbox.putBack(missed);
  }

  #isCurrent(response: ServerResponse): boolean {
    return this.#responses.at(-1) === response;
  }

  #detach(response: ServerResponse): void {
    this.#responses = this.#responses.filter((each) => each !== response);
    if (this.#responses.length === 0) this.#outbox.pause();
    else this.#outbox.resume();
  }

  #endIfDone(): void {
    if (!this.#isFinished || this.#responses.length === 0) return;
    void this.#outbox.whenEmpty().then(() => this.disconnect());
  }
}
