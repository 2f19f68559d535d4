// Owns who wants to hear of which resource, and that its server knows it: asked for when the first one subscribes, again on
// every session that follows, called off with the last one. How a server is asked is left to `subscribing.ts`.

import type { Clock } from '../kernel/clock.ts';
import { Gather } from '../kernel/gather.ts';
import type { JsonObject } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { Session } from './session.ts';
import { canSubscribe, openUpdates, requireSubscribing, subscribeTo, unsubscribeFrom, untold } from './subscribing.ts';
import {
  type Book,
  coveringOf,
  createBook,
  forgetUnwanted,
  type Gap,
  gapOf,
  keepWhileHeard,
  type ResourceUpdate,
  type UpdateListener,
} from './subscription-book.ts';

const UPDATED = 'notifications/resources/updated';

export interface SubscriptionsDeps {
  readonly clock: Clock;
  /** Told of every update that counts, whoever subscribed. */
  readonly onUpdated: (server: ServerName, uri: string) => void;
  /** Told what a listener threw, and what could not be subscribed to again. */
  readonly onError: (error: unknown) => void;
}

export class Subscriptions {
  readonly #deps: SubscriptionsDeps;
  readonly #books = new Map<ServerName, Book>();
  readonly #news: Gather<string>;

  constructor(deps: SubscriptionsDeps) {
    this.#deps = deps;
    this.#news = new Gather(deps.clock, limits.updates.gatherMs);
  }

  /** Resolves with how to stop, once the server has agreed; the session is the one that is up now. */
  async subscribe(
    server: ServerName,
    session: Session,
    { uri, listener }: { readonly uri: string; readonly listener: UpdateListener },
  ): Promise<() => Promise<void>> {
    requireSubscribing(server, session);
    const book = this.#bookOf(server);
    // A listener of its own for each: the same function may listen twice and leave once.
    const entry: UpdateListener = (update) => listener(update);
    this.#want(book, uri).add(entry);
    // It is asked for again, whatever was answered before.
    book.refused.delete(uri);
    this.#use(book, session);
    const leave = () => this.#leave(book, uri, entry);
    await this.#align(book);
    const refusal = book.refused.get(uri);
    if (refusal === undefined) return leave;
    await leave();
    throw refusal;
  }

  /** For a resource that was read from a server whose entry wants that; of too many the oldest is dropped. Best effort. */
  follow(server: ServerName, session: Session, uri: string): void {
    if (!canSubscribe(session)) return;
    const book = this.#bookOf(server);
    if (book.followed.has(uri)) return;
    book.followed.add(uri);
    this.#want(book, uri);
    const [oldest = uri] = book.followed;
    if (book.followed.size > limits.updates.followed) {
      book.followed.delete(oldest);
      forgetUnwanted(book, oldest);
    }
    this.#use(book, session);
    void this.#align(book);
  }

  onReady(server: ServerName, session: Session): void {
    const book = this.#books.get(server);
    if (book === undefined) return;
    this.#use(book, session);
    void this.#align(book);
  }

  onDown(server: ServerName): void {
    const book = this.#books.get(server);
    if (book) this.#part(book);
  }

  /** Who subscribed meant the server of that name: they hear of it again when it is there again. */
  onRemoved(server: ServerName): void {
    this.onDown(server);
  }

  onNotification(server: ServerName, session: Session, method: string, { uri }: JsonObject): void {
    if (method !== UPDATED || typeof uri !== 'string' || uri.length > limits.resourceDefinition.uriChars) return;
    const book = this.#books.get(server);
    if (book?.session !== session) return;
    const [subscribed] = coveringOf(book, uri);
    if (subscribed === undefined) return;
    // Of a flood of parts it is enough to know that the whole has changed.
    const isTooMuch = this.#news.size >= limits.updates.waiting && !this.#news.has(keyOf(server, uri));
    this.#tellSoon(book, isTooMuch ? subscribed : uri);
  }

  /** Nobody hears anything any more. */
  close(): void {
    for (const book of this.#books.values()) this.#part(book);
    this.#books.clear();
    this.#news.forget();
  }

  #bookOf(server: ServerName): Book {
    const made = this.#books.get(server) ?? createBook(server);
    this.#books.set(server, made);
    return made;
  }

