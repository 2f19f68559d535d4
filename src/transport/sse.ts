// Owns a server that is spoken to over the older transport: one stream on which it says everything, and an address, told
// on that stream, to which every message is sent.

import { createDeferred, type Deferred } from '../kernel/deferred.ts';
import { isObject } from '../kernel/json.ts';
import type { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Channel, ChannelReport, Message, MessageId, RequestFailure, SendOptions } from '../model/server.ts';
import { type AnswerListener, EventBody, kindOfAnswer, QuotedBody } from './answer.ts';
import { type AnswerHeaders, type Exchange, type HttpListener, type Target, targetOf } from './exchange.ts';
import { broken, failureOf, lost, reasonIn } from './http-failure.ts';
import { agreedVersion, type HeaderBlock, withMessageHeaders } from './http-headers.ts';
import { type Desk, type HttpOptions, openDesk } from './http-options.ts';
import { idOf, isAnswerTo, type OutgoingRequest } from './post.ts';
import { type PostboxOwner, RequestQueue } from './request-queue.ts';
import { isRepeatable } from './retry.ts';

/** Opens nothing yet: `start` does. */
export function openSse(options: HttpOptions): Channel {
  return new SseChannel(options);
}

/** One for all sends: a promise of its own for each would cost more than the send. */
const HANDED_ON = Promise.resolve();

const INITIALIZED = 'notifications/initialized';

class SseChannel implements Channel, PostboxOwner, HttpListener, AnswerListener {
  readonly negotiatedTransport = 'sse';
  onmessage?: ((message: Message) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onfailed?: ((id: MessageId, failure: RequestFailure) => void) | undefined;
  onoversized?: ((id: MessageId | undefined) => void) | undefined;

  readonly #options: HttpOptions;
  #ready: Deferred<void> | undefined;
  #opening: Promise<void> | undefined;
  #desk: Desk | undefined;
  #postbox: RequestQueue | undefined;
  #stream: Exchange | undefined;
  #body: EventBody | QuotedBody | undefined;
  #status = 0;
  #statusText = '';
  /** Where messages go; known once the server has said so. */
  #endpoint: Target | undefined;
  #headers: HeaderBlock = [];
  #initializeId: MessageId | undefined;
  #initialized: Deferred<void> | undefined;
  /** Why it is over. */
  #end: RuntimeError | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: HttpOptions) {
    this.#options = options;
  }

  /** Resolves when the server has said where messages go, which is not to say that it answers any. */
  async start(): Promise<void> {
    if (this.#closing === undefined) {
      this.#opening ??= this.#open();
      await this.#opening.catch((error: unknown) => {
        if (this.#closing === undefined) throw error;
      });
    }
    if (this.#closing !== undefined) throw this.#lost();
  }

