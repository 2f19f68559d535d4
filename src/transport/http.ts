// Owns the channel over Streamable HTTP: every message is a POST request of its own, and session and protocol version are
// read from the responses. `in-flight-request.ts` carries one message, `listening-stream.ts` the server's own messages.

import type { CancelTimer } from '../kernel/clock.ts';
import { isObject } from '../kernel/json.ts';
import type { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Channel, ChannelReport, Message, MessageId, RequestFailure, SendOptions } from '../model/server.ts';
import { ChannelBase } from './channel-base.ts';
import { headerIn, type ResponseHeaders } from './exchange.ts';
import { fetchText } from './fetch-text.ts';
import { reasonIn } from './http-failure.ts';
import {
  agreedVersion,
  type HeaderBlock,
  MESSAGE_HEADERS,
  modernHeaders,
  modernVersionOf,
  STREAM_HEADERS,
  withMessageHeaders,
} from './http-headers.ts';
import { type HttpSetup, openHttpSetup, type RemoteChannelOptions } from './http-options.ts';
import { INITIALIZED, InitializedGate } from './initialized-gate.ts';
import { ListeningStream } from './listening-stream.ts';
import { idOf, isAnswerTo, type OutgoingRequest } from './outgoing-request.ts';
import { RequestQueue, type RequestQueueOwner } from './request-queue.ts';
import { isRepeatable, mustNotRepeat } from './retry.ts';

/** Opens nothing yet: `start()` does. */
export function openHttp(options: RemoteChannelOptions): Channel {
  return new HttpChannel(options);
}

class HttpChannel extends ChannelBase implements RequestQueueOwner {
  readonly negotiatedTransport = 'http';
  readonly hasRequestStreams = true;

  readonly #options: RemoteChannelOptions;
  #setup: HttpSetup | undefined;
  #queue: RequestQueue | undefined;
  #listening: ListeningStream | undefined;
  /** The headers of messages outside a session, of messages within it, and of its streams; built once, used by all. */
  #baseHeaders: HeaderBlock = [];
  #sessionHeaders: HeaderBlock = [];
  #streamHeaders: HeaderBlock = [];
  #session: string | undefined;
  #version: string | undefined;
  #initializeId: MessageId | undefined;
  readonly #initialized = new InitializedGate();
  /** The client has announced capabilities, so the server may send requests of its own. */
  #mayBeAsked = false;
  /** Why sending has ended: the session has expired, or the channel is down. */
  #end: RuntimeError | undefined;
  /** Set when the last attempt to connect reached no server. */
  #lastUnreachable: RuntimeError | undefined;
  #cancelDrain: CancelTimer | undefined;
  #isDown = false;
  #reason = 'it has not answered';

  constructor(options: RemoteChannelOptions) {
    super(options.server);
    this.#options = options;
  }

  abandon(id: MessageId): void {
    this.#queue?.abandon(id);
    this.quiet();
  }

