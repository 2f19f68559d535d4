// Owns one runtime as the gateway uses it: the fleet of one workspace. Reaches its servers, waits for their lists, and tells when
// a list has changed.

import { pathToFileURL } from 'node:url';
import { partsOf, type Runtime } from '../api.ts';
import type { ListCapability } from '../catalog/listing.ts';
import type { CatalogSnapshot } from '../catalog/snapshot.ts';
import type { Session } from '../connection/session.ts';
import type { ServerStatus } from '../connection/status.ts';
import { settleWithin } from '../kernel/settle.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { isRemote, type LogLevel, type ServerDefinition } from '../model/server.ts';
import type { ChangedList } from '../serving/changes.ts';
import { isWanted } from '../serving/running-call.ts';
import { definitionHash } from '../trust/fingerprint.ts';
import { ServerLine } from './server-line.ts';

/** The server whose list has changed; or the tools of all servers, before and after. */
export type ListChange =
  | { readonly server: ServerName }
  | { readonly before: CatalogSnapshot; readonly after: CatalogSnapshot };

const heardEvents = ['catalog.changed', 'resources.changed', 'prompts.changed', 'connection.list-announced'] as const;

/** By session, which several workspaces may share. */
const toldLevels = new WeakMap<Session['origin'], LogLevel>();

/** Tells a server that all workspaces share from others; `undefined` for a server that each workspace has for itself. */
function keyForAll(definition: ServerDefinition): string | undefined {
  const { name, settings } = definition;
  if (settings.share === 'machine') return name;
  return isRemote(definition) ? definitionHash(definition) : undefined;
}