  #want({ wanted }: Book, uri: string): Set<UpdateListener> {
    const listeners = wanted.get(uri) ?? new Set();
    wanted.set(uri, listeners);
    return listeners;
  }

  async #leave(book: Book, uri: string, entry: UpdateListener): Promise<void> {
    book.wanted.get(uri)?.delete(entry);
    forgetUnwanted(book, uri);
    await this.#align(book);
  }

  /** A new session knows nothing of what the former one was asked for. */
  #use(book: Book, session: Session): void {
    if (book.session === session) return;
    this.#part(book);
    book.session = session;
    book.refused.clear();
  }

  #part(book: Book): void {
    book.stopStream?.();
    book.unsubscribe?.();
    book.stopStream = undefined;
    book.unsubscribe = undefined;
    if (book.asked.size > 0) book.isBehind = true;
    book.asked = new Set();
    book.session = undefined;
  }

  /** Makes what the session was asked for equal to what is wanted; one at a time, until nothing has changed meanwhile. */
  #align(book: Book): Promise<void> {
    keepWhileHeard(book);
    book.aligning ??= this.#alignAll(book);
    return book.aligning;
  }

  async #alignAll(book: Book): Promise<void> {
    try {
      // Who subscribes to several at once asks for them together.
      await Promise.resolve();
      for (let gap = gapOf(book); gap !== undefined; gap = gapOf(book)) {
        if (gap.session.era === 'modern') await this.#openStream(book, gap.session);
        else await this.#askEach(book, gap);
      }
    } finally {
      // In the same breath as the last look: whoever comes now is not overlooked.
      book.aligning = undefined;
    }
    if (book.isBehind && book.session !== undefined) {
      book.isBehind = false;
      for (const uri of book.asked) this.#tellSoon(book, uri);
    }
    const isForgotten = book.wanted.size === 0 && book.asked.size === 0;
    if (isForgotten && this.#books.get(book.server) === book) this.#books.delete(book.server);
  }

  /** Each answers for itself: one resource that nobody knows does not cost the others. */
  async #askEach(book: Book, { session, missing, surplus }: Gap): Promise<void> {
    const line = { server: book.server, session, clock: this.#deps.clock };
    const add = async (uri: string) => {
      const refusal = await subscribeTo(line, uri);
      if (book.session !== session) return;
      if (refusal === undefined) book.asked.add(uri);
      else this.#refuse(book, uri, refusal);
    };
    const drop = async (uri: string) => {
      book.asked.delete(uri);
      // Others on the same session may want it still; what they do not want they overlook.
      if (!session.isShared()) await unsubscribeFrom(line, uri);
    };
    await Promise.all([...missing.map(add), ...surplus.map(drop)]);
  }

  /** The former stream goes on until the new one is open, and for good when that one does not open: nothing is missed. */
  async #openStream(book: Book, session: Session): Promise<void> {
    const { server, stopStream: stopFormer, asked: before } = book;
    const uris = new Set([...book.wanted.keys()].filter((uri) => !book.refused.has(uri)));
    book.asked = uris;
    book.stopStream = undefined;
    if (uris.size === 0) return stopFormer?.();
    const tellAll = () => {
      for (const uri of book.asked) this.#tellSoon(book, uri);
    };
    const { stop, agreed } = openUpdates({ server, session, clock: this.#deps.clock }, { uris, onMissed: tellAll });
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
      if (isOpen && !outcome.has(uri)) this.#refuse(book, uri, untold(server));
      else if (!isOpen && !before.has(uri)) this.#refuse(book, uri, outcome);
    }
  }

  /** Nobody may be waiting for the answer any more. */
  #refuse(book: Book, uri: string, refusal: RuntimeError): void {
    book.asked.delete(uri);
    book.refused.set(uri, refusal);
    if (book.isBehind) this.#deps.onError(refusal);
  }

  #tellSoon(book: Book, uri: string): void {
    this.#news.ask(keyOf(book.server, uri), () => this.#tell(book, uri));
  }

  #tell(book: Book, uri: string): void {
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
