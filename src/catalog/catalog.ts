// Owns all servers' tools as one list: a slice per server, replaced whole, and the snapshot made of them.

import type { Session } from '../connection/session.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Emit } from '../kernel/emitter.ts';
import { SingleFlight } from '../kernel/single-flight.ts';
import { asRuntimeError, type RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { labelOf, type ServerDefinition } from '../model/server.ts';
import type { Freshness, Tool } from '../model/tool.ts';
import type { CatalogEvent } from './events.ts';
import { fetchTools, type Listing } from './listing.ts';
import { type CatalogSnapshot, createSnapshot } from './snapshot.ts';

type Entry = Listing & { readonly label: string; readonly freshness: Freshness; readonly error?: RuntimeError };

export class Catalog {
  readonly #clock: Clock;
  readonly #emit: Emit<CatalogEvent>;
  readonly #entries = new Map<ServerName, Entry>();
  readonly #listing = new SingleFlight<Session, void>();
  /** Whose list counts: what a former session still answers, or one of a removed server, is not news any more. */
  readonly #current = new Map<ServerName, { readonly session: Session; readonly outdated: AbortController }>();
  /** Whose list changed while it was being fetched. */
  readonly #again = new WeakSet<Session>();
  readonly #latest = new Map<ServerName, Promise<void>>();
  #snapshot: CatalogSnapshot = createSnapshot([]);

  constructor(clock: Clock, emit: Emit<CatalogEvent>) {
    this.#clock = clock;
    this.#emit = emit;
  }

  snapshot(): CatalogSnapshot {
    return this.#snapshot;
  }

  get(server: ServerName): Entry | undefined {
    return this.#entries.get(server);
  }

  /** What was known of a server before it is up; news replaces it. */
  adopt(definition: ServerDefinition, listing: Listing): void {
    if (this.#entries.has(definition.name)) return;
    this.#entries.set(definition.name, { ...listing, label: labelOf(definition), freshness: 'cached' });
    this.#refresh();
  }

  /** Its session is gone: what it brought stays visible, and says that it is old. */
  stale(server: ServerName): void {
    const entry = this.#entries.get(server);
    if (entry === undefined) return;
    this.#entries.set(server, { ...entry, freshness: 'stale' });
    this.#refresh();
  }

  /**
   * Lists the session's tools once, however many ask; asked again while it runs, it is done once more a moment later.
   * The tools of a former session stay until the new list is there.
   */
  list(definition: ServerDefinition, session: Session): Promise<void> {
    const { name } = definition;
    if (this.#current.get(name)?.session === session) this.#again.add(session);
    else this.#outdate(name);
    const current = this.#current.get(name) ?? { session, outdated: new AbortController() };
    this.#current.set(name, current);
    const { signal } = current.outdated;
    const flight = this.#listing.run(session, async () => {
      this.#again.delete(session);
      const entry = await this.#fetch(definition, session, signal);
      if (signal.aborted) return;
      this.#entries.set(name, entry);
      for (const problem of entry.problems) this.#emit({ type: 'catalog.problem-found', server: name, problem });
      this.#refresh();
      if (this.#again.has(session)) void this.#listAgain(definition, session, signal);
    });
    this.#latest.set(name, flight);
    return flight;
  }

  /** After a pause: a server that announces a change with every list must not keep us listing. */
  async #listAgain(definition: ServerDefinition, session: Session, signal: AbortSignal): Promise<void> {
    await pause(this.#clock, limits.changedAgainMs, signal);
    if (!signal.aborted) await this.list(definition, session);
  }

  /** Resolves when the server's latest list is in, or at once when none is on its way. */
  async listed(server: ServerName): Promise<void> {
    await this.#latest.get(server);
  }

  /** Owner-tagged: what leaves is what this server brought, whatever it is called. */
  remove(server: ServerName): void {
    this.#outdate(server);
    this.#latest.delete(server);
    if (this.#entries.delete(server)) this.#refresh();
  }

  /** What is still on its way for a former session, or a removed server, is not waited for. */
  #outdate(server: ServerName): void {
    this.#current.get(server)?.outdated.abort();
    this.#current.delete(server);
  }

  /** Listing does no harm, so it is tried again; a server that cannot list its tools may still have other things to offer. */
  async #fetch(definition: ServerDefinition, session: Session, signal: AbortSignal): Promise<Entry> {
    const label = labelOf(definition);
    for (let failures = 0; ; failures++) {
      try {
        return { ...(await fetchTools(session, definition, { clock: this.#clock, signal })), label, freshness: 'live' };
      } catch (error) {
        const failure = asRuntimeError(error);
        const pauseMs = limits.listAgainMs[failures];
        if (pauseMs === undefined || signal.aborted || !failure.reconnect)
          return this.#withoutNews(definition, failure);
        await pause(this.#clock, pauseMs, signal);
      }
    }
  }

  #withoutNews(definition: ServerDefinition, error: RuntimeError): Entry {
    const known = this.#entries.get(definition.name) ?? { tools: [], hidden: [], problems: [], freshness: 'stale' };
    return { ...known, label: labelOf(definition), error };
  }

  #refresh(): void {
    const before = this.#snapshot;
    const snapshot = createSnapshot([...this.#entries].map(([server, entry]) => ({ server, ...entry })));
    if (isSame(snapshot, before)) return;
    this.#snapshot = snapshot;
    if (snapshot.revision === before.revision) return;
    const added = snapshot.tools.filter(({ name }) => !before.find(name)).map(({ name }) => name);
    const removed = before.tools.filter(({ name }) => !snapshot.find(name)).map(({ name }) => name);
    this.#emit({ type: 'catalog.changed', revision: snapshot.revision, added, removed });
  }
}

/** Who reads the list again and finds the same object need not read it at all. */
function isSame({ revision, tools }: CatalogSnapshot, before: CatalogSnapshot): boolean {
  const isLikeBefore = ({ freshness, label }: Tool, at: number) =>
    freshness === before.tools[at]?.freshness && label === before.tools[at].label;
  return revision === before.revision && tools.every(isLikeBefore);
}

/** Ends early, and well, when nobody waits any more. */
function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      cancel();
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const cancel = clock.after(ms, finish, 'background');
    signal.addEventListener('abort', finish, { once: true });
  });
}
