// Owns changes to the servers of one runtime: apply a configuration, wait until servers have settled, reconnect, disconnect,
// refresh their tools, announce the sandbox state.

import type { Catalog } from '../catalog/catalog.ts';
import type { CachedTools, ToolCache } from '../catalog/tool-cache.ts';
import type { Connection } from '../connection/connection.ts';
import type { Connections, ReconcileOptions } from '../connection/connections.ts';
import type { SandboxNotifier, SandboxState } from '../connection/sandbox-state.ts';
import type { Session } from '../connection/session.ts';
import type { ServerStatus } from '../connection/status.ts';
import type { Clock } from '../kernel/clock.ts';
import { settleWithin } from '../kernel/settle.ts';
import { builtinNames } from '../model/builtin.ts';
import type { ServerName } from '../model/names.ts';
import type { ServerDefinition } from '../model/server.ts';
import type { Breakers } from './breakers.ts';
import type { JudgedConfig } from './judge-config.ts';
import type { ServerOpener } from './open-server.ts';
import type { ServerRegistry } from './registry.ts';
import { closeRejudged } from './rejudged.ts';
import type { SharedSessions } from './sessions.ts';
import type { FleetStatus, Readiness } from './status.ts';

export interface FleetDeps {
  readonly registry: ServerRegistry;
  readonly connections: Connections;
  readonly catalog: Catalog;
  readonly toolCache: ToolCache;
  readonly opener: Pick<ServerOpener, 'approvalChange' | 'mayOpen' | 'renew'>;
  readonly breakers: Breakers;
  readonly sandbox: SandboxNotifier;
  readonly status: FleetStatus;
  readonly sessions: SharedSessions;
  readonly clock: Clock;
  /** The names of the host's own tools. */
  readonly reservedNames: readonly string[];
}

export interface ApplyOptions extends Pick<ReconcileOptions, 'replaceAll'> {
  /** Whether servers whose tools are cached are connected now, or left until they are called. */
  readonly whenCached?: 'connect' | 'leave' | undefined;
  /** Called as soon as the configuration is in effect: private connections follow it in the same moment as shared ones. */
  readonly follow?: (() => Promise<void>) | undefined;
  /** `leave`: servers whose tools are not cached are left until they are called too. */
  readonly whenUncached?: 'background' | 'wait' | 'leave' | undefined;
  /** When a lazy server whose tools are not cached is started: when a model or a call asks for it, or now. */
  readonly lazyList?: 'on-request' | 'at-start' | undefined;
}

