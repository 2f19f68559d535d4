// Owns one call over the wire, in both eras: of a tool, or of another request that somebody waits for. A modern server may
// answer "input required": the input is fetched from the caller's handlers and the call is sent again with it, its opaque
// state echoed as it came.

import type { Cancellation } from '../kernel/cancellation.ts';
import type { Clock } from '../kernel/clock.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { SendOptions } from '../model/server.ts';
import { DeclinedInput, type InputDesk, type InputHandlers, isInputMethod } from './requests.ts';
import type { Answer, Progress, Wire } from './wire.ts';

export interface CallOptions extends SendOptions {
  readonly cancellation: Cancellation;
  /** What goes along beside the arguments. */
  readonly meta?: JsonObject | undefined;
  readonly onProgress: (progress: Progress) => void;
  /** The handlers of the view that calls. */
  readonly inputs: InputHandlers;
}

interface Line {
  readonly wire: Wire;
  readonly desk: InputDesk;
  readonly clock: Clock;
  readonly owner: object | undefined;
}

/** What is called, as it goes over the wire. */
interface Call {
  readonly method: string;
  readonly params: JsonObject;
}

export async function performCall(line: Line, { method, params: given }: Call, options: CallOptions): Promise<Answer> {
  const params = options.meta === undefined ? given : { ...given, _meta: options.meta };
  line.desk.enter(options.inputs);
  try {
    const answer = await line.wire.request(method, params, options, line.owner);
    if (answer.kind !== 'lost') line.desk.served++;
    return isInputRequired(answer) ? await answerRounds(line, { method, params }, answer, options) : answer;
  } finally {
    line.desk.leave(options.inputs);
  }
}

type InputRequired = { readonly kind: 'result'; readonly result: JsonObject };

function isInputRequired(answer: Answer): answer is InputRequired {
  return answer.kind === 'result' && isObject(answer.result) && answer.result['resultType'] === 'input_required';
}

async function answerRounds(
  line: Line,
  { method, params }: Call,
  first: InputRequired,
  options: CallOptions,
): Promise<Answer> {
  let asked = first;
  for (let round = 0; round < limits.inputRounds; round++) {
    const inputResponses = await options.cancellation.race(
      fetchInputs(line, asked.result['inputRequests'], options.inputs),
    );
    if (inputResponses instanceof DeclinedInput) return declined(inputResponses);
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

function declined({ code, message }: DeclinedInput): Answer {
  return { kind: 'error', code, message: `it asked for input, but ${message}` };
}

/** A round without questions is a server asking for patience: a fixed pause keeps it from spinning. */
async function fetchInputs(
  line: Line,
  requests: unknown,
  caller: InputHandlers,
): Promise<JsonObject | undefined | DeclinedInput> {
  if (!isObject(requests) || Object.keys(requests).length === 0) {
    await line.clock.sleep(limits.inputPacingMs);
    return undefined;
  }
  try {
    const answers = Object.entries(requests).map(async ([key, request]) => {
      const method = isObject(request) ? request['method'] : undefined;
      if (!isObject(request) || !isInputMethod(method))
        throw new DeclinedInput(typeof method === 'string' ? method : 'this');
      return [
        key,
        await line.desk.answer(method, isObject(request['params']) ? request['params'] : {}, caller),
      ] as const;
    });
    return Object.fromEntries(await Promise.all(answers));
  } catch (error) {
    if (error instanceof DeclinedInput) return error;
    throw error;
  }
}
