// Owns one call over the wire, in both eras: of a tool, or of another request that somebody waits for. A server may want
// something of a person first. A modern one answers "input required": the input is fetched from the caller's handlers and
// the call is sent again with it, its opaque state echoed as it came. An older one refuses until pages have been visited:
// then it is sent again, once; what was refused was not done.

import type { Cancellation } from '../kernel/cancellation.ts';
import type { Clock } from '../kernel/clock.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { SendOptions } from '../model/server.ts';
import { isServerRequestMethod, type ViewHandlers } from './client-handlers.ts';
import { URL_ELICITATION_REQUIRED, visitPages } from './elicitation/url-required.ts';
import { RequestTarget, type WaitListener } from './request-target.ts';
import type { ServerRequestRouter } from './requests.ts';
import { methodNotFound, ServerRequestError } from './server-request-error.ts';
import type { Progress, RequestOutcome, Wire } from './wire.ts';

export interface CallOptions extends SendOptions, WaitListener {
  readonly cancellation: Cancellation;
  /** What goes along beside the arguments. */
  readonly meta?: JsonObject | undefined;
  readonly onProgress: (progress: Progress) => void;
  /** Told of any other sign that the server is at work on it. */
  readonly onSign?: (() => void) | undefined;
  /** The handlers of the view that calls. */
  readonly handlers: ViewHandlers;
}

/** Where it was refused once and sent again: how often it was sent. */
export type CallOutcome = RequestOutcome & { readonly attempts?: number };

interface CallDeps {
  readonly wire: Wire;
  readonly router: ServerRequestRouter;
  readonly clock: Clock;
  readonly owner: object | undefined;
}

/** What is called, as it goes over the wire. */
interface CallRequest {
  readonly method: string;
  readonly params: JsonObject;
}

export async function performCall(
  line: CallDeps,
  { method, params: given }: CallRequest,
  options: CallOptions,
): Promise<CallOutcome> {
  const params = options.meta === undefined ? given : { ...given, _meta: options.meta };
  const leave = line.router.beginCall(options);
  try {
    const answer = await line.wire.request(method, params, options, line.owner);
    if (answer.kind !== 'lost') line.router.served++;
    if (answer.kind === 'error') return await afterRefusal(line, { method, params }, answer, options);
    return isInputRequired(answer) ? await answerRounds(line, { method, params }, answer, options) : answer;
  } finally {
    leave();
  }
}

type InputRequired = { readonly kind: 'result'; readonly result: JsonObject };
type Refusal = Extract<RequestOutcome, { kind: 'error' }>;

function isInputRequired(answer: RequestOutcome): answer is InputRequired {
  return answer.kind === 'result' && isObject(answer.result) && answer.result['resultType'] === 'input_required';
}

const CAPABILITY_MISSING = -32021;

async function afterRefusal(
  line: CallDeps,
  call: CallRequest,
  refused: Refusal,
  options: CallOptions,
): Promise<CallOutcome> {
  if (refused.code === CAPABILITY_MISSING && wantsPerson(refused.data))
    return { ...refused, message: `${refused.message}; ${NOBODY_TO_ASK}` };
  if (refused.code !== URL_ELICITATION_REQUIRED) return refused;
  const visited = await whileAsked(options, (to) => visitPages(refused.data, { ...line, to }));
  if (visited instanceof ServerRequestError) return declined(visited);
  if (visited !== undefined) return { ...refused, message: visited };
  const answer = await line.wire.request(call.method, call.params, options, line.owner);
  return { ...(isInputRequired(answer) ? await answerRounds(line, call, answer, options) : answer), attempts: 2 };
}

const NOBODY_TO_ASK = 'it has a question, and nobody can be asked here: call it in a terminal, or in a host that asks';

function wantsPerson(data: unknown): boolean {
  const required = isObject(data) ? data['requiredCapabilities'] : undefined;
  return isObject(required) && required['elicitation'] !== undefined;
}

/** Whoever cancels the call takes its questions back. What the server asked wrongly is an answer. */
async function whileAsked<Value>(
  { handlers, onWaiting, cancellation }: CallOptions,
  ask: (to: RequestTarget, gone: AbortSignal) => Promise<Value>,
): Promise<Value | ServerRequestError> {
  const to = new RequestTarget(handlers, { onWaiting });
  const gone = new AbortController();
  try {
    return await cancellation.race(ask(to, gone.signal));
  } catch (error) {
    if (error instanceof ServerRequestError) return error;
    throw error;
  } finally {
    to.withdraw();
    gone.abort();
  }
}

async function answerRounds(
  line: CallDeps,
  { method, params }: CallRequest,
  first: InputRequired,
  options: CallOptions,
): Promise<RequestOutcome> {
  let asked = first;
  for (let round = 0; round < limits.inputRounds; round++) {
    const inputResponses = await whileAsked(options, (to, gone) =>
      fetchInputs(line, asked.result['inputRequests'], to, gone),
    );
    if (inputResponses instanceof ServerRequestError) return declined(inputResponses);
    const requestState = asked.result['requestState'];
    const answer = await line.wire.request(
      method,
      { ...params, ...(inputResponses && { inputResponses }), ...(requestState !== undefined && { requestState }) },
      options,
      line.owner,
    );
    // The rounds before have been seen: to begin anew would ask the person a second time.
    if (answer.kind === 'lost') return { ...answer, sent: true };
    if (!isInputRequired(answer)) return answer;
    asked = answer;
  }
  return { kind: 'error', code: -32603, message: `it still asked for input after ${limits.inputRounds} rounds` };
}

function declined({ code, message }: ServerRequestError): RequestOutcome {
  return { kind: 'error', code, message: `it asked for input, but ${message}` };
}

/** A round without questions is a server asking for patience: a fixed pause keeps it from spinning. */
async function fetchInputs(
  line: CallDeps,
  requests: unknown,
  to: RequestTarget,
  gone: AbortSignal,
): Promise<JsonObject | undefined> {
  if (!isObject(requests) || Object.keys(requests).length === 0) {
    await line.clock.sleep(limits.inputPacingMs, gone);
    return undefined;
  }
  const answers = Object.entries(requests).map(async ([key, request]) => {
    const { method, params } = isObject(request) ? request : {};
    if (!isServerRequestMethod(method)) throw methodNotFound(typeof method === 'string' ? method : 'this');
    return [key, await line.router.answer(method, isObject(params) ? params : {}, to)] as const;
  });
  return Object.fromEntries(await Promise.all(answers));
}
