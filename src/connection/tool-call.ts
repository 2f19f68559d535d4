// Owns one call over the wire, in both eras: `tools/call`, or another request during which the server may ask for input.
// A modern server answers "input required": the caller's handlers supply the input, and the call is sent again with it and
// with the server's opaque `requestState`, unchanged. A legacy server refuses the call (-32042) until a person has visited
// pages: then it is sent again, once, since a refused call was not performed. So is a call that the server refused with HTTP 429,
// after the wait that the server asked for.

import type { Cancellation } from '../kernel/cancellation.ts';
import type { Clock } from '../kernel/clock.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { type FailureData, RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { SendOptions } from '../model/server.ts';
import { isServerRequestMethod, type ViewHandlers } from './client-handlers.ts';
import { NOBODY_TO_ASK, URL_ELICITATION_REQUIRED, visitPages } from './elicitation/url-required.ts';
import { RequestTarget, type WaitListener } from './request-target.ts';
import type { RelayedRequest, ServerRequestRouter } from './requests.ts';
import { methodNotFound, ServerRequestError } from './server-request-error.ts';
import type { Progress, RequestOutcome, Wire } from './wire.ts';

export interface CallOptions extends SendOptions, WaitListener {
  readonly cancellation: Cancellation;
  /** Sent as the request's `_meta`. */
  readonly meta?: JsonObject | undefined;
  onProgress(progress: Progress): void;
  /** Called for any other sign that the server is working on the call, such as a log message. */
  onSign?(): void;
  /** The handlers of the calling view. */
  readonly handlers: ViewHandlers;
  readonly relay?: RelayedRequest | undefined;
  /** Whether a call that was refused with 429 may wait so long and be sent again; asked before each wait. */
  mayWait?(waitMs: number): boolean;
}

interface CallDeps {
  readonly wire: Wire;
  readonly router: ServerRequestRouter;
  readonly clock: Clock;
  readonly owner: object | undefined;
}

interface CallRequest {
  readonly method: string;
  readonly params: JsonObject;
  /** The handlers of the calling view, as far as the server was told of them. */
  readonly handlers: ViewHandlers;
}

export function performCall(
  deps: CallDeps,
  method: string,
  callParams: JsonObject,
  options: CallOptions,
): Promise<RequestOutcome> {
  const handlers = deps.router.offered(options.handlers);
  const { meta, relay } = options;
  const own = meta === undefined ? callParams : { ...callParams, _meta: meta };
  const params = relay?.inputs === undefined ? own : { ...own, ...relay.inputs };
  const endCall = deps.router.beginCall(options, handlers, deps.owner);
  return deps.wire.request(method, params, options, deps.owner).then(
    (first) => {
      const isDone = first.kind === 'result' && (relay?.passesInput === true || !isInputRequired(first));
      if (!isDone) return afterFirst(deps, { method, params, handlers }, first, options).finally(endCall);
      deps.router.served++;
      endCall();
      return first;
    },
    (error: unknown) => {
      endCall();
      throw error;
    },
  );
}

/** Nearly every call ends with its first result; the others may be sent again. */
async function afterFirst(
  deps: CallDeps,
  request: CallRequest,
  first: RequestOutcome,
  options: CallOptions,
): Promise<RequestOutcome> {
  const outcome = await afterRateLimit(deps, request, first, options);
  if (outcome.kind !== 'lost') deps.router.served++;
  if (outcome.kind === 'error') return afterRefusal(deps, request, outcome, options);
  return isInputRequired(outcome) ? runInputRounds(deps, request, outcome, options) : outcome;
}

async function send(deps: CallDeps, request: CallRequest, options: CallOptions): Promise<RequestOutcome> {
  const outcome = await deps.wire.request(request.method, request.params, options, deps.owner);
  return afterRateLimit(deps, request, outcome, options);
}

async function afterRateLimit(
  deps: CallDeps,
  { method, params }: CallRequest,
  outcome: RequestOutcome,
  options: CallOptions,
): Promise<RequestOutcome> {
  const waitMs = rateLimitIn(outcome);
  if (waitMs === undefined || !options.mayWait?.(waitMs)) return outcome;
  await pause(deps, options, waitMs);
  options.onRepeat?.();
  return deps.wire.request(method, params, options, deps.owner);
}

/** How long to wait before the same request may be sent again; `undefined` if it was not refused for its rate. */
function rateLimitIn(outcome: RequestOutcome): number | undefined {
  const cause = outcome.kind === 'lost' ? outcome.cause : undefined;
  if (!(cause instanceof RuntimeError) || cause.code !== 'RATE_LIMITED') return undefined;
  return (cause.data as FailureData<'RATE_LIMITED'>).waitMs ?? limits.rateLimit.defaultMs;
}

async function pause({ clock }: CallDeps, { cancellation }: CallOptions, ms: number): Promise<void> {
  const controller = new AbortController();
  try {
    await cancellation.race(clock.sleep(ms, controller.signal));
  } finally {
    controller.abort();
  }
}

type InputRequired = { readonly kind: 'result'; readonly result: JsonObject };
type Refusal = Extract<RequestOutcome, { kind: 'error' }>;

function isInputRequired(outcome: RequestOutcome): outcome is InputRequired {
  return outcome.kind === 'result' && isObject(outcome.result) && outcome.result['resultType'] === 'input_required';
}

