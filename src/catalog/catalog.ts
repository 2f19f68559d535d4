// Owns all servers' tools as one list: a slice per server, replaced whole, and the snapshot made of them.

import { isDeepStrictEqual } from 'node:util';
import type { Session } from '../connection/session.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Emit } from '../kernel/emitter.ts';
import { pause } from '../kernel/pause.ts';
import { asRuntimeError, type RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName, ToolId } from '../model/names.ts';
import { labelOf, type ServerDefinition } from '../model/server.ts';
import type { Freshness, Tool, ToolDefinition } from '../model/tool.ts';
import { digestOf } from './definition/digest.ts';
import type { CatalogEvent } from './events.ts';
import type { ServerInstructions } from './exposure/instructions.ts';
import { isExposed } from './filter.ts';
import { fetchTools, freshUntil, type Listing, type Offering } from './listing.ts';
import { Pace } from './pace.ts';
import { type Hit, type SearchOptions, SearchWindow } from './search/search-window.ts';
import { type CatalogSnapshot, createSnapshot, differenceOf, type Style } from './snapshot.ts';
import type { Suspicion } from './suspicion.ts';

export interface Entry extends Omit<Listing, 'tools'> {
  /** What the model may see of it. */
  readonly tools: readonly ToolDefinition[];
  /** Kept back by the filters of its entry. */
  readonly hidden: readonly string[];
  readonly label: string;
  readonly source: string;
  readonly freshness: Freshness;
  /** Why the latest attempt to list brought nothing. */
  readonly error?: RuntimeError;
}

export interface CatalogSettings extends Style {
  /** How long a list counts as fresh, where neither the server nor its entry says. */
  readonly toolCacheTtlMs: number;
}

export interface CatalogDeps {
  readonly clock: Clock;
  readonly emit: Emit<CatalogEvent>;
  /** Tells a server from another one that has taken its name. */
  readonly sourceOf?: (definition: ServerDefinition) => string;
  /** Takes out of a list what is to be neither shown nor kept; the same where there is nothing. */
  readonly redact?: (listing: Listing) => Listing;
  /** Told each list that came from a server. */
  readonly onListed?: (definition: ServerDefinition, listing: Listing) => void;
}

/** Who a list is asked of. What a former session still answers, or one of a removed server, is not news any more. */
interface Source {
  readonly definition: ServerDefinition;
  readonly session: Session;
  readonly outdated: AbortController;
  readonly pace: Pace;
  /** The list that is on its way; a server in this process may speak before there is a promise of it. */
  flight: Promise<void> | 'starting' | undefined;
  freshUntil: number;
  /** It was said to have changed, and is fetched in a moment. */
  isAnnounced: boolean;
  /** It was said to have changed while it was being fetched. */
  isBehind: boolean;
}

export class Catalog {
  readonly #deps: CatalogDeps;
  readonly #entries = new Map<ServerName, Entry>();
  readonly #sources = new Map<ServerName, Source>();
  readonly #latest = new Map<ServerName, Promise<void>>();
  #settings: CatalogSettings = { toolCacheTtlMs: 0 };
  #snapshot: CatalogSnapshot = createSnapshot([]);
  #instructions: readonly ServerInstructions[] = [];
  #isClosed = false;
  readonly #search = new SearchWindow();

  constructor(deps: CatalogDeps) {
    this.#deps = deps;
  }

  /** How tools are named and shown from now on. */
  configure(settings: CatalogSettings): void {
    this.#settings = settings;
    this.#refresh();
  }

  get style(): Style {
    return this.#settings;
  }

  snapshot(): CatalogSnapshot {
    return this.#snapshot;
  }

  get(server: ServerName): Entry | undefined {
    return this.#entries.get(server);
  }

  /** What the server says now of a tool, whatever a turn shows of it. */
  definitionOf({ server, tool }: ToolId): ToolDefinition | undefined {
    const entry = this.#entries.get(server);
    return entry && byName(entry.tools).get(tool);
  }

  /** What servers say about their use. The same list as long as none of it changes. */
  instructions(): readonly ServerInstructions[] {
    return this.#instructions;
  }

