// Owns all servers' tools as one list: one entry per server, replaced as a whole, and the snapshot made of all entries.

import type { Session } from '../connection/session.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Emit } from '../kernel/emitter.ts';
import { sameJson } from '../kernel/json.ts';
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
import type { FlaggedText } from './flagged-sentences.ts';
import { fetchTools, freshUntil, type ListCapability, type ToolListing } from './listing.ts';
import { collisionsAmong } from './naming.ts';
import { Pace } from './pace.ts';
import { SearchWindow, type ToolHit, type ToolSearchOptions } from './search/search-window.ts';
import {
  type CatalogSnapshot,
  type CatalogStyle,
  createSnapshot,
  differenceOf,
  emptySnapshot,
  windowOn,
} from './snapshot.ts';

export interface CatalogEntry extends Omit<ToolListing, 'tools'> {
  /** The tools that the model may see. */
  readonly tools: readonly ToolDefinition[];
  /** All tools that the server listed, those included that the filters hide. */
  readonly listed: readonly ToolDefinition[];
  /** The names of tools that the filters in the server's configuration hide. */
  readonly hidden: readonly string[];
  readonly label: string;
  readonly source: string;
  readonly freshness: Freshness;
  /** Why the latest attempt to list failed. */
  readonly error?: RuntimeError;
  /** The list is that of a former launch of the same entry, until there is another one. */
  readonly isFormer?: true;
}

export interface CatalogSettings extends CatalogStyle {
  /** How long a list counts as fresh if neither the server nor its configuration says. */
  readonly toolCacheTtlMs: number;
}

export interface CatalogDeps {
  readonly clock: Clock;
  readonly emit: Emit<CatalogEvent>;
  /** Distinguishes a server from another one that has taken its name. */
  readonly sourceOf?: (definition: ServerDefinition) => string;
  /** Whether the server has no place in a turn: its tools are listed for people alone. */
  readonly isSetAside?: (server: ServerName) => boolean;
  /** Removes secrets from a list before it is shown or stored; gives the same object if there are none. */
  readonly redact?: (listing: ToolListing) => ToolListing;
  /** Called with each list that a server sent. */
  readonly onListed?: (definition: ServerDefinition, listing: ToolListing) => void;
}

/** The session that a server's list is fetched from. Answers of a former session, or of a removed server, are dropped. */
interface ToolSource {
  definition: ServerDefinition;
  readonly session: Session;
  /** Set while a list is fetched, or about to be. */
  stop: AbortController | undefined;
  readonly pace: Pace;
  /** The fetch in progress; 'starting' because an in-process server may announce a change before the promise exists. */
  flight: Promise<void> | 'starting' | undefined;
  freshUntil: number;
  /** The first list of the session has come, or has failed. */
  isListed: boolean;
  /** The server announced a change; the fetch is scheduled. */
  isAnnounced: boolean;
  /** The server announced a change during a fetch: fetch once more. */
  isBehind: boolean;
}

export class Catalog {
  readonly #deps: CatalogDeps;
  readonly #entries = new Map<ServerName, CatalogEntry>();
  readonly #sources = new Map<ServerName, ToolSource>();
  readonly #latest = new Map<ServerName, Promise<void>>();
  #settings: CatalogSettings = { toolCacheTtlMs: 0 };
  #snapshot: CatalogSnapshot = emptySnapshot;
  /** The tools of servers that are set aside, named by themselves: they take no name from the others. */
  #aside: CatalogSnapshot = emptySnapshot;
  #setAside: ReadonlySet<ServerName> = new Set();
  #instructions: readonly ServerInstructions[] = [];
  #isClosed = false;
  readonly #search = new SearchWindow();
  /** The collisions of names that were told, as text. */
  #toldCollisions: ReadonlySet<string> = new Set();

  constructor(deps: CatalogDeps) {
    this.#deps = deps;
  }

  /** How tools are named and shown from now on. */
  configure(settings: CatalogSettings): void {
    this.#settings = settings;
    this.#refresh();
  }

  get style(): CatalogStyle {
    return this.#settings;
  }

  /** The tools that a turn may hold. */
  snapshot(): CatalogSnapshot {
    return this.#snapshot;
  }

