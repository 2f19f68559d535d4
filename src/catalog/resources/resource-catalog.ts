// Owns what all servers offer beside tools, as it is known now: listed when a server is up, again when it says that a list
// changed, kept while it is away, gone when it is gone. Whatever fails here is told and costs nobody the server.

import type { Session } from '../../connection/session.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Emit } from '../../kernel/emitter.ts';
import { Gather } from '../../kernel/gather.ts';
import { canonicalJson } from '../../kernel/json.ts';
import { pause } from '../../kernel/pause.ts';
import { asRuntimeError, type RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';
import type { Prompt, Resource, ResourceTemplate } from '../../model/offer.ts';
import type { ServerDefinition } from '../../model/server.ts';
import type { CatalogEvent } from '../events.ts';
import { Pace } from '../pace.ts';
import {
  announcesChanges,
  fetchOffered,
  type OfferedList,
  type OfferKind,
  promptKind,
  resourceKind,
  templateKind,
} from './offered-list.ts';

/** As servers declare it; a change of one is announced for all its lists. */
export type OfferGroup = 'resources' | 'prompts';

/** Something of a list that was left out or cut off, or why there is no list. */
export interface OfferProblem {
  readonly server: ServerName;
  readonly problem: string;
}

interface Shelf {
  readonly resources: Known<Resource>;
  readonly templates: Known<ResourceTemplate>;
  readonly prompts: Known<Prompt>;
}

type Known<Item> = OfferedList<Item> & { readonly freshUntil: number };

const nothing = { items: new Map<string, never>(), problems: [], freshUntil: Number.POSITIVE_INFINITY };
const emptyShelf: Shelf = { resources: nothing, templates: nothing, prompts: nothing };

/** Of one session: what a former one still answers is not news any more. */
interface Source {
  readonly definition: ServerDefinition;
  readonly session: Session;
  readonly outdated: AbortController;
  readonly running: Map<OfferGroup, Promise<void>>;
  /** Which lists changed while they were being fetched. */
  readonly again: Set<OfferGroup>;
  readonly paces: Readonly<Record<OfferGroup, Pace>>;
}

export interface ResourceCatalogDeps {
  readonly clock: Clock;
  readonly emit: Emit<CatalogEvent>;
}

export class ResourceCatalog {
  readonly #clock: Clock;
  readonly #emit: Emit<CatalogEvent>;
  readonly #sources = new Map<ServerName, Source>();
  readonly #shelves = new Map<ServerName, Shelf>();
  readonly #changed: Gather<string>;

  constructor({ clock, emit }: ResourceCatalogDeps) {
    this.#clock = clock;
    this.#emit = emit;
    this.#changed = new Gather(clock, limits.listChangedMs);
  }

  /**
   * Lists what the session declares, once `after` has settled; until then it counts as being listed already. Never rejects.
   */
  async onReady(definition: ServerDefinition, session: Session, after?: Promise<unknown>): Promise<void> {
    const { name } = definition;
    this.#outdate(name);
    const source: Source = {
      ...{ definition, session },
      outdated: new AbortController(),
      running: new Map(),
      again: new Set(),
      paces: { resources: new Pace(this.#clock), prompts: new Pace(this.#clock) },
    };
    this.#sources.set(name, source);
    const groups = (['resources', 'prompts'] as const).filter((group) => isDeclared(session, group));
    for (const group of ['resources', 'prompts'] as const) if (!groups.includes(group)) this.#empty(name, group);
    await Promise.all(groups.map((group) => this.#list(source, group, after)));
  }

  onNotification({ name }: ServerDefinition, session: Session, method: string): void {
    const group = CHANGES.get(method);
    const source = this.#sources.get(name);
    if (group === undefined || source?.session !== session || !isDeclared(session, group)) return;
    if (source.running.has(group)) source.again.add(group);
    else this.#listSoon(source, group);
  }

  /** Its session is gone: what it listed stays known, and reading it wakes the server. */
  onDown(server: ServerName): void {
    this.#outdate(server);
  }

  onRemoved(server: ServerName): void {
    this.#outdate(server);
    for (const group of ['resources', 'prompts'] as const) this.#empty(server, group);
    this.#shelves.delete(server);
  }

  /** Nothing is listed any more, and no timer is left. */
  close(): void {
    for (const server of [...this.#sources.keys()]) this.#outdate(server);
    this.#changed.forget();
  }

  /** By server and uri, whatever order they came in. */
  resources(server?: ServerName): readonly Resource[] {
    return this.#shelved(server).flatMap(({ resources }) => [...resources.items.values()]);
  }

  templates(server?: ServerName): readonly ResourceTemplate[] {
    return this.#shelved(server).flatMap(({ templates }) => [...templates.items.values()]);
  }

  prompts(server?: ServerName): readonly Prompt[] {
    return this.#shelved(server).flatMap(({ prompts }) => [...prompts.items.values()]);
  }

  prompt(server: ServerName, name: string): Prompt | undefined {
    return this.#shelves.get(server)?.prompts.items.get(name);
  }

  /** Who has listed that very uri. */
  ownersOf(uri: string): readonly ServerName[] {
    return [...this.#shelves].flatMap(([server, { resources }]) => (resources.items.has(uri) ? [server] : [])).sort();
  }

  /** Who is up and declares it. */
  declaring(group: OfferGroup): readonly ServerName[] {
    return [...this.#sources].flatMap(([server, { session }]) => (isDeclared(session, group) ? [server] : [])).sort();
  }

  countsOf(server: ServerName): { readonly resources: number; readonly templates: number; readonly prompts: number } {
    const { resources, templates, prompts } = this.#shelves.get(server) ?? emptyShelf;
    return { resources: resources.items.size, templates: templates.items.size, prompts: prompts.items.size };
  }

  problemsOf(server: ServerName): readonly string[] {
    const { resources, templates, prompts } = this.#shelves.get(server) ?? emptyShelf;
    return [...resources.problems, ...templates.problems, ...prompts.problems];
  }

  /** What is wrong with the lists of this kind, of all servers or of one. */
  problems(group: OfferGroup, only?: ServerName): readonly OfferProblem[] {
    return [...this.#shelves]
      .filter(([server]) => only === undefined || server === only)
      .flatMap(([server, { resources, templates, prompts }]) => {
        const lists = group === 'prompts' ? [prompts] : [resources, templates];
        return lists.flatMap(({ problems }) => problems.map((problem) => ({ server, problem })));
      });
  }

  /** Whether the entry of the server wants to hear of what was read from it. */
  isFollowed(server: ServerName): boolean {
    return this.#sources.get(server)?.definition.settings.subscriptions === true;
  }

  /** Resolves when the lists that are on their way are in; what is old is fetched again meanwhile, and not waited for. */
  async listed(group: OfferGroup, server?: ServerName): Promise<void> {
    const sources = [...this.#sources].flatMap(([name, source]) =>
      server === undefined || name === server ? [source] : [],
    );
    const running = sources.flatMap((source) => source.running.get(group) ?? []);
    for (const source of sources) if (this.#isOld(source, group)) void this.#list(source, group);
    await Promise.all(running);
  }

  #shelved(server: ServerName | undefined): readonly Shelf[] {
    if (server !== undefined) return [this.#shelves.get(server) ?? emptyShelf];
    return [...this.#shelves].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, shelf]) => shelf);
  }

  #isOld({ definition, session, running }: Source, group: OfferGroup): boolean {
    const shelf = this.#shelves.get(definition.name);
    if (shelf === undefined || running.has(group) || !isDeclared(session, group)) return false;
    const { resources, templates, prompts } = shelf;
    const known = group === 'prompts' ? [prompts] : [resources, templates];
    return known.some(({ freshUntil }) => freshUntil <= this.#clock.now());
  }

  #listSoon(source: Source, group: OfferGroup): void {
    const key = JSON.stringify([group, source.definition.name]);
    if (this.#changed.has(key)) return;
    const list = () => {
      if (!source.outdated.signal.aborted) void this.#list(source, group);
    };
    this.#changed.ask(key, list, source.paces[group].next());
  }

  /** Once at a time; what was announced meanwhile is looked at a moment later, so that no server keeps us listing. */
  #list(source: Source, group: OfferGroup, after?: Promise<unknown>): Promise<void> {
    const running = source.running.get(group);
    if (running) return running;
    const flight = this.#fetch(source, group, after).finally(() => {
      source.running.delete(group);
      if (source.again.delete(group) && !source.outdated.signal.aborted) this.#listSoon(source, group);
    });
    source.running.set(group, flight);
    return flight;
  }

  async #fetch(source: Source, group: OfferGroup, after: Promise<unknown> | undefined): Promise<void> {
    await Promise.allSettled([after]);
    source.again.delete(group);
    const known = this.#shelves.get(source.definition.name) ?? emptyShelf;
    const fetch = <Item>(kind: OfferKind<Item>, before: Known<Item>) => this.#fetchKind(source, group, kind, before);
    const [resources, templates, prompts] = await Promise.all([
      group === 'resources' ? fetch(resourceKind, known.resources) : undefined,
      group === 'resources' ? fetch(templateKind, known.templates) : undefined,
      group === 'prompts' ? fetch(promptKind, known.prompts) : undefined,
    ]);
    if (source.outdated.signal.aborted) return;
    const isNews = this.#put(source.definition.name, group, {
      ...(resources && { resources }),
      ...(templates && { templates }),
      ...(prompts && { prompts }),
    });
    source.paces[group].fetched(isNews);
  }

  /** Each list for itself: without its templates a server still has its resources. What was known outlives a failure. */
  async #fetchKind<Item>(
    { definition, session, outdated: { signal } }: Source,
    group: OfferGroup,
    kind: OfferKind<Item>,
    before: Known<Item>,
  ): Promise<Known<Item>> {
    const clock = this.#clock;
    for (let failures = 0; ; failures++) {
      try {
        const list = await fetchOffered(kind, { server: definition.name, session, clock, signal });
        return { ...list, freshUntil: this.#freshUntil(list.ttlMs, announcesChanges(session, group)) };
      } catch (error) {
        const failure = asRuntimeError(error);
        const pauseMs = limits.listAgainMs[failures];
        if (signal.aborted || pauseMs === undefined || !failure.reconnect)
          return { ...withProblem(before, kind, failure), freshUntil: clock.now() + limits.listFailedMs };
        await pause(clock, pauseMs, signal);
      }
    }
  }

  #freshUntil(ttlMs: number | undefined, isAnnounced: boolean): number {
    if (ttlMs !== undefined) return this.#clock.now() + Math.max(limits.shortestTtlMs, ttlMs);
    return isAnnounced ? Number.POSITIVE_INFINITY : this.#clock.now() + limits.offersFreshMs;
  }

  /** Says whether that is anything new. */
  #put(server: ServerName, group: OfferGroup, news: Partial<Shelf>): boolean {
    const before = this.#shelves.get(server) ?? emptyShelf;
    const shelf = { ...before, ...news };
    const told = new Set(this.problemsOf(server));
    this.#shelves.set(server, shelf);
    for (const problem of this.problemsOf(server))
      if (!told.has(problem)) this.#emit({ type: 'catalog.problem-found', server, problem });
    const isNews = !isSame(before, shelf, group);
    if (isNews) this.#announce(server, group);
    return isNews;
  }

  #empty(server: ServerName, group: OfferGroup): void {
    if (!this.#shelves.has(server)) return;
    const news = group === 'prompts' ? { prompts: nothing } : { resources: nothing, templates: nothing };
    this.#put(server, group, news);
  }

  #announce(server: ServerName, group: OfferGroup): void {
    const { resources, templates, prompts } = this.countsOf(server);
    if (group === 'prompts') this.#emit({ type: 'prompts.changed', server, count: prompts });
    else this.#emit({ type: 'resources.changed', server, count: resources, templates });
  }

  #outdate(server: ServerName): void {
    this.#sources.get(server)?.outdated.abort();
    this.#sources.delete(server);
    this.#changed.forget((['resources', 'prompts'] as const).map((group) => JSON.stringify([group, server])));
  }
}

const CHANGES: ReadonlyMap<string, OfferGroup> = new Map([
  ['notifications/resources/list_changed', 'resources'],
  ['notifications/prompts/list_changed', 'prompts'],
]);

function isDeclared({ capabilities }: Session, group: OfferGroup): boolean {
  return capabilities[group] !== undefined && capabilities[group] !== null;
}

function withProblem<Item>(before: Known<Item>, kind: OfferKind<Item>, failure: RuntimeError): Known<Item> {
  const problem = `its ${kind.called} could not be listed: ${failure.message}`;
  return { ...before, problems: [problem] };
}

function isSame(before: Shelf, shelf: Shelf, group: OfferGroup): boolean {
  const spelled = ({ resources, templates, prompts }: Shelf) =>
    canonicalJson(
      (group === 'prompts' ? [prompts] : [resources, templates]).map(({ items }) =>
        [...items.values()].map(({ definition }) => definition),
      ),
    );
  return spelled(before) === spelled(shelf);
}
