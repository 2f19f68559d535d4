// Owns the listeners for resource updates of all servers: subscribes with the first listener, again on every later session,
// and unsubscribes with the last. `resource-subscription.ts` knows how a server is asked.

import type { Clock } from '../kernel/clock.ts';
import { Gather } from '../kernel/gather.ts';
import type { JsonObject } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import {
  canSubscribe,
  openUpdateStream,
  requireSubscriptions,
  subscribeTo,
  unsubscribeFrom,
  updatesNotPromised,
} from './resource-subscription.ts';
import type { Session } from './session.ts';
import {
  coveringOf,
  createBook,
  forgetUnwanted,
  gapOf,
  keepSessionWhileListened,
  type ResourceUpdate,
  type SubscriptionBook,
  type SubscriptionGap,
  type UpdateListener,
} from './subscription-book.ts';

const UPDATED = 'notifications/resources/updated';

export interface SubscriptionsDeps {
  readonly clock: Clock;
  /** Called once for every update of a wanted resource, besides its listeners. */
  readonly onUpdated: (server: ServerName, uri: string) => void;
  /** Called with the error of a listener, or of a subscription that a later session refused. */
  readonly onError: (error: unknown) => void;
}

export class Subscriptions {
  readonly #deps: SubscriptionsDeps;
  readonly #books = new Map<ServerName, SubscriptionBook>();
  readonly #pendingUpdates: Gather<string>;

  constructor(deps: SubscriptionsDeps) {
    this.#deps = deps;
    this.#pendingUpdates = new Gather(deps.clock, limits.updates.gatherMs);
  }

  /** Resolves with how to unsubscribe, once the server has agreed. `session` is the one that is up now. */
  async subscribe(
    server: ServerName,
    session: Session,
    { uri, listener }: { readonly uri: string; readonly listener: UpdateListener },
  ): Promise<() => Promise<void>> {
    requireSubscriptions(server, session);
    const book = this.#bookOf(server);
    // Wrap it: the same function may subscribe twice and unsubscribe once.
    const entry: UpdateListener = (update) => listener(update);
    this.#ensureWanted(book, uri).add(entry);
    // An earlier refusal does not count: ask the server again.
    book.refused.delete(uri);
    this.#attach(book, session);
    const unsubscribe = () => this.#unsubscribe(book, uri, entry);
    await this.#align(book);
    const refusal = book.refused.get(uri);
    if (refusal === undefined) return unsubscribe;
    await unsubscribe();
    throw refusal;
  }

  /** For resources that were read from a server whose settings ask for it. Over the limit, drops the oldest. Best effort. */
  follow(server: ServerName, session: Session, uri: string): void {
    if (!canSubscribe(session)) return;
    const book = this.#bookOf(server);
    if (book.followed.has(uri)) return;
    book.followed.add(uri);
    this.#ensureWanted(book, uri);
    const [oldest = uri] = book.followed;
    if (book.followed.size > limits.updates.followed) {
      book.followed.delete(oldest);
      forgetUnwanted(book, oldest);
    }
    this.#attach(book, session);
    void this.#align(book);
  }

  onReady(server: ServerName, session: Session): void {
    const book = this.#books.get(server);
    if (book === undefined) return;
    this.#attach(book, session);
    void this.#align(book);
  }

  /** A session that drains is listened to until its end. */
  onSessionEnded(server: ServerName, session: Session): void {
    const book = this.#books.get(server);
    if (book?.session === session) this.#detach(book);
  }

  /** Listeners belong to the server's name: they get updates again when a server of that name is back. */
  onRemoved(server: ServerName): void {
    const book = this.#books.get(server);
    if (book) this.#detach(book);
  }

  /** The `subscriptions` setting was turned off: resources that were only read are not followed any more. */
  unfollow(server: ServerName): void {
    const book = this.#books.get(server);
    if (book === undefined || book.followed.size === 0) return;
    const followed = [...book.followed];
    book.followed.clear();
    for (const uri of followed) forgetUnwanted(book, uri);
    void this.#align(book);
  }

  onNotification(server: ServerName, session: Session, method: string, { uri }: JsonObject): void {
    if (method !== UPDATED || typeof uri !== 'string' || uri.length > limits.resourceDefinition.uriChars) return;
    const book = this.#books.get(server);
    if (book?.session !== session) return;
    const [subscribed] = coveringOf(book, uri);
    if (subscribed === undefined) return;
    // With too many changed parts waiting, report the subscribed resource as a whole.
    const isTooMuch =
      this.#pendingUpdates.size >= limits.updates.waiting && !this.#pendingUpdates.has(keyOf(server, uri));
    this.#scheduleUpdate(book, isTooMuch ? subscribed : uri);
  }

  /** Ends all subscriptions; no listener is called after this. */
  close(): void {
    for (const book of this.#books.values()) this.#detach(book);
    this.#books.clear();
    this.#pendingUpdates.forget();
  }

  #bookOf(server: ServerName): SubscriptionBook {
    const book = this.#books.get(server) ?? createBook(server);
    this.#books.set(server, book);
    return book;
  }