  report(): ChannelReport {
    return { reason: this.#reason, isRemote: true };
  }

  accepted({ method }: OutgoingRequest, headers: ResponseHeaders): void {
    this.#lastUnreachable = undefined;
    if (method === 'initialize') this.#learn(headerIn(headers, 'mcp-session-id'), undefined);
    if (method !== INITIALIZED) return;
    if (this.#version !== undefined) this.#listen();
    // A server that may send requests sends them on that stream; a request sent before the stream is open would be lost.
    if (this.#version === undefined || !this.#mayBeAsked) this.#initialized.open();
  }

  received(message: Message): void {
    if (this.#initializeId === undefined || !isAnswerTo(this.#initializeId, message)) return;
    this.#initializeId = undefined;
    this.#learn(this.#session, agreedVersion(message));
  }

  refused({ method, session }: OutgoingRequest, { sent, status, cause }: RequestFailure): void {
    this.#reason = reasonIn(cause);
    if (method === INITIALIZED) this.#initialized.open();
    // A 404 for a stream that was to be resumed (`sent`) says nothing about the session.
    const isExpired = status === 404 && !sent;
    if (isExpired && session !== undefined && session === this.#session) this.#expire(cause);
  }

  /** Requests in flight have a connection that works, so the channel goes down only after them: the server may still answer. */
  unreachable(cause: RuntimeError): void {
    this.#lastUnreachable = cause;
    this.quiet();
  }

  quiet(): void {
    const cause = this.#end ?? this.#lastUnreachable;
    if (cause !== undefined && this.#queue?.waiting === 0) this.#goDown(cause);
  }

  /** Prepares everything and sends nothing: the first message is the first request to the server. */
  protected async open(): Promise<void> {
    const { clock, maxMessageBytes, onNoise } = this.#options;
    const setup = await openHttpSetup(this.#options);
    const { client, headers, hasToken, hide } = setup;
    this.#setup = setup;
    this.#baseHeaders = [...headers, ...MESSAGE_HEADERS];
    this.#learn(undefined, undefined);
    this.#queue = new RequestQueue(this, { client, clock, maxMessageBytes, hasToken, hide, onNoise });
  }

  protected canSend(): boolean {
    return this.#queue !== undefined && this.#end === undefined;
  }

  protected handOn(message: Message, options: SendOptions | undefined): Promise<void> | undefined {
    this.#queue?.send(this.#outgoing(message, options));
    return message['method'] === INITIALIZED ? this.#initialized.wait(this.#options.clock) : undefined;
  }

  /** Stores session and version as the server named them, and builds the headers that follow from them. */
  #learn(session: string | undefined, version: string | undefined): void {
    this.#session = session || undefined;
    this.#version = version;
    const sessionHeaders = [
      ...(this.#session === undefined ? [] : ['mcp-session-id', this.#session]),
      ...(version === undefined ? [] : ['mcp-protocol-version', version]),
    ];
    this.#sessionHeaders = [...this.#baseHeaders, ...sessionHeaders];
    this.#streamHeaders = [...(this.#setup?.headers ?? []), ...STREAM_HEADERS, ...sessionHeaders];
  }

  #outgoing(message: Message, options: SendOptions | undefined): OutgoingRequest {
    const { target } = this.#setup as HttpSetup;
    const method = typeof message['method'] === 'string' ? message['method'] : undefined;
    const id = method === undefined ? undefined : idOf(message);
    const modern = modernVersionOf(message);
    if (method === 'initialize') {
      this.#initializeId = id;
      this.#mayBeAsked = announcesCapabilities(message);
    }
    const isInSession = modern === undefined && method !== 'initialize';
    const headers = isInSession
      ? this.#sessionHeaders
      : modern
        ? [...this.#baseHeaders, ...modernHeaders(message, modern)]
        : this.#baseHeaders;
    return {
      target,
      headers: withMessageHeaders(headers, options?.headers),
      body: JSON.stringify(message),
      method,
      id,
      answerOn: 'response',
      repeatable: isRepeatable(method, options),
      mustNotRepeat: mustNotRepeat(method, options),
      onRepeat: options?.onRepeat?.bind(options),
      session: isInSession ? this.#session : undefined,
      resumeHeaders: isInSession ? this.#streamHeaders : undefined,
    };
  }

  #listen(): void {
    const { client, target } = this.#setup as HttpSetup;
    const { clock, maxMessageBytes } = this.#options;
    this.#listening?.stop();
    this.#listening = new ListeningStream({
      client,
      clock,
      maxMessageBytes,
      target,
      headers: this.#streamHeaders,
      onAnswered: () => this.#initialized.open(),
      queue: this.#queue as RequestQueue,
    });
    this.#listening.open();
  }

  /** Requests in flight may still be answered, new ones would not be: the channel stops sending and goes down later. */
  #expire(cause: RuntimeError): void {
    if (this.#end !== undefined || this.isClosing) return;
    this.#end = cause;
    this.#session = undefined;
    this.#listening?.stop();
    this.#cancelDrain = this.#options.clock.after(limits.expiredDrainMs, () => this.#goDown(cause));
  }

  #goDown(cause: RuntimeError): void {
    if (this.#isDown || this.isClosing) return;
    this.#isDown = true;
    this.#end = cause;
    this.#reason = reasonIn(cause);
    this.#stopWaiting();
    this.#queue?.end(cause);
    void this.#setup?.client.close();
    this.finish();
  }

  #stopWaiting(): void {
    this.#cancelDrain?.();
    this.#listening?.stop();
    this.#initialized.open();
  }

  protected interrupt(): void {
    if (this.#end === undefined) this.#reason = 'it was closed';
  }

  protected async shutDown(): Promise<void> {
    this.#stopWaiting();
    this.#queue?.clear();
    if (this.#end === undefined && this.#session !== undefined) await this.#deleteSession();
    await this.#setup?.client.close();
    this.finish();
  }

  /** A courtesy: the server can forget the session at once. A server that refuses or does not answer does no harm. */
  async #deleteSession(): Promise<void> {
    const { client, target } = this.#setup as HttpSetup;
    const giveUp = new AbortController();
    const cancel = this.#options.clock.after(limits.goodbyeMs, () => giveUp.abort());
    const options = { maxBytes: limits.refusalBytes, signal: giveUp.signal };
    await Promise.allSettled([fetchText(client, { method: 'DELETE', target, headers: this.#streamHeaders }, options)]);
    cancel();
  }
}

/** Whether the client has announced any capability, each of which lets the server send requests. */
function announcesCapabilities({ params }: Message): boolean {
  const capabilities = isObject(params) ? params['capabilities'] : undefined;
  return isObject(capabilities) && Object.keys(capabilities).length > 0;
}