  /** Whether any server has them, up or not. */
  hasAny(offering: Offering): boolean {
    return [...this.#entries.values()].some(({ offers }) => offers?.includes(offering));
  }

  /** The best tools first. */
  search(query: string, options: SearchOptions = {}): readonly Hit[] {
    return this.#search.search(this.#snapshot, query, options);
  }

  /** Words that tools do use, close to those of a query that found nothing. */
  nearestWords(query: string): readonly string[] {
    return this.#search.nearestWords(this.#snapshot, query);
  }

  /** What is remembered of servers that are not up yet; news replaces it. */
  adopt(known: Iterable<readonly [ServerDefinition, Listing]>): void {
    for (const [definition, listing] of known) {
      if (!this.#entries.has(definition.name)) this.#put(definition.name, this.#entryOf(definition, listing, 'cached'));
    }
    this.#refresh();
  }

  /** Its session is gone: what it brought stays visible, and says that it is old. */
  stale(server: ServerName): void {
    this.#outdate(server);
    const entry = this.#entries.get(server);
    if (entry === undefined) return;
    this.#entries.set(server, { ...entry, freshness: 'stale' });
    this.#refresh();
  }

  /** Lists the session's tools once, however many ask. The tools of a former session stay until the new list is there. */
  list(definition: ServerDefinition, session: Session): Promise<void> {
    return this.#list(this.#sourceOf(definition, session));
  }

  /** The server says that its list is another one now. Changes come in groups: it is fetched in a moment, and once. */
  announce(definition: ServerDefinition, session: Session): void {
    const source = this.#sourceOf(definition, session);
    if (source.flight !== undefined) source.isBehind = true;
    else void this.#listSoon(source);
  }

  /** Lists in the background what has been known for too long; meanwhile it stays as it is. */
  revalidate(): void {
    const now = this.#deps.clock.now();
    for (const source of this.#sources.values()) if (source.freshUntil <= now) void this.#list(source);
  }

  /** Resolves when the server's latest list is in, or at once when none is on its way. */
  async listed(server: ServerName): Promise<void> {
    await this.#latest.get(server);
  }

  /** Nothing is listed or shown anew any more; what is known stays as it is. */
  close(): void {
    this.#isClosed = true;
    for (const server of [...this.#sources.keys()]) this.#outdate(server);
  }

  /** Owner-tagged: what leaves is what this server brought, whatever it is called. */
  remove(server: ServerName): void {
    this.#outdate(server);
    this.#latest.delete(server);
    if (this.#entries.delete(server)) this.#refresh();
  }

  #sourceOf(definition: ServerDefinition, session: Session): Source {
    const present = this.#sources.get(definition.name);
    if (present?.session === session) return present;
    this.#outdate(definition.name);
    const source: Source = {
      ...{ definition, session, outdated: new AbortController(), pace: new Pace(this.#deps.clock) },
      ...{ flight: undefined, freshUntil: Number.POSITIVE_INFINITY, isAnnounced: false, isBehind: false },
    };
    this.#sources.set(definition.name, source);
    return source;
  }

  /** What is still on its way for a former session, or a removed server, is not waited for. */
  #outdate(server: ServerName): void {
    this.#sources.get(server)?.outdated.abort();
    this.#sources.delete(server);
  }

  /** Once at a time; what was asked for or announced meanwhile is looked at a moment later. */
  #list(source: Source): Promise<void> {
    if (source.flight instanceof Promise) {
      source.isBehind = true;
      return source.flight;
    }
    source.flight = 'starting';
    const flight = this.#listNow(source).finally(() => {
      source.flight = undefined;
      if (source.isBehind) void this.#listSoon(source);
    });
    source.flight = flight;
    this.#latest.set(source.definition.name, flight);
    return flight;
  }

  async #listNow(source: Source): Promise<void> {
    const { definition, pace } = source;
    source.freshUntil = Number.POSITIVE_INFINITY;
    const entry = await this.#fetch(source);
    if (source.outdated.signal.aborted) return;
    source.freshUntil = this.#freshUntil(definition, entry);
    this.#put(definition.name, entry);
    const before = this.#snapshot.revision;
    this.#refresh();
    pace.fetched(this.#snapshot.revision !== before);
  }

  async #listSoon(source: Source): Promise<void> {
    if (source.isAnnounced) return;
    source.isAnnounced = true;
    const { signal } = source.outdated;
    await pause(this.#deps.clock, source.pace.next(), signal);
    if (signal.aborted) return;
    source.isAnnounced = false;
    source.isBehind = false;
    await this.#list(source);
  }

  /** What is odd about it is told once, and not with every list. */
  #put(server: ServerName, entry: Entry): void {
    const before = this.#entries.get(server);
    const told = before?.problems ?? [];
    this.#entries.set(server, entry);
    for (const problem of entry.problems)
      if (!told.includes(problem)) this.#deps.emit({ type: 'catalog.problem-found', server, problem });
    for (const flaggedOutput of news(entry.suspicions, before?.suspicions))
      this.#deps.emit({ type: 'signal.raised', server, ...flaggedOutput });
  }

  #freshUntil({ settings }: ServerDefinition, entry: Entry): number {
    const now = this.#deps.clock.now();
    // Who tells of changes has told of this one, and does not know that it did not get through.
    if (entry.error) return now + limits.listFailedMs;
    return freshUntil({ ...entry, listedAt: now }, settings.toolCacheTtlMs ?? this.#settings.toolCacheTtlMs);
  }

  /** Listing does no harm, so it is tried again; a server that cannot list its tools may still have other things to offer. */
  async #fetch({ definition, session, outdated: { signal } }: Source): Promise<Entry> {
    const { clock, onListed, redact = asItIs } = this.#deps;
    for (let failures = 0; ; failures++) {
      try {
        const listing = redact(await fetchTools(session, definition, { clock, signal }));
        if (!signal.aborted) onListed?.(definition, listing);
        return this.#entryOf(definition, this.#asKnown(listing, definition.name), 'live');
      } catch (error) {
        const failure = asRuntimeError(error);
        const pauseMs = limits.listAgainMs[failures];
        if (pauseMs === undefined || signal.aborted || !failure.reconnect)
          return this.#withoutNews(definition, failure);
        await pause(clock, pauseMs, signal);
      }
    }
  }

  /** What is the same as before stays the same object: whatever was worked out about it holds. */
  #asKnown(listing: Listing, server: ServerName): Listing {
    const known = new Map(this.#entries.get(server)?.tools.map((tool) => [tool.name, tool]));
    const tools = listing.tools.map((tool) => {
      const before = known.get(tool.name);
      return before && digestOf(before) === digestOf(tool) ? before : tool;
    });
    return { ...listing, tools };
  }

  #entryOf(definition: ServerDefinition, listing: Listing, freshness: Freshness): Entry {
    const isSeen = ({ name }: ToolDefinition) => isExposed(name, definition.settings);
    const tools = listing.tools.filter(isSeen);
    const hidden = listing.tools.filter((tool) => !isSeen(tool)).map(({ name }) => name);
    return { ...listing, tools, hidden, label: labelOf(definition), source: this.#originOf(definition), freshness };
  }

  #originOf(definition: ServerDefinition): string {
    return this.#deps.sourceOf?.(definition) ?? definition.name;
  }

