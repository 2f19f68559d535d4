// Owns running the effects of one connection's state machine: opens sessions, sets retry timers, closes. `state.ts` decides.

import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { settleWithin } from '../kernel/settle.ts';
import { unreachable } from '../kernel/unreachable.ts';
import { asRuntimeError, isRefusedLogin, RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { limitWait, waitFailure } from './call-wait.ts';
import { type DrainProgress, Drains } from './drain.ts';
import type { LiveLimit } from './live-limit.ts';
import type { Recovery } from './recovery.ts';
import { Restarts } from './restarts.ts';
import type { Session } from './session.ts';
import { type ConnectionEffect, type ConnectionInput, type ConnectionState, step } from './state.ts';

export interface ConnectionOptions {
  readonly server: ServerName;
  /** Opens one session. When the signal aborts, nothing may stay open. */
  readonly open: (signal: AbortSignal) => Promise<Session>;
  /** Resolves when an earlier connection to the same server has closed; the first opening waits for it. */
  readonly former?: Promise<unknown> | undefined;
  /** Asked at each step: the schedule may be edited meanwhile. */
  readonly recovery: () => Recovery;
  /** Whether opening starts a local process; only then is the number of restarts limited. */
  readonly isProcess: () => boolean;
  /** Starts pings, streams and timers of an open session. Returns how to stop them, which happens when it has drained. */
  readonly watchSession: (session: Session) => () => void;
  /** A session was replaced while calls were in flight: told when they begin to drain, and with their end how many were cut. */
  readonly onDrain?: (progress: DrainProgress) => void;
  /** Fetches the credentials again that the server refused for this session. Whether there are others. */
  readonly renewCredentials: (session: Session, signal: AbortSignal) => Promise<boolean>;
  /** How long a call waits for the session, 0 for ever. `isStarting`: an attempt is under way, which may have to install the server. */
  readonly callWaitMs: (isStarting: boolean) => number;
  /** Whether the start waits for a person: for an approval, or for the answer to an input. */
  readonly isPersonAsked: () => boolean;
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
  readonly limit?: LiveLimit;
  /** A call that came during an attempt of the timer: the server may have been back already, and this attempt too early for it. */
  hasJoined?: boolean;
}

export class Connection {
  readonly #options: ConnectionOptions;
  #state: ConnectionState = { kind: 'idle' };
  #session: Session | undefined;
  /** Aborted when the present attempt or session is released: a session that opens after that is closed at once. */
  #epoch = new AbortController();
  #cancelRetry: CancelTimer | undefined;
  /** Whether the timer began the latest attempt, and not a call or a person. */
  #isOfTimer = false;
  #stopWatching: (() => void) | undefined;
  #since: number;
  #lastFailure: PastFailure | undefined;
  readonly #restarts = new Restarts();
  /** Set while credentials are fetched again. */
  #renewal: Promise<boolean> | undefined;
  /** The session was opened because credentials had changed. */
  #isRenewed = false;
  #waiters: SessionWaiter[] = [];
  /** Made with the first restart. */
  #drains: Drains | undefined;
  /** Openings and closings that have not finished. */
  #unfinished: Promise<void>[] = [];

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

  /** How often it was started anew after it had been up. */
  get restarts(): number {
    return this.#restarts.total;
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
    this.#forgetAttempts();
    this.#feed({ kind: 'reconnect' });
  }

  /** The entry or its approval changed: the calls in flight finish, then the server starts anew. A server that is not up stays so. */
  restart(): void {
    this.#forgetAttempts();
    this.#feed({ kind: 'restart' });
  }

  /** Ends the connection once its calls in flight have finished. Resolves when all is closed. */
  retire(): Promise<void> {
    this.#feed({ kind: 'retire' });
    return this.#whenFinished();
  }

  /** How many calls the former session still has to finish. */
  get draining(): number {
    return this.#drains?.calls ?? 0;
  }

  /** Cuts the calls of former sessions now. */
  endDrain(): void {
    this.#drains?.cut();
  }

  /** Stops a session that has been idle; the next call opens a new one. */
  idleStop(): void {
    this.#feed({ kind: 'idle-stop' });
  }

  unblock(): void {
    this.#feed({ kind: 'unblock' });
  }

  /**
   * Resolves with the session once it is up. Wakes an idle connection, and hurries one that waits for its next attempt. Rejects when
   * the attempt under way or the next one fails, or when a call has waited long enough. An attempt of the timer that is under way is not
   * the call's own: if it fails, the next one counts.
   */
  whenReady(): Promise<Session> {
    if (this.#session) return Promise.resolve(this.#session);
    const hasJoined = this.#state.kind === 'connecting' && this.#isOfTimer;
    this.#feedCall();
    return new Promise((resolve, reject) => {
      const limit = this.#limitWait((cause) => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        reject(cause);
      });
      const waiter: SessionWaiter = { resolve, reject, limit, hasJoined };
      this.#waiters.push(waiter);
      // Wait if another attempt is scheduled; otherwise reject now.
      if (this.#state.kind !== 'waiting') this.#settleWaiters();
    });
  }

  /** The failure of a call that has waited so long. */
  waitFailure(afterMs: number, cause?: unknown): RuntimeError {
    const { server, clock } = this.#options;
    return waitFailure(
      { server, state: this.#state, lastFailure: this.#lastFailure, now: clock.now() },
      afterMs,
      cause,
    );
  }

  /** The entry was edited: calls that wait are bound by its new limit. */
  recheckLimits(): void {
    for (const { limit } of this.#waiters) limit?.recheck();
  }

  /** The calls that a restart lets finish delay the start: a call that waits does not pay for them. */
  #limitWait(expire: (cause: RuntimeError) => void): LiveLimit {
    let isOver = false;
    let running: LiveLimit | undefined;
    const begin = () => {
      if (!isOver) running = this.#limitFromNow(expire);
    };
    const drained = this.#drains?.ended();
    if (drained === undefined) begin();
    else void drained.then(begin);
    return {
      recheck: () => running?.recheck(),
      cancel() {
        isOver = true;
        running?.cancel();
      },
    };
  }

  #limitFromNow(expire: (cause: RuntimeError) => void): LiveLimit {
    const { clock, callWaitMs, isPersonAsked } = this.#options;
    const startedAt = clock.now();
    const isStarting = this.#state.kind !== 'waiting';
    return limitWait({
      clock,
      limitMs: () => callWaitMs(isStarting),
      isAttemptDue: () => this.#state.kind === 'connecting' && this.#since <= startedAt,
      isPersonAsked,
      expire: (limitMs) => expire(this.waitFailure(limitMs)),
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
    return new Promise((resolve) => this.#waiters.push({ resolve: () => resolve(), reject: () => resolve() }));
  }

  /** Resolves when all openings and closings have finished. */
  async close(): Promise<void> {
    this.#feed({ kind: 'close' });
    this.endDrain();
    await this.#whenFinished();
  }

  async #whenFinished(): Promise<void> {
    while (this.#unfinished.length > 0) await Promise.all(this.#unfinished);
  }

  #forgetAttempts(): void {
    this.#restarts.forget();
    this.#isRenewed = false;
  }

  #feed(input: ConnectionInput): void {
    const before = this.#state;
    const { clock, recovery, onChange } = this.#options;
    const [next, ...effects] = step(before, input, recovery());
    if (next === before) return;
    this.#state = next;
    this.#since = clock.now();
    if ('cause' in next) this.#lastFailure = { cause: next.cause, at: this.#since, wasUp: before.kind === 'ready' };
    if (next.kind === 'connecting') this.#isOfTimer = input.kind === 'retry';
    this.#restarts.count(next, before, this.#since);
    for (const effect of effects) this.#run(effect);
    onChange(next, before);
    this.#settleWaiters();
  }

  #feedCall(): void {
    this.#feed({ kind: 'call', at: this.#options.clock.now(), restMs: this.#restMs() });
  }

  #restMs(): number {
    const { clock, isProcess } = this.#options;
    return isProcess() ? this.#restarts.restMs(clock.now()) : 0;
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
      case 'release': {
        const session = this.#detach();
        this.#stopWatching?.();
        this.#stopWatching = undefined;
        this.endDrain();
        if (session) this.#track(session.close());
        return;
      }
      case 'drain': {
        const session = this.#detach();
        const stopWatching = this.#stopWatching;
        this.#stopWatching = undefined;
        this.#drains ??= new Drains(clock, this.#options.onDrain);
        if (session) this.#track(this.#drains.add(session).finally(stopWatching));
        return;
      }
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
    await settleWithin([session.whenQuiet()], { limitMs: limits.expiredDrainMs, clock, signal });
    return isRenewed;
  }

  /** Not twice in a row for a server that refuses whatever it is given: a command may print another value each time. */
  #mayRenew(session: Session): boolean {
    const isStable = this.#options.clock.now() - this.#since >= limits.stableMs;
    return !this.#isRenewed || session.usage().served > 0 || isStable;
  }

  /** Ends the attempt in progress and the retry timer. Returns the session that was open. */
  #detach(): Session | undefined {
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    this.#epoch.abort();
    this.#epoch = new AbortController();
    const session = this.#session;
    this.#session = undefined;
    return session;
  }

  #track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => this.#options.onError(error))
      .finally(() => {
        this.#unfinished = this.#unfinished.filter((other) => other !== tracked);
      });
    this.#unfinished.push(tracked);
  }

  #settleWaiters(): void {
    const state = this.#state;
    if (this.#waiters.length === 0 || state.kind === 'connecting') return;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) {
      if (this.#session === undefined && waiter.hasJoined) this.#waiters.push(waiter);
      else this.#settle(waiter, state);
    }
    if (this.#waiters.length > 0) this.#startOver();
  }

  /** Calls that joined an attempt which failed are from now on calls like those that come now. */
  #startOver(): void {
    for (const waiter of this.#waiters) waiter.hasJoined = false;
    this.#feedCall();
    if (this.#state.kind !== 'waiting') this.#settleWaiters();
  }

  #settle({ resolve, reject, limit }: SessionWaiter, state: ConnectionState): void {
    limit?.cancel();
    if (this.#session) resolve(this.#session);
    else reject(this.#causeOf(state));
  }

  #causeOf(state: ConnectionState): RuntimeError {
    if ('cause' in state) return state.cause;
    return new RuntimeError('CONNECTION_LOST', { server: this.#options.server, reason: 'it was closed' });
  }
}