  /** Never waits for an answer: those come over the stream. Only the word that the handshake is over must have arrived. */
  send(message: Message, options?: SendOptions): Promise<void> {
    const endpoint = this.#endpoint;
    if (
      this.#postbox === undefined ||
      endpoint === undefined ||
      this.#end !== undefined ||
      this.#closing !== undefined
    ) {
      return Promise.reject(this.#lost());
    }
    try {
      this.#postbox.send(this.#letter(endpoint, message, options));
      return message['method'] === INITIALIZED ? this.#untilInitialized() : HANDED_ON;
    } catch (error) {
      // What cannot be written as JSON; whose fault that is, the caller knows.
      return Promise.reject(error);
    }
  }

  abandon(id: MessageId): void {
    this.#postbox?.abandon(id);
  }

  /** From this call on nothing is delivered but `onclose`. */
  close(): Promise<void> {
    this.onmessage = undefined;
    this.onerror = undefined;
    this.onfailed = undefined;
    this.onoversized = undefined;
    this.#closing ??= this.#close();
    return this.#closing;
  }

  report(): ChannelReport {
    return { reason: this.#reason(), isRemote: true };
  }

  head(status: number, headers: AnswerHeaders, statusText: string): void {
    this.#status = status;
    this.#statusText = statusText;
    const kind = kindOfAnswer(status, headers);
    if (status < 200 || status > 299) this.#body = new QuotedBody();
    else if (kind === 'events') this.#body = new EventBody(this.#options.maxMessageBytes, this);
    else this.#goDown(broken(this.#options.server, `it was asked for a stream of events and gave something else`));
  }

  data(chunk: Buffer): void {
    if (this.#body?.push(chunk) === false) this.end();
  }

  end(): void {
    const { server } = this.#options;
    const body = this.#body;
    body?.end();
    if (body instanceof QuotedBody) this.#goDown(this.#refusal(body.take()));
    else this.#goDown(lost(server, 'its stream ended'));
  }

  failed({ cause }: RequestFailure): void {
    const body = this.#body;
    this.#goDown(body instanceof QuotedBody ? this.#refusal(body.take()) : cause);
  }

  onValue(value: unknown): void {
    if (Array.isArray(value)) for (const each of value) this.onValue(each);
    else if (isObject(value)) this.#postbox?.deliver(value);
    else this.onNoise(JSON.stringify(value));
  }

  onNoise(text: string): void {
    this.#postbox?.noise(text);
  }

  onOversized(id: MessageId | undefined): void {
    this.#postbox?.oversized(id);
  }

  onOther(type: string, data: string): void {
    if (type !== 'endpoint' || this.#endpoint !== undefined) return;
    const { target } = this.#desk as Desk;
    const endpoint = targetOf(data.trim(), target.href);
    if (endpoint?.origin === target.origin) {
      this.#endpoint = endpoint;
      this.#ready?.resolve();
      return;
    }
    const where = endpoint === undefined ? 'at no address of HTTP' : `at ${endpoint.origin}, which is another origin`;
    this.#goDown(broken(this.#options.server, `it wants its messages ${where}`));
  }

  accepted({ method }: OutgoingRequest): void {
    if (method === INITIALIZED) this.#initialized?.resolve();
  }

  received(message: Message): void {
    if (this.#initializeId === undefined || !isAnswerTo(this.#initializeId, message)) return;
    this.#initializeId = undefined;
    const version = agreedVersion(message);
    if (version !== undefined) this.#headers = [...this.#headers, 'mcp-protocol-version', version];
  }

  /** An address that is gone is a session that is gone. */
  refused({ method, session }: OutgoingRequest, { status, cause }: RequestFailure): void {
    if (method === INITIALIZED) this.#initialized?.resolve();
    if (status === 404 && session !== undefined) this.#goDown(cause);
  }

  unreachable(cause: RuntimeError): void {
    this.#goDown(cause);
  }

  async #open(): Promise<void> {
    const { clock, maxMessageBytes, onNoise } = this.#options;
    const desk = await openDesk(this.#options);
    const { client, target, headers, hasToken, hide } = desk;
    this.#desk = desk;
    this.#postbox = new RequestQueue(this, { client, clock, maxMessageBytes, hasToken, hide, onNoise });
    this.#headers = [...headers, 'accept', 'application/json, text/event-stream', 'content-type', 'application/json'];
    if (this.#closing !== undefined) return;
    this.#ready = createDeferred<void>();
    this.#stream = client.exchange(
      { method: 'GET', target, headers: [...headers, 'accept', 'text/event-stream'] },
      this,
    );
    await this.#ready.promise;
  }

  #letter(target: Target, message: Message, options: SendOptions | undefined): OutgoingRequest {
    const method = typeof message['method'] === 'string' ? message['method'] : undefined;
    const id = method === undefined ? undefined : idOf(message);
    if (method === 'initialize') this.#initializeId = id;
    return {
      target,
      headers: withMessageHeaders(this.#headers, options?.headers),
      body: JSON.stringify(message),
      method,
      id,
      answer: 'elsewhere',
      repeatable: isRepeatable(method, options),
      // Where messages go is told for one session, so its address is as good as its name.
      session: target.href,
      resumeHeaders: undefined,
    };
  }

  /** Every message has a connection of its own: without this the first request could overtake it. */
  #untilInitialized(): Promise<void> {
    const initialized = createDeferred<void>();
    this.#initialized = initialized;
    const cancel = this.#options.clock.after(limits.initializedMs, () => initialized.resolve());
    return initialized.promise.finally(cancel);
  }

  #refusal(body: string): RuntimeError {
    const { server } = this.#options;
    const asked = { server, method: 'initialize', hasToken: this.#desk?.hasToken ?? false };
    return failureOf({ status: this.#status, statusText: this.#statusText, body }, asked).cause;
  }

  /** Before it was up, whoever starts it is told why it is not; afterwards it closes. */
  #goDown(cause: RuntimeError): void {
    if (this.#end !== undefined || this.#closing !== undefined) return;
    this.#end = cause;
    this.#stream?.abort();
    this.#initialized?.resolve();
    this.#postbox?.end(cause);
    void this.#desk?.client.close();
    if (this.#endpoint === undefined) this.#ready?.reject(cause);
    else this.onclose?.();
  }

  async #close(): Promise<void> {
    this.#ready?.reject(this.#lost());
    // A start that failed has left nothing, and has told its own caller why.
    await Promise.allSettled([this.#opening]);
    this.#stream?.abort();
    this.#initialized?.resolve();
    this.#postbox?.clear();
    await this.#desk?.client.close();
    const wasUp = this.#end !== undefined && this.#endpoint !== undefined;
    if (!wasUp) this.onclose?.();
  }

  #reason(): string {
    if (this.#end !== undefined) return reasonIn(this.#end);
    if (this.#closing !== undefined) return 'it was closed';
    return this.#endpoint === undefined ? 'it has not said where to send messages' : 'it has not answered';
  }

  #lost(): RuntimeError {
    return lost(this.#options.server, this.#reason());
  }
}