  #ensureWanted({ wanted }: SubscriptionBook, uri: string): Set<UpdateListener> {
    const listeners = wanted.get(uri) ?? new Set();
    wanted.set(uri, listeners);
    return listeners;
  }

  async #unsubscribe(book: SubscriptionBook, uri: string, entry: UpdateListener): Promise<void> {
    book.wanted.get(uri)?.delete(entry);
    forgetUnwanted(book, uri);
    await this.#align(book);
  }

  /** Forgets the state of the former session: a new one has no subscriptions yet. */
  #attach(book: SubscriptionBook, session: Session): void {
    if (book.session === session) return;
    this.#detach(book);
    book.session = session;
    book.refused.clear();
  }

  #detach(book: SubscriptionBook): void {
    book.stopStream?.();
    book.releaseSession?.();
    book.stopStream = undefined;
    book.releaseSession = undefined;
    if (book.requested.size > 0) book.missedUpdates = true;
    book.requested = new Set();
    book.session = undefined;
  }

  /** Asks the session for exactly the wanted resources. Runs once at a time, and until nothing has changed meanwhile. */
  #align(book: SubscriptionBook): Promise<void> {
    keepSessionWhileListened(book);
    book.aligning ??= this.#alignAll(book);
    return book.aligning;
  }

  async #alignAll(book: SubscriptionBook): Promise<void> {
    try {
      // Collect subscriptions made in the same tick, so that they are asked for together.
      await Promise.resolve();
      for (let gap = gapOf(book); gap !== undefined; gap = gapOf(book)) {
        if (gap.session.era === 'modern') await this.#openStream(book, gap.session);
        else await this.#askEach(book, gap);
      }
    } finally {
      // In the same tick as the last check, so that a subscription made now starts a new run.
      book.aligning = undefined;
    }
    if (book.missedUpdates && book.session !== undefined) {
      book.missedUpdates = false;
      for (const uri of book.requested) this.#scheduleUpdate(book, uri);
    }
    const isForgotten = book.wanted.size === 0 && book.requested.size === 0;
    if (isForgotten && this.#books.get(book.server) === book) this.#books.delete(book.server);
  }

  /** Each resource has its own request: one that the server refuses does not affect the others. */
  async #askEach(book: SubscriptionBook, { session, missing, surplus }: SubscriptionGap): Promise<void> {
    const deps = { server: book.server, session, clock: this.#deps.clock };
    const add = async (uri: string) => {
      const refusal = await subscribeTo(deps, uri);
      if (book.session !== session) return;
      if (refusal === undefined) book.requested.add(uri);
      else this.#refuse(book, uri, refusal);
    };
    const drop = async (uri: string) => {
      book.requested.delete(uri);
      // Other leases of the session may still want it; they ignore updates they did not subscribe to.
      if (!session.isShared()) await unsubscribeFrom(deps, uri);
    };
    await Promise.all([...missing.map(add), ...surplus.map(drop)]);
  }

  /** Keeps the former stream until the new one is open, or for good if that one does not open, so that no update is missed. */
  async #openStream(book: SubscriptionBook, session: Session): Promise<void> {
    const { server, stopStream: stopFormer, requested: before } = book;
    const uris = new Set([...book.wanted.keys()].filter((uri) => !book.refused.has(uri)));
    book.requested = uris;
    book.stopStream = undefined;
    if (uris.size === 0) return stopFormer?.();
    const updateAll = () => {
      for (const uri of book.requested) this.#scheduleUpdate(book, uri);
    };
    const { stop, agreed } = openUpdateStream(
      { server, session, clock: this.#deps.clock },
      { uris, onMissed: updateAll },
    );
    book.stopStream = () => {
      stopFormer?.();
      stop();
    };
    const outcome = await agreed;
    if (book.session !== session) return;
    const isOpen = !(outcome instanceof RuntimeError);
    (isOpen ? stopFormer : stop)?.();
    book.stopStream = isOpen ? stop : stopFormer;
    for (const uri of uris) {
      if (isOpen && !outcome.has(uri)) this.#refuse(book, uri, updatesNotPromised(server));
      else if (!isOpen && !before.has(uri)) this.#refuse(book, uri, outcome);
    }
  }

  /** Reports the refusal of a renewed subscription as an error: its `subscribe` call returned long ago. */
  #refuse(book: SubscriptionBook, uri: string, refusal: RuntimeError): void {
    book.requested.delete(uri);
    book.refused.set(uri, refusal);
    if (book.missedUpdates) this.#deps.onError(refusal);
  }

  #scheduleUpdate(book: SubscriptionBook, uri: string): void {
    this.#pendingUpdates.ask(keyOf(book.server, uri), () => this.#notifyListeners(book, uri));
  }

  #notifyListeners(book: SubscriptionBook, uri: string): void {
    const covering = coveringOf(book, uri);
    if (covering.length === 0 || this.#books.get(book.server) !== book) return;
    this.#deps.onUpdated(book.server, uri);
    for (const subscribed of covering) {
      for (const listener of [...(book.wanted.get(subscribed) ?? [])])
        this.#call(listener, { server: book.server, uri, subscribed });
    }
  }

  #call(listener: UpdateListener, update: ResourceUpdate): void {
    try {
      const answer = listener(update);
      if (answer instanceof Promise) answer.catch(this.#deps.onError);
    } catch (error) {
      this.#deps.onError(error);
    }
  }
}

const keyOf = (server: ServerName, uri: string) => JSON.stringify([server, uri]);
