// Owns all requests of one channel that are in flight: which answer belongs to which, which have heard nothing for too
// long, and which have to be reported as failed when the channel ends.

import type { CancelTimer, Clock } from '../kernel/clock.ts';
import type { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Channel, Message, MessageId, RequestFailure } from '../model/server.ts';
import type { ChannelBase } from './channel-base.ts';
import type { HttpClient, ResponseHeaders } from './exchange.ts';
import { sessionExpired } from './http-failure.ts';
import { InFlightRequest, type RequestContext } from './in-flight-request.ts';
import type { OutgoingRequest } from './outgoing-request.ts';
import { SessionCheck, type SessionRefusal } from './session-check.ts';

type ChannelEvents = Pick<Channel, 'onmessage' | 'onerror' | 'onfailed' | 'onoversized' | 'onsign'>;

/** The channel: the queue calls its events, and these methods for what the channel itself has to know. */
export interface RequestQueueOwner extends ChannelEvents, Pick<ChannelBase, 'tell'> {
  /** The server has accepted this request with a 2xx status. */
  accepted?(outgoing: OutgoingRequest, headers: ResponseHeaders): void;
  /** Called before the message goes to `onmessage`. */
  received(message: Message): void;
  /** Called after `onfailed`. */
  refused(outgoing: OutgoingRequest, failure: RequestFailure): void;
  unreachable(cause: RuntimeError): void;
  /** No request waits for an answer any more. */
  quiet?(): void;
}

export interface RequestQueueOptions {
  readonly client: HttpClient;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
  readonly hasToken: boolean;
  readonly hide: (text: string) => string;
  readonly onNoise: ((text: string) => void) | undefined;
}

export class RequestQueue implements RequestContext {
  readonly client: HttpClient;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
  readonly hasToken: boolean;
  readonly hide: RequestQueueOptions['hide'];
  readonly #owner: RequestQueueOwner;
  readonly #onNoise: RequestQueueOptions['onNoise'];
  #sessionCheck: SessionCheck | undefined;
  /** Every request that still has a connection, a stream or a timer. */
  readonly #inFlight = new Set<InFlightRequest>();
  readonly #waiting = new Map<MessageId, InFlightRequest>();
  /** Answered requests whose stream the server has not ended yet; oldest first. */
  #lingering: Set<InFlightRequest> | undefined;
  #cancelWatch: CancelTimer | undefined;

  constructor(owner: RequestQueueOwner, options: RequestQueueOptions) {
    this.#owner = owner;
    this.client = options.client;
    this.clock = options.clock;
    this.maxMessageBytes = options.maxMessageBytes;
    this.hasToken = options.hasToken;
    this.hide = options.hide;
    this.#onNoise = options.onNoise;
  }

  /** How many requests wait for an answer. */
  get waiting(): number {
    return this.#waiting.size;
  }

  send(outgoing: OutgoingRequest): void {
    const request = new InFlightRequest(this, outgoing);
    this.#inFlight.add(request);
    if (outgoing.id !== undefined) this.#waiting.set(outgoing.id, request);
    this.#cancelWatch ??= this.clock.after(limits.httpIdleMs, this.#watch, 'background');
    request.begin();
  }

  abandon(id: MessageId): void {
    const request = this.#waiting.get(id);
    if (request === undefined) return;
    request.abort();
    this.#forget(request);
  }

  /** The channel is down. Reports only requests that certainly were not handled; for the others the outcome is unknown. */
  end(cause: RuntimeError): void {
    const untouched = Array.from(this.#inFlight).filter((request) => request.isUntouched);
    this.clear();
    for (const { outgoing } of untouched) this.#tellFailed(outgoing, { sent: false, cause });
  }

  /** Aborts every request without reporting any as failed. */
  clear(): void {
    for (const request of this.#inFlight) request.abort();
    this.#inFlight.clear();
    this.#waiting.clear();
    this.#lingering?.clear();
    this.#cancelWatch?.();
    this.#cancelWatch = undefined;
  }

  accepted(request: InFlightRequest, headers: ResponseHeaders): void {
    this.#owner.accepted?.(request.outgoing, headers);
  }

  deliver(message: Message, request?: MessageId): void {
    this.#owner.received(message);
    if (request === undefined) this.#owner.tell(this.#owner.onmessage, message);
    else this.#owner.tell((id) => this.#owner.onmessage?.(message, id), request);
  }

  oversized(id: MessageId | undefined): void {
    this.#owner.tell(this.#owner.onoversized, id);
  }

  noise(text: string): void {
    this.#owner.tell(this.#onNoise, this.hide(text.slice(0, limits.noiseLineChars)));
  }

  sign(id: MessageId): void {
    this.#owner.tell(this.#owner.onsign, id);
  }

  unreachable(cause: RuntimeError): void {
    this.#owner.unreachable(cause);
  }

  async isSessionGone({ session, target, headers }: OutgoingRequest, refusal: SessionRefusal): Promise<boolean> {
    if (session === undefined) return false;
    this.#sessionCheck ??= new SessionCheck(this.client, this.clock);
    return this.#sessionCheck.isRefusedAlike(session, { method: 'POST', target, headers }, refusal);
  }

  doubtSession(outgoing: OutgoingRequest, refusal: SessionRefusal): void {
    void this.isSessionGone(outgoing, refusal).then((isGone) => {
      if (!isGone) return;
      this.#owner.refused(outgoing, sessionExpired(this.client.server, refusal.status));
      if (this.#waiting.size === 0) this.#owner.quiet?.();
    });
  }

  answered(request: InFlightRequest): void {
    this.#waiting.delete(request.outgoing.id as MessageId);
    this.#lingering ??= new Set();
    this.#lingering.add(request);
    if (this.#waiting.size === 0) this.#owner.quiet?.();
    const [oldest] = this.#lingering;
    if (this.#lingering.size <= limits.answeredStreams || oldest === undefined) return;
    oldest.abort();
    this.#forget(oldest);
  }

  failed(request: InFlightRequest, failure: RequestFailure): void {
    this.#forget(request);
    this.#tellFailed(request.outgoing, failure);
    this.#owner.refused(request.outgoing, failure);
    if (this.#waiting.size === 0) this.#owner.quiet?.();
  }

  done(request: InFlightRequest): void {
    this.#forget(request);
  }

  #forget(request: InFlightRequest): void {
    this.#inFlight.delete(request);
    this.#lingering?.delete(request);
    const { id } = request.outgoing;
    if (id !== undefined && this.#waiting.get(id) === request) this.#waiting.delete(id);
  }

  #tellFailed({ id }: OutgoingRequest, failure: RequestFailure): void {
    if (id === undefined) this.#owner.onerror?.(failure.cause);
    else this.#owner.tell((reported: RequestFailure) => this.#owner.onfailed?.(id, reported), failure);
  }

  /** One timer for all requests, due when the longest silence would end; by then most requests have been answered. */
  readonly #watch = (): void => {
    this.#cancelWatch = undefined;
    const now = this.clock.now();
    let soonest = Number.POSITIVE_INFINITY;
    for (const request of Array.from(this.#inFlight)) {
      const due = request.lastHeardAt + limits.httpIdleMs;
      if (due <= now) request.giveUp();
      else soonest = Math.min(soonest, due);
    }
    if (this.#inFlight.size === 0) return;
    const nextMs = Math.min(soonest - now, limits.httpIdleMs);
    this.#cancelWatch ??= this.clock.after(nextMs, this.#watch, 'background');
  };
}
