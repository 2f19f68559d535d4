// Owns modern calls whose handlers asked the client something: the call is answered `input_required`, the handler stays suspended
// under a sealed id, and the client's retry wakes it. A call that nobody wakes in time ends as cancelled.

import { createHash, randomUUID } from 'node:crypto';
import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { canonicalJson, isObject, type JsonObject } from '../kernel/json.ts';
import type { ClientRequest } from './message.ts';
import { codes, invalidParams, ProtocolError } from './protocol.ts';
import { assertCanBeAsked, faultOfAnswer, unanswered } from './questions.ts';
import type { AskClient, CallReply, RunningCall } from './running-call.ts';
import type { Principal, QuestionMethod, ServedCall } from './service.ts';
import type { StateSeal } from './state-seal.ts';

/** The requests that may be answered with `input_required`. */
const ASKING_METHODS: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** Whether the client can be asked during its request at all. */
export const canAskDuring = ({ method, peer }: Pick<ServedCall, 'method' | 'peer'>): boolean =>
  peer.era === 'legacy' || ASKING_METHODS.has(method);

interface PendingQuestion {
  readonly method: QuestionMethod;
  readonly params: JsonObject;
  readonly resolve: (answer: JsonObject) => void;
}

/** The questions of one call, whether it is suspended or runs. */
interface Asking {
  readonly id: string;
  readonly call: RunningCall;
  /** Of the request's own parameters, which its retries repeat. */
  readonly digest: string;
  readonly pending: Map<string, PendingQuestion>;
  /** Answers that the client sent along before their questions were asked; each is used once. */
  readonly early: Map<string, unknown>;
  round: number;
  questions: number;
  isFlushing: boolean;
  /** While it is suspended. */
  place: SuspendedPlace | undefined;
  stopTimer: CancelTimer | undefined;
}

/** The content of a `requestState`. */
interface SealedRound {
  readonly id: string;
  readonly round: number;
  readonly principal: string;
  readonly method: string;
  readonly digest: string;
}

interface WokenCall {
  readonly call: RunningCall;
  readonly answer: Promise<JsonObject>;
}

interface SuspendedPlace {
  readonly principal: string;
  readonly giveUp: () => void;
}

/** The suspended calls of all servers that share them: one too many ends an older one. */
export class SuspendedPlaces {
  readonly #most: number;
  /** The oldest first. */
  readonly #places = new Set<SuspendedPlace>();

  constructor(most: number) {
    this.#most = most;
  }

  take(place: SuspendedPlace): void {
    this.#places.add(place);
    if (this.#places.size > this.#most) this.#oldestBeside(place).giveUp();
  }

  leave(place: SuspendedPlace): void {
    this.#places.delete(place);
  }

  /** One principal's calls end before those of others. */
  #oldestBeside(place: SuspendedPlace): SuspendedPlace {
    const others = [...this.#places].filter((each) => each !== place);
    return others.find(({ principal }) => principal === place.principal) ?? others[0] ?? place;
  }
}

export interface SuspendedCallsOptions {
  readonly seal: StateSeal;
  readonly clock: Clock;
  readonly questionMs: number;
  readonly places: SuspendedPlaces;
}

export class SuspendedCalls {
  readonly #options: SuspendedCallsOptions;
  readonly #asking = new WeakMap<RunningCall, Asking>();
  readonly #suspended = new Map<string, Asking>();

  constructor(options: SuspendedCallsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#suspended.size;
  }

  readonly ask: AskClient = async (call, { method, params, key }) => {
    if (!canAskDuring(call))
      throw new ProtocolError(codes.internal, `A client cannot be asked while it is answered ${call.method}`);
    assertCanBeAsked(method, params, call.peer.capabilities);
    call.signal.throwIfAborted();
    const asking = this.#askingOf(call);
    const name = key ?? `${method.split('/')[0]}-${++asking.questions}`;
    if (asking.pending.has(name)) throw new ProtocolError(codes.internal, `The question "${name}" is open already`);
    const early = asking.early.get(name);
    asking.early.delete(name);
    if (faultOfAnswer(method, params, early) === undefined) return early as JsonObject;
    const { signal } = call;
    return new Promise<JsonObject>((resolve, reject) => {
      const onAbort = () => reject(signal.reason);
      const answered = (answer: JsonObject) => {
        signal.removeEventListener('abort', onAbort);
        resolve(answer);
      };
      asking.pending.set(name, { method, params, resolve: answered });
      signal.addEventListener('abort', onAbort, { once: true });
      this.#flushSoon(asking);
    });
  };

