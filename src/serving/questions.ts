// Owns which questions a client can be asked and which answers count, in both eras, and a legacy client's open questions.

import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { problemsWith } from '../kernel/json-schema.ts';
import { limits } from '../model/limits.ts';
import type { ClientAnswer } from './message.ts';
import { notification } from './message.ts';
import { codes, missingCapability, ProtocolError } from './protocol.ts';
import type { QuestionMethod } from './service.ts';

/** The capability that the client lacks for this question, as the protocol names it; `undefined` if it lacks none. */
export function lackingFor(
  method: QuestionMethod,
  params: JsonObject,
  capabilities: JsonObject,
): JsonObject | undefined {
  if (method === 'roots/list') return isObject(capabilities['roots']) ? undefined : { roots: {} };
  if (method === 'sampling/createMessage') {
    const sampling = capabilities['sampling'];
    if (!isObject(sampling)) return { sampling: {} };
    return params['tools'] !== undefined && !isObject(sampling['tools']) ? { sampling: { tools: {} } } : undefined;
  }
  const elicitation = capabilities['elicitation'];
  if (params['mode'] === 'url')
    return isObject(elicitation) && isObject(elicitation['url']) ? undefined : { elicitation: { url: {} } };
  if (!isObject(elicitation)) return { elicitation: {} };
  // A client of an older revision declares an empty object and means forms.
  return isObject(elicitation['form']) || !isObject(elicitation['url']) ? undefined : { elicitation: { form: {} } };
}

export function assertCanBeAsked(method: QuestionMethod, params: JsonObject, capabilities: JsonObject): void {
  const lacking = lackingFor(method, params, capabilities);
  if (lacking !== undefined) throw missingCapability(lacking);
}

const ACTIONS: readonly unknown[] = ['accept', 'decline', 'cancel'];

/** The fault of a client's answer, in words; `undefined` if it counts. */
export function faultOfAnswer(method: QuestionMethod, params: JsonObject, answer: unknown): string | undefined {
  if (!isObject(answer)) return 'it is not an object';
  if (method === 'roots/list') return Array.isArray(answer['roots']) ? undefined : 'it has no list of roots';
  if (method === 'sampling/createMessage')
    return typeof answer['content'] === 'object' && answer['content'] !== null ? undefined : 'it has no content';
  if (!ACTIONS.includes(answer['action'])) return 'its action is none of accept, decline and cancel';
  if (answer['action'] !== 'accept' || params['mode'] === 'url') return undefined;
  if (!isObject(answer['content'])) return 'it has no content';
  const [problem] = problemsWith(answer['content'], params['requestedSchema'] ?? {}, limits.served.check);
  return problem;
}

interface OpenQuestion {
  readonly method: QuestionMethod;
  readonly params: JsonObject;
  readonly resolve: (answer: JsonObject) => void;
  readonly reject: (reason: unknown) => void;
}

export interface AskOptions {
  readonly method: QuestionMethod;
  readonly params: JsonObject;
  /** Sends the question or its cancellation to the client; says whether there is a way to it. */
  readonly send: (message: JsonObject) => boolean;
  readonly signal: AbortSignal;
  /** Called when the time for an answer is up. */
  readonly onUnanswered?: (reason: unknown) => void;
}

/** The questions that one legacy client has not answered yet. */
export class Questions {
  readonly #open = new Map<string, OpenQuestion>();
  readonly #clock: Clock;
  readonly #questionMs: number;
  #last = 0;

  constructor(clock: Clock, questionMs: number) {
    this.#clock = clock;
    this.#questionMs = questionMs;
  }

  async ask({ method, params, send, signal, onUnanswered }: AskOptions): Promise<JsonObject> {
    signal.throwIfAborted();
    // Apart from the client's own ids, so that a mix-up shows.
    const id = `q${++this.#last}`;
    let stopTimer: CancelTimer | undefined;
    let onAbort: (() => void) | undefined;
    try {
      return await new Promise<JsonObject>((resolve, reject) => {
        const giveUp = (reason: unknown) => {
          if (!this.#open.delete(id)) return;
          send(notification('notifications/cancelled', { requestId: id }));
          reject(reason);
        };
        onAbort = () => giveUp(signal.reason);
        this.#open.set(id, { method, params, resolve, reject });
        signal.addEventListener('abort', onAbort, { once: true });
        const timeUp = () => {
          const reason = unanswered();
          giveUp(reason);
          onUnanswered?.(reason);
        };
        stopTimer = this.#clock.after(this.#questionMs, timeUp, 'background');
        if (!send({ jsonrpc: '2.0', id, method, params }))
          reject(new ProtocolError(codes.internal, 'The client cannot be asked: it accepts no stream'));
      });
    } finally {
      this.#open.delete(id);
      stopTimer?.();
      if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
    }
  }

  /** An answer to no open question is ignored: it may have been cancelled meanwhile. */
  settle({ id, result, error }: ClientAnswer): void {
    const question = this.#open.get(String(id));
    if (question === undefined) return;
    if (error !== undefined) {
      question.reject(refusalOf(error));
      return;
    }
    try {
      const fault = faultOfAnswer(question.method, question.params, result);
      if (fault === undefined) question.resolve(result as JsonObject);
      else question.reject(invalidAnswerOf(question.method, fault));
    } catch (failure) {
      // A handler's schema that cannot be checked fails its own question only.
      question.reject(failure);
    }
  }
}

export const unanswered = () => new DOMException('the client did not answer in time', 'TimeoutError');

const invalidAnswerOf = (method: QuestionMethod, fault: string) =>
  new ProtocolError(codes.invalidParams, `The client's answer to ${method} is not valid: ${fault}`);

function refusalOf(error: unknown): ProtocolError {
  const { code, message, data } = isObject(error) ? error : {};
  return new ProtocolError(
    Number.isSafeInteger(code) ? (code as number) : codes.internal,
    typeof message === 'string' ? message : 'The client answered with an error',
    data,
  );
}
