// Owns running the effects of one connection's state machine: opens, waits, releases, tells. Decides nothing.

import type { DelayFor } from '../kernel/backoff.ts';
import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { unreachable } from '../kernel/unreachable.ts';
import { asRuntimeError, RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { Session } from './session.ts';
import { type ConnectionEffect, type ConnectionInput, type ConnectionState, step } from './state.ts';

export interface ConnectionOptions {
  readonly server: ServerName;
  /** Opens one session. When the signal aborts, nothing may stay open. */
  readonly open: (signal: AbortSignal) => Promise<Session>;
  /** The ending of an earlier connection to the same server; the first process waits for it. */
  readonly former?: Promise<unknown> | undefined;
  readonly delayFor: DelayFor;
  readonly clock: Clock;
  readonly onChange: (state: ConnectionState, before: ConnectionState) => void;
  /** Told what went wrong while closing; nothing is left to be done about it. */
  readonly onError: (error: unknown) => void;
}

interface Waiter {
  readonly resolve: (session: Session) => void;
  readonly reject: (cause: RuntimeError) => void;
}

export class Connection {
  readonly #options: ConnectionOptions;
  #state: ConnectionState = { kind: 'idle' };
  #session: Session | undefined;
  /** Owns everything that the present attempt or session has opened; a late arrival finds it aborted and closes. */
  #epoch = new AbortController();
  #cancelRetry: CancelTimer | undefined;
  readonly #waiters = new Set<Waiter>();
  /** Openings under way and closings not yet done. */
  readonly #unfinished = new Set<Promise<void>>();

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** The open session, if there is one right now. */
  get session(): Session | undefined {
    return this.#session;
  }

  wake(): void {
    this.#feed({ kind: 'wake' });
  }

  /** A fresh start by a person's wish, whatever the state. */
  reconnect(): void {
    this.#feed({ kind: 'reconnect' });
  }

  unblock(): void {
    this.#feed({ kind: 'unblock' });
  }

  /** The session, as soon as it is up. Wakes an idle connection and pulls a waiting one's retry forward. */
  whenReady(): Promise<Session> {
    if (this.#session) return Promise.resolve(this.#session);
    this.#feed(this.#state.kind === 'waiting' ? { kind: 'retry' } : { kind: 'wake' });
    return new Promise((resolve, reject) => {
      this.#waiters.add({ resolve, reject });
      this.#settleWaiters();
    });
  }

  /** Resolves when the present attempt, if there is one, has ended well or badly. */
  async whenSettled(): Promise<void> {
    if (this.#state.kind !== 'connecting') return;
    await new Promise<void>((resolve) => this.#waiters.add({ resolve: () => resolve(), reject: () => resolve() }));
  }

  /** Resolves when nothing of it is left. */
  async close(): Promise<void> {
    this.#feed({ kind: 'close' });
    while (this.#unfinished.size > 0) await Promise.all(this.#unfinished);
  }

  #feed(input: ConnectionInput): void {
    const before = this.#state;
    const [next, ...effects] = step(before, input, this.#options.delayFor);
    this.#state = next;
    for (const effect of effects) this.#run(effect);
    if (next !== before) {
      this.#options.onChange(next, before);
      this.#settleWaiters();
    }
  }

  #run(effect: ConnectionEffect): void {
    const { clock } = this.#options;
    switch (effect.kind) {
      case 'open':
        // The former process is gone before the next one starts: two at once may fight over a lock or a port.
        this.#track(this.#open(Promise.all([this.#options.former, ...this.#unfinished]), this.#epoch.signal));
        return;
      case 'schedule-retry': {
        const retry = () => this.#feed({ kind: 'retry' });
        this.#cancelRetry = clock.after(Math.max(0, effect.at - clock.now()), retry, 'background');
        return;
      }
      case 'release':
        this.#release();
        return;
      default:
        unreachable(effect);
    }
  }

  async #open(former: Promise<unknown>, signal: AbortSignal): Promise<void> {
    const { clock, open } = this.#options;
    try {
      await former;
      const session = await open(signal);
      if (signal.aborted) return await session.close();
      this.#session = session;
      void session.ended.then((cause) => {
        if (!signal.aborted) this.#feed({ kind: 'lost', at: clock.now(), cause });
      });
      this.#feed({ kind: 'opened', at: clock.now() });
    } catch (error) {
      if (!signal.aborted) this.#feed({ kind: 'lost', at: clock.now(), cause: asRuntimeError(error) });
    }
  }

  #release(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    this.#epoch.abort();
    this.#epoch = new AbortController();
    const session = this.#session;
    this.#session = undefined;
    if (session) this.#track(session.close());
  }

  #track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => this.#options.onError(error))
      .finally(() => this.#unfinished.delete(tracked));
    this.#unfinished.add(tracked);
  }

  #settleWaiters(): void {
    const state = this.#state;
    if (this.#waiters.size === 0 || state.kind === 'connecting') return;
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const { resolve, reject } of waiters) {
      if (this.#session) resolve(this.#session);
      else reject(this.#whyNot(state));
    }
  }

  #whyNot(state: ConnectionState): RuntimeError {
    if ('cause' in state) return state.cause;
    return new RuntimeError('CONNECTION_LOST', { server: this.#options.server, reason: 'it was closed' });
  }
}
