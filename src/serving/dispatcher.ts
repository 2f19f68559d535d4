// Owns answering one request, on any transport: the methods that the protocol itself defines, the service's methods within the
// limits, and the wording of each era. Says nothing about how messages travel.

import type { Clock } from '../kernel/clock.ts';
import { joinSignals } from '../kernel/join-signals.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { Roster, type RosterEntry } from '../kernel/roster.ts';
import { limits } from '../model/limits.ts';
import { CallPlaces } from './call-places.ts';
import { Changes, changeKey, honoredFilter, tagged, wantsList, wantsResource } from './changes.ts';
import type { LegacySession } from './legacy-session.ts';
import { type ClientRequest, errorMessage, resultMessage } from './message.ts';
import { codes, invalidParams, invalidRequest, methodNotFound, modernVersions, ProtocolError } from './protocol.ts';
import { assertCanBeAsked } from './questions.ts';
import { legacyResult, modernError, modernResult } from './result-era.ts';
import { type AskClient, type CallReply, isLogLevel, RunningCall } from './running-call.ts';
import type { Peer, Principal, ServedMethod, Service } from './service.ts';
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
  readonly report: (error: unknown) => void;
  readonly #closing = new AbortController();
  readonly #unlisten = new Map<LegacySession, () => void>();
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
  }

  /** Requests without an answer so far, open subscriptions included. */
  get unanswered(): number {
    return this.#calls.size;
  }

  /** Ends subscriptions with their proper result, and suspended calls as cancelled. */
  close(): void {
    this.#closing.abort(new DOMException('the server stops', 'AbortError'));
    this.suspended.endAll(this.#closing.signal.reason);
  }

  /** Cancels the running calls and open subscriptions of some principals, and ends their suspended calls. */
  cancelCalls(reason: unknown, isMeant: (principal: Principal) => boolean = () => true): void {
    for (const call of this.#calls.items()) if (isMeant(call.peer.principal)) call.cancel(reason);
    this.suspended.endAll(reason, isMeant);
  }

  async initializeResult(peer: Peer): Promise<JsonObject> {
    const { capabilities, instructions } = await this.service.offer(peer);
    const { protocolVersion } = peer;
    const serverInfo = this.service.info;
    return { protocolVersion, capabilities, serverInfo, ...(instructions !== undefined && { instructions }) };
  }

  /** Changes are told to the session from now on. */
  openSession(session: LegacySession): void {
    this.service.onSessionOpened?.(session.peer);
    this.#unlisten.set(session, this.changes.listen(session));
  }

  closeSession(session: LegacySession, reason: unknown): void {
    const unlisten = this.#unlisten.get(session);
    if (unlisten === undefined) return;
    this.#unlisten.delete(session);
    unlisten();
    session.end(reason);
    for (const uri of [...session.subscriptions.keys()]) void this.endSubscription(session, uri);
    this.service.onSessionClosed?.(session.peer);
  }

  /** Hands on a notification that the serving side does not handle. */
  notified(method: string, params: JsonObject, peer: Peer): void {
    try {
      this.service.onNotification?.(method, params, peer);
    } catch (error) {
      // A notification has no answer to fail with, and the client's other messages are still read.
      this.report(error);
    }
  }

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
    const onCall = (call: RunningCall) => {
      progress.call = call;
      progress.place = this.#calls.add(call);
      dispatch.onCall?.(call);
    };
    const own = ownMethods[peer.era].get(request.method);
    if (own !== undefined) return own(this, { ...dispatch, onCall });
    const handler = this.#handlerOf(request.method);
    if (this.#isRetry(request, peer)) {
      const { call, answer } = this.suspended.wake(request, peer.principal, reply);
      progress.isHandedOn = true;
      onCall(call);
      return answer;
    }
    const call = new RunningCall(request, {
      peer,
      reply,
      ask: peer.era === 'modern' ? this.#askModern : this.#askLegacy,
    });
    onCall(call);
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

  /** Whether a legacy client has a method of that name. */
  hasMethod(method: string): boolean {
    return ownMethods.legacy.has(method) || Object.hasOwn(this.service.methods, method);
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
        sessionOf(call.peer).questions.ask({ method, params, send, signal: call.signal, onUnanswered }),
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
        ? modernResult(request.method, result, this.service.info)
        : legacyResult(request.method, result);
    return { text: JSON.stringify(resultMessage(request.id, worded)), isHandedOn: true };
  }

  /** What the client is told of a failure. */
  toldError(error: unknown, peer: Pick<Peer, 'era'>, isCancelled = false): ProtocolError {
    if (isCancelled) return new ProtocolError(CANCELLED, 'The request was cancelled');
    if (error instanceof ProtocolError) return peer.era === 'modern' ? modernError(error) : error;
    this.report(error);
    return new ProtocolError(codes.internal, 'Internal error');
  }

  /** A second request for the same uri is the same subscription. */
  async subscribe(session: LegacySession, uri: string): Promise<void> {
    if (!this.#unlisten.has(session)) throw invalidRequest('Invalid request: the session has ended');
    const known = session.subscriptions.get(uri);
    if (known !== undefined) return known;
    const begun = this.#subscribed(uri, session.peer);
    session.subscriptions.set(uri, begun);
    try {
      await begun;
    } catch (error) {
      if (session.subscriptions.get(uri) === begun) session.subscriptions.delete(uri);
      throw error;
    }
  }

  /** The service is told of the end after it has agreed to the beginning. */
  async endSubscription(session: LegacySession, uri: string): Promise<void> {
    const begun = session.subscriptions.get(uri);
    if (begun === undefined) return;
    session.subscriptions.delete(uri);
    const [{ status }] = await Promise.allSettled([begun]);
    if (status === 'fulfilled') this.service.onUnsubscribed?.(uri, session.peer);
  }

  async #subscribed(uri: string, peer: Peer): Promise<void> {
    await this.service.onSubscribed?.(uri, peer);
  }

  /** Stays open until the client closes the stream or cancels, or the server stops. */
  async listen({ request, peer, reply, onCall }: Dispatch): Promise<JsonObject> {
    // Before any wait: the client may cancel with its next message.
    const call = new RunningCall(request, { peer, reply, ask: this.#askModern });
    onCall?.(call);
    const { capabilities } = await this.service.offer(peer);
    const asked = honoredFilter(request.params, capabilities);
    if (this.room.subscriptions >= limits.served.subscriptions)
      throw new ProtocolError(codes.overloaded, 'Too many subscriptions are open');
    const tell = (method: string, params: JsonObject, mergeKey?: string) =>
      call.notify(method, tagged(params, request.id), mergeKey);
    const subscribed = new Set<string>();
    let refusal: ProtocolError | undefined;
    let unlisten: (() => void) | undefined;
    this.room.subscriptions++;
    try {
      for (const uri of new Set(asked.resourceSubscriptions)) {
        try {
          await this.#subscribed(uri, peer);
          subscribed.add(uri);
        } catch (error) {
          if (!(error instanceof ProtocolError)) throw error;
          refusal ??= error;
        }
      }
      const { resourceSubscriptions: _, ...lists } = asked;
      const filter = { ...lists, ...(subscribed.size > 0 && { resourceSubscriptions: [...subscribed] }) };
      // A client that is left with nothing is told why; any other reads in the answer what it does not get.
      if (refusal !== undefined && Object.keys(filter).length === 0) throw refusal;
      tell('notifications/subscriptions/acknowledged', { notifications: filter });
      unlisten = this.changes.listen({
        peer,
        tell: (method, params) => tell(method, params, changeKey(method, params, request.id)),
        wantsList: (kind) => wantsList(filter, kind),
        wantsResource: (uri) => wantsResource(filter, uri),
      });
      if (Object.keys(filter).length > 0) await this.#untilOver(call.signal);
    } finally {
      this.room.subscriptions--;
      unlisten?.();
      for (const uri of subscribed) this.service.onUnsubscribed?.(uri, peer);
    }
    call.signal.throwIfAborted();
    return tagged({}, request.id);
  }

  async #untilOver(signal: AbortSignal): Promise<void> {
    const { signal: either, leave } = joinSignals(signal, this.#closing.signal);
    if (!either.aborted) await new Promise((resolve) => either.addEventListener('abort', resolve, { once: true }));
    leave();
  }
}

type OwnMethod = (dispatcher: Dispatcher, dispatch: Dispatch) => JsonObject | Promise<JsonObject>;

const sessionOf = ({ session }: Peer): LegacySession => session as LegacySession;

function uriOf({ uri }: JsonObject): string {
  if (typeof uri !== 'string' || uri === '') throw invalidParams('uri must be a string');
  return uri;
}

const legacyMethods: Readonly<Record<string, OwnMethod>> = {
  initialize: () => {
    throw invalidRequest('Invalid request: the session is initialized already');
  },
  ping: () => ({}),
  'logging/setLevel': (dispatcher, { request, peer }) => {
    const { level } = request.params;
    if (!isLogLevel(level)) throw invalidParams('level must be one of the log levels');
    sessionOf(peer).level = level;
    dispatcher.service.onLogLevel?.(level, peer);
    return {};
  },
  'resources/subscribe': async (dispatcher, { request, peer }) => {
    const uri = uriOf(request.params);
    await assertSubscribable(dispatcher, request.method, peer);
    await dispatcher.subscribe(sessionOf(peer), uri);
    return {};
  },
  'resources/unsubscribe': async (dispatcher, { request, peer }) => {
    const uri = uriOf(request.params);
    await assertSubscribable(dispatcher, request.method, peer);
    await dispatcher.endSubscription(sessionOf(peer), uri);
    return {};
  },
};

async function assertSubscribable({ service }: Dispatcher, method: string, peer: Peer): Promise<void> {
  const { resources } = (await service.offer(peer)).capabilities;
  if (!isObject(resources) || resources['subscribe'] !== true) throw methodNotFound(method);
}

const removed: OwnMethod = (_, { request }) => {
  throw methodNotFound(request.method);
};

const modernMethods: Readonly<Record<string, OwnMethod>> = {
  'server/discover': async ({ service }, { peer }) => {
    const { capabilities, instructions } = await service.offer(peer);
    return { supportedVersions: modernVersions, capabilities, ...(instructions !== undefined && { instructions }) };
  },
  'subscriptions/listen': (dispatcher, dispatch) => dispatcher.listen(dispatch),
  initialize: removed,
  ping: removed,
  'logging/setLevel': removed,
  'resources/subscribe': removed,
  'resources/unsubscribe': removed,
};

const ownMethods = { legacy: new Map(Object.entries(legacyMethods)), modern: new Map(Object.entries(modernMethods)) };
