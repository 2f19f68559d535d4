// Owns the JSON-RPC messages of one channel: gives requests their ids, settles them with their responses, and passes on
// what the server sends by itself. Which requests make a handshake is left to `handshake.ts`, and when the channel ends to
// the session.

import type { Cancellation } from '../kernel/cancellation.ts';
import type { Clock } from '../kernel/clock.ts';
import { createDeferred, type Deferred } from '../kernel/deferred.ts';
import { isObject, type JsonObject, stringifyBounded } from '../kernel/json.ts';
import { settleWithin } from '../kernel/settle.ts';
import { limits } from '../model/limits.ts';
import {
  type Channel,
  HANDED_ON,
  type Message,
  type MessageId,
  type RequestFailure,
  type SendOptions,
} from '../model/server.ts';
import { type AnswerServerRequest, LegacyRequests } from './legacy-requests.ts';

/** Not 0, which some servers take for "no id". */
const FIRST_ID = 1;

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
  onProgress?(progress: Progress): void;
  /** Called for any other sign that the server is working on the request, such as a log message. */
  onSign?(): void;
  /** A gateway's client sends it: these fields of the modern `_meta` replace our own. */
  readonly relay?:
    | {
        readonly envelope?: JsonObject | undefined;
        onNotification?(method: string, params: JsonObject): void;
      }
    | undefined;
  /** Called with the id of the request: notifications on a subscription stream name it. */
  readonly onId?: (id: MessageId) => void;
  /**
   * A request of the handshake. Its params go out as they are, without progress token and envelope. If it cannot be sent, it
   * is lost only once the channel had time to report its end, since that report gives the reason.
   */
  readonly isHandshake?: true;
}

/** Receives the server's notifications. */
export type NotificationListener = (method: string, params: JsonObject) => void;

const LOGGED = 'notifications/message';

interface PendingRequest {
  resolve: ((outcome: RequestOutcome) => void) | undefined;
  /** Hears of the request's progress, and is the way to cancel it. */
  options: RequestOptions | undefined;
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
  #down = false;
  #wentDown: Deferred<void> | undefined;
  /** The `_meta` fields that every request of the modern era carries; set once the era is known. */
  envelope: JsonObject | undefined;
  /** Whether any message arrived since the health check last reset this. */
  sawActivity = false;
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  /** Called once, with the server's first message. */
  onfirstmessage: (() => void) | undefined;
  /** `isTold`: its request is known and was told. */
  onnotification: ((method: string, params: JsonObject, isTold: boolean) => void) | undefined;
  onrequest: AnswerServerRequest | undefined;
  /** Called when the channel could not deliver a request or its response. */
  onfailure: ((failure: RequestFailure) => void) | undefined;

  constructor(channel: Channel, clock: Clock) {
    this.#channel = channel;
    this.#clock = clock;
    channel.onmessage = (message, request) => this.#receive(message, request);
    channel.onoversized = (id) => this.#dropOversized(id);
    channel.onfailed = (id, failure) => this.#fail(id, failure);
    channel.onsign = (id) => this.#pending.get(id as number)?.options?.onSign?.();
    channel.onerror = (error) => this.onerror?.(error);
    channel.onclose = () => this.#goDown();
  }

