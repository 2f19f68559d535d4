// Owns what goes over a channel: sits between the SDK's client and the transport, owns the ids of our own requests
// and answers them without the SDK, so that the hot path pays neither for its schemas nor for its bookkeeping.
// The SDK makes the handshake and is let go of afterwards. What it sends and receives passes through untouched, but for
// three things: the era probe is bounded here, on our clock; what a server asks is answered by the session; and the SDK's
// `close` only detaches it – the session decides when the channel itself ends.

import type { Cancellation } from '../kernel/cancellation.ts';
import type { Clock } from '../kernel/clock.ts';
import { createDeferred, type Deferred } from '../kernel/deferred.ts';
import { isObject, type JsonObject, stringifyBounded } from '../kernel/json.ts';
import { settleWithin } from '../kernel/settle.ts';
import { limits } from '../model/limits.ts';
import type { Channel, Message, MessageId, RequestFailure, SendOptions } from '../model/server.ts';
import { type AnswerServerRequest, LegacyRequests } from './legacy-requests.ts';

/** Far above the SDK's own ids, which count from 0, and small enough for servers that keep ids in 32 bits. */
const FIRST_ID = 2 ** 30;

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** How a request of ours ended. `lost` comes with `sent`: whether the other side may have seen it. */
export type RequestOutcome =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
  | { readonly kind: 'lost'; readonly sent: boolean; readonly cause?: unknown; readonly status?: number }
  | { readonly kind: 'oversized' };

export interface RequestOptions extends SendOptions {
  readonly cancellation?: Cancellation;
  readonly onProgress?: (progress: Progress) => void;
  /** The server is at work, though it says nothing of how far it is. */
  readonly onSign?: (() => void) | undefined;
  /** Told the id under which it is sent: what comes on a stream names it. */
  readonly onId?: (id: MessageId) => void;
}

/** What a server says unasked. */
export type NotificationListener = (method: string, params: JsonObject) => void;

interface PendingRequest {
  settle: ((answer: RequestOutcome) => void) | undefined;
  onProgress: RequestOptions['onProgress'];
  onSign: RequestOptions['onSign'];
  /** Who asks; several may use one session. */
  readonly owner: object | undefined;
  /** It stays open as long as the session: what is lost on the way was never its answer. */
  readonly isStream: boolean;
}

