// Owns the sessions that several leases use at once: requests with an equal key get the same session, and closing the last
// lease closes it. The whole process has one pool, so that two runtimes or their agents do not start the same server twice.

import { createDeferred, type Deferred } from '../kernel/deferred.ts';
import type { Unsubscribe } from '../kernel/emitter.ts';
import { LeaseHandlers, type RootsQuestion } from './lease-handlers.ts';
import type { ClientHandlers } from './requests.ts';
import type { NotificationListener, Session } from './session.ts';
import { SessionOver } from './session-over.ts';

export interface LeaseRequest {
  /** Equal keys mean: the same server, transport, account and client capabilities. */
  readonly key: string;
  /** For a server that asks for roots, where `key` is the same in every folder: its session belongs to one folder. */
  readonly keyInFolder?: string | undefined;
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
  /** Set when the server asked for roots while leases of several folders used the session: `keeper` goes on with it, if there is one. */
  parting: { readonly keeper: object | undefined } | undefined;
  readonly onParted: Set<PartListener>;
}

interface PartListener {
  readonly lease: object;
  readonly listener: () => void;
}

export class SessionPool {
  readonly #shared = new Map<string, SharedSession>();
  /** Sessions that are closing: the next one of the same key waits, since two processes at once may fight over a lock. */
  readonly #ending = new Map<string, Promise<void>>();
  /** The keys of servers that have asked for roots. */
  readonly #rootsAsked = new Set<string>();

  async lease(request: LeaseRequest): Promise<Session> {
    const { key, keyInFolder, ...others } = request;
    if (keyInFolder === undefined) return this.#lease(request);
    if (this.#rootsAsked.has(key)) return this.#lease({ ...others, key: keyInFolder });
    const lease = await this.#lease(request);
    if (!lease.isParted) return lease;
    // The server asked for roots as soon as it was up.
    await lease.close();
    return this.#lease({ ...others, key: keyInFolder });
  }

  async #lease({ key, keyInFolder, open, handlers, signal }: LeaseRequest): Promise<Lease> {
    signal.throwIfAborted();
    const shared = this.#shared.get(key) ?? this.#open(key, open, keyInFolder !== undefined);
    shared.leases++;
    const removeHandlers = shared.handlers.add(handlers);
    const aborted = rejectionOf(signal);
    try {
      const session = await Promise.race([shared.session, aborted.promise]);
      return new Lease(session, { shared, removeHandlers, release: () => this.#release(key, shared) });
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

  #open(key: string, open: LeaseRequest['open'], isOfAllFolders: boolean): SharedSession {
    const opening = new AbortController();
    const onRootsAsked = ({ haveSameRoots, caller }: RootsQuestion) => {
      this.#rootsAsked.add(key);
      return haveSameRoots || part(shared, caller);
    };
    const handlers = new LeaseHandlers(isOfAllFolders ? onRootsAsked : undefined);
    const session = openAfter(this.#ending.get(key), () => open(opening.signal, handlers));
    const shared: SharedSession = { session, handlers, opening, leases: 0, parting: undefined, onParted: new Set() };
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

/** All leases but the keeper's get a session of their own. Whether the caller goes on with this one. */
function part(shared: SharedSession, caller: object | undefined): boolean {
  if (shared.parting === undefined) {
    shared.parting = { keeper: caller };
    for (const { lease, listener } of [...shared.onParted]) if (lease !== caller) listener();
  }
  return caller !== undefined && shared.parting.keeper === caller;
}

interface LeaseDeps {
  readonly shared: Pick<SharedSession, 'leases' | 'parting' | 'onParted'>;
  readonly removeHandlers: () => void;
  /** Resolves when nothing of the session is left, if this was its last lease. */
  readonly release: () => Promise<void>;
}

/** The session as one of those who share it sees it. It is also the mark of the requests that it sends. */
class Lease extends SessionOver {
  readonly #deps: LeaseDeps;
  readonly #unsubscribers = new Set<() => void>();
  readonly #calls = new CallCount();
  /** Why this lease was closed; the session may go on. */
  #closedBecause: string | undefined;
  #closing: Promise<void> | undefined;

  constructor(session: Session, deps: LeaseDeps) {
    super(session);
    this.#deps = deps;
  }

  override report(): ReturnType<Session['report']> {
    return { ...this.inner.report(), ...(this.#closedBecause !== undefined && { reason: this.#closedBecause }) };
  }

  override isShared(): boolean {
    return this.#deps.shared.leases > 1;
  }

  /** Another folder goes on with the session, or none does. */
  get isParted(): boolean {
    const { parting } = this.#deps.shared;
    return parting !== undefined && parting.keeper !== this;
  }

  override onParted(listener: () => void): Unsubscribe {
    const { onParted } = this.#deps.shared;
    const entry: PartListener = { lease: this, listener };
    onParted.add(entry);
    if (this.isParted) queueMicrotask(() => onParted.has(entry) && listener());
    return () => onParted.delete(entry);
  }

  override request(...[method, params, options]: Parameters<Session['request']>): ReturnType<Session['request']> {
    return this.inner.request(method, params, options, this);
  }

  override callTool(...[tool, args, call]: Parameters<Session['callTool']>): ReturnType<Session['callTool']> {
    return this.#calls.count(this.inner.callTool(tool, args, call, this));
  }

  override requestWithInput(
    ...[method, params, call]: Parameters<Session['requestWithInput']>
  ): ReturnType<Session['requestWithInput']> {
    return this.#calls.count(this.inner.requestWithInput(method, params, call, this));
  }

  override callsInFlight(): number {
    return this.#calls.inFlight;
  }

  override whenQuiet(): Promise<void> {
    return this.#calls.whenNone();
  }

  override onNotification(listener: NotificationListener): () => void {
    const unsubscribe = this.inner.onNotification(listener);
    this.#unsubscribers.add(unsubscribe);
    return unsubscribe;
  }

  override close(reason?: string): Promise<void> {
    this.#closing ??= this.#close(reason);
    return this.#closing;
  }

  #close(reason: string | undefined): Promise<void> {
    this.#closedBecause = reason;
    this.#deps.removeHandlers();
    for (const unsubscribe of this.#unsubscribers) unsubscribe();
    this.inner.cancelRequestsOf(this);
    return this.#deps.release();
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
