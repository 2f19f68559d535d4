// Owns the question whether a session is gone: a ping in the same session, whose refusal is compared with that of a request.
// Requests of one session that are refused at the same time share one ping.

import type { Clock } from '../kernel/clock.ts';
import { limits } from '../model/limits.ts';
import type { MessageId } from '../model/server.ts';
import type { HttpClient, HttpRequest } from './exchange.ts';
import { fetchText } from './fetch-text.ts';
import { codeOf, errorAnswerIn } from './refusal.ts';

/** The message that a session was refused with. */
export interface SessionRefusal {
  readonly id: MessageId;
  readonly status: number;
  readonly body: string;
}

/** Counts down from far above the ids of the wire, which count up from 1. */
const FIRST_ID = 2 ** 30 - 1;

export class SessionCheck {
  readonly #client: HttpClient;
  readonly #clock: Clock;
  readonly #pings = new Map<string, Promise<SessionRefusal | undefined>>();
  #nextId = FIRST_ID;

  constructor(client: HttpClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Whether a ping is refused in the same way: with the same status and, as it names its request or none, the same error. */
  async isRefusedAlike(session: string, { target, headers }: HttpRequest, refusal: SessionRefusal): Promise<boolean> {
    const ping =
      this.#pings.get(session) ??
      this.#ping({ method: 'POST', target, headers }).finally(() => this.#pings.delete(session));
    this.#pings.set(session, ping);
    const answer = await ping;
    return answer !== undefined && kindOf(answer) === kindOf(refusal);
  }

  /** Resolves with `undefined` if nothing comes in time: a session that is silent is not gone. */
  async #ping(request: HttpRequest): Promise<SessionRefusal | undefined> {
    const id = this.#nextId--;
    const giveUp = new AbortController();
    const cancel = this.#clock.after(limits.sessionCheckMs, () => giveUp.abort(), 'background');
    const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' });
    const options = { maxBytes: limits.refusalBytes, signal: giveUp.signal };
    try {
      const { status, text } = await fetchText(this.#client, { ...request, body }, options);
      return { id, status, body: text };
    } catch {
      return undefined;
    } finally {
      cancel();
    }
  }
}

function kindOf({ id, status, body }: SessionRefusal): string {
  const answer = errorAnswerIn(body, id);
  return JSON.stringify([status, answer?.loose, codeOf(answer)]);
}