const CAPABILITY_MISSING = -32021;

async function afterRefusal(
  deps: CallDeps,
  call: CallRequest,
  refused: Refusal,
  options: CallOptions,
): Promise<RequestOutcome> {
  if (options.relay?.passesRefusals) {
    // The server tells when a page was visited, long after this call.
    if (refused.code === URL_ELICITATION_REQUIRED)
      for (const id of pagesIn(refused.data)) deps.router.expectPage(id, call.handlers);
    return refused;
  }
  const isPassedOn = options.relay?.passesInput === true;
  if (refused.code === CAPABILITY_MISSING && !isPassedOn && needsElicitation(refused.data))
    return { ...refused, message: `${refused.message}; it has a question, and ${NOBODY_TO_ASK}` };
  if (refused.code !== URL_ELICITATION_REQUIRED) return refused;
  const problem = await withRequestTarget(call.handlers, options, (target) =>
    visitPages(refused.data, { ...deps, call: options, target }),
  );
  if (problem instanceof ServerRequestError) return declined(problem);
  if (problem !== undefined) return { ...refused, message: problem };
  options.onRepeat?.();
  const outcome = await send(deps, call, options);
  return isInputRequired(outcome) ? runInputRounds(deps, call, outcome, options) : outcome;
}

function pagesIn(data: unknown): readonly unknown[] {
  const elicitations = isObject(data) ? data['elicitations'] : undefined;
  const named = Array.isArray(elicitations) ? elicitations.slice(0, limits.pages.atOnce) : [];
  return named.map((each: unknown) => (isObject(each) ? each['elicitationId'] : undefined));
}

function needsElicitation(data: unknown): boolean {
  const required = isObject(data) ? data['requiredCapabilities'] : undefined;
  return isObject(required) && required['elicitation'] !== undefined;
}

/** Cancelling the call withdraws the requests of the target. A server request that is not allowed is returned as its error. */
async function withRequestTarget<Value>(
  handlers: ViewHandlers,
  options: CallOptions,
  work: (target: RequestTarget, signal: AbortSignal) => Promise<Value>,
): Promise<Value | ServerRequestError> {
  const { cancellation } = options;
  const target = new RequestTarget(handlers, options);
  const controller = new AbortController();
  try {
    return await cancellation.race(work(target, controller.signal));
  } catch (error) {
    if (error instanceof ServerRequestError) return error;
    throw error;
  } finally {
    target.withdraw();
    controller.abort();
  }
}

async function runInputRounds(
  deps: CallDeps,
  call: CallRequest,
  first: InputRequired,
  options: CallOptions,
): Promise<RequestOutcome> {
  let inputRequired = first;
  const { relay } = options;
  const most = relay === undefined ? limits.inputRounds : limits.relay.inputRounds;
  // Rounds with questions are bounded by the number of questions too; those of a gateway's client by nothing else.
  for (let round = 0; round < most || (relay === undefined && asksAnything(inputRequired.result)); round++) {
    const { inputRequests, requestState } = inputRequired.result;
    const inputResponses = await withRequestTarget(call.handlers, options, (target, signal) =>
      fetchInputs(deps, inputRequests, { call: options, target, signal }),
    );
    if (inputResponses instanceof ServerRequestError) return declined(inputResponses);
    const answered = { ...(inputResponses && { inputResponses }), ...(requestState !== undefined && { requestState }) };
    const outcome = await send(deps, { ...call, params: { ...call.params, ...answered } }, options);
    // The server has seen the earlier rounds: sending the call anew would ask the person a second time.
    if (outcome.kind === 'lost') return { ...outcome, sent: true };
    if (!isInputRequired(outcome)) return outcome;
    inputRequired = outcome;
  }
  return { kind: 'error', code: -32603, message: `it still asked for input after ${most} rounds` };
}

const asksAnything = ({ inputRequests }: JsonObject) =>
  isObject(inputRequests) && Object.keys(inputRequests).length > 0;

function declined({ code, message }: ServerRequestError): RequestOutcome {
  return { kind: 'error', code, message: `it asked for input, but ${message}` };
}

interface InputRound {
  readonly call: CallOptions;
  readonly target: RequestTarget;
  readonly signal: AbortSignal;
}

/** A server that names no input only wants the call to be sent again: a pause keeps the two from spinning. */
async function fetchInputs(
  deps: CallDeps,
  requests: unknown,
  { call, target, signal }: InputRound,
): Promise<JsonObject | undefined> {
  if (!isObject(requests) || !asksAnything({ inputRequests: requests })) {
    await deps.clock.sleep(limits.inputPacingMs, signal);
    return undefined;
  }
  const questions = Object.entries(requests).map(([key, request]) => {
    const { method, params } = isObject(request) ? request : {};
    if (!isServerRequestMethod(method)) throw methodNotFound(typeof method === 'string' ? method : 'this request');
    return { key, method, params: isObject(params) ? params : {}, ...(call.relay && { relay: call.relay }) };
  });
  // Before anybody is asked: a round that is refused as a whole bothers nobody.
  for (const _ of questions) deps.router.questions.admit([call]);
  const answers = questions.map(
    async (question) => [question.key, await deps.router.answer(question, target)] as const,
  );
  return Object.fromEntries(await Promise.all(answers));
}
