// Owns a server that is spoken to over Streamable HTTP: every message is a request of its own, and the session is learned
// from what passes. The way of one message is left to `post.ts`, what a server says unasked to `listening-stream.ts`.

import type { CancelTimer } from '../kernel/clock.ts';
import { createDeferred, type Deferred } from '../kernel/deferred.ts';
import { isObject } from '../kernel/json.ts';
import type { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Channel, ChannelReport, Message, MessageId, RequestFailure, SendOptions } from '../model/server.ts';
import { type AnswerHeaders, headerIn } from './exchange.ts';
import { fetchWhole } from './fetch-whole.ts';
import { lost, reasonIn } from './http-failure.ts';
import { agreedVersion, type HeaderBlock, modernHeaders, modernVersionOf, withMessageHeaders } from './http-headers.ts';
import { type Desk, type HttpOptions, openDesk } from './http-options.ts';
import { ListeningStream } from './listening-stream.ts';
import { idOf, isAnswerTo, type OutgoingRequest } from './post.ts';
import { type PostboxOwner, RequestQueue } from './request-queue.ts';
import { isRepeatable } from './retry.ts';

/** Opens nothing yet: `start` does. */
export function openHttp(options: HttpOptions): Channel {
  return new HttpChannel(options);
}

/** One for all sends: a promise of its own for each would cost more than the send. */
const HANDED_ON = Promise.resolve();

const INITIALIZED = 'notifications/initialized';