  /** Also the tools of servers that are set aside. */
  everything(): readonly Tool[] {
    if (this.#aside.tools.length === 0) return this.#snapshot.tools;
    return windowOn([...this.#snapshot.tools, ...this.#aside.tools]).tools;
  }

  /** Sets the server aside, or takes it back, if it was judged otherwise since. */
  reconsider(server: ServerName): void {
    if (this.#entries.has(server) && this.#isSetAside(server) !== this.#setAside.has(server)) this.#refresh();
  }

  get(server: ServerName): CatalogEntry | undefined {
    return this.#entries.get(server);
  }

  /** The server's current definition of a tool, whatever an older turn still shows. */
  definitionOf({ server, tool }: ToolId): ToolDefinition | undefined {
    const entry = this.#entries.get(server);
    return entry && byName(entry.tools).get(tool);
  }

  /** The servers' own texts about their use. The same array as long as none of them changes. */
  instructions(): readonly ServerInstructions[] {
    return this.#instructions;
  }

  /** Whether any server of the turns declares the capability, connected or not. */
  hasAny(capability: ListCapability): boolean {
    for (const [server, { capabilities }] of this.#entries)
      if (capabilities?.includes(capability) && !this.#setAside.has(server)) return true;
    return false;
  }

  /** The best tools first. */
  search(query: string, options: ToolSearchOptions = {}): readonly ToolHit[] {
    return this.#search.search(this.#snapshot, query, options);
  }

  /** For a query that found nothing: words that tools do use, close to its own. */
  nearestWords(query: string): readonly string[] {
    return this.#search.nearestWords(this.#snapshot, query);
  }

  /** Shows cached lists of servers that are not connected yet; a list from the server itself replaces them. */
  adopt(cached: Iterable<readonly [ServerDefinition, ToolListing]>): void {
    for (const [definition, listing] of cached) {
      const known = this.#entries.get(definition.name);
      if (known === undefined || known.isFormer)
        this.#put(definition.name, this.#entryOf(definition, listing, 'cached'));
    }
    this.#refresh();
  }

  /** The server's entry changed: its filters, its label and how long its list is fresh apply to the list that is there. */
  edit(definition: ServerDefinition): void {
    const { name } = definition;
    const source = this.#sources.get(name);
    if (source) source.definition = definition;
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    const { error, isFormer, listed, ...listing } = entry;
    const edited = this.#entryOf(definition, { ...listing, tools: listed }, entry.freshness);
    const isOfFormer = isFormer || edited.source !== entry.source;
    this.#entries.set(name, { ...edited, ...(error && { error }), ...(isOfFormer && { isFormer: true }) });
    if (source && source.flight === undefined && error === undefined)
      source.freshUntil = this.#freshUntil(definition, edited, entry.listedAt);
    // It may be one that is to be cached from now on; what a former launch listed is never the list of the next one.
    if (entry.freshness === 'live' && !isOfFormer) this.#deps.onListed?.(definition, { ...listing, tools: listed });
    this.#refresh();
  }

  /** The server's session is gone: its tools stay visible, marked as stale. */
  stale(server: ServerName): void {
    this.#outdate(server);
    const entry = this.#entries.get(server);
    if (entry === undefined) return;
    this.#entries.set(server, { ...entry, freshness: 'stale' });
    this.#refresh();
  }

  /** Lists the session's tools; concurrent callers share one fetch. The tools of a former session stay until the new list is in. */
  list(definition: ServerDefinition, session: Session): Promise<void> {
    return this.#list(this.#sourceOf(definition, session));
  }

  /** The server sent `list_changed`. Changes come in groups, so the list is fetched once, a moment later. */
  announce(definition: ServerDefinition, session: Session): void {
    const source = this.#sources.get(definition.name);
    // A session that drains has no say in the list of the next one.
    if (source?.session !== session) return;
    if (source.flight !== undefined) source.isBehind = true;
    else void this.#listSoon(source);
  }

  /** Fetches expired lists again in the background; until then the old ones stay. */
  revalidate(): void {
    const now = this.#deps.clock.now();
    for (const source of this.#sources.values()) if (source.freshUntil <= now) void this.#list(source);
  }

  /** Whether the first list of the server's open session has come, or has failed: until then the server is not ready. */
  hasListed(server: ServerName, session = this.#sources.get(server)?.session): boolean {
    const source = this.#sources.get(server);
    return source !== undefined && source.session === session && source.isListed;
  }

  /** Resolves when the server's latest list is in, or at once if none is being fetched. */
  async listed(server: ServerName): Promise<void> {
    await this.#latest.get(server);
  }

  /** Stops all listing; the catalog stays as it is. */
  close(): void {
    this.#isClosed = true;
    for (const server of [...this.#sources.keys()]) this.#outdate(server);
  }

  /** Removes the tools of this server, and of no other, whatever they are called. */
  remove(server: ServerName): void {
    this.#outdate(server);
    this.#latest.delete(server);
    if (this.#entries.delete(server)) this.#refresh();
  }

  #sourceOf(definition: ServerDefinition, session: Session): ToolSource {
    const present = this.#sources.get(definition.name);
    if (present?.session === session) return present;
    this.#outdate(definition.name);
    const source: ToolSource = {
      definition,
      session,
      stop: undefined,
      pace: new Pace(this.#deps.clock),
      flight: undefined,
      freshUntil: Number.POSITIVE_INFINITY,
      isListed: false,
      isAnnounced: false,
      isBehind: false,
    };
    this.#sources.set(definition.name, source);
    return source;
  }

  /** Drops the server's session and the fetch in progress from it. */
  #outdate(server: ServerName): void {
    this.#sources.get(server)?.stop?.abort();
    this.#sources.delete(server);
  }

  /** Answers of a former session are dropped. */
  #isCurrent(source: ToolSource): boolean {
    return this.#sources.get(source.definition.name) === source;
  }

  /** One fetch at a time; a request or an announcement during a fetch leads to one more, a moment later. */
  #list(source: ToolSource): Promise<void> {
    if (source.flight instanceof Promise) {
      source.isBehind = true;
      return source.flight;
    }
    source.flight = 'starting';
    const flight = this.#listNow(source).finally(() => {
      source.flight = undefined;
      if (!source.isAnnounced) source.stop = undefined;
      if (source.isBehind && this.#isCurrent(source)) void this.#listSoon(source);
    });
    source.flight = flight;
    this.#latest.set(source.definition.name, flight);
    return flight;
  }

  async #listNow(source: ToolSource): Promise<void> {
    const { pace } = source;
    source.freshUntil = Number.POSITIVE_INFINITY;
    const entry = await this.#fetch(source);
    if (!this.#isCurrent(source)) return;
    const { definition } = source;
    source.freshUntil = this.#freshUntil(definition, entry, this.#deps.clock.now());
    source.isListed = true;
    this.#put(definition.name, entry);
    const before = this.#snapshot.revision;
    this.#refresh();
    pace.fetched(this.#snapshot.revision !== before);
  }

  async #listSoon(source: ToolSource): Promise<void> {
    if (source.isAnnounced) return;
    source.isAnnounced = true;
    const signal = signalOf(source);
    await pause(this.#deps.clock, source.pace.next(), signal);
    if (signal.aborted) return;
    source.isAnnounced = false;
    source.isBehind = false;
    await this.#list(source);
  }

  /** Emits each problem and each flagged text once, and not with every list. */
  #put(server: ServerName, entry: CatalogEntry): void {
    const before = this.#entries.get(server);
    const reported = before?.problems ?? [];
    this.#entries.set(server, entry);
    for (const problem of entry.problems)
      if (!reported.includes(problem)) this.#deps.emit({ type: 'catalog.problem-found', server, problem });
    for (const flagged of newFlaggedTexts(entry.flaggedTexts, before?.flaggedTexts))
      this.#deps.emit({ type: 'signal.raised', server, ...flagged });
  }

  #freshUntil({ settings }: ServerDefinition, entry: CatalogEntry, listedAt: number): number {
    // After a failed `tools/list` the server sends no further `list_changed` for this change; retry by timer.
    if (entry.error) return listedAt + limits.listFailedMs;
    return freshUntil({ ...entry, listedAt }, settings.toolCacheTtlMs ?? this.#settings.toolCacheTtlMs);
  }

  /** Listing has no side effects, so it is retried. A failure is kept in the entry: the server may still have resources. */
  async #fetch(source: ToolSource): Promise<CatalogEntry> {
    const { session } = source;
    const signal = signalOf(source);
    const { clock, onListed, redact = unchanged } = this.#deps;
    for (let failures = 0; ; failures++) {
      try {
        const listing = redact(await fetchTools(session, source.definition, { clock, signal }));
        const { definition } = source;
        if (!signal.aborted) onListed?.(definition, listing);
        return this.#entryOf(definition, this.#reuseDefinitions(listing, definition.name), 'live');
      } catch (error) {
        const failure = asRuntimeError(error);
        const pauseMs = limits.listAgainMs[failures];
        if (pauseMs === undefined || signal.aborted || !failure.reconnect)
          return this.#entryAfterFailure(source.definition, failure);
        await pause(clock, pauseMs, signal);
      }
    }
  }

  /** An unchanged definition stays the same object, so that what is cached by it still holds. */
  #reuseDefinitions(listing: ToolListing, server: ServerName): ToolListing {
    const former = new Map(this.#entries.get(server)?.listed.map((tool) => [tool.name, tool]));
    const tools = listing.tools.map((tool) => {
      const before = former.get(tool.name);
      return before && digestOf(before) === digestOf(tool) ? before : tool;
    });
    return { ...listing, tools };
  }

  #entryOf(definition: ServerDefinition, listing: ToolListing, freshness: Freshness): CatalogEntry {
    const isSeen = ({ name }: ToolDefinition) => isExposed(name, definition.settings);
    const tools = listing.tools.filter(isSeen);
    const hidden = listing.tools.filter((tool) => !isSeen(tool)).map(({ name }) => name);
    const origin = { label: labelOf(definition), source: this.#originOf(definition), freshness };
    return { ...listing, tools, listed: listing.tools, hidden, ...origin };
  }

  #isSetAside(server: ServerName): boolean {
    return this.#deps.isSetAside?.(server) ?? false;
  }

  #originOf(definition: ServerDefinition): string {
    return this.#deps.sourceOf?.(definition) ?? definition.name;
  }

  #entryAfterFailure(definition: ServerDefinition, error: RuntimeError): CatalogEntry {
    const nothing = { tools: [], listed: [], hidden: [], problems: [], freshness: 'stale', listedAt: 0 } as const;
    return {
      ...(this.#entries.get(definition.name) ?? nothing),
      label: labelOf(definition),
      source: this.#originOf(definition),
      error,
    };
  }

  #refresh(): void {
    if (this.#isClosed) return;
    const slices = Array.from(this.#entries, sliceOf);
    this.#setAside = new Set(slices.flatMap(({ server }) => (this.#isSetAside(server) ? [server] : [])));
    const offered = slices.filter(({ server }) => !this.#setAside.has(server));
    const aside = slices.filter(({ server }) => this.#setAside.has(server));
    this.#instructions = instructionsOf(offered, this.#instructions);
    this.#aside = aside.length === 0 ? emptySnapshot : createSnapshot(aside, this.#settings);
    const before = this.#snapshot;
    const snapshot = createSnapshot(offered, this.#settings);
    if (isSame(snapshot, before)) return;
    this.#snapshot = snapshot;
    this.#tellCollisions(snapshot);
    if (snapshot.revision === before.revision) return;
    this.#deps.emit({ type: 'catalog.changed', revision: snapshot.revision, ...differenceOf(before, snapshot) });
  }

  /** Tells each collision once, and again when it comes back. */
  #tellCollisions({ tools }: CatalogSnapshot): void {
    const told = new Set<string>();
    for (const collision of collisionsAmong(tools, this.#settings.naming ?? {})) {
      const key = JSON.stringify(collision);
      told.add(key);
      if (!this.#toldCollisions.has(key)) this.#deps.emit({ type: 'catalog.name-collided', ...collision });
    }
    this.#toldCollisions = told;
  }
}

function signalOf(source: ToolSource): AbortSignal {
  source.stop ??= new AbortController();
  return source.stop.signal;
}

const unchanged = (listing: ToolListing) => listing;

const sliceOf = ([server, entry]: readonly [ServerName, CatalogEntry]) => ({ server, ...entry });

const definitionsByName = new WeakMap<readonly ToolDefinition[], ReadonlyMap<string, ToolDefinition>>();

function byName(tools: readonly ToolDefinition[]): ReadonlyMap<string, ToolDefinition> {
  const byName = definitionsByName.get(tools) ?? new Map(tools.map((tool) => [tool.name, tool]));
  definitionsByName.set(tools, byName);
  return byName;
}

function newFlaggedTexts(
  found: readonly FlaggedText[] = [],
  before: readonly FlaggedText[] = [],
): readonly FlaggedText[] {
  return found.filter((each) => !before.some((other) => sameJson(each, other)));
}

function instructionsOf(
  slices: readonly ReturnType<typeof sliceOf>[],
  before: readonly ServerInstructions[],
): readonly ServerInstructions[] {
  const now = slices.flatMap(({ server, instructions }) =>
    instructions === undefined ? [] : [{ server, instructions }],
  );
  return sameJson(now, before) ? before : now;
}

/** Readers compare snapshots by identity, so an equal snapshot does not replace the old one. */
function isSame({ revision, tools }: CatalogSnapshot, before: CatalogSnapshot): boolean {
  return revision === before.revision && tools.every((tool: Tool, at) => tool === before.tools[at]);
}
