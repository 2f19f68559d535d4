// Owns whom a server may ask: elicitation, sampling and roots reach the handlers of the view whose call is in flight, the
// same ones in both eras. Where it is unclear whose call it is, the server is declined.

import type { Clock } from '../kernel/clock.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { callHandler, type HandlerReply } from './call-handler.ts';
import {
  type ClientHandlers,
  type ElicitationPolicy,
  isAdvertised,
  type ServerRequestMethod,
  type ViewHandlers,
} from './client-handlers.ts';
import { Completions } from './elicitation/completions.ts';
import { type ElicitationOutcome, elicit } from './elicitation/elicit.ts';
import { type Elicitation, readElicitation } from './elicitation/request.ts';
import { RequestTarget, type WaitListener } from './request-target.ts';
import { methodNotFound, ServerRequestError } from './server-request-error.ts';

export { type ClientHandlers, capabilitiesOf } from './client-handlers.ts';
export type { ElicitAnswer, ElicitRequest } from './elicitation/request.ts';

/** A call as the desk sees it: who made it, and whom to tell that the server waits for us. */
export interface CallInFlight extends WaitListener {
  readonly handlers: ViewHandlers;
}

export interface RouterDeps {
  readonly server: ServerName;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  /** What the server was told that it may ask. */
  readonly advertised: ClientHandlers;
  readonly policy?: ElicitationPolicy | undefined;
}

/** The calls of one caller. A question of the older era is for all of them, since it does not say for which. */
interface CallGroup {
  readonly calls: Set<WaitListener>;
  target: RequestTarget | undefined;
}

/** Whom a server may ask, on one session: the callers in flight, or whoever holds the session alone when nobody is. */
export class ServerRequestRouter {
  readonly #deps: RouterDeps;
  readonly #sessionTargets = new Set<RequestTarget>();
  readonly #inFlight = new Map<ViewHandlers, CallGroup>();
  /** Everything that is open, whosever it is. */
  readonly #openRequests = new Set<AbortController>();
  #quietSince: number;
  /** Calls answered so far: proof that the server works. */
  served = 0;
  /** The pages of which the server said that they were dealt with. */
  readonly completions = new Completions();

  constructor(deps: RouterDeps) {
    this.#deps = deps;
    this.#quietSince = deps.clock.now();
  }

  get server(): ServerName {
    return this.#deps.server;
  }

  addHandlers(handlers: ViewHandlers): () => void {
    const target = new RequestTarget(handlers);
    this.#sessionTargets.add(target);
    return () => {
      this.#sessionTargets.delete(target);
      target.withdraw();
    };
  }

  get isBusy(): boolean {
    return this.#inFlight.size > 0;
  }

  /** When the last call ended, or the session began. */
  get quietSince(): number {
    return this.#quietSince;
  }

  /** A call begins. Returns how to say that it has ended. */
  beginCall(call: CallInFlight): () => void {
    const group = this.#inFlight.get(call.handlers) ?? { calls: new Set(), target: undefined };
    this.#inFlight.set(call.handlers, group);
    group.calls.add(call);
    if (group.target?.isWaiting) call.onWaiting?.(true);
    return () => {
      group.calls.delete(call);
      this.#quietSince = this.#deps.clock.now();
      if (group.calls.size > 0) return;
      this.#inFlight.delete(call.handlers);
      group.target?.withdraw();
    };
  }

