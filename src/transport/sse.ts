// Owns the channel over the older HTTP+SSE transport: one event stream carries everything the server sends, and every
// message goes as a POST request to an address that the server names on that stream.

import { createDeferred, type Deferred } from '../kernel/deferred.ts';
import { isObject } from '../kernel/json.ts';
import type { RuntimeError } from '../model/errors.ts';
import type { Channel, ChannelReport, Message, MessageId, RequestFailure, SendOptions } from '../model/server.ts';
import { ChannelBase } from './channel-base.ts';
import { type Exchange, type HttpListener, type ResponseHeaders, type Target, targetOf } from './exchange.ts';
import { broken, failureOf, lost, reasonIn } from './http-failure.ts';
import {
  agreedVersion,
  type HeaderBlock,
  MESSAGE_HEADERS,
  STREAM_HEADERS,
  withMessageHeaders,
} from './http-headers.ts';
import { type HttpSetup, openHttpSetup, type RemoteChannelOptions } from './http-options.ts';
import { EventBody, QuotedBody, type ResponseListener, responseKind } from './http-response.ts';
import { INITIALIZED, InitializedGate } from './initialized-gate.ts';
import { idOf, isAnswerTo, type OutgoingRequest } from './outgoing-request.ts';
import { RequestQueue, type RequestQueueOwner } from './request-queue.ts';
import { isRepeatable, mustNotRepeat } from './retry.ts';

/** Opens nothing yet: `start()` does. */
export function openSse(options: RemoteChannelOptions): Channel {
  return new SseChannel(options);
}

class SseChannel extends ChannelBase implements RequestQueueOwner, HttpListener, ResponseListener {
  readonly negotiatedTransport = 'sse';

  readonly #options: RemoteChannelOptions;
  /** Resolves when the server has named the address for messages. */
  #ready: Deferred<void> | undefined;
  #setup: HttpSetup | undefined;
  #queue: RequestQueue | undefined;
  #stream: Exchange | undefined;
  #body: EventBody | QuotedBody | undefined;
  #status = 0;
  #statusText = '';
  /** The address for messages; the server names it in its first event. */
  #endpoint: Target | undefined;
  #headers: HeaderBlock = [];
  #initializeId: MessageId | undefined;
  readonly #initialized = new InitializedGate();
  /** Why the channel went down. */
  #end: RuntimeError | undefined;

  constructor(options: RemoteChannelOptions) {
    super(options.server);
    this.#options = options;
  }

  abandon(id: MessageId): void {
    this.#queue?.abandon(id);
  }

