// Owns sessions that several use at once: whoever asks with an equal key gets the same one, and the last to let go closes it.
// One for the whole process, so that two runtimes or their agents do not start the same server twice.

import { createDeferred, type Deferred } from '../kernel/deferred.ts';
import type { ClientHandlers } from './requests.ts';
import type { Session } from './session.ts';

export interface LeaseRequest {
  /** Equal keys mean: the same server, reached in the same way, for the same person, with the same abilities. */
  readonly key: string;
  readonly open: (signal: AbortSignal) => Promise<Session>;
  readonly handlers: ClientHandlers;
  /** Aborting it gives up waiting; an opening nobody waits for any more is aborted itself. */
  readonly signal: AbortSignal;
}

interface SharedSession {
  readonly session: Promise<Session>;
  /** Only while it is being opened. */
  opening: AbortController | undefined;
  holders: number;
}

export class SharedSessions {
  readonly #shared = new Map<string, SharedSession>();
  /** What was let go and is not gone yet: the next of the same key waits for it, since two at once may fight over a lock. */
  readonly #ending = new Map<string, Promise<void>>();

  async lease({ key, open, handlers, signal }: LeaseRequest): Promise<Session> {
    signal.throwIfAborted();
    const shared = this.#shared.get(key) ?? this.#open(key, open);
    shared.holders++;
    const aborted = rejectionOf(signal);
    try {
      const session = await Promise.race([shared.session, aborted.promise]);
      return this.#leaseOf(key, shared, session, handlers);
    } catch (error) {
      await this.#release(key, shared);
      throw error;
    } finally {
      aborted.settle();
    }
  }

  /** The next to ask gets a fresh one; who holds the present one keeps it. */
  forget(key: string): void {
    this.#shared.delete(key);
  }

  #open(key: string, open: LeaseRequest['open']): SharedSession {
    const opening = new AbortController();
    const session = openAfter(this.#ending.get(key), open, opening.signal);
    const shared: SharedSession = { session, opening, holders: 0 };
    this.#shared.set(key, shared);
    this.#dropEnded(key, shared);
    return shared;
  }

  /** What has ended is nobody's to share any more; why is told to those who hold it. */
  #dropEnded(key: string, shared: SharedSession): void {
    const drop = () => this.#shared.get(key) === shared && this.#shared.delete(key);
    shared.session.then(({ ended }) => {
      shared.opening = undefined;
      return ended.then(drop);
    }, drop);
  }

  #leaseOf(key: string, shared: SharedSession, session: Session, handlers: ClientHandlers): Session {
    const stopHolding = session.addHandlers(handlers);
    const unheard = new Set<() => void>();
    /** What tells this lease's requests from those of others. */
    const owner = {};
    let closing: Promise<void> | undefined;
    return {
      ...session,
      isShared: () => shared.holders > 1,
      request: (method, params, options) => session.request(method, params, options, owner),
      callTool: (tool, args, call) => session.callTool(tool, args, call, owner),
      requestWithInput: (method, params, call) => session.requestWithInput(method, params, call, owner),
      onNotification: (listener) => {
        const stop = session.onNotification(listener);
        unheard.add(stop);
        return stop;
      },
      close: () => {
        closing ??= (() => {
          stopHolding();
          for (const stop of unheard) stop();
          session.cancelRequestsOf(owner);
          return this.#release(key, shared);
        })();
        return closing;
      },
    };
  }

  /** Resolves when nothing is left of it, if this was the last who held it. */
  async #release(key: string, shared: SharedSession): Promise<void> {
    shared.holders--;
    if (shared.holders > 0) return;
    if (this.#shared.get(key) === shared) this.#shared.delete(key);
    shared.opening?.abort();
    const gone = shared.session.then((session) => session.close(), neverOpened);
    // Whether it ended well is for those to hear who let go of it, not for those who come next.
    const ended = Promise.allSettled([this.#ending.get(key), gone]).then(() => {
      if (this.#ending.get(key) === ended) this.#ending.delete(key);
    });
    this.#ending.set(key, ended);
    await gone;
  }
}

function openAfter(
  former: Promise<void> | undefined,
  open: LeaseRequest['open'],
  signal: AbortSignal,
): Promise<Session> {
  return former ? former.then(() => open(signal)) : open(signal);
}

/** A promise that rejects when the signal aborts, and how to be done with it. */
function rejectionOf(signal: AbortSignal): Pick<Deferred<never>, 'promise'> & { settle: () => void } {
  const { promise, reject } = createDeferred<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  promise.catch(unheard);
  return { promise, settle: () => signal.removeEventListener('abort', onAbort) };
}

/** Who asked for it was told why; nothing is left to close. */
const neverOpened = (): void => undefined;
/** Nobody may be waiting when it comes. */
const unheard = (): void => undefined;

/** The whole process shares one. */
export const sharedSessions = new SharedSessions();
