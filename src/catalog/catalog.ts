// Owns all servers' tools as one list: a slice per server, replaced whole, and the snapshot made of them.

import type { Session } from '../connection/session.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Emit } from '../kernel/emitter.ts';
import { SingleFlight } from '../kernel/single-flight.ts';
import { asRuntimeError, type RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import { labelOf, type ServerDefinition } from '../model/server.ts';
import type { CatalogEvent } from './events.ts';
import { fetchTools, type Listing } from './listing.ts';
import { type CatalogSnapshot, createSnapshot } from './snapshot.ts';

type Entry = Listing & { readonly label: string; readonly error?: RuntimeError };

export class Catalog {
  readonly #clock: Clock;
  readonly #emit: Emit<CatalogEvent>;
  readonly #entries = new Map<ServerName, Entry>();
  readonly #listing = new SingleFlight<Session, void>();
  /** Whose list counts: what a former session still answers, or one of a removed server, is not news any more. */
  readonly #current = new Map<ServerName, Session>();
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

  /** Lists the session's tools once, however many ask. The tools of a former session stay until the new list is there. */
  list(definition: ServerDefinition, session: Session): Promise<void> {
    const { name } = definition;
    this.#current.set(name, session);
    const flight = this.#listing.run(session, async () => {
      const entry = await this.#fetch(definition, session);
      if (this.#current.get(name) !== session) return;
      this.#entries.set(name, entry);
      for (const problem of entry.problems) this.#emit({ type: 'catalog.problem-found', server: name, problem });
      this.#refresh();
    });
    this.#latest.set(name, flight);
    return flight;
  }

  /** Resolves when the server's latest list is in, or at once when none is on its way. */
  async listed(server: ServerName): Promise<void> {
    await this.#latest.get(server);
  }

  /** Owner-tagged: what leaves is what this server brought, whatever it is called. */
  remove(server: ServerName): void {
    this.#current.delete(server);
    this.#latest.delete(server);
    if (this.#entries.delete(server)) this.#refresh();
  }

  async #fetch(definition: ServerDefinition, session: Session): Promise<Entry> {
    try {
      return { ...(await fetchTools(session, definition, this.#clock)), label: labelOf(definition) };
    } catch (error) {
      const known = this.#entries.get(definition.name) ?? { tools: [], hidden: [], problems: [] };
      return { ...known, label: labelOf(definition), error: asRuntimeError(error) };
    }
  }

  #refresh(): void {
    const before = this.#snapshot;
    const snapshot = createSnapshot([...this.#entries].map(([server, { label, tools }]) => ({ server, label, tools })));
    if (snapshot.revision === before.revision) return;
    this.#snapshot = snapshot;
    const added = snapshot.tools.filter(({ name }) => !before.find(name)).map(({ name }) => name);
    const removed = before.tools.filter(({ name }) => !snapshot.find(name)).map(({ name }) => name);
    this.#emit({ type: 'catalog.changed', revision: snapshot.revision, added, removed });
  }
}
