// Owns answering one request, on any transport: finding the method, running the service's ones within the limits, asking the client
// meanwhile, and wording the answer for its era. Says nothing about how messages travel.

import type { Clock } from '../kernel/clock.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { Roster, type RosterEntry } from '../kernel/roster.ts';
import { CallPlaces } from './call-places.ts';
import { Changes } from './changes.ts';
import { ClientSubscriptions } from './client-subscriptions.ts';
import { type LegacySession, legacySessionOf } from './legacy-session.ts';
import { type ClientRequest, errorMessage, resultMessage } from './message.ts';
import { codes, invalidParams, methodNotFound, ProtocolError } from './protocol.ts';
import { protocolMethods } from './protocol-methods.ts';
import { assertCanBeAsked } from './questions.ts';
import { legacyResult, modernError, modernResult } from './result-era.ts';
import { type AskClient, type CallReply, RunningCall } from './running-call.ts';
import type { Implementation, Peer, Principal, ServedMethod, Service } from './service.ts';
import type { ServingLimits } from './serving-limits.ts';
import type { ServingRoom } from './serving-room.ts';
import type { StateSeal } from './state-seal.ts';
import { SuspendedCalls } from './suspended-calls.ts';

export interface DispatcherOptions {
  readonly service: Service;
  readonly room: ServingRoom;
  readonly clock: Clock;
  readonly seal: StateSeal;
  /** Called with what a handler threw that is no `ProtocolError`; clients are not told its text. */
  readonly report: (error: unknown) => void;
}

/** The answer to one request. A cancelled legacy request has none. */
export interface Answered {
  /** The message as JSON: made here, so that a result that is no JSON fails its own request only. */
  readonly text: string;
  /** Set for an error. */
  readonly code?: number;
  /** The HTTP status of the error, where it has one of its own. */
  readonly status?: number | undefined;
  readonly isCancelled?: boolean;
  /** False if the request was refused before a handler of the service saw it. */
  readonly isHandedOn: boolean;
}

/** The request as a transport hands it over; `onCall` gets the running call, to cancel it. */
export interface Dispatch {
  readonly request: ClientRequest;
  readonly peer: Peer;
  readonly reply: CallReply;
  readonly onCall?: (call: RunningCall) => void;
}

/** How far an answer has come. */
interface Progress {
  call: RunningCall | undefined;
  /** Among the calls that no answer was given to yet. */
  place: RosterEntry<RunningCall> | undefined;
  isHandedOn: boolean;
}

/** The code of the answer to a cancelled request, where a transport needs one. */
const CANCELLED = -32800;

export class Dispatcher {
  readonly service: Service;
  readonly room: ServingRoom;
  readonly limits: ServingLimits;
  readonly clock: Clock;
  readonly changes = new Changes();
  readonly places: CallPlaces;
  readonly suspended: SuspendedCalls;
  readonly subscriptions: ClientSubscriptions;
  readonly report: (error: unknown) => void;
  /** The calls that no answer was given to yet. */
  readonly #calls = new Roster<RunningCall>();

  constructor({ service, room, clock, seal, report }: DispatcherOptions) {
    this.service = service;
    this.room = room;
    this.limits = room.limits;
    this.clock = clock;
    this.report = report;
    this.places = new CallPlaces(room.calls);
    this.suspended = new SuspendedCalls({
      ...{ seal, clock },
      questionMs: room.limits.questionMs,
      places: room.suspended,
    });
    this.subscriptions = new ClientSubscriptions({ service, room, changes: this.changes, tell: this.tell });
  }

  /** Requests without an answer so far, open subscriptions included. */
  get unanswered(): number {
    return this.#calls.size;
  }

  /** Ends subscriptions with their proper result, and suspended calls as cancelled. */
  close(): void {
    const reason = new DOMException('the server stops', 'AbortError');
    this.subscriptions.close(reason);
    this.suspended.endAll(reason);
  }

