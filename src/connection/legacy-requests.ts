// Owns the JSON-RPC requests that a legacy server sends, until each is answered or cancelled by the server.
// `requests.ts` decides which handlers answer.

import { isObject, type JsonObject } from '../kernel/json.ts';
import type { Message } from '../model/server.ts';
import { isServerRequestMethod } from './client-handlers.ts';
import type { ServerRequestRouter } from './requests.ts';
import { methodNotFound } from './server-request-error.ts';

/** A rejection is sent to the server as an error, with its `code` if it has one. The signal aborts when the server cancels. */
export type AnswerServerRequest = (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>;

/** Answers `ping` and the requests that the router knows; every other method is unknown. */
export function answerWith(router: ServerRequestRouter): AnswerServerRequest {
  return async (method, params, signal) => {
    if (method === 'ping') return {};
    if (!isServerRequestMethod(method)) throw methodNotFound(method);
    return router.route(method, params, signal);
  };
}

export const answerPingOnly: AnswerServerRequest = async (method) => {
  if (method === 'ping') return {};
  throw methodNotFound(method);
};

export class LegacyRequests {
  readonly #reply: (message: Message) => void;
  readonly #openRequests = new Map<unknown, AbortController>();

  constructor(reply: (message: Message) => void) {
    this.#reply = reply;
  }

  /** Never rejects. A request that the server cancelled meanwhile gets no response. */
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