  report(): ChannelReport {
    return { reason: this.#reason(), isRemote: true };
  }

  head(status: number, headers: ResponseHeaders, statusText: string): void {
    this.#status = status;
    this.#statusText = statusText;
    const kind = responseKind(status, headers);
    if (status < 200 || status > 299) this.#body = new QuotedBody(headers);
    else if (kind === 'events') this.#body = new EventBody(this.#options.maxMessageBytes, this);
    else this.#goDown(broken(this.#options.server, 'it was asked for a stream of events and gave something else'));
  }

  data(chunk: Buffer): Promise<void> | undefined {
    if (this.#body?.push(chunk) !== false) return this.#body?.whenIdle();
    this.end();
    return undefined;
  }

  end(): void {
    this.#body?.end();
    this.#endWith(lost(this.#options.server, 'its stream ended'));
  }

  failed({ cause }: RequestFailure): void {
    this.#endWith(cause);
  }

  /** Messages that the stream has carried are delivered first. */
  #endWith(cause: RuntimeError): void {
    const body = this.#body;
    const idle = body?.whenIdle();
    if (body instanceof QuotedBody) this.#goDown(this.#refusal(body.take()));
    else if (idle === undefined) this.#goDown(cause);
    else void idle.then(() => this.#goDown(cause));
  }

  onValue(value: unknown): void {
    if (Array.isArray(value)) for (const each of value) this.onValue(each);
    else if (isObject(value)) this.#queue?.deliver(value);
    else this.onNoise(JSON.stringify(value));
  }

  onNoise(text: string): void {
    this.#queue?.noise(text);
  }

  onOversized(id: MessageId | undefined): void {
    this.#queue?.oversized(id);
  }

  onOther(type: string, data: string): void {
    if (type !== 'endpoint' || this.#endpoint !== undefined) return;
    const { target } = this.#setup as HttpSetup;
    const endpoint = targetOf(data.trim(), target.href);
    if (endpoint?.origin === target.origin) {
      this.#endpoint = endpoint;
      this.#ready?.resolve();
      return;
    }
    const where =
      endpoint === undefined
        ? 'at an address that is not http or https'
        : `at ${endpoint.origin}, which is another origin`;
    this.#goDown(broken(this.#options.server, `it wants its messages ${where}`));
  }

  accepted({ method }: OutgoingRequest): void {
    if (method === INITIALIZED) this.#initialized.open();
  }

  received(message: Message): void {
    if (this.#initializeId === undefined || !isAnswerTo(this.#initializeId, message)) return;
    this.#initializeId = undefined;
    const version = agreedVersion(message);
    if (version !== undefined) this.#headers = [...this.#headers, 'mcp-protocol-version', version];
  }

  /** The address belongs to the session, so a 404 for it means that the session is gone. */
  refused({ method, session }: OutgoingRequest, { status, cause }: RequestFailure): void {
    if (method === INITIALIZED) this.#initialized.open();
    if (status === 404 && session !== undefined) this.#goDown(cause);
  }

  unreachable(cause: RuntimeError): void {
    this.#goDown(cause);
  }

  protected async open(): Promise<void> {
    const { clock, maxMessageBytes, onNoise } = this.#options;
    const setup = await openHttpSetup(this.#options);
    const { client, target, headers, hasToken, hide } = setup;
    this.#setup = setup;
    this.#queue = new RequestQueue(this, { client, clock, maxMessageBytes, hasToken, hide, onNoise });
    this.#headers = [...headers, ...MESSAGE_HEADERS];
    if (this.isClosing) return;
    this.#ready = createDeferred<void>();
    this.#stream = client.exchange({ method: 'GET', target, headers: [...headers, ...STREAM_HEADERS] }, this);
    await this.#ready.promise;
  }

  protected canSend(): boolean {
    return this.#endpoint !== undefined && this.#end === undefined;
  }

  protected handOn(message: Message, options: SendOptions | undefined): Promise<void> | undefined {
    this.#queue?.send(this.#outgoing(this.#endpoint as Target, message, options));
    return message['method'] === INITIALIZED ? this.#initialized.wait(this.#options.clock) : undefined;
  }

  #outgoing(target: Target, message: Message, options: SendOptions | undefined): OutgoingRequest {
    const method = typeof message['method'] === 'string' ? message['method'] : undefined;
    const id = method === undefined ? undefined : idOf(message);
    if (method === 'initialize') this.#initializeId = id;
    return {
      target,
      headers: withMessageHeaders(this.#headers, options?.headers),
      body: JSON.stringify(message),
      method,
      id,
      answerOn: 'shared-stream',
      repeatable: isRepeatable(method, options),
      mustNotRepeat: mustNotRepeat(method, options),
      onRepeat: options?.onRepeat?.bind(options),
      // The server names the address for one session only, so the address identifies the session.
      session: target.href,
      resumeHeaders: undefined,
    };
  }

  #refusal(body: string): RuntimeError {
    const { server } = this.#options;
    const { hasToken, hide } = this.#setup as HttpSetup;
    const refusal = { status: this.#status, statusText: hide(this.#statusText), body: hide(body) };
    return failureOf(refusal, { server, method: 'initialize', hasToken }).cause;
  }

  /** A channel that was never up makes `start()` reject with the cause; a channel that was up closes. */
  #goDown(cause: RuntimeError): void {
    if (this.#end !== undefined || this.isClosing) return;
    this.#end = cause;
    this.#body?.stop();
    this.#stream?.abort();
    this.#initialized.open();
    this.#queue?.end(cause);
    void this.#setup?.client.close();
    if (this.#endpoint === undefined) this.#ready?.reject(cause);
    else this.finish();
  }

  /** Ends the wait for the address; `start()` then reports that the channel was closed. */
  protected interrupt(): void {
    this.#ready?.resolve();
  }

  protected async shutDown(): Promise<void> {
    this.#body?.stop();
    this.#stream?.abort();
    this.#initialized.open();
    this.#queue?.clear();
    await this.#setup?.client.close();
    this.finish();
  }

  #reason(): string {
    if (this.#end !== undefined) return reasonIn(this.#end);
    if (this.isClosing) return 'it was closed';
    return this.#endpoint === undefined ? 'it has not said where to send messages' : 'it has not answered';
  }
}
