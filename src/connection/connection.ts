// Owns running the effects of one connection's state machine: opens sessions, sets retry timers, closes. `state.ts` decides.

import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { settleWithin } from '../kernel/settle.ts';
import { unreachable } from '../kernel/unreachable.ts';
import { asRuntimeError, isRefusedLogin, RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { Recovery } from './recovery.ts';
import type { Session } from './session.ts';
import { type ConnectionEffect, type ConnectionInput, type ConnectionState, step } from './state.ts';

export interface ConnectionOptions {
  readonly server: ServerName;
  /** Opens one session. When the signal aborts, nothing may stay open. */
  readonly open: (signal: AbortSignal) => Promise<Session>;
  /** Resolves when an earlier connection to the same server has closed; the first opening waits for it. */
  readonly former?: Promise<unknown> | undefined;
  readonly recovery: Recovery;
  /** Whether opening starts a local process; only then is the number of restarts limited. */
  readonly isProcess: boolean;
  /** Starts pings, streams and timers of an open session. Returns how to stop them. */
  readonly watchSession: (session: Session) => () => void;
  /** Fetches the credentials again that the server refused for this session. Whether there are others. */
  readonly renewCredentials: (session: Session, signal: AbortSignal) => Promise<boolean>;
  readonly clock: Clock;
  readonly onChange: (state: ConnectionState, before: ConnectionState) => void;
  /** Called with errors while closing; the connection counts as closed all the same. */
  readonly onError: (error: unknown) => void;
}

export interface PastFailure {
  readonly cause: RuntimeError;
  readonly at: number;
  /** The failure ended an open session, and not only an attempt to open one. */
  readonly wasUp: boolean;
}

interface SessionWaiter {
  readonly resolve: (session: Session) => void;
  readonly reject: (cause: RuntimeError) => void;
}

export class Connection {
  readonly #options: ConnectionOptions;
  #state: ConnectionState = { kind: 'idle' };
  #session: Session | undefined;
  /** Aborted when the present attempt or session is released: a session that opens after that is closed at once. */
  #epoch = new AbortController();
  #cancelRetry: CancelTimer | undefined;
  #stopWatching: (() => void) | undefined;
  #since: number;
  #lastFailure: PastFailure | undefined;
  /** Times of restarts: after an open session was lost, or hurried by a call. */
  #restarts: number[] = [];
  #wasUp = false;
  /** Set while credentials are fetched again. */
  #renewal: Promise<boolean> | undefined;
  /** The session was opened because credentials had changed. */
  #isRenewed = false;
  readonly #waiters = new Set<SessionWaiter>();
  /** Openings and closings that have not finished. */
  readonly #unfinished = new Set<Promise<void>>();

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#since = options.clock.now();
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** When the present state began. */
  get since(): number {
    return this.#since;
  }

  /** The latest failure, also after a successful reconnect. */
  get lastFailure(): PastFailure | undefined {
    return this.#lastFailure;
  }

  /** The open session, if there is one right now. */
  get session(): Session | undefined {
    return this.#session;
  }

  wake(): void {
    this.#feed({ kind: 'wake' });
  }

  /** Starts anew from any state, at a person's request. */
  reconnect(): void {
    this.#restarts = [];
    this.#wasUp = false;
    this.#isRenewed = false;
    this.#feed({ kind: 'reconnect' });
  }

  /** Stops a session that has been idle; the next call opens a new one. */
  idleStop(): void {
    this.#feed({ kind: 'idle-stop' });
  }

  unblock(): void {
    this.#feed({ kind: 'unblock' });
  }

  /** Resolves with the session once it is up. Wakes an idle connection, and hurries one that waits for its next attempt. */
  whenReady(): Promise<Session> {
    if (this.#session) return Promise.resolve(this.#session);
    const { clock } = this.#options;
    this.#feed({ kind: 'call', at: clock.now(), restMs: this.#restMs() });
    return new Promise((resolve, reject) => {
      this.#waiters.add({ resolve, reject });
      // Wait if another attempt is scheduled; otherwise reject now.
      if (this.#state.kind !== 'waiting') this.#settleWaiters();
    });
  }

  /**
   * The session that replaces `lost`, on which a request failed. The session may end a moment after the failed request, or once
   * its credentials were fetched again; if it does not end at all, it is returned again.
   */
  async whenReplaced(lost: Session): Promise<Session> {
    if (this.#session === lost)
      await settleWithin([lost.ended], { limitMs: limits.lossMs, clock: this.#options.clock });
    await this.#renewal;
    return this.whenReady();
  }

  /** Resolves when the present attempt, if there is one, has succeeded or failed. */
  async whenSettled(): Promise<void> {
    if (this.#state.kind === 'connecting') await this.#attemptEnded();
  }

  /** Resolves when the session is up, or no further attempt is scheduled. */
  async whenDecided(): Promise<void> {
    while (this.#state.kind === 'connecting' || this.#state.kind === 'waiting') await this.#attemptEnded();
  }

  #attemptEnded(): Promise<void> {
    return new Promise((resolve) => this.#waiters.add({ resolve: () => resolve(), reject: () => resolve() }));
  }

  /** Resolves when all openings and closings have finished. */
  async close(): Promise<void> {
    this.#feed({ kind: 'close' });
    while (this.#unfinished.size > 0) await Promise.all(this.#unfinished);
  }

  #feed(input: ConnectionInput): void {
    const before = this.#state;
    const { clock, recovery, onChange } = this.#options;
    const [next, ...effects] = step(before, input, recovery);
    if (next === before) return;
    this.#state = next;
    this.#since = clock.now();
    if ('cause' in next) this.#lastFailure = { cause: next.cause, at: this.#since, wasUp: before.kind === 'ready' };
    this.#countRestart(next, before);
    for (const effect of effects) this.#run(effect);
    onChange(next, before);
    this.#settleWaiters();
  }

  /** Further attempts of the schedule do not count: the schedule limits those itself. */
  #countRestart(next: ConnectionState, before: ConnectionState): void {
    if (next.kind === 'connecting' && (this.#wasUp || next.hurried)) this.#restarts.push(this.#since);
    if (next.kind !== 'waiting') this.#wasUp = next.kind === 'ready';
    else if (before.kind !== 'ready') this.#wasUp = false;
  }

  /** How long no restart is allowed, because there were too many of late. */
  #restMs(): number {
    const { clock, isProcess } = this.#options;
    const { starts, windowMs } = limits.startBurst;
    const now = clock.now();
    this.#restarts = this.#restarts.filter((at) => now - at < windowMs);
    const [oldest = now] = this.#restarts.slice(-starts);
    return isProcess && this.#restarts.length >= starts ? oldest + windowMs - now : 0;
  }

  #lost(cause: RuntimeError): void {
    const hasServed = (this.#session?.usage().served ?? 0) > 0;
    this.#feed({ kind: 'lost', at: this.#options.clock.now(), cause, hasServed, restMs: this.#restMs() });
  }

  #run(effect: ConnectionEffect): void {
    const { clock } = this.#options;
    switch (effect.kind) {
      case 'open':
        // Wait until the former process has ended: two at once may fight over a lock or a port.
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
      signal.throwIfAborted();
      const session = await open(signal);
      if (signal.aborted) return this.#track(session.close());
      this.#session = session;
      void session.ended.then((cause) => this.#ended(session, cause, signal));
      this.#stopWatching = this.#options.watchSession(session);
      this.#feed({ kind: 'opened', at: clock.now() });
    } catch (error) {
      if (!signal.aborted) this.#lost(asRuntimeError(error));
    }
  }

  /** A session whose credentials were refused is opened again at once if there are others, whatever the schedule says. */
  async #ended(session: Session, cause: RuntimeError, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    if (!isRefusedLogin(cause) || !this.#mayRenew(session)) {
      this.#lost(cause);
      return;
    }
    this.#renewal = this.#renew(session, signal);
    const isRenewed = await this.#renewal;
    this.#renewal = undefined;
    if (signal.aborted) return;
    this.#isRenewed = isRenewed;
    if (isRenewed) this.#feed({ kind: 'reconnect' });
    else this.#lost(cause);
  }

  /** Calls in flight were most likely refused as well: their refusals are waited for, or closing the session would leave them unknown. */
  async #renew(session: Session, signal: AbortSignal): Promise<boolean> {
    const { renewCredentials, clock } = this.#options;
    const isRenewed = await renewCredentials(session, signal);
    if (isRenewed) await settleWithin([session.whenQuiet()], { limitMs: limits.expiredDrainMs, clock, signal });
    return isRenewed;
  }

  /** Not twice in a row for a server that refuses whatever it is given: a command may print another value each time. */
  #mayRenew(session: Session): boolean {
    const isStable = this.#options.clock.now() - this.#since >= limits.stableMs;
    return !this.#isRenewed || session.usage().served > 0 || isStable;
  }

  #release(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    this.#stopWatching?.();
    this.#stopWatching = undefined;
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
      else reject(this.#causeOf(state));
    }
  }

  #causeOf(state: ConnectionState): RuntimeError {
    if ('cause' in state) return state.cause;
    return new RuntimeError('CONNECTION_LOST', { server: this.#options.server, reason: 'it was closed' });
  }
}