export class GatewayFleet {
  readonly runtime: Runtime;
  readonly parts: ReturnType<typeof partsOf>;
  /** The folder whose clients it serves; the gateway's own fleet has none. */
  readonly workspace: string | undefined;
  readonly #lines = new Map<string, ServerLine>();
  readonly #sharedLines: Map<string, ServerLine>;
  /** Requests of its clients that are under way, or wait in the line of their server. */
  #inFlight = 0;
  /** A start is waited for once: a server that hangs delays the first lists alone. */
  readonly #started: Promise<unknown>;
  readonly #woken = new Set<ServerName>();
  /** The lists that servers said have changed, and that no client has asked for since. */
  readonly #announced: Readonly<Record<ChangedList, Set<ServerName>>> = {
    tools: new Set(),
    resources: new Set(),
    prompts: new Set(),
  };

  /** All clients that ask meanwhile wait for the same lists. */
  readonly #refreshing = new Map<ChangedList, Promise<void>>();

  /** `sharedLines`: of the servers that all workspaces share. */
  constructor(runtime: Runtime, workspace?: string, sharedLines = new Map<string, ServerLine>()) {
    this.runtime = runtime;
    this.#sharedLines = sharedLines;
    this.parts = partsOf(runtime);
    this.workspace = workspace;
    this.#started = runtime.ready({ timeoutMs: limits.listWaitMs });
    this.parts.host.on(
      (event) => {
        // A lease that joins a session tells the server the level of its entry.
        if (event.type === 'connection.changed' && event.to === 'ready') this.#tellLogLevel(event.server, true);
      },
      ['connection.changed'],
    );
  }

  get servers(): ReturnType<typeof partsOf>['servers'] {
    return this.parts.servers;
  }

  status(): readonly ServerStatus[] {
    return this.runtime.status();
  }

  hasServer(server: ServerName): boolean {
    return this.status().some(({ name }) => name === server);
  }

  /** The options with which a command of a person is about this fleet: an approval counts in one folder. */
  commandOptions(): readonly string[] {
    const { environment, options } = this.parts.host;
    return ['--cwd', environment.cwd, ...(options.config === undefined ? [] : ['--config', options.config])];
  }

  /** The roots that its servers are told, by value. */
  roots(): readonly { readonly uri: string }[] {
    return this.workspace === undefined ? [] : [{ uri: pathToFileURL(this.workspace).href }];
  }

  lineOf(server: ServerName): ServerLine {
    const definition = this.servers.registry.definition(server);
    const shared = definition && keyForAll(definition);
    const [lines, key] = shared === undefined ? [this.#lines, server] : [this.#sharedLines, shared];
    const known = lines.get(key);
    if (known !== undefined) return known;
    const line = new ServerLine(server);
    lines.set(key, line);
    return line;
  }

  /** Requests are under way, also those of a client that is of another folder by now. */
  get isBusy(): boolean {
    return this.#inFlight > 0;
  }

  requestBegan(): void {
    this.#inFlight++;
  }

  requestEnded(): void {
    this.#inFlight--;
  }

  /** Told at once when a server announces a change: the list is fetched when a client asks for it. */
  onListChanged(listener: (kind: ChangedList, changed: ListChange) => void): () => void {
    let tools = this.servers.catalog.snapshot();
    return this.parts.host.on((event) => {
      switch (event.type) {
        case 'catalog.changed': {
          const before = tools;
          tools = this.servers.catalog.snapshot();
          return listener('tools', { before, after: tools });
        }
        case 'connection.list-announced':
          this.#announced[event.list].add(event.server);
          return listener(event.list, event);
        case 'resources.changed':
          return listener('resources', event);
        case 'prompts.changed':
          return listener('prompts', event);
      }
    }, heardEvents);
  }

  async #refresh(list: ChangedList): Promise<void> {
    const { fleet, resourceCatalog } = this.servers;
    const servers = [...this.#announced[list]];
    this.#announced[list].clear();
    const refreshed = (server: ServerName) =>
      list === 'tools' ? fleet.refreshTools(server) : resourceCatalog.refresh(list, server);
    const before = this.#refreshing.get(list);
    if (servers.length === 0) return before;
    const refreshing = this.#settled(servers.map(refreshed)).then(() => before);
    this.#refreshing.set(list, refreshing);
    await refreshing;
    if (this.#refreshing.get(list) === refreshing) this.#refreshing.delete(list);
  }

  /** Starts the server where it is not up. Throws why it cannot be used. */
  session(server: ServerName): Promise<Session> {
    const open = this.servers.sessions.open(server);
    return open ? Promise.resolve(open) : this.servers.sessions.whenReady(server);
  }

  /**
   * A client wants log messages from this level on. The server is told the most verbose level that any client wants, or its entry;
   * each client then gets its own share. A modern server is told with each request.
   */
  wantLogLevel(server: ServerName, level: LogLevel): void {
    const line = this.lineOf(server);
    const known = line.logLevel ?? this.servers.registry.settings(server)?.logLevel;
    if (known === undefined || !isWanted(level, known)) line.logLevel = level;
    this.#tellLogLevel(server);
  }

  /** Also told to a session that opens later: its first call may be the one that wants it. */
  #tellLogLevel(server: ServerName, isAgain = false): void {
    const session = this.servers.sessions.open(server);
    const level = this.lineOf(server).logLevel;
    if (session === undefined || session.era === 'modern' || session.capabilities['logging'] === undefined) return;
    if (level === undefined || (!isAgain && toldLevels.get(session.origin) === level)) return;
    toldLevels.set(session.origin, level);
    void session.request('logging/setLevel', { level }, { repeatable: true });
  }

  /** Resolves when the tools of all servers are known that come up in time. */
  async whenToolsListed(server?: ServerName): Promise<void> {
    this.servers.catalog.revalidate();
    if (server === undefined) await this.#started;
    else {
      await this.session(server);
      await this.servers.sessions.whenListed(server);
    }
    await this.#refresh('tools');
  }

  /** The same for resources or prompts. A server whose tools are known from the cache is started for them. */
  async whenListed(capability: ListCapability, server?: ServerName): Promise<void> {
    const { sessions, resourceCatalog } = this.servers;
    if (server !== undefined) await this.session(server);
    else {
      await this.#started;
      await this.#settled(this.#unlisted(capability).map((name) => sessions.whenReady(name)));
    }
    await this.#settled([resourceCatalog.listed(capability, server)]);
    await this.#refresh(capability);
  }

  /** Resolves when lists that are being fetched are there; no server is started for it. */
  whenFetched(capability: ListCapability): Promise<void> {
    return this.#settled([this.servers.resourceCatalog.listed(capability)]);
  }

  #unlisted(capability: ListCapability): readonly ServerName[] {
    const { catalog, registry, sessions } = this.servers;
    const names = registry.inTurns().map(({ name }) => name);
    const unlisted = names.filter(
      (name) =>
        !this.#woken.has(name) &&
        sessions.open(name) === undefined &&
        catalog.get(name)?.capabilities?.includes(capability) === true,
    );
    for (const name of unlisted) this.#woken.add(name);
    return unlisted;
  }

  async #settled(work: readonly Promise<unknown>[]): Promise<void> {
    const { clock } = this.parts.host;
    if (work.length > 0) await settleWithin([Promise.allSettled(work)], { limitMs: limits.listWaitMs, clock });
  }
}
