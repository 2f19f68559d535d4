// Owns the JSON-RPC messages of one channel. Sits between the SDK's client and the transport: requests of the runtime get
// their ids here and are settled without the SDK, so that the hot path pays neither for its schemas nor for its bookkeeping.
// The SDK makes the handshake and is detached afterwards. Its messages pass through unchanged, with three exceptions: the
// era probe has a timeout on our clock; the session answers the server's requests; and the SDK's `close` only detaches
// the SDK, since the session decides when the channel ends.

import type { Cancellation } from '../kernel/cancellation.ts';
import type { Clock } from '../kernel/clock.ts';
import { createDeferred, type Deferred } from '../kernel/deferred.ts';
import { isObject, type JsonObject, stringifyBounded } from '../kernel/json.ts';
import { settleWithin } from '../kernel/settle.ts';
import { limits } from '../model/limits.ts';
import type { Channel, Message, MessageId, RequestFailure, SendOptions } from '../model/server.ts';
import { type AnswerServerRequest, LegacyRequests } from './legacy-requests.ts';

/** Far above the SDK's ids, which count from 0, and small enough for servers that keep ids in 32 bits. */
const FIRST_ID = 2 ** 30;

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** How a request to the server ended. `lost`: no response came; `sent` says whether the server may have seen the request. */
export type RequestOutcome =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
  | { readonly kind: 'lost'; readonly sent: boolean; readonly cause?: unknown; readonly status?: number }
  | { readonly kind: 'oversized' };

export interface RequestOptions extends SendOptions {
  readonly cancellation?: Cancellation;
  readonly onProgress?: (progress: Progress) => void;
  /** Called for any other sign that the server is working on the request, such as a log message. */
  readonly onSign?: (() => void) | undefined;
  /** Called with the id of the request: notifications on a subscription stream name it. */
  readonly onId?: (id: MessageId) => void;
}

/** Receives the server's notifications. */
export type NotificationListener = (method: string, params: JsonObject) => void;

interface PendingRequest {
  settle: ((outcome: RequestOutcome) => void) | undefined;
  onProgress: RequestOptions['onProgress'];
  onSign: RequestOptions['onSign'];
  /** The lease that sent the request; several leases may share one session. */
  readonly owner: object | undefined;
  /** A subscription stream stays open as long as the session, so an oversized message is never its response. */
  readonly isStream: boolean;
}

export class Wire {
  readonly #channel: Channel;
  readonly #clock: Clock;
  readonly #pending = new Map<number, PendingRequest>();
  /** Created with the server's first request; most servers send none. */
  #legacyRequests: LegacyRequests | undefined;
  #nextId = FIRST_ID;
  #started: Promise<void> | undefined;
  #down = false;
  #probe:
    | {
        readonly id: unknown;
        readonly cancelTimeout: () => void;
        answered: boolean;
        isGivenUp: boolean;
        /** Resolves when the response arrives after the probe was given up. */
        readonly late: Deferred<void>;
      }
    | undefined;
  #wentDown: Deferred<void> | undefined;
  #earlyMessages: Message[] = [];
  #deliver: ((message: Message) => void) | undefined;
  /** The `_meta` fields that every request of the modern era carries; set once the era is known. */
  envelope: JsonObject | undefined;
  /** The result of `server/discover` that arrived after the probe was given up: the server is modern after all. */
  #lateDiscovery: unknown;
  /** Whether any message arrived since the health check last reset this. */
  sawActivity = false;
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  /** Called once, with the server's first message. */
  onfirstmessage: (() => void) | undefined;
  onnotification: NotificationListener | undefined;
  onrequest: AnswerServerRequest | undefined;
  /** Called when the channel could not deliver a request or its response, for requests of the SDK as well. */
  onfailure: ((failure: RequestFailure) => void) | undefined;
  /** The SDK recognizes a local pipe by `stderr` and `pid`, and then treats silence as "legacy", not as an outage. */
  readonly stderr = null;

  constructor(channel: Channel, clock: Clock) {
    this.#channel = channel;
    this.#clock = clock;
    channel.onmessage = (message) => this.#receive(message);
    channel.onoversized = (id) => this.#dropOversized(id);
    channel.onfailed = (id, failure) => this.#fail(id, failure);
    channel.onsign = (id) => this.#pending.get(id as number)?.onSign?.();
    channel.onerror = (error) => this.onerror?.(error);
    channel.onclose = () => this.#goDown();
  }

  get pid(): number | null {
    return this.#channel.pid ?? null;
  }

  /** Whether the channel ended before the era probe was answered: some legacy servers exit on an unknown request. */
  get diedDuringProbe(): boolean {
    return this.#down && this.#probe !== undefined && !this.#probe.answered;
  }

  get down(): boolean {
    return this.#down;
  }

