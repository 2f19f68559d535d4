// Owns the servers of one runtime as they are now: what is configured, who is connected, which tools they brought.
// Answers the questions that the stages of a call and the outside ask about them.

import type { Readiness, RuntimeStats } from './api.ts';
import type { CallLimits } from './call/deadline.ts';
import type { Breakers } from './call/guard.ts';
import type { Lines } from './call/lines.ts';
import { whyMissing } from './call/missing.ts';
import type { Catalog } from './catalog/catalog.ts';
import type { ServerInstructions } from './catalog/exposure/instructions.ts';
import { createPlacement } from './catalog/exposure/placement.ts';
import { speaksOf } from './catalog/filter.ts';
import type { ResourceCatalog } from './catalog/resources/resource-catalog.ts';
import type { LoadedConfig } from './config/load.ts';
import { invalidStatus, suppressedStatus } from './connection/absent-status.ts';
import type { Connection } from './connection/connection.ts';
import type { Connections, Reconciling } from './connection/connections.ts';
import type { SandboxNews, SandboxState } from './connection/sandbox-state.ts';
import type { Session } from './connection/session.ts';
import { type ServerStatus, statusOf } from './connection/status.ts';
import type { Clock } from './kernel/clock.ts';
import type { JsonObject } from './kernel/json.ts';
import { nearest } from './kernel/nearest.ts';
import { settleWithin } from './kernel/settle.ts';
import { builtinNames } from './model/builtin.ts';
import { RuntimeError } from './model/errors.ts';
import { limits } from './model/limits.ts';
import type { QualifiedName, ServerName } from './model/names.ts';
import type { ServerDefinition } from './model/server.ts';
import type { Tool } from './model/tool.ts';
import type { Common } from './offering.ts';
import type { Memory } from './remembering.ts';
import type { Standing } from './standing.ts';

export interface FleetDeps {
  readonly standing: Standing;
  readonly connections: Connections;
  readonly catalog: Catalog;
  readonly offers: ResourceCatalog;
  readonly memory: Memory;
  readonly opening: { mayStay(definition: ServerDefinition): Promise<boolean> };
  readonly breakers: Breakers;
  readonly sandbox: SandboxNews;
  readonly clock: Clock;
}

export interface Applying extends Pick<Reconciling, 'replaceAll'> {
  /** Whether servers whose tools are known are connected all the same, or left until they are called. */
  readonly whenCached?: 'connect' | 'leave' | undefined;
  /** How long what is remembered may take to be read. */
  readonly recallMs?: number | undefined;
}

export interface Waiting {
  readonly timeoutMs: number;
  readonly servers?: readonly ServerName[] | undefined;
  /** Whether further attempts are waited for, and not only the first one. */
  readonly untilDecided?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export class Fleet implements Lines {
  readonly #deps: FleetDeps;
  readonly #connections: Connections;
  readonly #catalog: Catalog;
  readonly #clock: Clock;
  readonly #standing: Standing;
  #expected: readonly ServerName[] = [];
  #common: { readonly said: readonly ServerInstructions[]; readonly common: Common } | undefined;

  constructor(deps: FleetDeps) {
    const { connections, catalog, clock, standing } = deps;
    this.#deps = deps;
    this.#connections = connections;
    this.#catalog = catalog;
    this.#clock = clock;
    this.#standing = standing;
  }

  /** Makes the fleet what the configuration says; connections that did not change stay as they are. */
  async apply(
    config: LoadedConfig,
    { replaceAll, whenCached = 'connect', recallMs = config.settings.startup.gateMs }: Applying = {},
  ): Promise<void> {
    this.#standing.apply(config);
    const used = this.#standing.used();
    this.#common = undefined;
    this.#catalog.configure(styleOf(config.settings));
    await this.#endRevoked();
    const known = await this.#deps.memory.recall(used, recallMs);
    // A lazy server is started right away only to learn what it offers.
    const isWantedAtOnce = (definition: ServerDefinition) =>
      !known.has(definition) && definition.settings.lifecycle !== 'manual';
    const reconciled = this.#connections.reconcile(used, { isWantedAtOnce, replaceAll });
    // Only now: what a server that has changed brought before is gone. One that was disconnected stays without tools.
    const isStopped = ({ name }: ServerDefinition) => this.#connections.get(name)?.connection.state.kind === 'closed';
    const shown = [...known].filter(([definition]) => !isStopped(definition));
    this.#catalog.adopt(shown.map(([definition, { listing }]) => [definition, listing]));
    this.#standing.markApproved(
      [...known].flatMap(([{ name }, { isUnapprovedWorkspaceServer }]) => (isUnapprovedWorkspaceServer ? [] : [name])),
    );
    const isExpected = ({ settings }: ServerDefinition) => settings.lifecycle === 'eager' && whenCached === 'connect';
    this.#expected = [...known.keys()].filter(isExpected).map(({ name }) => name);
    await reconciled;
  }

