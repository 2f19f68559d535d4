// Owns keeping calls away from a server that fails again and again: a breaker per server, which counts outages only.

import type { BreakerStatus } from '../connection/status.ts';
import {
  admit,
  type BreakerLimits,
  type BreakerState,
  type CallEnd,
  closedBreaker,
  record,
} from '../kernel/breaker.ts';
import type { Clock } from '../kernel/clock.ts';
import { isObject } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { ToolOutcome } from '../model/tool.ts';
import { type Perform, type Stage, type ToolCall, toolOf } from './pipeline.ts';

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

  /** Returns how many outages have been counted so far, by which `leave` knows a new one from one that others met too. */
  enter(server: ServerName): number {
    const state = this.#states.get(server);
    if (state === undefined) return this.#outages;
    const admission = admit(state, this.#clock.now());
    if (!admission.admitted) throw new RuntimeError('CIRCUIT_OPEN', { server, retryInMs: admission.retryInMs });
    this.#states.set(server, admission.state);
    return this.#outages;
  }

  /** Only a server with something on record costs anything here. One death ends many calls and counts once. */
  leave(server: ServerName, end: CallEnd, entered: number): void {
    const state = this.#states.get(server);
    if (end === 'outage') {
      if ((this.#lastOutage.get(server) ?? 0) > entered && state?.kind !== 'trial') return;
      this.#lastOutage.set(server, ++this.#outages);
    } else if (state === undefined) return;
    const next = record(state ?? closedBreaker, end, this.#clock.now(), this.#limits);
    if (next === closedBreaker) this.#states.delete(server);
    else this.#states.set(server, next);
  }

  /** Nothing where nothing is on record against the server. */
  statusOf(server: ServerName): BreakerStatus | undefined {
    const state = this.#states.get(server);
    if (state === undefined) return undefined;
    if (state.kind === 'closed') return { state: 'counting', failures: state.failures };
    if (state.kind === 'trial') return { state: 'trial' };
    return { state: 'open', retryInMs: Math.max(0, state.until - this.#clock.now()) };
  }

  /** It is there again: calls are let through, but a server that dies of every call keeps what counts against it. */
  recovered(server: ServerName): void {
    if (this.#states.get(server)?.kind !== 'closed') this.#states.delete(server);
  }

  /** A person's reconnect gives a server a clean record. */
  reset(server: ServerName): void {
    this.#states.delete(server);
  }
}

/** Counts only what waiting could cure: a wrong argument must not take a healthy server away from everyone. */
export function guard(breakers: Breakers): Stage {
  return (next) => (call) => guarded(breakers, call, next);
}

async function guarded(breakers: Breakers, call: ToolCall, next: Perform): Promise<ToolOutcome> {
  const { server } = toolOf(call).id;
  const entered = breakers.enter(server);
  try {
    const outcome = await next(call);
    breakers.leave(server, 'answered', entered);
    return outcome;
  } catch (error) {
    breakers.leave(server, endOf(error), entered);
    throw error;
  }
}

/** An abort says nothing about the server, neither good nor bad, and nor does a caller's own haste. */
function endOf(error: unknown): CallEnd {
  if (!(error instanceof RuntimeError)) return 'unknown';
  if (error.code === 'CALL_TIMEOUT' && isObject(error.data) && error.data['isOwn'] === true) return 'unknown';
  return error.outage ? 'outage' : 'answered';
}