export class Wire {
  readonly #channel: Channel;
  readonly #clock: Clock;
  readonly #pending = new Map<number, PendingRequest>();
  /** From the first one on; most servers ask nothing. */
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
        /** Resolves when an answer came although it had been given up. */
        readonly late: Deferred<void>;
      }
    | undefined;
  #wentDown: Deferred<void> | undefined;
  #early: Message[] = [];
  #deliver: ((message: Message) => void) | undefined;
  /** What every request of the modern era carries; set once the era is known. */
  envelope: JsonObject | undefined;
  /** A discovery that came after the probe had been given up: the server is modern after all. */
  #lateDiscovery: unknown;
  /** Whether anything came since somebody last looked: a sign of life. */
  sawActivity = false;
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  /** The first message of all: the server is there. */
  onfirstmessage: (() => void) | undefined;
  onnotification: NotificationListener | undefined;
  onrequest: AnswerServerRequest | undefined;
  /** A request got no answer; told whosever it was. */
  onfailure: ((failure: RequestFailure) => void) | undefined;
  /** The SDK recognizes a local pipe by these two and then treats silence as "legacy", not as an outage. */
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

  /** Whether the channel ended while the era probe was unanswered: some older servers exit on an unknown request. */
  get diedDuringProbe(): boolean {
    return this.#down && this.#probe !== undefined && !this.#probe.answered;
  }

  get down(): boolean {
    return this.#down;
  }

  /** A server that was slow to start reads the probe and what came after it at once, and may answer them in any order. */
  async lateDiscovery(): Promise<unknown> {
    if (this.#probe?.isGivenUp && this.#lateDiscovery === undefined && !this.#down)
      await settleWithin([this.#probe.late.promise], { limitMs: limits.lateProbeMs, clock: this.#clock });
    return this.#lateDiscovery;
  }

  start(): Promise<void> {
    this.#started ??= this.#channel.start();
    return this.#started;
  }

  /** Messages that arrive before the SDK listens wait for it. */
  set onmessage(deliver: ((message: Message) => void) | undefined) {
    this.#deliver = deliver;
    if (deliver === undefined) return;
    const early = this.#early;
    this.#early = [];
    for (const message of early) deliver(message);
  }

  get onmessage(): ((message: Message) => void) | undefined {
    return this.#deliver;
  }

  /** That nobody takes a message is known a moment before it is known why. */
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

  /** The handshake is over: the SDK has nothing left to do, and weighs a quarter of an idle connection. */
  detachSdk(): void {
    this.#deliver = unheard;
    this.onclose = undefined;
    this.onerror = undefined;
  }

  /** The SDK closes its transport when a handshake fails; the channel stays up for another try. */
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
      const settle = (answer: RequestOutcome) => {
        cancellation?.listen(undefined);
        resolve(answer);
      };
      const isStream = method === 'subscriptions/listen';
      const { onProgress, onSign } = options;
      this.#pending.set(id, { settle, onProgress, onSign, owner, isStream });
      options.onId?.(id);
      const meta = { ...(params?.['_meta'] as JsonObject | undefined), progressToken: id, ...this.envelope };
      // The only rejection of `send` is "certainly not handed on".
      this.#channel
        .send({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } }, options)
        .catch((cause: unknown) => this.#settle(id, { kind: 'lost', sent: false, cause }));
      cancellation?.listen((reason) => {
        if (this.#take(id)) this.#cancel(id);
        reject(reason);
      });
    });
  }

  /** Its owner is gone: what it still waits for is told off, and what became of it nobody knows. */
  cancelRequestsOf(owner: object): void {
    for (const [id, pending] of this.#pending) {
      if (pending.owner !== owner) continue;
      this.#cancel(id);
      this.#settle(id, { kind: 'lost', sent: true });
    }
  }

  /** In the modern era the end of a request's own stream says it all; elsewhere the server is told. */
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

  /** Where the channel is down there is nobody to tell; `onclose` reports the loss. */
  #sendUnawaited(message: Message): void {
    this.#channel.send(message).catch((error: unknown) => this.onerror?.(error as Error));
  }

  #receive(received: Message): void {
    let message = received;
    this.sawActivity = true;
    if (this.onfirstmessage) this.#announceAnswer();
    const id = message['id'];
    if (typeof id === 'number' && id >= FIRST_ID && message['method'] === undefined) {
      this.#settle(id, answerOf(message));
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
      // The SDK would overlook an answer of no known shape, and wait for one that never comes.
      if (!isObject(message['result']) && !isObject(message['error'])) message = refusal(id);
    }
    if (this.#deliver) this.#deliver(message);
    else this.#early.push(message);
  }

  #announceAnswer(): void {
    const announce = this.onfirstmessage;
    this.onfirstmessage = undefined;
    announce?.();
  }

  /** True for what concerns only us; the rest is the SDK's to hear as well. */
  #takeNotification({ method, params }: Message): boolean {
    if (typeof method !== 'string') return false;
    if (method === 'notifications/progress' && this.#forwardProgress(params)) return true;
    if (method === 'notifications/cancelled' && isObject(params)) this.#legacyRequests?.cancel(params['requestId']);
    // It does not say which request it is about; whoever logs is at work on one of them.
    if (method === 'notifications/message') for (const { onSign } of this.#pending.values()) onSign?.();
    this.onnotification?.(method, isObject(params) ? params : {});
    return method === 'notifications/subscriptions/acknowledged';
  }

  /** An SDK request is answered in the server's place: the SDK knows no other end. */
  #fail(id: MessageId, failure: RequestFailure): void {
    const { sent, cause, status } = failure;
    // The probe that was given up is nobody's concern any more.
    if (this.#probe?.answered && id === this.#probe.id) return;
    this.onfailure?.(failure);
    if (typeof id === 'number' && id >= FIRST_ID)
      this.#settle(id, { kind: 'lost', sent, cause, ...(status !== undefined && { status }) });
    else this.#receive({ jsonrpc: '2.0', id, error: { code: -32603, message: cause.message } });
  }

  #settle(id: number, answer: RequestOutcome): void {
    // An id nobody asked for, or answered twice: nothing waits for it.
    this.#take(id)?.(answer);
  }

  /** Emptied on the way out: a map keeps what was deleted until it is rebuilt, and with it a whole call and its result. */
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

  /** When nobody could read whose answer it was, one call in flight is still an unambiguous answer. */
  #dropOversized(id: string | number | undefined): void {
    const [only, another] = [...this.#pending].filter(([, { isStream }]) => !isStream).map(([pending]) => pending);
    if (typeof id === 'number' && this.#pending.has(id)) this.#settle(id, { kind: 'oversized' });
    else if (id === undefined && only !== undefined && another === undefined) this.#settle(only, { kind: 'oversized' });
    else if (id !== undefined)
      this.#receive({ jsonrpc: '2.0', id, error: { code: -32603, message: 'message too large' } });
  }

  /** Silence means the older era: the SDK is told "method not found" in the server's place, on the same process. */
  #watchProbe(id: unknown): void {
    const giveUp = () => {
      if (this.#probe === undefined || this.#probe.answered || this.#down) return;
      this.#probe.answered = true;
      this.#probe.isGivenUp = true;
      this.#deliver?.(refusal(id));
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

const unheard = (): void => undefined;

const refusal = (id: unknown): Message => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32601, message: 'Method not found' },
});

function answerOf(message: Message): RequestOutcome {
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
