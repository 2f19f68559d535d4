// Owns what a server of the older era asks by requests of its own, until it is answered or taken back.
// Who knows the answer is left to `requests.ts`.

import { isObject, type JsonObject } from '../kernel/json.ts';
import type { Message } from '../model/server.ts';
import { isInputMethod } from './client-handlers.ts';
import { nobodyAnswers } from './refused-input.ts';
import type { ServerRequestRouter } from './requests.ts';

/** What it rejects with is told to the server, with its `code` if it has one. The signal says that it was taken back. */
export type AnswerQuestion = (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>;

/** Whether we are there, and what the desk answers: nothing else may be asked. */
export function answerFrom(desk: ServerRequestRouter): AnswerQuestion {
  return async (method, params, signal) => {
    if (method === 'ping') return {};
    if (!isInputMethod(method)) throw nobodyAnswers(method);
    return desk.answerUnaddressed(method, params, signal);
  };
}

export class Questions {
  readonly #reply: (message: Message) => void;
  readonly #open = new Map<unknown, AbortController>();

  constructor(reply: (message: Message) => void) {
    this.#reply = reply;
  }

  /** Never rejects. What was taken back meanwhile is not answered. */
  async answer({ id, method, params }: Message, answer: AnswerQuestion): Promise<void> {
    const question = new AbortController();
    this.#open.set(id, question);
    const reply = await answer(String(method), isObject(params) ? params : {}, question.signal).then(
      (result) => ({ jsonrpc: '2.0', id, result }),
      (error: unknown) => ({ jsonrpc: '2.0', id, error: errorOf(error) }),
    );
    if (this.#open.get(id) !== question) return;
    this.#open.delete(id);
    this.#reply(reply);
  }

  takeBack(id: unknown): void {
    const question = this.#open.get(id);
    this.#open.delete(id);
    question?.abort();
  }
}

function errorOf(thrown: unknown): JsonObject {
  const { code, message } = isObject(thrown) ? thrown : {};
  return {
    code: Number.isSafeInteger(code) ? code : -32603,
    message: typeof message === 'string' ? message : 'Internal error',
  };
}