  #withoutNews(definition: ServerDefinition, error: RuntimeError): Entry {
    const nothing = { tools: [], hidden: [], problems: [], freshness: 'stale', listedAt: 0 } as const;
    return {
      ...(this.#entries.get(definition.name) ?? nothing),
      label: labelOf(definition),
      source: this.#originOf(definition),
      error,
    };
  }

  #refresh(): void {
    if (this.#isClosed) return;
    this.#instructions = instructionsOf(this.#entries, this.#instructions);
    const before = this.#snapshot;
    const slices = [...this.#entries].map(([server, entry]) => ({ server, ...entry }));
    const snapshot = createSnapshot(slices, this.#settings);
    if (isSame(snapshot, before)) return;
    this.#snapshot = snapshot;
    if (snapshot.revision === before.revision) return;
    this.#deps.emit({ type: 'catalog.changed', revision: snapshot.revision, ...differenceOf(before, snapshot) });
  }
}

const asItIs = (listing: Listing) => listing;

const named = new WeakMap<readonly ToolDefinition[], ReadonlyMap<string, ToolDefinition>>();

function byName(tools: readonly ToolDefinition[]): ReadonlyMap<string, ToolDefinition> {
  const known = named.get(tools) ?? new Map(tools.map((tool) => [tool.name, tool]));
  named.set(tools, known);
  return known;
}

function news(found: readonly Suspicion[] = [], before: readonly Suspicion[] = []): readonly Suspicion[] {
  return found.filter((each) => !before.some((other) => isDeepStrictEqual(each, other)));
}

function instructionsOf(
  entries: ReadonlyMap<ServerName, Entry>,
  before: readonly ServerInstructions[],
): readonly ServerInstructions[] {
  const now = [...entries].flatMap(([server, { instructions }]) =>
    instructions === undefined ? [] : [{ server, instructions }],
  );
  return isDeepStrictEqual(now, before) ? before : now;
}

/** Who reads the list again and finds the same object need not read it at all. */
function isSame({ revision, tools }: CatalogSnapshot, before: CatalogSnapshot): boolean {
  return revision === before.revision && tools.every((tool: Tool, at) => tool === before.tools[at]);
}