  /**
   * The result of `server/discover`, if it arrived late. A server that was slow to start reads the probe and the messages
   * after it at once, and may answer them in any order.
   */
  async lateDiscovery(): Promise<unknown> {
    if (this.#probe?.isGivenUp && this.#lateDiscovery === undefined && !this.#down)
      await settleWithin([this.#probe.late.promise], { limitMs: limits.lateProbeMs, clock: this.#clock });
    return this.#lateDiscovery;
  }

  start(): Promise<void> {
    this.#started ??= this.#channel.start();
    return this.#started;
  }

  /** Messages that arrived before the SDK listens are delivered when it does. */
  set onmessage(deliver: ((message: Message) => void) | undefined) {
    this.#deliver = deliver;
    if (deliver === undefined) return;
    const early = this.#earlyMessages;
    this.#earlyMessages = [];
    for (const message of early) deliver(message);
  }

  get onmessage(): ((message: Message) => void) | undefined {
    return this.#deliver;
  }

  /** A failed write is noticed a moment before the channel reports its end: wait for that report, which gives the reason. */
  async send(message: Message): Promise<void> {
    if (message['method'] === 'server/discover' && this.#probe === undefined && !this.#down)
      this.#watchProbe(message['id']);
    try {
      await this.#channel.send(message);
    } catch (error) {
      const isEnding = !this.#down && !this.#channel.hasRequestStreams;
      if (isEnding) await settleWithin([this.#whenDown()], { limitMs: limits.lossMs, clock: this.#clock });
      throw error;
    }
  }

  /** Drops the SDK after the handshake: it has nothing left to do, and holds a quarter of an idle connection's memory. */
  detachSdk(): void {
    this.#deliver = ignore;
    this.onclose = undefined;
    this.onerror = undefined;
  }

  /** Called by the SDK when a handshake fails. The channel stays open for a second handshake. */
  async close(): Promise<void> {
    this.#deliver = undefined;
  }

  request(
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions = {},
    owner?: object,
  ): Promise<RequestOutcome> {
    const id = this.#nextId++;
    if (this.#down) return Promise.resolve({ kind: 'lost', sent: false });
    const { cancellation } = options;
    if (cancellation?.cancelled) return Promise.reject(cancellation.reason);
    return new Promise<RequestOutcome>((resolve, reject) => {
      const settle = (outcome: RequestOutcome) => {
        cancellation?.listen(undefined);
        resolve(outcome);
      };
      const isStream = method === 'subscriptions/listen';
      const { onProgress, onSign } = options;
      this.#pending.set(id, { settle, onProgress, onSign, owner, isStream });
      options.onId?.(id);
      const meta = { ...(params?.['_meta'] as JsonObject | undefined), progressToken: id, ...this.envelope };
      // `send` rejects only if the message was certainly not handed on.
      this.#channel
        .send({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } }, options)
        .catch((cause: unknown) => this.#settle(id, { kind: 'lost', sent: false, cause }));
      cancellation?.listen((reason) => {
        if (this.#take(id)) this.#cancel(id);
        reject(reason);
      });
    });
  }

  /** The owner closed its lease: its open requests are cancelled, and whether the server performed them is unknown. */
  cancelRequestsOf(owner: object): void {
    for (const [id, pending] of this.#pending) {
      if (pending.owner !== owner) continue;
      this.#cancel(id);
      this.#settle(id, { kind: 'lost', sent: true });
    }
  }

  /** In the modern era, ending the request's own stream cancels it; otherwise the server gets `notifications/cancelled`. */
  #cancel(id: number): void {
    const { hasRequestStreams } = this.#channel;
    if (this.envelope === undefined || !hasRequestStreams)
      this.notify('notifications/cancelled', { requestId: id, reason: 'cancelled' });
    this.#channel.abandon?.(id);
  }

  notify(method: string, params: JsonObject): void {
    const message = { jsonrpc: '2.0', method, params: this.envelope ? { ...params, _meta: this.envelope } : params };
    this.#sendUnawaited(message);
  }

  /** A failed send is only reported: `onclose` handles a channel that is down. */
  #sendUnawaited(message: Message): void {
    this.#channel.send(message).catch((error: unknown) => this.onerror?.(error as Error));
  }

  #receive(received: Message): void {
    let message = received;
    this.sawActivity = true;
    if (this.onfirstmessage) this.#announceFirstMessage();
    const id = message['id'];
    if (typeof id === 'number' && id >= FIRST_ID && message['method'] === undefined) {
      this.#settle(id, outcomeOf(message));
      return;
    }
    if (id === undefined && this.#takeNotification(message)) return;
    if (id !== undefined && this.onrequest && typeof message['method'] === 'string') {
      this.#legacyRequests ??= new LegacyRequests((reply) => this.#sendUnawaited(reply));
      void this.#legacyRequests.answer(message, this.onrequest);
      return;
    }
    if (this.#probe !== undefined && id === this.#probe.id && message['method'] === undefined) {
      if (this.#probe.answered) {
        this.#lateDiscovery = message['result'];
        this.#probe.late.resolve();
        return;
      }
      this.#probe.cancelTimeout();
      this.#probe = undefined;
      // The SDK would ignore a response without a valid result or error, and wait for ever.
      if (!isObject(message['result']) && !isObject(message['error'])) message = methodNotFoundResponse(id);
    }
    if (this.#deliver) this.#deliver(message);
    else this.#earlyMessages.push(message);
  }

  #announceFirstMessage(): void {
    const announce = this.onfirstmessage;
    this.onfirstmessage = undefined;
    announce?.();
  }

  /** True for notifications that concern only the wire; all others are passed to the SDK as well. */
  #takeNotification({ method, params }: Message): boolean {
    if (typeof method !== 'string') return false;
    if (method === 'notifications/progress' && this.#forwardProgress(params)) return true;
    if (method === 'notifications/cancelled' && isObject(params)) this.#legacyRequests?.cancel(params['requestId']);
    // A log message does not name its request, but a server that logs is working on one of them.
    if (method === 'notifications/message') for (const { onSign } of this.#pending.values()) onSign?.();
    this.onnotification?.(method, isObject(params) ? params : {});
    return method === 'notifications/subscriptions/acknowledged';
  }

  /** A failed request of the SDK gets an error response in the server's place: the SDK knows no other way to fail one. */
  #fail(id: MessageId, failure: RequestFailure): void {
    const { sent, cause, status } = failure;
    // The era probe was given up already: its failure changes nothing.
    if (this.#probe?.answered && id === this.#probe.id) return;
    this.onfailure?.(failure);
    if (typeof id === 'number' && id >= FIRST_ID)
      this.#settle(id, { kind: 'lost', sent, cause, ...(status !== undefined && { status }) });
    else this.#receive({ jsonrpc: '2.0', id, error: { code: -32603, message: cause.message } });
  }

  #settle(id: number, outcome: RequestOutcome): void {
    // No request waits for an unknown id, or for a second response.
    this.#take(id)?.(outcome);
  }

  /** Clears the entry: a map keeps deleted entries until it is rebuilt, and this one would keep a whole call and its result. */
  #take(id: number): PendingRequest['settle'] {
    const pending = this.#pending.get(id);
    if (pending === undefined) return undefined;
    this.#pending.delete(id);
    const { settle } = pending;
    pending.settle = undefined;
    pending.onProgress = undefined;
    pending.onSign = undefined;
    return settle;
  }

  #forwardProgress(params: unknown): boolean {
    if (!isObject(params) || typeof params['progressToken'] !== 'number') return false;
    const pending = this.#pending.get(params['progressToken']);
    if (pending === undefined) return params['progressToken'] >= FIRST_ID;
    const { progress, total, message } = params;
    pending.onProgress?.({
      progress: typeof progress === 'number' ? progress : 0,
      ...(typeof total === 'number' && { total }),
      ...(typeof message === 'string' && { message: message.slice(0, limits.progressChars) }),
    });
    return true;
  }

  /** If the id could not be read, the message still must be the response to the only request in flight. */
  #dropOversized(id: string | number | undefined): void {
    const [only, another] = [...this.#pending].filter(([, { isStream }]) => !isStream).map(([pending]) => pending);
    if (typeof id === 'number' && this.#pending.has(id)) this.#settle(id, { kind: 'oversized' });
    else if (id === undefined && only !== undefined && another === undefined) this.#settle(only, { kind: 'oversized' });
    else if (id !== undefined)
      this.#receive({ jsonrpc: '2.0', id, error: { code: -32603, message: 'message too large' } });
  }

  /** A server that does not answer the probe is legacy: the SDK gets "method not found" in its place, on the same process. */
  #watchProbe(id: unknown): void {
    const giveUp = () => {
      if (this.#probe === undefined || this.#probe.answered || this.#down) return;
      this.#probe.answered = true;
      this.#probe.isGivenUp = true;
      this.#deliver?.(methodNotFoundResponse(id));
    };
    const cancelTimeout = this.#clock.after(limits.probeMs, giveUp, 'background');
    this.#probe = { id, answered: false, isGivenUp: false, late: createDeferred(), cancelTimeout };
  }

  #whenDown(): Promise<void> {
    this.#wentDown ??= createDeferred<void>();
    return this.#wentDown.promise;
  }

  #goDown(): void {
    if (this.#down) return;
    this.#down = true;
    this.#probe?.cancelTimeout();
    this.#probe?.late.resolve();
    this.#wentDown?.resolve();
    for (const id of [...this.#pending.keys()]) this.#settle(id, { kind: 'lost', sent: true });
    this.onclose?.();
  }
}

const ignore = (): void => undefined;

const methodNotFoundResponse = (id: unknown): Message => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32601, message: 'Method not found' },
});

function outcomeOf(message: Message): RequestOutcome {
  const error = message['error'];
  if (error === undefined) return { kind: 'result', result: message['result'] };
  const { code, message: text, data } = isObject(error) ? error : {};
  return {
    kind: 'error',
    code: typeof code === 'number' ? code : -32603,
    message: typeof text === 'string' ? text : `the server gave no reason (${stringifyBounded(error, 200)})`,
    ...(data !== undefined && { data }),
  };
}
