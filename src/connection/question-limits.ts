// Owns how often a server may ask its client something: in a minute, over all its sessions, and during one call. A flood reaches
// no handler, and a server that asks again after every answer does not hold its call for ever.

import type { Cancellation } from '../kernel/cancellation.ts';
import type { Clock } from '../kernel/clock.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { ServerRequestError } from './server-request-error.ts';

const MINUTE_MS = 60_000;

export class QuestionPace {
  readonly #clock: Pick<Clock, 'now'>;
  /** When the questions of the last minute were asked, oldest first. */
  #askedAt: number[] = [];

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Whether one more question may be put to a handler now. A question that may not is not counted. */
  admit(): boolean {
    const now = this.#clock.now();
    // A clock that was set back must not silence a server for longer than a minute.
    this.#askedAt = this.#askedAt.filter((at) => at <= now && now - at < MINUTE_MS);
    if (this.#askedAt.length >= limits.questions.perMinute) return false;
    this.#askedAt.push(now);
    return true;
  }
}

/** A call during which a server asks. */
export interface AskedCall {
  readonly cancellation?: Pick<Cancellation, 'cancel'>;
}

/** The questions of one session. */
export class QuestionLimits {
  readonly #server: ServerName;
  readonly #pace: QuestionPace;
  /** Made with the first question; most servers ask none. */
  #asked: Map<AskedCall, number> | undefined;

  constructor(server: ServerName, pace: QuestionPace) {
    this.#server = server;
    this.#pace = pace;
  }

  /**
   * Counts a question against one of these calls, the one with the fewest so far, since a legacy server does not say which it
   * asks for. Throws the error for the server where it has asked enough; if it goes on asking during a call, the call is ended.
   */
  admit(calls: readonly AskedCall[]): void {
    const { perCall, perMinute } = limits.questions;
    const [call] = [...calls].sort((one, other) => this.#askedDuring(one) - this.#askedDuring(other));
    if (call !== undefined) {
      if (this.#askedDuring(call) >= perCall) this.#endAll(calls, perCall);
      this.#asked ??= new Map();
      this.#asked.set(call, this.#askedDuring(call) + 1);
    }
    if (!this.#pace.admit()) throw tooMany(`at most ${perMinute} a minute are answered`);
  }

  forget(call: AskedCall): void {
    this.#asked?.delete(call);
  }

  #askedDuring(call: AskedCall): number {
    return this.#asked?.get(call) ?? 0;
  }

  #endAll(calls: readonly AskedCall[], most: number): never {
    const exceeded = new RuntimeError('QUESTIONS_EXCEEDED', { server: this.#server, most });
    for (const { cancellation } of calls) cancellation?.cancel(exceeded);
    throw tooMany(`at most ${most} may be asked during one call`);
  }
}

const tooMany = (limit: string) => new ServerRequestError(-32000, `too many questions: ${limit}`);
