// Owns answering the requests of one POST: all of them over one reply, each by the dispatcher. A modern call ends with its connection, a
// legacy one with its session.

import { Roster } from '../kernel/roster.ts';
import type { Answered, Dispatcher } from './dispatcher.ts';
import { acceptedBy, refuse, type Visit } from './http-answers.ts';
import type { ServedResponse } from './http-exchange.ts';
import { HttpReply } from './http-reply.ts';
import type { HttpSession } from './http-session.ts';
import { type ClientMessage, errorMessage, invalidAnswer } from './message.ts';
import { invalidRequest } from './protocol.ts';
import type { RunningCall } from './running-call.ts';
import type { Peer } from './service.ts';

/** The content of one POST: a request, or the requests and faults of a batch. */
export interface Posted {
  readonly requests: readonly ClientMessage[];
  readonly peer: Peer;
  /** Of a legacy client. */
  readonly session?: HttpSession;
  readonly isBatch?: boolean;
}

interface Target {
  readonly response: ServedResponse;
  readonly peer: Peer;
  readonly session: HttpSession | undefined;
}

const gone = () => new DOMException('the client closed the connection', 'AbortError');

export class HttpCalls {
  readonly #dispatcher: Dispatcher;
  /** Responses that are not complete. */
  readonly #replies = new Roster<HttpReply>();

  constructor(dispatcher: Dispatcher) {
    this.#dispatcher = dispatcher;
  }

  /** At once where the handler answers at once: an async function here would take a promise and a frame more for each call. */
  answer(
    { request, response }: Visit,
    { requests, peer, session, isBatch = false }: Posted,
  ): Promise<void> | undefined {
    const accepts = acceptedBy(request);
    if (!accepts.events && !accepts.json) {
      refuse(response, 406, invalidRequest('The client must accept application/json and text/event-stream'));
      return undefined;
    }
    const { clock, limits: given } = this.#dispatcher;
    const reply = new HttpReply({
      response,
      session,
      accepts,
      isBatch,
      waiting: given.waiting,
      answers: requests.length,
      now: clock.now(),
    });
    const place = this.#replies.add(reply);
    const target = { response, peer, session };
    const over = () => {
      this.#replies.remove(place);
      session?.touch();
    };
    const failed = (error: unknown) => {
      over();
      throw error;
    };
    try {
      const [only] = requests;
      const answering: Promise<unknown> | undefined =
        only !== undefined && !isBatch
          ? this.#answerOne(only, reply, target)
          : Promise.all(requests.map((message) => this.#answerOne(message, reply, target)));
      if (answering !== undefined) return answering.then(over, failed);
    } catch (error) {
      failed(error);
    }
    over();
    return undefined;
  }

  /** Called now and then. */
  tick(now: number): void {
    for (const reply of this.#replies.items()) reply.tick(now);
  }

  #answerOne(message: ClientMessage, reply: HttpReply, { response, peer, session }: Target): Promise<void> | undefined {
    if (message.kind !== 'request') {
      if (message.kind === 'invalid')
        reply.deliver({ text: JSON.stringify(invalidAnswer(message)), code: message.code, isHandedOn: false });
      return undefined;
    }
    if (session?.calls.has(message.id)) {
      const fault = invalidRequest('Invalid request: a request with this id is being answered');
      reply.deliver({ text: JSON.stringify(errorMessage(message.id, fault)), code: fault.code, isHandedOn: false });
      return undefined;
    }
    let call: RunningCall | undefined;
    const onCall = (made: RunningCall) => {
      call = made;
      if (session !== undefined) session.calls.set(message.id, made);
      else if (response.destroyed) made.cancel(gone());
    };
    const deliver = (answered: Answered) => {
      session?.calls.delete(message.id);
      reply.deliver(answered);
    };
    const answering = this.#dispatcher.answer({ request: message, peer, reply, onCall });
    if (!(answering instanceof Promise)) {
      deliver(answering);
      return undefined;
    }
    if (session === undefined) response.on('close', () => !reply.isAnswered && call?.cancel(gone()));
    return answering.then(deliver);
  }
}