export interface WaitOptions {
  readonly timeoutMs: number;
  readonly servers?: readonly ServerName[] | undefined;
  /** Wait for further attempts to connect too, not only for the first one. */
  readonly untilDecided?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export class Fleet {
  readonly #deps: FleetDeps;
  /** Eager servers whose tools are cached: connected once nobody waits for the start any more. */
  #toConnect: readonly ServerName[] = [];

  constructor(deps: FleetDeps) {
    this.#deps = deps;
  }

  /**
   * Makes the servers what the configuration says. Servers that are gone end, and those that changed restart or take over their
   * settings, before anything is awaited: no call is checked against the new entry and sent to the old server.
   */
  async apply(
    config: JudgedConfig,
    {
      replaceAll,
      follow,
      whenCached = 'connect',
      whenUncached,
      lazyList = config.settings.lazyList,
    }: ApplyOptions = {},
  ): Promise<{ readonly cacheReadMs: number }> {
    const { registry, catalog, connections, toolCache, clock } = this.#deps;
    registry.apply(config);
    const used = registry.used();
    catalog.configure(catalogSettings(config.settings, this.#deps.reservedNames));
    const followed = Promise.all([replaceAll ? undefined : connections.retain(used), follow?.()]);
    await Promise.all([closeRejudged(connections, this.#deps.opener), this.#hideUnapproved()]);
    const readFrom = clock.now();
    const cached = await toolCache.read(used, (definition, late) => this.#adopt([[definition, late]]));
    const cacheReadMs = clock.now() - readFrom;
    const isStartedNow = { eager: true, lazy: lazyList === 'at-start', manual: false };
    const isWantedAtOnce = (definition: ServerDefinition) =>
      whenUncached !== 'leave' && !cached.has(definition) && isStartedNow[definition.settings.lifecycle];
    const reconciled = connections.reconcile(used, { isWantedAtOnce, replaceAll });
    // `reconcile` has removed the tools of changed servers, so cached ones may be adopted now.
    this.#adopt([...cached]);
    const isToConnect = ({ settings }: ServerDefinition) => settings.lifecycle === 'eager' && whenCached === 'connect';
    this.#toConnect = [...cached.keys()].filter(isToConnect).map(({ name }) => name);
    await Promise.all([followed, reconciled]);
    return { cacheReadMs };
  }

  connectCached(): void {
    for (const server of this.#toConnect) this.#deps.connections.get(server)?.connection.wake();
    this.#toConnect = [];
  }

  /** Servers without any tool list yet, which a start waits for. */
  uncached(): readonly ServerName[] {
    const { connections, catalog } = this.#deps;
    return connections
      .all()
      .map(({ definition }) => definition.name)
      .filter((name) => catalog.get(name) === undefined);
  }

  /** Resolves when the servers have settled or the time is up, and says which are not ready and why. */
  async ready(options: WaitOptions): Promise<Readiness> {
    this.connectCached();
    await this.settled(options);
    return this.#deps.status.readiness(options.servers);
  }

  async settled({ timeoutMs, servers, untilDecided = false, signal }: WaitOptions): Promise<void> {
    const { connections, catalog, status, clock } = this.#deps;
    const isAwaited = (name: ServerName) => servers?.includes(name) ?? connections.get(name) !== undefined;
    for (const name of servers ?? []) status.requireConfigured(name);
    const settling = connections
      .all()
      .filter(({ definition }) => isAwaited(definition.name))
      .map(async ({ definition, connection }) => {
        await (untilDecided ? connection.whenDecided() : connection.whenSettled());
        await catalog.listed(definition.name);
      });
    await settleWithin(settling, { limitMs: timeoutMs, clock, signal });
  }

  /** Lists tools again and wakes servers that are not up. For a named server, a failure is thrown. */
  async refreshTools(server?: ServerName): Promise<void> {
    if (server !== undefined) return this.#refresh(server);
    const started = this.#deps.connections
      .all()
      .filter(({ definition, connection }) => isStarted(definition, connection));
    await Promise.allSettled(started.map(({ definition }) => this.#refresh(definition.name)));
  }

  /** Forgets the tool lists on disk, and those of servers that are not up. A server that is up keeps its list, and stores the next one. */
  async clearCache(server?: ServerName): Promise<void> {
    const { registry, toolCache, catalog, status } = this.#deps;
    if (server !== undefined) status.requireConfigured(server);
    const cleared = registry.definitions().filter(({ name }) => server === undefined || name === server);
    await toolCache.clear(cleared);
    for (const { name } of cleared) if (catalog.get(name)?.freshness === 'cached') catalog.remove(name);
  }

  /** A fresh start for one server: its failures are forgotten, and no session that is open now is shared. Rejects if its first attempt fails. */
  async reconnect(server: ServerName): Promise<ServerStatus> {
    const { breakers, opener, sessions, connections, catalog, status } = this.#deps;
    breakers.reset(server);
    opener.renew(server);
    sessions.require(server);
    connections.reconnect(server);
    await connections.get(server)?.connection.whenSettled();
    await catalog.listed(server);
    const now = status.of(server);
    if (now.error !== undefined) throw now.error;
    return now;
  }

  /** Closes one server, or all of them; each stays closed until it is reconnected or the configuration changes. */
  async disconnect(server?: ServerName): Promise<void> {
    const { sessions, connections } = this.#deps;
    if (server !== undefined) sessions.require(server);
    const names = server === undefined ? connections.all().map(({ definition }) => definition.name) : [server];
    await Promise.all(names.map((name) => connections.disconnect(name)));
  }

  /** Tells every connected server, also in private sessions, what the agent may touch. */
  announceSandbox(state: SandboxState, privateSessions: readonly Session[]): void {
    const { connections, sandbox } = this.#deps;
    const shared = connections
      .all()
      .flatMap(({ definition: { name }, connection: { session } }) =>
        session ? [{ session, openAnew: () => connections.reconnect(name) }] : [],
      );
    const own = privateSessions.map((session) => ({ session, openAnew: () => undefined }));
    sandbox.announce(state, [...shared, ...own]);
  }

  /** Shows cached tools, unless the server was replaced or disconnected while they were read. */
  #adopt(cached: readonly (readonly [ServerDefinition, CachedTools])[]): void {
    const { registry, catalog, connections } = this.#deps;
    const current = cached.filter(([definition]) => registry.definition(definition.name) === definition);
    const isOpen = ({ name }: ServerDefinition) => connections.get(name)?.connection.state.kind !== 'closed';
    const shown = current.filter(([definition]) => isOpen(definition));
    const approved = current.filter(([, { isUnapprovedWorkspaceServer }]) => !isUnapprovedWorkspaceServer);
    registry.markApproved(approved.map(([{ name }]) => name));
    catalog.adopt(shown.map(([definition, { listing }]) => [definition, listing]));
  }

  /** The tools of a former launch are not for a model while nobody approved the new one. */
  async #hideUnapproved(): Promise<void> {
    const { connections, catalog, opener } = this.#deps;
    const former = connections.all().filter(({ definition }) => catalog.get(definition.name)?.isFormer);
    const hidden = former.map(async ({ definition }) => {
      if (!(await opener.mayOpen(definition))) catalog.remove(definition.name);
    });
    await Promise.all(hidden);
  }

  async #refresh(server: ServerName): Promise<void> {
    const { sessions, catalog } = this.#deps;
    const session = await sessions.whenReady(server);
    await catalog.list(sessions.require(server).definition, session);
    const failure = catalog.get(server)?.error;
    if (failure) throw failure;
  }
}

function catalogSettings(
  { naming, maxToolNameLength, descriptionPrefix, toolCacheTtlMs }: JudgedConfig['settings'],
  reservedNames: readonly string[],
) {
  const reserved = new Set<string>([...builtinNames, ...reservedNames]);
  return { naming: { style: naming, maxLength: maxToolNameLength, reserved }, descriptionPrefix, toolCacheTtlMs };
}

/** Skip closed servers and manual servers that were never started. */
const isStarted = ({ settings }: ServerDefinition, { state }: Connection) =>
  state.kind !== 'closed' && !(settings.lifecycle === 'manual' && state.kind === 'idle');