  /** The session is over: nobody waits for an answer any more. */
  close(): void {
    for (const controller of this.#openRequests) controller.abort();
  }

  /** Rejects with what the server is told. Aborting the signal takes the question back. */
  async route(method: ServerRequestMethod, params: JsonObject, signal?: AbortSignal): Promise<JsonObject> {
    const target = this.#targetOf(method);
    if (isAdvertised(method, this.#deps.advertised)) return this.answer(method, params, target, signal);
    if (method !== 'elicitation/create') throw methodNotFound(method);
    // It is told of like any other, so that a host can say what was missed.
    const { emit } = target.handlers;
    const nobody = new RequestTarget(emit ? { emit } : {});
    if (this.#deps.policy === 'decline') return this.answer(method, params, nobody, signal);
    await this.answer(method, params, nobody, signal).catch(unasked);
    throw methodNotFound(method);
  }

  /** A request of the older era does not say which call it belongs to; two callers in flight make it nobody's. */
  #targetOf(method: ServerRequestMethod): RequestTarget {
    const [only, another] = this.#inFlight.entries();
    if (another !== undefined && method !== 'roots/list') return new RequestTarget({});
    if (another !== undefined || only === undefined) return this.#sessionTarget(method);
    const [handlers, group] = only;
    group.target ??= new RequestTarget(handlers, {
      onWaiting: (isWaiting) => {
        for (const call of group.calls) call.onWaiting?.(isWaiting);
      },
    });
    return group.target;
  }

  /** Only those share a session whose roots are the same: any of them may name those. */
  #sessionTarget(method: ServerRequestMethod): RequestTarget {
    const [target, another] = this.#sessionTargets;
    return target === undefined || (another !== undefined && method !== 'roots/list') ? new RequestTarget({}) : target;
  }

  /** Rejects with what the server is told. */
  async answer(
    method: ServerRequestMethod,
    params: JsonObject,
    to: RequestTarget,
    signal?: AbortSignal,
  ): Promise<JsonObject> {
    switch (method) {
      case 'elicitation/create': {
        const { action, content } = await this.elicit(readElicitation(this.server, params), to, signal);
        return { action, ...(content && { content }) };
      }
      case 'sampling/createMessage': {
        const { sample } = to.handlers;
        if (sample === undefined) throw methodNotFound(method);
        const request = { ...params, server: this.server };
        return this.#callHandler(method, (until) => sample(request, { signal: until }), to, signal);
      }
      case 'roots/list': {
        const { roots } = to.handlers;
        if (roots === undefined) throw methodNotFound(method);
        return this.#callHandler(method, async () => ({ roots: await roots() }), to, signal);
      }
    }
  }

  elicit(asked: Elicitation, to: RequestTarget, signal?: AbortSignal): Promise<ElicitationOutcome> {
    const { clock, policy = 'ask' } = this.#deps;
    return this.trackRequest(
      to,
      (controller) => elicit(asked, { handlers: to.handlers, policy, clock, question: controller }),
      signal,
    );
  }

  /** While the work goes on the server waits for us, and the call for the server. */
  async trackRequest<Value>(
    to: RequestTarget,
    work: (controller: AbortController) => Promise<Value>,
    signal?: AbortSignal,
  ): Promise<Value> {
    if (this.#openRequests.size >= limits.questionsAtOnce)
      throw new ServerRequestError(-32000, `more than ${limits.questionsAtOnce} questions at once are too many`);
    const controller = new AbortController();
    const withdraw = () => controller.abort(signal?.reason);
    signal?.addEventListener('abort', withdraw, { once: true });
    if (signal?.aborted) withdraw();
    this.#openRequests.add(controller);
    to.begin(controller);
    try {
      return await work(controller);
    } finally {
      to.end(controller);
      this.#openRequests.delete(controller);
      signal?.removeEventListener('abort', withdraw);
    }
  }

  async #callHandler(
    method: ServerRequestMethod,
    answer: (signal: AbortSignal) => Promise<JsonObject>,
    to: RequestTarget,
    signal: AbortSignal | undefined,
  ): Promise<JsonObject> {
    const { clock } = this.#deps;
    return requireAnswer(
      method,
      await this.trackRequest(to, (controller) => callHandler(answer, controller, clock), signal),
      to,
    );
  }
}

/** What the server did wrong besides does not matter to it: it may not ask at all. */
const unasked = (): void => undefined;

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
    case 'failed':
      handlers.onError?.(reply.error);
      throw refusalOf(method, reply.error);
    case 'silent':
      throw new ServerRequestError(-32603, `nobody answered ${method} in time`);
    case 'withdrawn':
      throw new ServerRequestError(-32603, `${method} was taken back`);
  }
}

/** A host that refuses says so with a code of the protocol; any other failure is its own affair, and its words stay here. */
function refusalOf(method: ServerRequestMethod, error: unknown): ServerRequestError {
  const { code, message } = isObject(error) ? error : {};
  if (typeof code === 'number' && Number.isSafeInteger(code) && typeof message === 'string')
    return new ServerRequestError(code, message);
  return new ServerRequestError(-32603, `${method} could not be answered`);
}
