// Owns whom a server may ask: elicitation, sampling and roots reach the handlers of the view whose call is in flight, the
// same ones in both eras. Where it is unclear whose call it is, the server is declined.

import type { Clock } from '../kernel/clock.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { Addressee, type Waiter } from './addressee.ts';
import { askHost, type Reply } from './asking.ts';
import { Completions } from './elicitation/completions.ts';
import { type Elicited, elicit } from './elicitation/eliciting.ts';
import { type ElicitQuestion, readQuestion } from './elicitation/request.ts';
import { type ElicitationPolicy, type InputHandlers, type InputMethod, type Inputs, isAdvertised } from './inputs.ts';
import { nobodyAnswers, RefusedInput } from './refused-input.ts';

export type { ElicitAnswer, ElicitRequest } from './elicitation/request.ts';
export { capabilitiesOf, type InputHandlers } from './inputs.ts';

/** A call as the desk sees it: who made it, and whom to tell that the server waits for us. */
export interface Caller extends Waiter {
  readonly inputs: Inputs;
}

export interface DeskParts {
  readonly server: ServerName;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  /** What the server was told that it may ask. */
  readonly advertised: InputHandlers;
  readonly policy?: ElicitationPolicy | undefined;
}

/** The calls of one caller. A question of the older era is for all of them, since it does not say for which. */
interface Group {
  readonly calls: Set<Waiter>;
  addressee: Addressee | undefined;
}

/** Whom a server may ask, on one session: the callers in flight, or whoever holds the session alone when nobody is. */
export class InputDesk {
  readonly #parts: DeskParts;
  readonly #holders = new Set<Addressee>();
  readonly #inFlight = new Map<Inputs, Group>();
  /** Everything that is open, whosever it is. */
  readonly #open = new Set<AbortController>();
  #quietSince: number;
  /** Calls answered so far: proof that the server works. */
  served = 0;
  /** The pages of which the server said that they were dealt with. */
  readonly completions = new Completions();

  constructor(parts: DeskParts) {
    this.#parts = parts;
    this.#quietSince = parts.clock.now();
  }

  get server(): ServerName {
    return this.#parts.server;
  }

  hold(inputs: Inputs): () => void {
    const holder = new Addressee(inputs);
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
  enter(call: Caller): () => void {
    const group = this.#inFlight.get(call.inputs) ?? { calls: new Set(), addressee: undefined };
    this.#inFlight.set(call.inputs, group);
    group.calls.add(call);
    if (group.addressee?.isWaiting) call.onWaiting?.(true);
    return () => {
      group.calls.delete(call);
      this.#quietSince = this.#parts.clock.now();
      if (group.calls.size > 0) return;
      this.#inFlight.delete(call.inputs);
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
    if (isAdvertised(method, this.#parts.advertised)) return this.answer(method, params, addressee, signal);
    if (method !== 'elicitation/create') throw nobodyAnswers(method);
    // It is told of like any other, so that a host can say what was missed.
    const { emit } = addressee.inputs;
    const nobody = new Addressee(emit ? { emit } : {});
    if (this.#parts.policy === 'decline') return this.answer(method, params, nobody, signal);
    await this.answer(method, params, nobody, signal).catch(unasked);
    throw nobodyAnswers(method);
  }

  /** A request of the older era does not say which call it belongs to; two callers in flight make it nobody's. */
  #addresseeOf(method: InputMethod): Addressee {
    const [only, another] = this.#inFlight.entries();
    if (another !== undefined && method !== 'roots/list') return new Addressee({});
    if (another !== undefined || only === undefined) return this.#owner(method);
    const [inputs, group] = only;
    group.addressee ??= new Addressee(inputs, {
      onWaiting: (isWaiting) => {
        for (const call of group.calls) call.onWaiting?.(isWaiting);
      },
    });
    return group.addressee;
  }

  /** Only those share a session whose roots are the same: any of them may name those. */
  #owner(method: InputMethod): Addressee {
    const [holder, another] = this.#holders;
    return holder === undefined || (another !== undefined && method !== 'roots/list') ? new Addressee({}) : holder;
  }

  /** Rejects with what the server is told. */
  async answer(method: InputMethod, params: JsonObject, to: Addressee, signal?: AbortSignal): Promise<JsonObject> {
    switch (method) {
      case 'elicitation/create': {
        const { action, content } = await this.elicit(readQuestion(this.server, params), to, signal);
        return { action, ...(content && { content }) };
      }
      case 'sampling/createMessage': {
        const { sample } = to.inputs;
        if (sample === undefined) throw nobodyAnswers(method);
        const request = { ...params, server: this.server };
        return this.#ask(method, (until) => sample(request, { signal: until }), to, signal);
      }
      case 'roots/list': {
        const { roots } = to.inputs;
        if (roots === undefined) throw nobodyAnswers(method);
        return this.#ask(method, async () => ({ roots: await roots() }), to, signal);
      }
    }
  }

  elicit(asked: ElicitQuestion, to: Addressee, signal?: AbortSignal): Promise<Elicited> {
    const { clock, policy = 'ask' } = this.#parts;
    return this.during(to, (question) => elicit(asked, { inputs: to.inputs, policy, clock, question }), signal);
  }

  /** While the work goes on the server waits for us, and the call for the server. */
  async during<Value>(
    to: Addressee,
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
    to: Addressee,
    signal: AbortSignal | undefined,
  ): Promise<JsonObject> {
    const { clock } = this.#parts;
    return requireAnswer(method, await this.during(to, (question) => askHost(answer, question, clock), signal), to);
  }
}

/** What the server did wrong besides does not matter to it: it may not ask at all. */
const unasked = (): void => undefined;

function requireAnswer(method: InputMethod, reply: Reply<JsonObject>, { inputs }: Addressee): JsonObject {
  switch (reply.kind) {
    case 'answered':
      if (isObject(reply.value)) return reply.value;
      inputs.onError?.(new TypeError(`the handler of ${method} must answer with an object`));
      throw new RefusedInput(-32603, `the answer to ${method} is missing`);
    case 'failed':
      inputs.onError?.(reply.error);
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
