// Owns keeping calls away from a server that fails again and again: a breaker per server, which counts outages only.

import {
  admit,
  type BreakerLimits,
  type BreakerState,
  type CallEnd,
  closedBreaker,
  record,
} from '../kernel/breaker.ts';
import type { Clock } from '../kernel/clock.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { ToolOutcome } from '../model/tool.ts';
import { type Perform, type Stage, type ToolCall, toolOf } from './pipeline.ts';

export class Breakers {
  readonly #clock: Clock;
  readonly #limits: BreakerLimits;
  readonly #states = new Map<ServerName, BreakerState>();

  constructor(clock: Clock, limits: BreakerLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  enter(server: ServerName): void {
    const state = this.#states.get(server);
    if (state === undefined) return;
    const admission = admit(state, this.#clock.now());
    if (!admission.admitted) throw new RuntimeError('CIRCUIT_OPEN', { server, retryInMs: admission.retryInMs });
    this.#states.set(server, admission.state);
  }

  /** Only a server with something on record costs anything here. */
  leave(server: ServerName, end: CallEnd): void {
    const state = this.#states.get(server);
    if (state === undefined && end !== 'outage') return;
    const next = record(state ?? closedBreaker, end, this.#clock.now(), this.#limits);
    if (next === closedBreaker) this.#states.delete(server);
    else this.#states.set(server, next);
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
  breakers.enter(server);
  try {
    const outcome = await next(call);
    breakers.leave(server, 'answered');
    return outcome;
  } catch (error) {
    breakers.leave(server, endOf(error));
    throw error;
  }
}

/** An abort says nothing about the server, neither good nor bad. */
function endOf(error: unknown): CallEnd {
  if (!(error instanceof RuntimeError)) return 'unknown';
  return error.outage ? 'outage' : 'answered';
}
