// Owns the sessions that several leases use at once: requests with an equal key get the same session, and closing the last
// lease closes it. The whole process has one pool, so that two runtimes or their agents do not start the same server twice.

import { createDeferred, type Deferred } from '../kernel/deferred.ts';
import { LeaseHandlers } from './lease-handlers.ts';
import type { ClientHandlers } from './requests.ts';
import type { Session } from './session.ts';

export interface LeaseRequest {
  /** Equal keys mean: the same server, transport, account and client capabilities. */
  readonly key: string;
  /** `leases`: the handlers of all requests that wait for the session, and later of its leases. */
  readonly open: (signal: AbortSignal, leases: LeaseHandlers) => Promise<Session>;
  readonly handlers: ClientHandlers;
  /** Aborting it gives up this request; the opening itself is aborted when no other request waits for it. */
  readonly signal: AbortSignal;
}

interface SharedSession {
  readonly session: Promise<Session>;
  readonly handlers: LeaseHandlers;
  /** Set only while the session is being opened. */
  opening: AbortController | undefined;
  leases: number;
}

export class SessionPool {
  readonly #shared = new Map<string, SharedSession>();
  /** Sessions that are closing: the next one of the same key waits, since two processes at once may fight over a lock. */
  readonly #ending = new Map<string, Promise<void>>();

  async lease(request: LeaseRequest): Promise<Session> {
    const { key, open, handlers, signal } = request;
    signal.throwIfAborted();
    const shared = this.#shared.get(key) ?? this.#open(key, open);
    shared.leases++;
    const removeHandlers = shared.handlers.add(handlers);
    const aborted = rejectionOf(signal);
    try {
      const session = await Promise.race([shared.session, aborted.promise]);
      return this.#leaseOf(key, shared, session, removeHandlers);
    } catch (error) {
      removeHandlers();
      await this.#release(key, shared);
      throw error;
    } finally {
      aborted.stop();
    }
  }

  /** The next request opens a fresh session; existing leases keep the old one. */
  forget(key: string): void {
    this.#shared.delete(key);
  }

  #open(key: string, open: LeaseRequest['open']): SharedSession {
    const opening = new AbortController();
    const handlers = new LeaseHandlers();
    const session = openAfter(this.#ending.get(key), () => open(opening.signal, handlers));
    const shared: SharedSession = { session, handlers, opening, leases: 0 };
    this.#shared.set(key, shared);
    this.#dropEnded(key, shared);
    return shared;
  }

  /** An ended session is not shared again; its leases learn the reason from `ended`. */
  #dropEnded(key: string, shared: SharedSession): void {
    const drop = () => this.#shared.get(key) === shared && this.#shared.delete(key);
    shared.session.then(({ ended }) => {
      shared.opening = undefined;
      return ended.then(drop);
    }, drop);
  }

  #leaseOf(key: string, shared: SharedSession, session: Session, removeHandlers: () => void): Session {
    const unsubscribers = new Set<() => void>();
    /** Marks the requests of this lease. */
    const owner = {};
    const calls = new CallCount();
    /** Why this lease was closed; the session may go on. */
    let closedBecause: string | undefined;
    let closing: Promise<void> | undefined;
    return {
      ...session,
      report: () => ({ ...session.report(), ...(closedBecause !== undefined && { reason: closedBecause }) }),
      isShared: () => shared.leases > 1,
      request: (method, params, options) => session.request(method, params, options, owner),
      callTool: (tool, args, call) => calls.count(session.callTool(tool, args, call, owner)),
      requestWithInput: (method, params, call) => calls.count(session.requestWithInput(method, params, call, owner)),
      callsInFlight: () => calls.inFlight,
      whenQuiet: () => calls.whenNone(),
      onNotification: (listener) => {
        const unsubscribe = session.onNotification(listener);
        unsubscribers.add(unsubscribe);
        return unsubscribe;
      },
      close: (reason) => {
        closing ??= (() => {
          closedBecause = reason;
          removeHandlers();
          for (const unsubscribe of unsubscribers) unsubscribe();
          session.cancelRequestsOf(owner);
          return this.#release(key, shared);
        })();
        return closing;
      },
    };
  }

  /** Ends one lease. If it was the last, resolves when nothing of the session is left. */
  async #release(key: string, shared: SharedSession): Promise<void> {
    shared.leases--;
    if (shared.leases > 0) return;
    if (this.#shared.get(key) === shared) this.#shared.delete(key);
    shared.opening?.abort();
    const closed = shared.session.then((session) => session.close(), ignore);
    // A failure to close rejects for the last lease only; the next session of this key starts all the same.
    const ended = Promise.allSettled([this.#ending.get(key), closed]).then(() => {
      if (this.#ending.get(key) === ended) this.#ending.delete(key);
    });
    this.#ending.set(key, ended);
    await closed;
  }
}

/** The calls of one lease that are in flight. */
class CallCount {
  inFlight = 0;
  #none: Deferred<void> | undefined;

  /** The call's end is counted before the caller hears of it. */
  count<Value>(call: Promise<Value>): Promise<Value> {
    this.inFlight++;
    call.then(this.#ended, this.#ended);
    return call;
  }

  readonly #ended = (): void => {
    this.inFlight--;
    if (this.inFlight === 0) this.#noneLeft();
  };

  async whenNone(): Promise<void> {
    if (this.inFlight === 0) return;
    this.#none ??= createDeferred<void>();
    await this.#none.promise;
  }

  #noneLeft(): void {
    this.#none?.resolve();
    this.#none = undefined;
  }
}

function openAfter(former: Promise<void> | undefined, open: () => Promise<Session>): Promise<Session> {
  return former ? former.then(open) : open();
}

/** A promise that rejects when the signal aborts, and how to stop listening for that. */
function rejectionOf(signal: AbortSignal): Pick<Deferred<never>, 'promise'> & { stop: () => void } {
  const { promise, reject } = createDeferred<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  promise.catch(ignore);
  return { promise, stop: () => signal.removeEventListener('abort', onAbort) };
}

/** For rejections that the caller of `lease` has already received. */
const ignore = (): void => undefined;

/** The pool of the whole process. */
export const sessionPool = new SessionPool();
