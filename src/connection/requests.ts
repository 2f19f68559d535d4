// Owns the routing of server requests: elicitation, sampling and roots go to the handlers of the view whose call is in
// flight, in both eras. A legacy request that could belong to calls of several views is declined, except `roots/list`.

import type { Clock } from '../kernel/clock.ts';
import { createDeferred, type Deferred } from '../kernel/deferred.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { Roster } from '../kernel/roster.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { callHandler, type HandlerReply } from './call-handler.ts';
import {
  type ClientHandlers,
  type ElicitationPolicy,
  isAdvertised,
  offeredHandlers,
  type ServerRequestMethod,
  type ViewHandlers,
} from './client-handlers.ts';
import { Completions } from './elicitation/completions.ts';
import { type ElicitationOutcome, elicit } from './elicitation/elicit.ts';
import { type Elicitation, readElicitation } from './elicitation/request.ts';
import type { LeaseHandlers } from './lease-handlers.ts';
import { type AskedCall, QuestionLimits, QuestionPace } from './question-limits.ts';
import { RequestTarget, type WaitListener } from './request-target.ts';
import { methodNotFound, ServerRequestError } from './server-request-error.ts';

export { type ClientHandlers, capabilitiesOf } from './client-handlers.ts';
export type { ElicitAnswer, ElicitRequest } from './elicitation/request.ts';

/** A call as the router sees it: the handlers of its view, whom to tell that a person is asked, and how to end it. */
export interface CallInFlight extends WaitListener, AskedCall {
  readonly handlers: ViewHandlers;
  readonly relay?: Pick<RelayedRequest, 'onNotification'> | undefined;
}

/** How a gateway hands on a request of one of its clients. */
export interface RelayedRequest {
  /** Fields of the modern `_meta` that replace our own: the capabilities of the client, and the log level that it wants. */
  readonly envelope?: JsonObject | undefined;
  /** The answers and the state with which a client repeats its request. */
  readonly inputs?: JsonObject | undefined;
  /** The client answers a modern server's questions itself: its `input_required` is the result. */
  readonly passesInput?: boolean;
  /** The client knows what to do with a refusal that asks for a page to be visited. */
  readonly passesRefusals?: boolean;
  /** Called with a log message that can only belong to this view's calls. */
  onNotification?(method: string, params: JsonObject): void;
}

export interface RouterDeps {
  readonly server: ServerName;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  /** The handlers whose capabilities the server was told of. */
  readonly advertised: ClientHandlers;
  /** The handlers that answer while no call is in flight. */
  readonly leases: LeaseHandlers;
  readonly policy?: ElicitationPolicy | undefined;
  /** How often the server may ask, in all its sessions. */
  readonly pace?: QuestionPace | undefined;
}

/** A question of a server; a modern one gives it a name. */
export interface ServerQuestion {
  readonly method: ServerRequestMethod;
  readonly params: JsonObject;
  readonly key?: string;
  readonly relay?: RelayedRequest;
}

/** The calls of one view. A legacy request does not name its call, so it belongs to all of them. */
interface CallGroup {
  /** The lease that sent the newest of them. */
  owner: object | undefined;
  readonly calls: Roster<CallInFlight>;
  target: RequestTarget | undefined;
}

/** Routes the requests of one session: to the view whose calls are in flight, or without any to the only lease. */
export class ServerRequestRouter {
  readonly #deps: RouterDeps;
  readonly #groups = new Map<ViewHandlers, CallGroup>();
  /** How many calls all groups have. */
  #calls = 0;
  /** The open requests of all targets. */
  #openRequests: Set<AbortController> | undefined;
  readonly questions: QuestionLimits;
  #quietSince: number;
  /** Set while a caller waits for the last call in flight to end. */
  #quiet: Deferred<void> | undefined;
  /** Number of calls answered so far: proof that the server works. */
  served = 0;
  #completions: Completions | undefined;
  /** The views that are to hear when a page was visited, by the id of the page; the latest are remembered. */
  readonly #pages = new Map<string, ViewHandlers>();

  constructor(deps: RouterDeps) {
    this.#deps = deps;
    this.#quietSince = deps.clock.now();
    this.questions = new QuestionLimits(deps.server, deps.pace ?? new QuestionPace(deps.clock));
  }

  get server(): ServerName {
    return this.#deps.server;
  }

  /** The URL elicitations that the server reported as complete. */
  get completions(): Completions {
    this.#completions ??= new Completions();
    return this.#completions;
  }

