// Owns whom a server may ask: elicitation, sampling and roots reach the handlers of the view whose call is in flight, the
// same ones in both eras. Where it is unclear whose call it is, the server is declined.

import type { Clock } from '../kernel/clock.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { askHost, type Reply } from './asking.ts';
import {
  type ClientHandlers,
  type ElicitationPolicy,
  type InputMethod,
  isAdvertised,
  type ViewHandlers,
} from './client-handlers.ts';
import { Completions } from './elicitation/completions.ts';
import { type Elicited, elicit } from './elicitation/eliciting.ts';
import { type ElicitQuestion, readQuestion } from './elicitation/request.ts';
import { nobodyAnswers, RefusedInput } from './refused-input.ts';
import { RequestTarget, type Waiter } from './request-target.ts';

export { type ClientHandlers, capabilitiesOf } from './client-handlers.ts';
export type { ElicitAnswer, ElicitRequest } from './elicitation/request.ts';

/** A call as the desk sees it: who made it, and whom to tell that the server waits for us. */
export interface CallInFlight extends Waiter {
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
interface Group {
  readonly calls: Set<Waiter>;
  addressee: RequestTarget | undefined;
}

/** Whom a server may ask, on one session: the callers in flight, or whoever holds the session alone when nobody is. */
export class ServerRequestRouter {
  readonly #deps: RouterDeps;
  readonly #holders = new Set<RequestTarget>();
  readonly #inFlight = new Map<ViewHandlers, Group>();
  /** Everything that is open, whosever it is. */
  readonly #open = new Set<AbortController>();
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

  hold(handlers: ViewHandlers): () => void {
    const holder = new RequestTarget(handlers);
    this.#holders.add(holder);
    return () => {
      this.#holders.delete(holder);
      holder.withdraw();
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
  enter(call: CallInFlight): () => void {
    const group = this.#inFlight.get(call.handlers) ?? { calls: new Set(), addressee: undefined };
    this.#inFlight.set(call.handlers, group);
    group.calls.add(call);
    if (group.addressee?.isWaiting) call.onWaiting?.(true);
    return () => {
      group.calls.delete(call);
      this.#quietSince = this.#deps.clock.now();
      if (group.calls.size > 0) return;
      this.#inFlight.delete(call.handlers);
      group.addressee?.withdraw();
    };
  }

  /** The session is over: nobody waits for an answer any more. */
  close(): void {
    for (const question of this.#open) question.abort();
  }

  /** Rejects with what the server is told. Aborting the signal takes the question back. */
  async answerUnaddressed(method: InputMethod, params: JsonObject, signal?: AbortSignal): Promise<JsonObject> {
    const addressee = this.#addresseeOf(method);
    if (isAdvertised(method, this.#deps.advertised)) return this.answer(method, params, addressee, signal);
    if (method !== 'elicitation/create') throw nobodyAnswers(method);
    // It is told of like any other, so that a host can say what was missed.
    const { emit } = addressee.handlers;
    const nobody = new RequestTarget(emit ? { emit } : {});
    if (this.#deps.policy === 'decline') return this.answer(method, params, nobody, signal);
    await this.answer(method, params, nobody, signal).catch(unasked);
    throw nobodyAnswers(method);
  }

  /** A request of the older era does not say which call it belongs to; two callers in flight make it nobody's. */
  #addresseeOf(method: InputMethod): RequestTarget {
    const [only, another] = this.#inFlight.entries();
    if (another !== undefined && method !== 'roots/list') return new RequestTarget({});
    if (another !== undefined || only === undefined) return this.#owner(method);
    const [handlers, group] = only;
    group.addressee ??= new RequestTarget(handlers, {
      onWaiting: (isWaiting) => {
        for (const call of group.calls) call.onWaiting?.(isWaiting);
      },
    });
    return group.addressee;
  }

  /** Only those share a session whose roots are the same: any of them may name those. */
  #owner(method: InputMethod): RequestTarget {
    const [holder, another] = this.#holders;
    return holder === undefined || (another !== undefined && method !== 'roots/list') ? new RequestTarget({}) : holder;
  }

  /** Rejects with what the server is told. */
  async answer(method: InputMethod, params: JsonObject, to: RequestTarget, signal?: AbortSignal): Promise<JsonObject> {
    switch (method) {
      case 'elicitation/create': {
        const { action, content } = await this.elicit(readQuestion(this.server, params), to, signal);
        return { action, ...(content && { content }) };
      }
      case 'sampling/createMessage': {
        const { sample } = to.handlers;
        if (sample === undefined) throw nobodyAnswers(method);
        const request = { ...params, server: this.server };
        return this.#ask(method, (until) => sample(request, { signal: until }), to, signal);
      }
      case 'roots/list': {
        const { roots } = to.handlers;
        if (roots === undefined) throw nobodyAnswers(method);
        return this.#ask(method, async () => ({ roots: await roots() }), to, signal);
      }
    }
  }

  elicit(asked: ElicitQuestion, to: RequestTarget, signal?: AbortSignal): Promise<Elicited> {
    const { clock, policy = 'ask' } = this.#deps;
    return this.during(to, (question) => elicit(asked, { handlers: to.handlers, policy, clock, question }), signal);
  }

  /** While the work goes on the server waits for us, and the call for the server. */
  async during<Value>(
    to: RequestTarget,
    work: (question: AbortController) => Promise<Value>,
    signal?: AbortSignal,
  ): Promise<Value> {
    if (this.#open.size >= limits.questionsAtOnce)
      throw new RefusedInput(-32000, `more than ${limits.questionsAtOnce} questions at once are too many`);
    const question = new AbortController();
    const withdraw = () => question.abort(signal?.reason);
    signal?.addEventListener('abort', withdraw, { once: true });
    if (signal?.aborted) withdraw();
    this.#open.add(question);
    to.begin(question);
    try {
      return await work(question);
    } finally {
      to.end(question);
      this.#open.delete(question);
      signal?.removeEventListener('abort', withdraw);
    }
  }

  async #ask(
    method: InputMethod,
    answer: (signal: AbortSignal) => Promise<JsonObject>,
    to: RequestTarget,
    signal: AbortSignal | undefined,
  ): Promise<JsonObject> {
    const { clock } = this.#deps;
    return requireAnswer(method, await this.during(to, (question) => askHost(answer, question, clock), signal), to);
  }
}

/** What the server did wrong besides does not matter to it: it may not ask at all. */
const unasked = (): void => undefined;

function requireAnswer(method: InputMethod, reply: Reply<JsonObject>, { handlers }: RequestTarget): JsonObject {
  switch (reply.kind) {
    case 'answered':
      if (isObject(reply.value)) return reply.value;
      handlers.onError?.(new TypeError(`the handler of ${method} must answer with an object`));
      throw new RefusedInput(-32603, `the answer to ${method} is missing`);
    case 'failed':
      handlers.onError?.(reply.error);
      throw refusalOf(method, reply.error);
    case 'silent':
      throw new RefusedInput(-32603, `nobody answered ${method} in time`);
    case 'withdrawn':
      throw new RefusedInput(-32603, `${method} was taken back`);
  }
}

/** A host that refuses says so with a code of the protocol; any other failure is its own affair, and its words stay here. */
function refusalOf(method: InputMethod, error: unknown): RefusedInput {
  const { code, message } = isObject(error) ? error : {};
  if (typeof code === 'number' && Number.isSafeInteger(code) && typeof message === 'string')
    return new RefusedInput(code, message);
  return new RefusedInput(-32603, `${method} could not be answered`);
}
