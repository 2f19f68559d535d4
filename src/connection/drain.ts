// Owns the end of a session that is replaced: its calls in flight may finish, for `limits.restartDrainMs`; what is left then is cut.

import type { Clock } from '../kernel/clock.ts';
import { settleWithin } from '../kernel/settle.ts';
import { limits } from '../model/limits.ts';
import type { Session } from './session.ts';

export interface DrainOptions {
  readonly clock: Clock;
  /** Aborting it cuts the calls at once. */
  readonly signal: AbortSignal;
}

/** Resolves when nothing of the session is left, with the number of calls that were cut. */
export async function drainSession(session: Session, { clock, signal }: DrainOptions): Promise<number> {
  const until = clock.now() + limits.restartDrainMs;
  let hasEnded = false;
  const ended = session.ended.then(() => {
    hasEnded = true;
  });
  // A call may come while the last one ends: it had the session in hand before the restart.
  while (session.callsInFlight() > 0 && !hasEnded) {
    const quiet = Promise.race([session.whenQuiet(), ended]);
    const limitMs = Math.max(0, until - clock.now());
    if (!(await settleWithin([quiet], { limitMs, clock, signal }))) break;
  }
  const cut = session.callsInFlight();
  const isTimeUp = cut > 0 && !signal.aborted && !hasEnded;
  await session.close(isTimeUp ? TIME_UP : undefined);
  return cut;
}

const TIME_UP = `its entry or its approval was changed, and it was restarted ${limits.restartDrainMs / 1_000} s later`;

export type DrainProgress =
  | { readonly kind: 'started'; readonly calls: number }
  | { readonly kind: 'ended'; readonly calls: number; readonly cut: number };

interface Drain {
  readonly cut: AbortController;
  readonly ended: Promise<unknown>;
}

/** The former sessions of one connection whose calls may still finish. */
export class Drains {
  readonly #drains = new Map<Session, Drain>();
  readonly #clock: Clock;
  readonly #onDrain: ((progress: DrainProgress) => void) | undefined;

  constructor(clock: Clock, onDrain: ((progress: DrainProgress) => void) | undefined) {
    this.#clock = clock;
    this.#onDrain = onDrain;
  }

  /** How many calls are still to finish. */
  get calls(): number {
    return [...this.#drains.keys()].reduce((sum, session) => sum + session.callsInFlight(), 0);
  }

  /** Cuts all of them now. */
  cut(): void {
    for (const { cut } of this.#drains.values()) cut.abort();
  }

  /** Resolves when those under way have ended; `undefined` where there are none. */
  ended(): Promise<unknown> | undefined {
    if (this.#drains.size === 0) return undefined;
    return Promise.allSettled([...this.#drains.values()].map(({ ended }) => ended));
  }

  /** Resolves when nothing of the session is left. Sessions without a call are closed without a word. */
  async add(session: Session): Promise<void> {
    const calls = session.callsInFlight();
    const cutNow = new AbortController();
    if (calls > 0) this.#onDrain?.({ kind: 'started', calls });
    const ended = drainSession(session, { clock: this.#clock, signal: cutNow.signal });
    this.#drains.set(session, { cut: cutNow, ended });
    try {
      const cut = await ended;
      if (calls > 0) this.#onDrain?.({ kind: 'ended', calls, cut });
    } finally {
      this.#drains.delete(session);
    }
  }
}