  expected(): readonly ServerName[] {
    return this.#expected;
  }

  /** What a person no longer approves does not go on because it was open. */
  async #endRevoked(): Promise<void> {
    const open = this.#connections.all().filter(({ connection }) => connection.session !== undefined);
    const judged = open.map(async ({ definition }) => ({
      name: definition.name,
      mayStay: await this.#deps.opening.mayStay(definition),
    }));
    for (const { name, mayStay } of await Promise.all(judged)) if (!mayStay) this.#connections.reconnect(name);
  }

  /** Opens those that a start need not wait for: what they offer is known, and so is that they will be needed. */
  openExpected(): void {
    for (const server of this.#expected) this.#connections.get(server)?.connection.wake();
    this.#expected = [];
  }

  /** Those whose tools nobody knows yet: what a start waits for. */
  uncached(): readonly ServerName[] {
    return this.#connections
      .all()
      .map(({ definition }) => definition.name)
      .filter((name) => this.#catalog.get(name) === undefined);
  }

  status(): ServerStatus[] {
    const { invalid = [], suppressed = [] } = this.#standing.absent();
    const used = [...this.#standing.definitions().map((each) => this.#statusOf(each)), ...invalid.map(invalidStatus)];
    const names = new Set(used.map(({ name }) => name));
    const silenced = suppressed.filter(({ name }) => !names.has(name) && names.add(name));
    return [...used, ...silenced.map(suppressedStatus)].sort((a, b) =>
      a.name < b.name ? -1 : a.name > b.name ? 1 : 0,
    );
  }

  /** Resolves when the servers have settled, for better or worse, or the time is up; says who is not ready, and why. */
  async ready(waiting: Waiting): Promise<Readiness> {
    this.openExpected();
    await this.settled(waiting);
    return this.readiness(waiting.servers);
  }

  async settled({ timeoutMs, servers, untilDecided = false, signal }: Waiting): Promise<void> {
    const isAwaited = (name: ServerName) => servers?.includes(name) ?? this.#connections.get(name) !== undefined;
    for (const name of servers ?? []) this.#requireKnown(name);
    const settling = this.#connections
      .all()
      .filter(({ definition }) => isAwaited(definition.name))
      .map(async ({ definition, connection }) => {
        await (untilDecided ? connection.whenDecided() : connection.whenSettled());
        await this.#catalog.listed(definition.name);
      });
    await settleWithin(settling, { limitMs: timeoutMs, clock: this.#clock, signal });
  }

  /** Who is up, and who is not although it should be. */
  readiness(servers?: readonly ServerName[]): Readiness {
    const isAsked = (name: ServerName) => servers?.includes(name) ?? this.#connections.get(name) !== undefined;
    // Who is up without having said what it offers is of no use yet.
    const isReady = ({ name, status }: ServerStatus) => status === 'connected' && this.#catalog.get(name) !== undefined;
    const statuses = this.status().filter(({ name }) => isAsked(name));
    return {
      ready: statuses.filter(isReady).map(({ name }) => name),
      notReady: statuses
        // Who waits for its first call is where it should be.
        .filter((each) => !isReady(each) && each.state !== 'idle')
        .map(({ name, status, state, error }) => ({
          server: name,
          ...(status === 'connected' ? unlisted : { state, ...(error && { message: error.message }) }),
        })),
    };
  }

  /** Lists anew what the servers offer, and wakes those that are not up. One that was named must succeed. */
  async refreshTools(server?: ServerName): Promise<void> {
    if (server !== undefined) return this.#refreshOne(server);
    const started = this.#connections.all().filter(({ definition, connection }) => isStarted(definition, connection));
    await Promise.allSettled(started.map(({ definition }) => this.#refreshOne(definition.name)));
  }

  async #refreshOne(server: ServerName): Promise<void> {
    const session = await this.whenReady(server);
    await this.#catalog.list(this.#require(server).definition, session);
    const failure = this.#catalog.get(server)?.error;
    if (failure) throw failure;
  }

  stats(): RuntimeStats {
    const servers = this.status();
    const used = this.#connections.all();
    return {
      servers: servers.length,
      connected: servers.filter(({ status }) => status === 'connected').length,
      tools: this.#catalog.snapshot().tools.length,
      toolsByServer: Object.fromEntries(servers.map(({ name, toolCount }) => [name, toolCount])),
      isGatewayMode: used.length === 1 && used.every(({ definition }) => isGateway(definition)),
    };
  }

  reconnect(server: ServerName): void {
    this.#require(server);
    this.#connections.reconnect(server);
  }

  async disconnect(server: ServerName): Promise<void> {
    this.#require(server);
    await this.#connections.disconnect(server);
  }

  /** What every view is offered alike. */
  common(): Common {
    const said = this.#catalog.instructions();
    if (this.#common?.said !== said) this.#common = { said, common: this.#createCommon(said) };
    return this.#common.common;
  }

  #createCommon(said: readonly ServerInstructions[]): Common {
    const { settings } = this.#standing.config();
    const isHeard = ({ server }: ServerInstructions) =>
      this.#standing.definition(server)?.settings.instructions === true;
    return {
      toolSearch: settings.toolSearch,
      placementOf: createPlacement({
        isAlwaysLoaded: (tool) => settings.alwaysLoad.some((pattern) => speaksOf(pattern, tool)),
        settingsOf: (server) => this.#standing.definition(server)?.settings,
      }),
      servers: this.#standing.used().map(({ name, settings: { title } }) => ({ name, title })),
      instructions: settings.instructions ? said.filter(isHeard) : [],
      isWrapped: settings.results.wrap,
    };
  }

  /** Why a search may find nothing of a server, in words for a model. */
  remarks(): readonly string[] {
    return this.readiness().notReady.map(({ server, state }) => `Server "${server}" is ${state}.`);
  }

  callLimits(server: ServerName): CallLimits {
    return this.#standing.callLimits({ server });
  }

  maxMessageBytes(server: ServerName): number {
    return this.#standing.maxMessageBytes(server);
  }

  open(server: ServerName): Session | undefined {
    return this.#connections.get(server)?.connection.session;
  }

  async whenReady(server: ServerName): Promise<Session> {
    return this.#startable(server).whenReady();
  }

  async whenListed(server: ServerName): Promise<void> {
    await settleWithin([this.#catalog.listed(server)], { limitMs: limits.offersWaitMs, clock: this.#clock });
  }

  async whenReplaced(server: ServerName, lost: Session): Promise<Session> {
    return this.#startable(server).whenReplaced(lost);
  }

  /** What a tool says of itself counts only where somebody vouches for its server, and only from its own mouth. */
  trustsAnnotations({ id, freshness }: Tool): boolean {
    return freshness === 'live' && this.#standing.definition(id.server)?.settings.trustHints === true;
  }

  isRepeatable(tool: Tool): boolean {
    const { readOnlyHint, destructiveHint, idempotentHint } = tool.definition.annotations ?? {};
    if (!this.trustsAnnotations(tool)) return false;
    return idempotentHint === true || (readOnlyHint === true && destructiveHint !== true);
  }

  metaFor(session: Session): JsonObject | undefined {
    return this.#deps.sandbox.metaFor(session);
  }

  /** Says to every server that is up what the agent may touch. */
  announce(state: SandboxState, others: readonly Session[]): void {
    const shared = this.#connections
      .all()
      .flatMap(({ definition: { name }, connection: { session } }) =>
        session ? [{ session, openAnew: () => this.#connections.reconnect(name) }] : [],
      );
    const own = others.map((session) => ({ session, openAnew: () => undefined }));
    this.#deps.sandbox.announce(state, [...shared, ...own]);
  }

  #startable(server: ServerName): Connection {
    this.requireStartable(server);
    return this.#require(server).connection;
  }

  /** A server that nobody but a person starts is not started by a call. */
  requireStartable(server: ServerName): void {
    const { connection, definition } = this.#require(server);
    if (definition.settings.lifecycle !== 'manual' || connection.state.kind !== 'idle') return;
    const because = `it is started by hand only (lifecycle = "manual"), with reconnect(${JSON.stringify(server)})`;
    throw new RuntimeError('SERVER_DENIED', { server, because });
  }

  /** For the explanation only, never for routing: names are spelled again and compared. */
  whyMissing(name: QualifiedName): string | undefined {
    const servers = this.#standing.definitions().map((definition) => {
      const { state, error } = this.#statusOf(definition);
      return { server: definition.name, state, error, hidden: this.#catalog.get(definition.name)?.hidden ?? none };
    });
    return whyMissing(name, servers);
  }

  #statusOf(definition: ServerDefinition): ServerStatus {
    const entry = this.#catalog.get(definition.name);
    return statusOf({
      definition,
      connection: this.#connections.get(definition.name)?.connection,
      refusal: this.#standing.refusal(definition.name),
      breaker: this.#deps.breakers.statusOf(definition.name),
      listing: {
        toolCount: entry?.tools.length ?? 0,
        hiddenCount: entry?.hidden.length ?? 0,
        freshness: entry?.freshness,
        listedAt: entry?.listedAt,
        problems: [
          ...this.#standing.warningsOf(definition.name),
          ...(entry?.problems ?? []),
          ...this.#deps.offers.problemsOf(definition.name),
        ],
        ...(entry?.error && { error: entry.error }),
      },
      now: this.#clock.now(),
    });
  }

  #require(server: ServerName) {
    const entry = this.#connections.get(server);
    if (entry) return entry;
    this.#requireKnown(server);
    const because = this.#standing.refusal(server) ?? 'it is disabled, or its entry is not valid';
    throw new RuntimeError('SERVER_DENIED', { server, because });
  }

  #requireKnown(server: ServerName): void {
    if (this.#standing.definition(server) !== undefined) return;
    const names = this.status().map(({ name }) => name);
    if (names.includes(server)) return;
    throw new RuntimeError('SERVER_UNKNOWN', { server, nearest: nearest(server, names, limits.suggestions) });
  }
}

function styleOf({ naming, maxToolNameLength, descriptionPrefix, toolCacheTtlMs }: LoadedConfig['settings']) {
  const reserved = new Set<string>(builtinNames);
  return { naming: { style: naming, maxLength: maxToolNameLength, reserved }, descriptionPrefix, toolCacheTtlMs };
}

const none: readonly string[] = [];

const unlisted = { state: 'connecting', message: 'It is up, and has not listed its tools yet.' } as const;

/** Who nobody has started yet is left alone. */
const isStarted = ({ settings }: ServerDefinition, { state }: Connection) =>
  state.kind !== 'closed' && !(settings.lifecycle === 'manual' && state.kind === 'idle');

/** What the container engine's source yields; see `config/sources/docker-gateway.ts`. */
const isGateway = ({ provenance }: ServerDefinition) => provenance.provider === 'docker';
