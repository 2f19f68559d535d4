// Owns the lists of resources, templates and prompts of all servers: fetched when a server connects and when it announces a
// change, kept while it is disconnected, dropped when it is removed. A failure here is reported; the server stays usable.

import type { Session } from '../../connection/session.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Emit } from '../../kernel/emitter.ts';
import { Gather } from '../../kernel/gather.ts';
import { canonicalJson } from '../../kernel/json.ts';
import { pause } from '../../kernel/pause.ts';
import { asRuntimeError, type RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';
import type { Prompt, Resource, ResourceTemplate } from '../../model/resource.ts';
import type { ServerDefinition } from '../../model/server.ts';
import type { CatalogEvent } from '../events.ts';
import { type ListCapability, type ListLife, listCapabilities } from '../listing.ts';
import { Pace } from '../pace.ts';
import {
  announcesChanges,
  type FetchedList,
  fetchList,
  type ListKind,
  promptKind,
  resourceKind,
  templateKind,
} from './fetch-list.ts';

/** What was left out of a server's list or cut off, or why there is no list. */
export interface ListProblem {
  readonly server: ServerName;
  readonly problem: string;
}

interface ServerLists {
  readonly resources: KnownList<Resource>;
  readonly templates: KnownList<ResourceTemplate>;
  readonly prompts: KnownList<Prompt>;
}

interface KnownList<Item> extends FetchedList<Item> {
  readonly freshUntil: number;
  /** Absent where the server has never listed any. */
  readonly listedAt?: number;
  /** Why the latest attempt to list failed. */
  readonly failure?: RuntimeError;
}

/** One list of a server, without its items. */
export interface ListState extends Partial<ListLife> {
  readonly size: number;
  readonly failure?: RuntimeError;
}

const nothing = { items: new Map<string, never>(), problems: [], freshUntil: Number.POSITIVE_INFINITY };
const noLists: ServerLists = { resources: nothing, templates: nothing, prompts: nothing };

/** The session that a server's lists are fetched from. Answers of a former session are dropped. */
interface ResourceSource {
  definition: ServerDefinition;
  readonly session: Session;
  /** Per declared capability, since a server announces a change per capability, not per list. */
  readonly fetches: Partial<Record<ListCapability, Fetches>>;
}

interface Fetches {
  /** Aborted when the session is a former one. */
  readonly outdated: AbortController;
  running: Promise<void> | undefined;
  /** The server announced a change during a fetch: fetch once more. */
  isBehind: boolean;
  readonly pace: Pace;
}

interface KindFetch<Item> {
  readonly capability: ListCapability;
  readonly kind: ListKind<Item>;
  /** What is kept where the fetch fails. */
  readonly before: KnownList<Item>;
  readonly signal: AbortSignal;
}

export interface ResourceCatalogDeps {
  readonly clock: Clock;
  readonly emit: Emit<CatalogEvent>;
}

/** The lists as they are read, without what keeps them up to date. */
export type ListedResources = Pick<
  ResourceCatalog,
  'resources' | 'templates' | 'prompts' | 'prompt' | 'ownersOf' | 'declaring' | 'problems' | 'isFollowed' | 'listed'
>;

export class ResourceCatalog {
  readonly #clock: Clock;
  readonly #emit: Emit<CatalogEvent>;
  readonly #sources = new Map<ServerName, ResourceSource>();
  readonly #lists = new Map<ServerName, ServerLists>();
  readonly #changed: Gather<string>;

  constructor({ clock, emit }: ResourceCatalogDeps) {
    this.#clock = clock;
    this.#emit = emit;
    this.#changed = new Gather(clock, limits.listChangedMs);
  }

  /** Lists what the session declares, once `after` has settled; `listed` waits for it from now on. Never rejects. */
  async onReady(definition: ServerDefinition, session: Session, after?: Promise<unknown>): Promise<void> {
    const { name } = definition;
    this.#outdate(name);
    const source: ResourceSource = {
      definition,
      session,
      fetches: {},
    };
    this.#sources.set(name, source);
    const declared = listCapabilities.filter((capability) => isDeclared(session, capability));
    for (const capability of listCapabilities) if (!declared.includes(capability)) this.#empty(name, capability);
    await Promise.all(declared.map((capability) => this.#list(source, capability, after)));
  }

  onNotification({ name }: ServerDefinition, session: Session, method: string): void {
    const capability = CHANGES.get(method);
    const source = this.#sources.get(name);
    if (capability === undefined || source?.session !== session || !isDeclared(session, capability)) return;
    const fetches = this.#fetchesOf(source, capability);
    if (fetches.running) fetches.isBehind = true;
    else this.#listSoon(source, capability);
  }

  /** Settings of the server changed. */
  onEdited(definition: ServerDefinition): void {
    const source = this.#sources.get(definition.name);
    if (source) source.definition = definition;
  }

  /** The server's session is gone: its lists stay, and reading a resource starts the server again. */
  onDown(server: ServerName): void {
    this.#outdate(server);
  }

  onRemoved(server: ServerName): void {
    this.#outdate(server);
    for (const capability of listCapabilities) this.#empty(server, capability);
    this.#lists.delete(server);
  }

  /** Stops all listing and all timers. */
  close(): void {
    for (const server of [...this.#sources.keys()]) this.#outdate(server);
    this.#changed.forget();
  }

  /** Sorted by server and uri. */
  resources(server?: ServerName): readonly Resource[] {
    return this.#listsOf(server).flatMap(({ resources }) => [...resources.items.values()]);
  }

  templates(server?: ServerName): readonly ResourceTemplate[] {
    return this.#listsOf(server).flatMap(({ templates }) => [...templates.items.values()]);
  }

  prompts(server?: ServerName): readonly Prompt[] {
    return this.#listsOf(server).flatMap(({ prompts }) => [...prompts.items.values()]);
  }

  prompt(server: ServerName, name: string): Prompt | undefined {
    return this.#lists.get(server)?.prompts.items.get(name);
  }

  /** The servers that list exactly this uri. */
  ownersOf(uri: string): readonly ServerName[] {
    return [...this.#lists].flatMap(([server, { resources }]) => (resources.items.has(uri) ? [server] : [])).sort();
  }

  /** The connected servers that declare the capability. */
  declaring(capability: ListCapability): readonly ServerName[] {
    return [...this.#sources]
      .flatMap(([server, { session }]) => (isDeclared(session, capability) ? [server] : []))
      .sort();
  }

  countsOf(server: ServerName): { readonly resources: number; readonly templates: number; readonly prompts: number } {
    const { resources, templates, prompts } = this.#lists.get(server) ?? noLists;
    return { resources: resources.items.size, templates: templates.items.size, prompts: prompts.items.size };
  }

  problemsOf(server: ServerName): readonly string[] {
    const { resources, templates, prompts } = this.#lists.get(server) ?? noLists;
    return [...resources.problems, ...templates.problems, ...prompts.problems];
  }

  /** The problems of these lists, of all servers or of one. */
  problems(capability: ListCapability, only?: ServerName): readonly ListProblem[] {
    return [...this.#lists]
      .filter(([server]) => only === undefined || server === only)
      .flatMap(([server, { resources, templates, prompts }]) => {
        const lists = capability === 'prompts' ? [prompts] : [resources, templates];
        return lists.flatMap(({ problems }) => problems.map((problem) => ({ server, problem })));
      });
  }

  /** Of a list that the server has sent, or was asked for in vain. */
  stateOf(list: keyof ServerLists, server: ServerName): ListState | undefined {
    const known = this.#lists.get(server)?.[list];
    if (known === undefined || (known.listedAt === undefined && known.failure === undefined)) return undefined;
    const { items, listedAt, ttlMs, isPublic, failure } = known;
    return {
      size: items.size,
      ...(listedAt !== undefined && { listedAt }),
      ...(ttlMs !== undefined && { ttlMs }),
      ...(isPublic && { isPublic }),
      ...(failure && { failure }),
    };
  }

  /** Whether the server's `subscriptions` setting follows resources that were read from it. */
  isFollowed(server: ServerName): boolean {
    return this.#sources.get(server)?.definition.settings.subscriptions === true;
  }

  /** Resolves when the fetches in progress are done. Expired lists are fetched again in the background, without waiting. */
  async listed(capability: ListCapability, server?: ServerName): Promise<void> {
    const sources = [...this.#sources].flatMap(([name, source]) =>
      server === undefined || name === server ? [source] : [],
    );
    const running = sources.flatMap((source) => source.fetches[capability]?.running ?? []);
    for (const source of sources) if (this.#isOld(source, capability)) void this.#list(source, capability);
    await Promise.all(running);
  }

  /** Fetches the lists again at once. Never rejects. */
  async refresh(capability: ListCapability, server: ServerName): Promise<void> {
    const source = this.#sources.get(server);
    if (source !== undefined && isDeclared(source.session, capability)) await this.#list(source, capability);
  }

  #listsOf(server: ServerName | undefined): readonly ServerLists[] {
    if (server !== undefined) return [this.#lists.get(server) ?? noLists];
    return [...this.#lists].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, lists]) => lists);
  }

  #isOld({ definition, session, fetches }: ResourceSource, capability: ListCapability): boolean {
    const lists = this.#lists.get(definition.name);
    if (lists === undefined || fetches[capability]?.running || !isDeclared(session, capability)) return false;
    const { resources, templates, prompts } = lists;
    const concerned = capability === 'prompts' ? [prompts] : [resources, templates];
    return concerned.some(({ freshUntil }) => freshUntil <= this.#clock.now());
  }

  #listSoon(source: ResourceSource, capability: ListCapability): void {
    const key = JSON.stringify([capability, source.definition.name]);
    if (this.#changed.has(key)) return;
    const list = () => {
      if (this.#isCurrent(source)) void this.#list(source, capability);
    };
    this.#changed.ask(key, list, this.#fetchesOf(source, capability).pace.next());
  }

  #fetchesOf({ fetches }: ResourceSource, capability: ListCapability): Fetches {
    fetches[capability] ??= {
      outdated: new AbortController(),
      running: undefined,
      isBehind: false,
      pace: new Pace(this.#clock),
    };
    return fetches[capability];
  }

  #isCurrent(source: ResourceSource): boolean {
    return this.#sources.get(source.definition.name) === source;
  }

  /** One fetch at a time; a change announced meanwhile is fetched a moment later, so that no server keeps us listing. */
  #list(source: ResourceSource, capability: ListCapability, after?: Promise<unknown>): Promise<void> {
    const fetches = this.#fetchesOf(source, capability);
    fetches.running ??= this.#fetch(source, capability, after).finally(() => {
      fetches.running = undefined;
      if (fetches.isBehind && this.#isCurrent(source)) this.#listSoon(source, capability);
    });
    return fetches.running;
  }

  async #fetch(source: ResourceSource, capability: ListCapability, after: Promise<unknown> | undefined): Promise<void> {
    const fetches = this.#fetchesOf(source, capability);
    await Promise.allSettled([after]);
    const { outdated, pace } = fetches;
    fetches.isBehind = false;
    const former = this.#lists.get(source.definition.name) ?? noLists;
    const fetch = <Item>(kind: ListKind<Item>, before: KnownList<Item>) =>
      this.#fetchKind(source, { capability, kind, before, signal: outdated.signal });
    const [resources, templates, prompts] = await Promise.all([
      capability === 'resources' ? fetch(resourceKind, former.resources) : undefined,
      capability === 'resources' ? fetch(templateKind, former.templates) : undefined,
      capability === 'prompts' ? fetch(promptKind, former.prompts) : undefined,
    ]);
    if (!this.#isCurrent(source)) return;
    const isNews = this.#put(source.definition.name, capability, {
      ...(resources && { resources }),
      ...(templates && { templates }),
      ...(prompts && { prompts }),
    });
    pace.fetched(isNews);
  }

  /** Each list fails alone: without its templates a server still has its resources. A failed fetch keeps the list of before. */
  async #fetchKind<Item>(
    { definition, session }: ResourceSource,
    { capability, kind, before, signal }: KindFetch<Item>,
  ): Promise<KnownList<Item>> {
    const clock = this.#clock;
    for (let failures = 0; ; failures++) {
      try {
        const list = await fetchList(kind, { server: definition.name, session, clock, signal });
        const freshUntil = this.#freshUntil(list.ttlMs, announcesChanges(session, capability));
        return { ...list, listedAt: clock.now(), freshUntil };
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
    return isAnnounced ? Number.POSITIVE_INFINITY : this.#clock.now() + limits.resourcesFreshMs;
  }

  /** Gives whether the lists changed. */
  #put(server: ServerName, capability: ListCapability, news: Partial<ServerLists>): boolean {
    const before = this.#lists.get(server) ?? noLists;
    const lists = { ...before, ...news };
    const reported = new Set(this.problemsOf(server));
    this.#lists.set(server, lists);
    for (const problem of this.problemsOf(server))
      if (!reported.has(problem)) this.#emit({ type: 'catalog.problem-found', server, problem });
    const isNews = !isSame(before, lists, capability);
    if (isNews) this.#announce(server, capability);
    return isNews;
  }

  #empty(server: ServerName, capability: ListCapability): void {
    if (!this.#lists.has(server)) return;
    const news = capability === 'prompts' ? { prompts: nothing } : { resources: nothing, templates: nothing };
    this.#put(server, capability, news);
  }

  #announce(server: ServerName, capability: ListCapability): void {
    const { resources, templates, prompts } = this.countsOf(server);
    if (capability === 'prompts') this.#emit({ type: 'prompts.changed', server, count: prompts });
    else this.#emit({ type: 'resources.changed', server, count: resources, templates });
  }

  #outdate(server: ServerName): void {
    for (const { outdated } of Object.values(this.#sources.get(server)?.fetches ?? {})) outdated.abort();
    this.#sources.delete(server);
    this.#changed.forget(listCapabilities.map((capability) => JSON.stringify([capability, server])));
  }
}

const CHANGES: ReadonlyMap<string, ListCapability> = new Map([
  ['notifications/resources/list_changed', 'resources'],
  ['notifications/prompts/list_changed', 'prompts'],
]);

function isDeclared({ capabilities }: Session, capability: ListCapability): boolean {
  return capabilities[capability] !== undefined && capabilities[capability] !== null;
}

function withProblem<Item>(before: KnownList<Item>, kind: ListKind<Item>, failure: RuntimeError): KnownList<Item> {
  const problem = `its ${kind.called} could not be listed: ${failure.message}`;
  return { ...before, problems: [problem], failure };
}

function isSame(before: ServerLists, lists: ServerLists, capability: ListCapability): boolean {
  const spelled = ({ resources, templates, prompts }: ServerLists) =>
    canonicalJson(
      (capability === 'prompts' ? [prompts] : [resources, templates]).map(({ items }) =>
        [...items.values()].map(({ definition }) => definition),
      ),
    );
  return spelled(before) === spelled(lists);
}
