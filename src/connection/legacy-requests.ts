// Owns what a server of the older era asks by requests of its own, until it is answered or taken back.
// Who knows the answer is left to `requests.ts`.

import { isObject, type JsonObject } from '../kernel/json.ts';
import type { Message } from '../model/server.ts';
import { isServerRequestMethod } from './client-handlers.ts';
import type { ServerRequestRouter } from './requests.ts';
import { methodNotFound } from './server-request-error.ts';

/** What it rejects with is told to the server, with its `code` if it has one. The signal says that it was taken back. */
export type AnswerServerRequest = (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>;

/** Whether we are there, and what the desk answers: nothing else may be asked. */
export function answerWith(router: ServerRequestRouter): AnswerServerRequest {
  return async (method, params, signal) => {
    if (method === 'ping') return {};
    if (!isServerRequestMethod(method)) throw methodNotFound(method);
    return router.route(method, params, signal);
  };
}

export class LegacyRequests {
  readonly #reply: (message: Message) => void;
  readonly #openRequests = new Map<unknown, AbortController>();

  constructor(reply: (message: Message) => void) {
    this.#reply = reply;
  }

  /** Never rejects. What was taken back meanwhile is not answered. */
  async answer({ id, method, params }: Message, answer: AnswerServerRequest): Promise<void> {
    const controller = new AbortController();
    this.#openRequests.set(id, controller);
    const reply = await answer(String(method), isObject(params) ? params : {}, controller.signal).then(
      (result) => ({ jsonrpc: '2.0', id, result }),
      (error: unknown) => ({ jsonrpc: '2.0', id, error: errorOf(error) }),
    );
    if (this.#openRequests.get(id) !== controller) return;
    this.#openRequests.delete(id);
    this.#reply(reply);
  }

  cancel(id: unknown): void {
    const controller = this.#openRequests.get(id);
    this.#openRequests.delete(id);
    controller?.abort();
  }
}

function errorOf(thrown: unknown): JsonObject {
  const { code, message } = isObject(thrown) ? thrown : {};
  return {
    code: Number.isSafeInteger(code) ? code : -32603,
    message: typeof message === 'string' ? message : 'Internal error',
  };
}
