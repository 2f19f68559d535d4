// Owns what a server of the older era asks by requests of its own, until it is answered or taken back.
// Who knows the answer is left to `requests.ts`.

import { isObject, type JsonObject } from '../kernel/json.ts';
import type { Message } from '../model/server.ts';
import { capabilitiesOf, DeclinedInput, type InputDesk, type InputHandlers, isInputMethod } from './requests.ts';

/** What it rejects with is told to the server, with its `code` if it has one. */
export type AnswerQuestion = (method: string, params: JsonObject) => Promise<JsonObject>;

/** Whether we are there, and what was advertised: nothing else may be asked. */
export function answerFrom(desk: InputDesk, inputs: InputHandlers): AnswerQuestion {
  return async (method, params) => {
    if (method === 'ping') return {};
    const [kind = ''] = method.split('/');
    if (!isInputMethod(method) || capabilitiesOf(inputs)[kind] === undefined) throw new DeclinedInput(method);
    return desk.answerUnaddressed(method, params);
  };
}

export class Questions {
  readonly #reply: (message: Message) => void;
  readonly #open = new Set<unknown>();

  constructor(reply: (message: Message) => void) {
    this.#reply = reply;
  }

  /** Never rejects. What was taken back meanwhile is not answered. */
  async answer({ id, method, params }: Message, answer: AnswerQuestion): Promise<void> {
    this.#open.add(id);
    const reply = await answer(String(method), isObject(params) ? params : {}).then(
      (result) => ({ jsonrpc: '2.0', id, result }),
      (error: unknown) => ({ jsonrpc: '2.0', id, error: errorOf(error) }),
    );
    if (this.#open.delete(id)) this.#reply(reply);
  }

  takeBack(id: unknown): void {
    this.#open.delete(id);
  }
}

function errorOf(thrown: unknown): JsonObject {
  const { code, message } = isObject(thrown) ? thrown : {};
  return {
    code: Number.isSafeInteger(code) ? code : -32603,
    message: typeof message === 'string' ? message : 'Internal error',
  };
}
