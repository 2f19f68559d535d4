// Owns the sessions that several leases use at once: requests with an equal key get the same session, and closing the last
// lease closes it. The whole process has one pool, so that two runtimes or their agents do not start the same server twice.

import { createDeferred, type Deferred } from '../kernel/deferred.ts';
import type { ClientHandlers } from './requests.ts';
import type { Session } from './session.ts';

export interface LeaseRequest {
  /** Equal keys mean: the same server, transport, account and client capabilities. */
  readonly key: string;
  readonly open: (signal: AbortSignal) => Promise<Session>;
  readonly handlers: ClientHandlers;
  /** Aborting it gives up this request; the opening itself is aborted when no other request waits for it. */
  readonly signal: AbortSignal;
}

interface SharedSession {
  readonly session: Promise<Session>;
  /** Set only while the session is being opened. */
  opening: AbortController | undefined;
  leases: number;
}

export class SessionPool {
  readonly #shared = new Map<string, SharedSession>();
  /** Sessions that are closing: the next one of the same key waits, since two processes at once may fight over a lock. */
  readonly #ending = new Map<string, Promise<void>>();

  async lease({ key, open, handlers, signal }: LeaseRequest): Promise<Session> {
    signal.throwIfAborted();
    const shared = this.#shared.get(key) ?? this.#open(key, open);
    shared.leases++;
    const aborted = rejectionOf(signal);
    try {
      const session = await Promise.race([shared.session, aborted.promise]);
      return this.#leaseOf(key, shared, session, handlers);
    } catch (error) {
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
    const session = openAfter(this.#ending.get(key), open, opening.signal);
    const shared: SharedSession = { session, opening, leases: 0 };
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

  #leaseOf(key: string, shared: SharedSession, session: Session, handlers: ClientHandlers): Session {
    const removeHandlers = session.addHandlers(handlers);
    const unsubscribers = new Set<() => void>();
    /** Marks the requests of this lease. */
    const owner = {};
    let closing: Promise<void> | undefined;
    return {
      ...session,
      isShared: () => shared.leases > 1,
      request: (method, params, options) => session.request(method, params, options, owner),
      callTool: (tool, args, call) => session.callTool(tool, args, call, owner),
      requestWithInput: (method, params, call) => session.requestWithInput(method, params, call, owner),
      onNotification: (listener) => {
        const unsubscribe = session.onNotification(listener);
        unsubscribers.add(unsubscribe);
        return unsubscribe;
      },
      close: () => {
        closing ??= (() => {
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

function openAfter(
  former: Promise<void> | undefined,
  open: LeaseRequest['open'],
  signal: AbortSignal,
): Promise<Session> {
  return former ? former.then(() => open(signal)) : open(signal);
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