  /** The handlers of a view, as far as the server was told of their capabilities: whatever else it asks for is refused. */
  offered(handlers: ViewHandlers): ViewHandlers {
    return offeredHandlers(handlers, this.#deps.advertised);
  }

  get isBusy(): boolean {
    return this.#calls > 0;
  }

  get callsInFlight(): number {
    return this.#calls;
  }

  /** When the last call ended, or the session began. */
  get quietSince(): number {
    return this.#quietSince;
  }

  /** Resolves when no call is in flight. */
  async whenQuiet(): Promise<void> {
    if (!this.isBusy) return;
    const quiet = this.#quiet ?? createDeferred<void>();
    this.#quiet = quiet;
    await quiet.promise;
    this.#quiet = undefined;
  }

  /** Registers a call in flight, with the handlers that the server may reach and the lease it is sent by. Returns how to end it. */
  beginCall(call: CallInFlight, handlers: ViewHandlers = call.handlers, owner?: object): () => void {
    const group = this.#groups.get(handlers) ?? this.#addGroup(handlers);
    group.owner = owner;
    const entry = group.calls.add(call);
    this.#calls += 1;
    if (group.target?.isWaiting) call.onWaiting?.(true);
    return () => {
      group.calls.remove(entry);
      this.#calls -= 1;
      this.questions.forget(call);
      this.#quietSince = this.#deps.clock.now();
      if (group.calls.size > 0) return;
      group.target?.withdraw();
      group.target = undefined;
      if (!this.isBusy) this.#quiet?.resolve();
    };
  }

  /** A group without calls stays for the next call of its view, until another view calls. */
  #addGroup(handlers: ViewHandlers): CallGroup {
    for (const [known, { calls }] of this.#groups) if (calls.size === 0) this.#groups.delete(known);
    const group = { owner: undefined, calls: new Roster<CallInFlight>(), target: undefined };
    this.#groups.set(handlers, group);
    return group;
  }

  /** A notification of a legacy server names no call. It is told to the newest call of the only view that calls. */
  relayNotification(method: string, params: JsonObject): void {
    const [only, another] = [...this.#groups.values()].filter(({ calls }) => calls.size > 0);
    if (another === undefined) [...(only?.calls.items() ?? [])].at(-1)?.relay?.onNotification?.(method, params);
  }

  /** The server has named a page to this view, and may say later that it was visited. */
  expectPage(id: unknown, handlers: ViewHandlers): void {
    const { idChars, remembered } = limits.pages;
    if (handlers.onPageDone === undefined || typeof id !== 'string' || id.length > idChars) return;
    this.#pages.delete(id);
    this.#pages.set(id, handlers);
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > remembered && oldest !== undefined) this.#pages.delete(oldest);
  }

  /** The server says that a page was visited. */
  pageDone(id: unknown): void {
    this.completions.record(id);
    if (typeof id !== 'string') return;
    this.#pages.get(id)?.onPageDone?.({ server: this.server, elicitationId: id });
    this.#pages.delete(id);
  }

  /** The session has ended: aborts all open requests. */
  close(): void {
    for (const controller of this.#openRequests ?? []) controller.abort();
  }

  /** Answers a request that names no call. Rejects with the error for the server. Aborting the signal withdraws the request. */
  async route(method: ServerRequestMethod, params: JsonObject, signal?: AbortSignal): Promise<JsonObject> {
    const isOffered = isAdvertised(method, this.#deps.advertised);
    if (!isOffered && method !== 'elicitation/create') throw methodNotFound(method);
    this.questions.admit([...this.#groups.values()].flatMap(({ calls }) => calls.items()));
    if (method === 'roots/list' && !this.#admitsRoots())
      throw new ServerRequestError(
        -32603,
        'several folders share this session; each of them gets a session of its own',
      );
    const target = this.#targetOf(method);
    if (isOffered) return this.answer({ method, params }, target, signal);
    // Emit the events of an elicitation without a handler too, so that a host can show what was missed.
    const { emit } = target.handlers;
    const unanswered = new RequestTarget(emit ? { emit } : {});
    if (this.#deps.policy === 'decline') return this.answer({ method, params }, unanswered, signal);
    await this.answer({ method, params }, unanswered, signal).catch(ignore);
    throw methodNotFound(method);
  }

  /** Whether one folder is asked: that of all leases, or of the only lease whose calls are in flight. */
  #admitsRoots(): boolean {
    return this.#deps.leases.admitRoots(this.#onlyCaller());
  }

  #onlyCaller(): object | undefined {
    const owners = new Set<object | undefined>();
    for (const { calls, owner } of this.#groups.values()) if (calls.size > 0) owners.add(owner);
    return owners.size === 1 ? [...owners][0] : undefined;
  }

  /** A legacy request does not name its call: with calls of two views in flight, it has no target. */
  #targetOf(method: ServerRequestMethod): RequestTarget {
    const calling = [...this.#groups].filter(([, { calls }]) => calls.size > 0);
    const [only, another] = calling;
    if (another !== undefined && method !== 'roots/list') {
      for (const [{ onUnowned }] of calling) onUnowned?.(this.server);
      return new RequestTarget(DECLINED);
    }
    // Leases of several folders have different roots: those of the folder that calls are meant.
    const isOfCaller = this.#deps.leases.isOfFolders && this.#onlyCaller() !== undefined;
    if (only === undefined || (another !== undefined && !isOfCaller)) return this.#deps.leases.targetOf(method);
    const [handlers, group] = only;
    group.target ??= new RequestTarget(handlers, {
      onWaiting: (isWaiting) => {
        for (const call of group.calls.items()) call.onWaiting?.(isWaiting);
      },
    });
    return group.target;
  }

  /** Rejects with the error for the server. */
  async answer(question: ServerQuestion, target: RequestTarget, signal?: AbortSignal): Promise<JsonObject> {
    const { method, params } = question;
    const { relay } = target.handlers;
    const isDeclined = method === 'elicitation/create' && this.#deps.policy === 'decline';
    if (relay !== undefined && !isDeclined) {
      if (params['mode'] === 'url') this.expectPage(params['elicitationId'], target.handlers);
      const relayed = (until: AbortSignal) => relay({ server: this.server, ...question }, { signal: until });
      return this.#callHandler(method, relayed, target, signal);
    }
    switch (method) {
      case 'elicitation/create': {
        const { action, content } = await this.elicit(readElicitation(this.server, params), target, signal);
        return { action, ...(content && { content }) };
      }
      case 'sampling/createMessage': {
        const { sample } = target.handlers;
        if (sample === undefined) throw methodNotFound(method);
        const request = { ...params, server: this.server };
        return this.#callHandler(method, (until) => sample(request, { signal: until }), target, signal);
      }
      case 'roots/list': {
        const { roots } = target.handlers;
        if (roots === undefined) throw methodNotFound(method);
        return this.#callHandler(method, async () => ({ roots: await roots() }), target, signal);
      }
    }
  }

  elicit(elicitation: Elicitation, target: RequestTarget, signal?: AbortSignal): Promise<ElicitationOutcome> {
    const { clock, policy = 'ask' } = this.#deps;
    const { handlers } = target;
    return this.trackRequest(target, (controller) => elicit(elicitation, { handlers, policy, clock, controller }), {
      signal,
      isForPerson: true,
    });
  }

  /** Runs the work as an open request of the target: its calls do not time out while a person is asked. */
  async trackRequest<Value>(
    target: RequestTarget,
    work: (controller: AbortController) => Promise<Value>,
    { signal, isForPerson }: { readonly signal?: AbortSignal | undefined; readonly isForPerson: boolean },
  ): Promise<Value> {
    this.#openRequests ??= new Set();
    if (this.#openRequests.size >= limits.openServerRequests)
      throw new ServerRequestError(
        -32000,
        `too many requests at once: at most ${limits.openServerRequests} may be open`,
      );
    const controller = new AbortController();
    const withdraw = () => controller.abort(signal?.reason);
    signal?.addEventListener('abort', withdraw, { once: true });
    if (signal?.aborted) withdraw();
    this.#openRequests.add(controller);
    target.begin(controller, isForPerson);
    try {
      return await work(controller);
    } finally {
      target.end(controller);
      this.#openRequests.delete(controller);
      signal?.removeEventListener('abort', withdraw);
    }
  }

  async #callHandler(
    method: ServerRequestMethod,
    handler: (signal: AbortSignal) => Promise<JsonObject>,
    target: RequestTarget,
    signal: AbortSignal | undefined,
  ): Promise<JsonObject> {
    const { clock } = this.#deps;
    const work = (controller: AbortController) => callHandler(handler, controller, clock);
    const isForPerson = method === 'elicitation/create';
    const reply = await this.trackRequest(target, work, { signal, isForPerson });
    return requireAnswer(method, reply, target);
  }
}

/** Answers a question that could be for several callers: with the reason, for whoever reads the server's log. */
const DECLINED: ViewHandlers = {
  async relay({ method }) {
    const reason = 'several clients call this server, and nothing says which of them is asked';
    if (method === 'elicitation/create') return { action: 'decline', _meta: { 'plexus/reason': reason } };
    throw new ServerRequestError(methodNotFound(method).code, `${method} is not answered: ${reason}`);
  },
};

/** The server gets "method not found" anyway, whatever else is wrong with its request. */
const ignore = (): void => undefined;

function requireAnswer(
  method: ServerRequestMethod,
  reply: HandlerReply<JsonObject>,
  { handlers }: RequestTarget,
): JsonObject {
  switch (reply.kind) {
    case 'answered':
      if (isObject(reply.value)) return reply.value;
      handlers.onError?.(new TypeError(`the handler of ${method} must answer with an object`));
      throw new ServerRequestError(-32603, `the answer to ${method} is missing`);
    case 'failed': {
      const refusal = refusalIn(reply.error);
      if (refusal === undefined) handlers.onError?.(reply.error);
      throw refusal ?? new ServerRequestError(-32603, `${method} could not be answered`);
    }
    case 'timed-out':
      throw new ServerRequestError(-32603, `nobody answered ${method} in time`);
    case 'withdrawn':
      throw new ServerRequestError(-32603, `${method} was withdrawn`);
  }
}

/** A handler refuses by throwing an error with a JSON-RPC code. Any other error is a fault, whose message is not sent to the server. */
function refusalIn(error: unknown): ServerRequestError | undefined {
  const { code, message } = isObject(error) ? error : {};
  const isRefusal = typeof code === 'number' && Number.isSafeInteger(code) && typeof message === 'string';
  return isRefusal ? new ServerRequestError(code, message) : undefined;
}