  get down(): boolean {
    return this.#down;
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
      const isStream = method === 'subscriptions/listen';
      this.#pending.set(id, { resolve, options, owner, isStream });
      options.onId?.(id);
      const sent = options.isHandshake ? params : this.#withMeta(params, id, options.relay?.envelope);
      const handedOn = this.#channel.send({ jsonrpc: '2.0', id, method, params: sent }, options);
      if (handedOn !== HANDED_ON) void this.#awaitHandOn(id, handedOn, options);
      cancellation?.listen((reason) => {
        if (this.#take(id)) this.#cancel(id);
        reject(reason);
      });
    });
  }

  /** A send rejects only if the message was certainly not handed on. */
  async #awaitHandOn(id: number, handedOn: Promise<void>, { isHandshake }: RequestOptions): Promise<void> {
    try {
      await handedOn;
    } catch (cause) {
      if (isHandshake) await this.#whenEnded();
      this.#settle(id, { kind: 'lost', sent: false, cause });
    }
  }

  #withMeta(params: JsonObject | undefined, progressToken: number, relayed: JsonObject | undefined): JsonObject {
    const given = params?.['_meta'] as JsonObject | undefined;
    const envelope = relayed && this.envelope ? { ...this.envelope, ...relayed } : this.envelope;
    if (given !== undefined) return { ...params, _meta: { ...given, progressToken, ...envelope } };
    // The fields that are added come first: V8 takes ten times as long to add one behind those that are copied.
    return { _meta: envelope === undefined ? { progressToken } : { progressToken, ...envelope }, ...params };
  }

  /** Stops waiting for the response, without a word to the server. A late one is ignored, as any with an unknown id. */
  abandon(id: MessageId): void {
    if (this.#take(id as number)) this.#channel.abandon?.(id);
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

  /** A notification of the handshake. Resolves when it was handed on: no request may overtake it. */
  async announce(method: string): Promise<void> {
    try {
      await this.#channel.send({ jsonrpc: '2.0', method });
    } catch (error) {
      await this.#whenEnded();
      throw error;
    }
  }

  notify(method: string, params: JsonObject): void {
    const message = { jsonrpc: '2.0', method, params: this.envelope ? { ...params, _meta: this.envelope } : params };
    this.#sendUnawaited(message);
  }

  /** A failed send is only reported: `onclose` handles a channel that is down. */
  #sendUnawaited(message: Message): void {
    this.#channel.send(message).catch((error: unknown) => this.onerror?.(error as Error));
  }

  #receive(message: Message, request: MessageId | undefined): void {
    this.sawActivity = true;
    if (this.onfirstmessage) this.#announceFirstMessage();
    const { id, method } = message;
    if (typeof method !== 'string') {
      if (typeof id === 'number') this.#settle(id, outcomeOf(message));
      return;
    }
    if (id === undefined) {
      this.#takeNotification(method, message['params'], request);
      return;
    }
    if (this.onrequest === undefined) return;
    this.#legacyRequests ??= new LegacyRequests((reply) => this.#sendUnawaited(reply));
    void this.#legacyRequests.answer(message, this.onrequest);
  }

  #announceFirstMessage(): void {
    const announce = this.onfirstmessage;
    this.onfirstmessage = undefined;
    announce?.();
  }

  #takeNotification(method: string, params: unknown, request: MessageId | undefined): void {
    if (method === 'notifications/progress' && this.#forwardProgress(params)) return;
    if (method === 'notifications/cancelled' && isObject(params)) this.#legacyRequests?.cancel(params['requestId']);
    const said = isObject(params) ? params : {};
    if (method === LOGGED) this.#takeLog(said, request);
    this.onnotification?.(method, said, method === LOGGED && request !== undefined);
  }

  /** A log message does not name its request, but came on its stream; or else a server that logs is working on one of them. */
  #takeLog(params: JsonObject, request: MessageId | undefined): void {
    if (request === undefined) for (const { options } of this.#pending.values()) options?.onSign?.();
    else this.#pending.get(request as number)?.options?.relay?.onNotification?.(LOGGED, params);
  }

  #fail(id: MessageId, failure: RequestFailure): void {
    const { sent, cause, status } = failure;
    this.onfailure?.(failure);
    this.#settle(id as number, { kind: 'lost', sent, cause, ...(status !== undefined && { status }) });
  }

  #settle(id: number, outcome: RequestOutcome): void {
    // No request waits for an unknown id, or for a second response.
    this.#take(id)?.(outcome);
  }

  /** Clears the entry: a map keeps deleted entries until it is rebuilt, and this one would keep a whole call and its result. */
  #take(id: number): PendingRequest['resolve'] {
    const pending = this.#pending.get(id);
    if (pending === undefined) return undefined;
    this.#pending.delete(id);
    const { resolve, options } = pending;
    pending.resolve = undefined;
    pending.options = undefined;
    options?.cancellation?.listen(undefined);
    return resolve;
  }

  /** True for every progress of a request, ended ones included: all tokens are numbers of this wire. */
  #forwardProgress(params: unknown): boolean {
    if (!isObject(params) || typeof params['progressToken'] !== 'number') return false;
    const { progress, total, message } = params;
    this.#pending.get(params['progressToken'])?.options?.onProgress?.({
      progress: typeof progress === 'number' ? progress : 0,
      ...(typeof total === 'number' && { total }),
      ...(typeof message === 'string' && { message: message.slice(0, limits.progressChars) }),
    });
    return true;
  }

  /** If the id could not be read, the message still must be the response to the only request in flight. */
  #dropOversized(id: string | number | undefined): void {
    const [only, another] = [...this.#pending].filter(([, { isStream }]) => !isStream).map(([pending]) => pending);
    if (id !== undefined) this.#settle(id as number, { kind: 'oversized' });
    else if (only !== undefined && another === undefined) this.#settle(only, { kind: 'oversized' });
  }

  /** A failed write is noticed a moment before the channel reports its end. With a stream per request it need not end at all. */
  async #whenEnded(): Promise<void> {
    if (this.#down || this.#channel.hasRequestStreams) return;
    this.#wentDown ??= createDeferred<void>();
    await settleWithin([this.#wentDown.promise], { limitMs: limits.lossMs, clock: this.#clock });
  }

  #goDown(): void {
    if (this.#down) return;
    this.#down = true;
    this.#wentDown?.resolve();
    for (const id of [...this.#pending.keys()]) this.#settle(id, { kind: 'lost', sent: true });
    this.onclose?.();
  }
}

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