class HttpChannel implements Channel, PostboxOwner {
  readonly negotiatedTransport = 'http';
  readonly hasRequestStreams = true;
  onmessage?: ((message: Message) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onfailed?: ((id: MessageId, failure: RequestFailure) => void) | undefined;
  onoversized?: ((id: MessageId | undefined) => void) | undefined;
  onsign?: ((id: MessageId) => void) | undefined;

  readonly #options: HttpOptions;
  #opening: Promise<void> | undefined;
  #desk: Desk | undefined;
  #postbox: RequestQueue | undefined;
  #listening: ListeningStream | undefined;
  /** Of messages outside of a session, of those within it, and of its streams: made once for all. */
  #plain: HeaderBlock = [];
  #inSession: HeaderBlock = [];
  #ofStreams: HeaderBlock = [];
  #session: string | undefined;
  #version: string | undefined;
  #initializeId: MessageId | undefined;
  #initialized: Deferred<void> | undefined;
  #mayBeAsked = false;
  /** Why nothing is sent any more: the session has expired, or the channel is down. */
  #end: RuntimeError | undefined;
  /** Nobody was there the last time a connection was wanted. */
  #suspicion: RuntimeError | undefined;
  #cancelDrain: CancelTimer | undefined;
  #closing: Promise<void> | undefined;
  #isDown = false;
  #reason = 'it has not answered';

  constructor(options: HttpOptions) {
    this.#options = options;
  }

  /** Resolves when there is nothing left to prepare. The server is first spoken to by the first message. */
  async start(): Promise<void> {
    if (this.#closing === undefined) {
      this.#opening ??= this.#open();
      await this.#opening;
    }
    if (this.#closing !== undefined) throw this.#lost();
  }

  /** Never waits for an answer. Only the word that the handshake is over must have arrived before anything else goes out. */
  send(message: Message, options?: SendOptions): Promise<void> {
    if (this.#postbox === undefined || this.#end !== undefined || this.#closing !== undefined) {
      return Promise.reject(this.#lost());
    }
    try {
      this.#postbox.send(this.#letter(message, options));
      return message['method'] === INITIALIZED ? this.#untilInitialized() : HANDED_ON;
    } catch (error) {
      // What cannot be written as JSON; whose fault that is, the caller knows.
      return Promise.reject(error);
    }
  }

  abandon(id: MessageId): void {
    this.#postbox?.abandon(id);
    this.quiet();
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
    return { reason: this.#reason, isRemote: true };
  }

  accepted({ method }: OutgoingRequest, headers: AnswerHeaders): void {
    this.#suspicion = undefined;
    if (method === 'initialize') this.#learn(headerIn(headers, 'mcp-session-id'), undefined);
    if (method !== INITIALIZED) return;
    if (this.#version !== undefined) this.#listen();
    // A server that may ask something does so on that stream, and what it asks before the stream is open is lost.
    if (this.#version === undefined || !this.#mayBeAsked) this.#initialized?.resolve();
  }

  received(message: Message): void {
    if (this.#initializeId === undefined || !isAnswerTo(this.#initializeId, message)) return;
    this.#initializeId = undefined;
    this.#learn(this.#session, agreedVersion(message));
  }

  refused({ method, session }: OutgoingRequest, { sent, status, cause }: RequestFailure): void {
    this.#reason = reasonIn(cause);
    if (method === INITIALIZED) this.#initialized?.resolve();
    // A stream that is not there to be taken up says nothing about the session.
    const isExpired = status === 404 && !sent;
    if (isExpired && session !== undefined && session === this.#session) this.#expire(cause);
  }

  /** Who still waits has a connection that works, and is waited for: a server that stops listening may finish what it has. */
  unreachable(cause: RuntimeError): void {
    this.#suspicion = cause;
    this.quiet();
  }

  quiet(): void {
    const cause = this.#end ?? this.#suspicion;
    if (cause !== undefined && this.#postbox?.waiting === 0) this.#goDown(cause);
  }

  async #open(): Promise<void> {
    const { clock, maxMessageBytes, onNoise } = this.#options;
    const desk = await openDesk(this.#options);
    const { client, headers, hasToken, hide } = desk;
    this.#desk = desk;
    this.#plain = [...headers, 'accept', 'application/json, text/event-stream', 'content-type', 'application/json'];
    this.#learn(undefined, undefined);
    this.#postbox = new RequestQueue(this, { client, clock, maxMessageBytes, hasToken, hide, onNoise });
  }

  #learn(session: string | undefined, version: string | undefined): void {
    this.#session = session || undefined;
    this.#version = version;
    const known = [
      ...(this.#session === undefined ? [] : ['mcp-session-id', this.#session]),
      ...(version === undefined ? [] : ['mcp-protocol-version', version]),
    ];
    this.#inSession = [...this.#plain, ...known];
    this.#ofStreams = [...(this.#desk?.headers ?? []), 'accept', 'text/event-stream', ...known];
  }

  #letter(message: Message, options: SendOptions | undefined): OutgoingRequest {
    const { target } = this.#desk as Desk;
    const method = typeof message['method'] === 'string' ? message['method'] : undefined;
    const id = method === undefined ? undefined : idOf(message);
    const modern = modernVersionOf(message);
    if (method === 'initialize') {
      this.#initializeId = id;
      this.#mayBeAsked = offersAnything(message);
    }
    const isInSession = modern === undefined && method !== 'initialize';
    const headers = isInSession
      ? this.#inSession
      : modern
        ? [...this.#plain, ...modernHeaders(message, modern)]
        : this.#plain;
    return {
      target,
      headers: withMessageHeaders(headers, options?.headers),
      body: JSON.stringify(message),
      method,
      id,
      answer: 'here',
      repeatable: isRepeatable(method, options),
      session: isInSession ? this.#session : undefined,
      resumeHeaders: isInSession ? this.#ofStreams : undefined,
    };
  }

  #untilInitialized(): Promise<void> {
    const initialized = createDeferred<void>();
    this.#initialized = initialized;
    const cancel = this.#options.clock.after(limits.initializedMs, () => initialized.resolve());
    return initialized.promise.finally(cancel);
  }

  #listen(): void {
    const { client, target } = this.#desk as Desk;
    const { clock, maxMessageBytes } = this.#options;
    this.#listening?.stop();
    this.#listening = new ListeningStream({
      ...{ client, clock, maxMessageBytes, target, headers: this.#ofStreams },
      onAnswered: () => this.#initialized?.resolve(),
      office: this.#postbox as RequestQueue,
    });
    this.#listening.open();
  }

  /** What still runs may be answered yet; nothing new would be. */
  #expire(cause: RuntimeError): void {
    if (this.#end !== undefined) return;
    this.#end = cause;
    this.#session = undefined;
    this.#listening?.stop();
    this.#cancelDrain = this.#options.clock.after(limits.expiredDrainMs, () => this.#goDown(cause));
  }

  #goDown(cause: RuntimeError): void {
    if (this.#isDown || this.#closing !== undefined) return;
    this.#isDown = true;
    this.#end = cause;
    this.#reason = reasonIn(cause);
    this.#letGo();
    this.#postbox?.end(cause);
    void this.#desk?.client.close();
    this.onclose?.();
  }

  #letGo(): void {
    this.#cancelDrain?.();
    this.#listening?.stop();
    this.#initialized?.resolve();
  }

  async #close(): Promise<void> {
    if (this.#end === undefined) this.#reason = 'it was closed';
    // A start that failed has left nothing, and has told its own caller why.
    await Promise.allSettled([this.#opening]);
    this.#letGo();
    this.#postbox?.clear();
    if (this.#end === undefined && this.#session !== undefined) await this.#sayGoodbye();
    await this.#desk?.client.close();
    if (this.#isDown) return;
    this.#isDown = true;
    this.onclose?.();
  }

  /** A courtesy: the server may forget the session at once. Whether it listens does not matter. */
  async #sayGoodbye(): Promise<void> {
    const { client, target } = this.#desk as Desk;
    const giveUp = new AbortController();
    const cancel = this.#options.clock.after(limits.goodbyeMs, () => giveUp.abort());
    const patience = { maxBytes: limits.refusalBytes, signal: giveUp.signal };
    await Promise.allSettled([fetchWhole(client, { method: 'DELETE', target, headers: this.#ofStreams }, patience)]);
    cancel();
  }

  #lost(): RuntimeError {
    return lost(this.#options.server, this.#reason);
  }
}

/** Whether the client has said that it can answer questions. */
function offersAnything({ params }: Message): boolean {
  const capabilities = isObject(params) ? params['capabilities'] : undefined;
  return isObject(capabilities) && Object.keys(capabilities).length > 0;
}
