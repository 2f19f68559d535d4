// Owns the choice between the two transports over HTTP where an entry leaves it open: the newer one first, the older one
// when the handshake shows that the server knows no other. Whoever sends the handshake notices nothing.

import { isObject } from '../kernel/json.ts';
import { asRuntimeError, type RuntimeError } from '../model/errors.ts';
import type { Channel, ChannelReport, Message, MessageId, RequestFailure, SendOptions } from '../model/server.ts';
import { openHttp } from './http.ts';
import { isWrongAddress, lost } from './http-failure.ts';
import type { HttpOptions } from './http-options.ts';
import { idOf } from './post.ts';
import { openSse } from './sse.ts';

export interface AutoOptions extends HttpOptions {
  /** What the server spoke the last time. */
  readonly remembered?: 'http' | 'sse' | undefined;
  /** Told once, when the server has answered. */
  readonly onVerdict: (negotiatedTransport: 'http' | 'sse') => void;
}

/** Opens nothing yet: `start` does. */
export function openAuto(options: AutoOptions): Channel {
  return new AutoChannel(options);
}

const OPENING_METHODS: ReadonlySet<unknown> = new Set(['initialize', 'server/discover']);

class AutoChannel implements Channel {
  onmessage?: ((message: Message) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onfailed?: ((id: MessageId, failure: RequestFailure) => void) | undefined;
  onoversized?: ((id: MessageId | undefined) => void) | undefined;
  onsign?: ((id: MessageId) => void) | undefined;

  readonly #options: AutoOptions;
  /** The one that is spoken over, and all that were tried. */
  #channel: Channel | undefined;
  readonly #tried: Channel[] = [];
  #opening: Promise<void> | undefined;
  #switching: Promise<void> | undefined;
  /** Why the remembered transport could not be used: where the other one fails as well, this was the true cause. */
  #forgotten: RuntimeError | undefined;
  /** The questions whose answer settles what is spoken; nothing once it is settled. */
  #questions: Map<MessageId, Message> | undefined = new Map();
  #closing: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: AutoOptions) {
    this.#options = options;
  }

  get negotiatedTransport(): 'http' | 'sse' | undefined {
    return this.#channel?.negotiatedTransport;
  }

  get hasRequestStreams(): boolean {
    return this.#channel?.hasRequestStreams ?? false;
  }

  async start(): Promise<void> {
    if (this.#closing === undefined) {
      this.#opening ??= this.#open();
      await this.#opening;
    }
    if (this.#closing !== undefined) throw this.#lost();
  }

  send(message: Message, options?: SendOptions): Promise<void> {
    if (this.#channel === undefined || this.#closing !== undefined) return Promise.reject(this.#lost());
    if (this.#questions !== undefined) this.#noteQuestion(this.#questions, message);
    if (this.#switching === undefined) return this.#channel.send(message, options);
    return this.#switching.then(() => this.#channel?.send(message, options));
  }

  abandon(id: MessageId): void {
    this.#questions?.delete(id);
    this.#channel?.abandon?.(id);
  }

  /** From this call on nothing is delivered but `onclose`. */
  close(): Promise<void> {
    this.onmessage = undefined;
    this.onerror = undefined;
    this.onfailed = undefined;
    this.onoversized = undefined;
    this.onsign = undefined;
    this.#closing ??= this.#close();
    return this.#closing;
  }

  report(): ChannelReport {
    return this.#channel?.report?.() ?? { reason: 'it has not answered', isRemote: true };
  }

  async #open(): Promise<void> {
    if (this.#options.remembered === 'sse') {
      const sse = this.#adopt(openSse(this.#options));
      try {
        await sse.start();
        return;
      } catch (error) {
        this.#forgotten = asRuntimeError(error);
        this.#channel = undefined;
        await sse.close();
        if (this.#closing !== undefined) throw error;
      }
    }
    await this.#adopt(openHttp(this.#options)).start();
  }

  /** What one that is no longer spoken over still says is nobody's business. */
  #adopt(channel: Channel): Channel {
    this.#tried.push(channel);
    this.#channel = channel;
    const isSpoken = () => this.#channel === channel;
    channel.onmessage = (message) => {
      if (this.#questions !== undefined) this.#judge(message);
      if (isSpoken()) this.onmessage?.(message);
    };
    channel.onoversized = (id) => isSpoken() && this.onoversized?.(id);
    channel.onsign = (id) => isSpoken() && this.onsign?.(id);
    channel.onerror = (error) => isSpoken() && this.onerror?.(error);
    channel.onfailed = (id, failure) => isSpoken() && this.#fail(id, failure);
    channel.onclose = () => isSpoken() && this.#closing === undefined && this.#finish();
    return channel;
  }

  #noteQuestion(questions: Map<MessageId, Message>, message: Message): void {
    const id = idOf(message);
    if (id !== undefined && OPENING_METHODS.has(message['method'])) questions.set(id, message);
  }

  #judge({ id, method, result }: Message): void {
    if (method !== undefined || !isObject(result) || !this.#questions?.has(id as MessageId)) return;
    this.#questions = undefined;
    if (this.negotiatedTransport !== undefined) this.#options.onVerdict(this.negotiatedTransport);
  }

  #fail(id: MessageId, failure: RequestFailure): void {
    const question = this.#questions?.get(id);
    this.#questions?.delete(id);
    // So a server that only knows the older transport answers a handshake over the newer one.
    const mayBeOlder = question?.['method'] === 'initialize' && isWrongAddress('initialize', failure.status ?? 0);
    if (question === undefined || !mayBeOlder || this.negotiatedTransport !== 'http') this.onfailed?.(id, failure);
    else if (this.#forgotten !== undefined) this.onfailed?.(id, { sent: false, cause: this.#forgotten });
    else this.#switching = this.#switch(id, question, failure);
  }

  /** When the older transport cannot be opened either, the first failure stands: that address was never meant for it. */
  async #switch(id: MessageId, question: Message, failure: RequestFailure): Promise<void> {
    const http = this.#channel;
    const sse = this.#adopt(openSse(this.#options));
    try {
      await sse.start();
      this.#questions?.set(id, question);
      await sse.send(question);
      await http?.close();
    } catch {
      this.#channel = http;
      await sse.close();
      this.#questions?.delete(id);
      this.onfailed?.(id, failure);
    } finally {
      this.#switching = undefined;
    }
  }

  async #close(): Promise<void> {
    await Promise.all(this.#tried.map((channel) => channel.close()));
    await Promise.allSettled([this.#opening, this.#switching]);
    await Promise.all(this.#tried.map((channel) => channel.close()));
    this.#finish();
  }

  #finish(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }

  #lost(): RuntimeError {
    return lost(this.#options.server, this.#closing === undefined ? this.report().reason : 'it was closed');
  }
}
