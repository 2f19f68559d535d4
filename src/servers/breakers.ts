// Owns a circuit breaker per server, which counts outages only. `call/guard.ts` asks it before each call; how many outages open it
// is `limits.breaker`.

import type { BreakerStatus } from '../connection/status.ts';
import {
  admit,
  type BreakerLimits,
  type BreakerOutcome,
  type BreakerState,
  closedBreaker,
  record,
} from '../kernel/breaker.ts';
import type { Clock } from '../kernel/clock.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';

export class Breakers {
  readonly #clock: Clock;
  readonly #limits: BreakerLimits;
  readonly #states = new Map<ServerName, BreakerState>();
  #outages = 0;
  readonly #lastOutage = new Map<ServerName, number>();

  constructor(clock: Clock, limits: BreakerLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Returns the number of outages counted so far; `leave` needs it to count one outage that ended several calls once. */
  enter(server: ServerName): number {
    const state = this.#states.get(server);
    if (state === undefined) return this.#outages;
    const admission = admit(state, this.#clock.now());
    if (!admission.admitted) throw new RuntimeError('CIRCUIT_OPEN', { server, retryInMs: admission.retryInMs });
    this.#states.set(server, admission.state);
    return this.#outages;
  }

  /** Costs nothing for a server without failures. An outage that ended many calls counts once. */
  leave(server: ServerName, end: BreakerOutcome, entered: number): void {
    const state = this.#states.get(server);
    if (end === 'outage') {
      if ((this.#lastOutage.get(server) ?? 0) > entered && state?.kind !== 'half-open') return;
      this.#lastOutage.set(server, ++this.#outages);
    } else if (state === undefined) return;
    const next = record(state ?? closedBreaker, end, this.#clock.now(), this.#limits);
    if (next === closedBreaker) this.#states.delete(server);
    else this.#states.set(server, next);
  }

  /** `undefined` for a server without failures. */
  statusOf(server: ServerName): BreakerStatus | undefined {
    const state = this.#states.get(server);
    if (state === undefined) return undefined;
    if (state.kind === 'closed') return { state: 'counting', failures: state.outages };
    if (state.kind === 'half-open') return { state: 'half-open' };
    return { state: 'open', retryInMs: Math.max(0, state.until - this.#clock.now()) };
  }

  /** The server is connected again: admit calls, but keep the failures of a server that dies on every call. */
  recovered(server: ServerName): void {
    if (this.#states.get(server)?.kind !== 'closed') this.#states.delete(server);
  }

  /** A reconnect asked for by a person forgets all failures. */
  reset(server: ServerName): void {
    this.#states.delete(server);
  }
}
