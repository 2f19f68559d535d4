// Owns one legacy client's session: its peer, its calls in flight, its open questions, its subscriptions and its log level.
// How messages reach the client is the transport's.

import type { Clock } from '../kernel/clock.ts';
import { joinSignals } from '../kernel/join-signals.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import type { LogLevel } from '../model/server.ts';
import { CallsById } from './calls-by-id.ts';
import { type ChangedList, type ChangeListener, changeKey } from './changes.ts';
import { notification } from './message.ts';
import { LOG } from './outbox.ts';
import { assertCanBeAsked, Questions } from './questions.ts';
import { isWanted } from './running-call.ts';
import type { Peer, Principal, QuestionMethod, ServedSession } from './service.ts';

export interface LegacySessionOptions {
  readonly id: string;
  readonly principal: Principal;
  readonly protocolVersion: string;
  /** The parameters of `initialize`. */
  readonly introduction: JsonObject;
  readonly clock: Clock;
  readonly questionMs: number;
  /** Sends a message that belongs to no call. */
  readonly send: (message: JsonObject, mergeKey?: string) => void;
}

export class LegacySession implements ServedSession, ChangeListener {
  readonly id: string;
  readonly peer: Peer;
  readonly calls = new CallsById();
  /** By uri; settled once the service has agreed or refused. */
  readonly subscriptions = new Map<string, Promise<void>>();
  readonly questions: Questions;
  readonly #send: LegacySessionOptions['send'];
  readonly #closing = new AbortController();
  level: LogLevel | undefined;

  constructor({ id, principal, protocolVersion, introduction, clock, questionMs, send }: LegacySessionOptions) {
    const { clientInfo, capabilities } = introduction;
    this.id = id;
    this.#send = send;
    this.questions = new Questions(clock, questionMs);
    this.peer = {
      ...{ era: 'legacy', protocolVersion, principal, session: this },
      client: isObject(clientInfo) ? clientInfo : undefined,
      capabilities: isObject(capabilities) ? capabilities : {},
    };
  }

  notify(method: string, params: JsonObject): void {
    const { level } = params;
    if (method !== 'notifications/message') this.#send(notification(method, params));
    else if (this.level !== undefined && isWanted(level as LogLevel, this.level))
      this.#send(notification(method, params), LOG);
  }

  async ask(
    method: QuestionMethod,
    params: JsonObject,
    { signal: given }: { readonly signal?: AbortSignal } = {},
  ): Promise<JsonObject> {
    assertCanBeAsked(method, params, this.peer.capabilities);
    const closing = this.#closing.signal;
    const { signal, leave } = given === undefined ? joinSignals(closing) : joinSignals(given, closing);
    const send = (message: JsonObject) => {
      this.#send(message);
      return true;
    };
    try {
      return await this.questions.ask({ method, params, send, signal });
    } finally {
      leave();
    }
  }

  wantsList(_kind: ChangedList): boolean {
    return true;
  }

  wantsResource(uri: string): boolean {
    return this.subscriptions.has(uri);
  }

  tell(method: string, params: JsonObject): void {
    this.#send(notification(method, params), changeKey(method, params));
  }

  /** Cancels its calls and questions. */
  end(reason: unknown): void {
    this.#closing.abort(reason);
    for (const call of this.calls.all()) call.cancel(reason);
    this.calls.clear();
  }
}

/** The session of a legacy peer. */
export const legacySessionOf = ({ session }: Peer): LegacySession => session as LegacySession;
