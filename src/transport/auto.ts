// Owns the choice between the two HTTP transports for an entry that names neither: Streamable HTTP first, and HTTP+SSE
// when the response to the handshake shows that the server knows only that. The sender of the handshake does not notice.

import { isObject } from '../kernel/json.ts';
import { asRuntimeError, type RuntimeError } from '../model/errors.ts';
import type { Channel, ChannelReport, Message, MessageId, RequestFailure, SendOptions } from '../model/server.ts';
import { ChannelBase } from './channel-base.ts';
import { openHttp } from './http.ts';
import { isWrongAddress } from './http-failure.ts';
import type { RemoteChannelOptions } from './http-options.ts';
import { idOf } from './outgoing-request.ts';
import { openSse } from './sse.ts';

export interface AutoOptions extends RemoteChannelOptions {
  /** The transport that this server answered over the last time. */
  readonly lastNegotiated?: 'http' | 'sse' | undefined;
  /** Called once, when the server has answered the handshake. */
  readonly onNegotiated: (negotiatedTransport: 'http' | 'sse') => void;
}

/** Opens nothing yet: `start()` does. */
export function openAuto(options: AutoOptions): Channel {
  return new AutoChannel(options);
}

const HANDSHAKE_METHODS: ReadonlySet<unknown> = new Set(['initialize', 'server/discover']);

class AutoChannel extends ChannelBase {
  readonly #options: AutoOptions;
  /** The channel in use. */
  #channel: Channel | undefined;
  /** Every channel that was opened, in use or given up; all of them are closed in the end. */
  readonly #tried: Channel[] = [];
  /** Set while the handshake moves from Streamable HTTP to HTTP+SSE. */
  #switching: Promise<void> | undefined;
  /** Why the transport used last time failed: if the other one fails as well, this is the failure to report. */
  #lastTransportFailure: RuntimeError | undefined;
  /** Handshake requests without an answer yet; `undefined` once one of them was answered and the transport is settled. */
  #handshakes: Map<MessageId, Message> | undefined = new Map();

  constructor(options: AutoOptions) {
    super(options.server);
    this.#options = options;
  }

  get negotiatedTransport(): 'http' | 'sse' | undefined {
    return this.#channel?.negotiatedTransport;
  }

  get hasRequestStreams(): boolean {
    return this.#channel?.hasRequestStreams ?? false;
  }

  abandon(id: MessageId): void {
    this.#handshakes?.delete(id);
    this.#channel?.abandon?.(id);
  }

  report(): ChannelReport {
    return this.#channel?.report?.() ?? { reason: 'it has not answered', isRemote: true };
  }

  protected async open(): Promise<void> {
    if (this.#options.lastNegotiated === 'sse') {
      const sse = this.#adopt(openSse(this.#options));
      try {
        await sse.start();
        return;
      } catch (error) {
        this.#lastTransportFailure = asRuntimeError(error);
        this.#channel = undefined;
        await sse.close();
        if (this.isClosing) throw error;
      }
    }
    await this.#adopt(openHttp(this.#options)).start();
  }

  protected canSend(): boolean {
    return this.#channel !== undefined;
  }

  protected handOn(message: Message, options: SendOptions | undefined): Promise<void> | undefined {
    if (this.#handshakes !== undefined) this.#noteHandshake(this.#handshakes, message);
    if (this.#switching === undefined) return this.#channel?.send(message, options);
    return this.#switching.then(() => this.#channel?.send(message, options));
  }

  /** Forwards the events of a channel for as long as it is the channel in use. */
  #adopt(channel: Channel): Channel {
    this.#tried.push(channel);
    this.#channel = channel;
    const isInUse = () => this.#channel === channel;
    channel.onmessage = (message, request) => {
      if (this.#handshakes !== undefined) this.#settle(message);
      if (isInUse()) this.onmessage?.(message, request);
    };
    channel.onoversized = (id) => isInUse() && this.onoversized?.(id);
    channel.onsign = (id) => isInUse() && this.onsign?.(id);
    channel.onerror = (error) => isInUse() && this.onerror?.(error);
    channel.onfailed = (id, failure) => isInUse() && this.#fail(id, failure);
    channel.onclose = () => isInUse() && !this.isClosing && this.finish();
    return channel;
  }

  #noteHandshake(handshakes: Map<MessageId, Message>, message: Message): void {
    const id = idOf(message);
    if (id !== undefined && HANDSHAKE_METHODS.has(message['method'])) handshakes.set(id, message);
  }

  /** An answered handshake settles which transport this server speaks. */
  #settle({ id, method, result }: Message): void {
    if (method !== undefined || !isObject(result) || !this.#handshakes?.has(id as MessageId)) return;
    this.#handshakes = undefined;
    if (this.negotiatedTransport !== undefined) this.#options.onNegotiated(this.negotiatedTransport);
  }

  #fail(id: MessageId, failure: RequestFailure): void {
    const handshake = this.#handshakes?.get(id);
    this.#handshakes?.delete(id);
    // A server that knows only HTTP+SSE answers a Streamable HTTP handshake with such a status.
    const mayBeSse = handshake?.['method'] === 'initialize' && isWrongAddress('initialize', failure.status ?? 0);
    const cause = this.#lastTransportFailure;
    if (handshake === undefined || !mayBeSse || this.negotiatedTransport !== 'http') this.onfailed?.(id, failure);
    else if (cause !== undefined) this.onfailed?.(id, { sent: false, cause });
    else this.#switching = this.#switch(id, handshake, failure);
  }

  /** If HTTP+SSE cannot be opened either, the first failure is reported: the server speaks neither at this address. */
  async #switch(id: MessageId, handshake: Message, failure: RequestFailure): Promise<void> {
    const http = this.#channel;
    const sse = this.#adopt(openSse(this.#options));
    try {
      await sse.start();
      this.#handshakes?.set(id, handshake);
      await sse.send(handshake);
      await http?.close();
    } catch {
      this.#channel = http;
      await sse.close();
      this.#handshakes?.delete(id);
      this.onfailed?.(id, failure);
    } finally {
      this.#switching = undefined;
    }
  }

  protected interrupt(): Promise<unknown> {
    return this.#closeAll();
  }

  /** Closes once more: an opening or a switch that was under way may have opened another channel. */
  protected async shutDown(): Promise<void> {
    await Promise.allSettled([this.#switching]);
    await this.#closeAll();
    this.finish();
  }

  #closeAll(): Promise<unknown> {
    return Promise.all(this.#tried.map((channel) => channel.close()));
  }

  protected override lost(): RuntimeError {
    return super.lost(this.isClosing ? 'it was closed' : undefined);
  }
}