  /** Cancels the running calls and open subscriptions of some principals, and ends their suspended calls. */
  cancelCalls(reason: unknown, isMeant: (principal: Principal) => boolean = () => true): void {
    for (const call of this.#calls.items()) if (isMeant(call.peer.principal)) call.cancel(reason);
    this.suspended.endAll(reason, isMeant);
  }

  async initializeResult(peer: Peer): Promise<JsonObject> {
    const { capabilities, instructions } = await this.service.offer(peer);
    const { protocolVersion } = peer;
    const serverInfo = this.#infoOf(peer);
    return { protocolVersion, capabilities, serverInfo, ...(instructions !== undefined && { instructions }) };
  }

  /** Changes are told to the session from now on. */
  openSession(session: LegacySession): void {
    this.service.onSessionOpened?.(session.peer);
    this.subscriptions.sessionOpened(session);
  }

  closeSession(session: LegacySession, reason: unknown): void {
    if (!this.subscriptions.sessionClosed(session)) return;
    session.end(reason);
    this.tell(() => this.service.onSessionClosed?.(session.peer));
  }

  /** Hands on a notification that the serving side does not handle. */
  notified(method: string, params: JsonObject, peer: Peer): void {
    this.tell(() => this.service.onNotification?.(method, params, peer));
  }

  /** Tells the service of something that has no answer to fail with: what it throws is reported, and what follows is still done. */
  readonly tell = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      this.report(error);
    }
  };

  /** Never throws: a failure is the answer. At once where the handler answers at once. */
  answer(dispatch: Dispatch): Answered | Promise<Answered> {
    const { request, peer } = dispatch;
    const progress: Progress = { call: undefined, place: undefined, isHandedOn: false };
    const told = (result: JsonObject): Answered => {
      const answered = this.#told(request, peer, result);
      if (progress.place !== undefined) this.#calls.remove(progress.place);
      return answered;
    };
    const failed = (error: unknown): Answered => {
      if (progress.place !== undefined) this.#calls.remove(progress.place);
      const isCancelled = progress.call?.isCancelled === true && !(error instanceof ProtocolError);
      const { isHandedOn } = progress;
      const answered = (fault: ProtocolError) => ({
        ...{ text: JSON.stringify(errorMessage(request.id, fault)), code: fault.code, status: fault.status },
        ...{ isHandedOn, isCancelled },
      });
      try {
        return answered(this.toldError(error, peer, isCancelled));
      } catch (noJson) {
        return answered(this.toldError(noJson, peer));
      }
    };
    /** A result may be no JSON. */
    const toldOrFailed = (result: JsonObject): Answered => {
      try {
        return told(result);
      } catch (error) {
        return failed(error);
      }
    };
    try {
      const result = this.#begin(dispatch, progress);
      return result instanceof Promise ? result.then(toldOrFailed, failed) : told(result);
    } catch (error) {
      return failed(error);
    }
  }

  #begin(dispatch: Dispatch, progress: Progress): JsonObject | Promise<JsonObject> {
    const { request, peer, reply } = dispatch;
    const method = protocolMethods[peer.era].get(request.method);
    if (method !== undefined) return method({ request, peer, begin: () => this.#newCall(dispatch, progress) }, this);
    const handler = this.#handlerOf(request.method);
    if (this.#isRetry(request, peer)) {
      const { call, answer } = this.suspended.wake(request, peer.principal, reply);
      progress.isHandedOn = true;
      this.#begun(call, dispatch, progress);
      return answer;
    }
    const call = this.#newCall(dispatch, progress);
    const turn = this.places.enter(call);
    const run = () => {
      progress.isHandedOn = true;
      return call.run(handler, () => {
        // A handler that ends while its question is open gave its place away with the question.
        if (call.openQuestions === 0) this.places.leave();
      });
    };
    return turn === undefined ? run() : turn.then(run);
  }

  #newCall(dispatch: Dispatch, progress: Progress): RunningCall {
    const { request, peer, reply } = dispatch;
    const ask = peer.era === 'modern' ? this.#askModern : this.#askLegacy;
    const call = new RunningCall(request, { peer, reply, ask });
    this.#begun(call, dispatch, progress);
    return call;
  }

  #begun(call: RunningCall, { onCall }: Dispatch, progress: Progress): void {
    progress.call = call;
    progress.place = this.#calls.add(call);
    onCall?.(call);
  }

  /** Whether a legacy client has a method of that name. */
  hasMethod(method: string): boolean {
    return protocolMethods.legacy.has(method) || Object.hasOwn(this.service.methods, method);
  }

  #handlerOf(method: string): ServedMethod {
    const { methods } = this.service;
    const handler = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (handler === undefined) throw methodNotFound(method);
    return handler;
  }

  #isRetry({ params }: ClientRequest, { era }: Peer): boolean {
    const { requestState, inputResponses } = params;
    const { keepsRequestState } = this.service;
    if (era === 'legacy' || keepsRequestState === true) return false;
    if (typeof keepsRequestState === 'function' && keepsRequestState(requestState)) return false;
    if (inputResponses !== undefined && !isObject(inputResponses))
      throw invalidParams('inputResponses must be an object');
    return requestState !== undefined;
  }

  readonly #askLegacy: AskClient = async (call, { method, params }) => {
    assertCanBeAsked(method, params, call.peer.capabilities);
    if (this.room.questions >= this.limits.suspendedCalls)
      throw new ProtocolError(codes.overloaded, 'Too many questions wait for an answer');
    const send = (message: JsonObject) => call.reply.ask(message);
    // The client did not cancel the call: it is answered, with an error.
    const onUnanswered = (reason: unknown) =>
      call.cancel(reason, new ProtocolError(codes.internal, 'A question of this call was not answered in time'));
    this.room.questions++;
    try {
      return await this.#withoutPlace(call, () =>
        legacySessionOf(call.peer).questions.ask({ method, params, send, signal: call.signal, onUnanswered }),
      );
    } finally {
      this.room.questions--;
    }
  };

  readonly #askModern: AskClient = (call, question) =>
    this.#withoutPlace(call, () => this.suspended.ask(call, question));

  /** A call has one place, however many questions it asks at once. */
  async #withoutPlace<Value>(call: RunningCall, work: () => Promise<Value>): Promise<Value> {
    if (call.openQuestions++ === 0) this.places.leave();
    try {
      return await work();
    } finally {
      if (--call.openQuestions === 0 && !call.hasEnded) this.places.reenter();
    }
  }

  #told(request: ClientRequest, peer: Peer, result: JsonObject): Answered {
    const worded =
      peer.era === 'modern'
        ? modernResult(request.method, result, this.#infoOf(peer))
        : legacyResult(request.method, result);
    return { text: JSON.stringify(resultMessage(request.id, worded)), isHandedOn: true };
  }

  #infoOf(peer: Peer): Implementation {
    return this.service.infoOf?.(peer) ?? this.service.info;
  }

  /** What the client is told of a failure. */
  toldError(error: unknown, peer: Pick<Peer, 'era'>, isCancelled = false): ProtocolError {
    if (isCancelled) return new ProtocolError(CANCELLED, 'The request was cancelled');
    if (error instanceof ProtocolError) return peer.era === 'modern' ? modernError(error) : error;
    this.report(error);
    return new ProtocolError(codes.internal, 'Internal error');
  }
}