  /** Goes on with the call that the request's state names. Throws -32602 for a state that is not this client's, or expired. */
  wake(request: ClientRequest, principal: Principal, reply: CallReply): WokenCall {
    const asking = this.#find(request, principal);
    if (asking === undefined)
      throw invalidParams('requestState is not valid, has expired or belongs to another request');
    const answers = inputResponsesOf(request.params);
    this.#release(asking);
    const answer = asking.call.continueOn(reply, request.params);
    for (const [name, given] of Object.entries(answers)) {
      const question = asking.pending.get(name);
      if (question === undefined) asking.early.set(name, given);
      else if (faultOfAnswer(question.method, question.params, given) === undefined) {
        asking.pending.delete(name);
        question.resolve(given as JsonObject);
      }
    }
    // Questions without a valid answer are asked again.
    if (asking.pending.size > 0) this.#flushSoon(asking);
    return { call: asking.call, answer };
  }

  /** Ends all of them as cancelled. */
  endAll(reason: unknown, isMeant: (principal: Principal) => boolean = () => true): void {
    for (const asking of [...this.#suspended.values()])
      if (isMeant(asking.call.peer.principal)) this.#giveUp(asking, reason);
  }

  #askingOf(call: RunningCall): Asking {
    const known = this.#asking.get(call);
    if (known !== undefined) return known;
    const asking: Asking = {
      ...{ id: randomUUID(), call, digest: digestOf(call.params), pending: new Map() },
      early: new Map(Object.entries(inputResponsesOf(call.params))),
      ...{ round: 0, questions: 0, isFlushing: false, place: undefined, stopTimer: undefined },
    };
    this.#asking.set(call, asking);
    return asking;
  }

  /** After all questions that the handler asks at once. */
  #flushSoon(asking: Asking): void {
    if (asking.isFlushing) return;
    asking.isFlushing = true;
    setImmediate(() => {
      asking.isFlushing = false;
      if (asking.pending.size > 0 && !asking.call.isCancelled) this.#suspend(asking);
    });
  }

  #suspend(asking: Asking): void {
    asking.round++;
    const inputRequests = Object.fromEntries(
      [...asking.pending].map(([name, { method, params }]) => [name, { method, params }]),
    );
    const requestState = this.#options.seal.seal(roundOf(asking));
    // While it is suspended already, a further question waits for the client's return.
    if (!asking.call.answerMeanwhile({ resultType: 'input_required', inputRequests, requestState })) {
      asking.round--;
      return;
    }
    this.#suspended.set(asking.id, asking);
    const giveUp = () => this.#giveUp(asking, unanswered());
    asking.stopTimer = this.#options.clock.after(this.#options.questionMs, giveUp, 'background');
    asking.place = { principal: asking.call.peer.principal.id, giveUp };
    this.#options.places.take(asking.place);
  }

  #giveUp(asking: Asking, reason: unknown): void {
    this.#release(asking);
    asking.call.cancel(reason);
  }

  #release(asking: Asking): void {
    this.#suspended.delete(asking.id);
    if (asking.place !== undefined) this.#options.places.leave(asking.place);
    asking.stopTimer?.();
  }

  #find({ method, params }: ClientRequest, principal: Principal): Asking | undefined {
    const { requestState } = params;
    if (typeof requestState !== 'string') return undefined;
    const opened = this.#options.seal.open(requestState);
    if (!opened.ok || !isObject(opened.value)) return undefined;
    const asking = this.#suspended.get(String(opened.value['id']));
    if (asking === undefined) return undefined;
    const expected = canonicalJson({ ...roundOf(asking), principal: principal.id, method, digest: digestOf(params) });
    return canonicalJson(opened.value) === expected ? asking : undefined;
  }
}

function roundOf({ id, round, call, digest }: Asking): SealedRound {
  return { id, round, principal: call.peer.principal.id, method: call.method, digest };
}

/** Of the request's own parameters: a retry differs in its answers, its state and its `_meta`. */
function digestOf({ _meta: _, inputResponses: __, requestState: ___, ...params }: JsonObject): string {
  return createHash('sha256').update(canonicalJson(params)).digest('base64url');
}

function inputResponsesOf({ inputResponses = {} }: JsonObject): JsonObject {
  if (!isObject(inputResponses)) throw invalidParams('inputResponses must be an object');
  return inputResponses;
}
