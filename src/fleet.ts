// Owns the servers of one runtime as they are now: what is configured, who is connected, which tools they brought.
// Answers the questions that the stages of a call and the outside ask about them.

import { isDeepStrictEqual } from 'node:util';
import type { Readiness, RuntimeStats } from './api.ts';
import type { CallLimits } from './call/deadline.ts';
import type { Breakers } from './call/guard.ts';
import type { Lines } from './call/lines.ts';
import type { Directory } from './call/resolve.ts';
import type { Catalog } from './catalog/catalog.ts';
import type { KnownTools } from './catalog/known-tools.ts';
import type { Listing } from './catalog/listing.ts';
import { assignNames } from './catalog/naming.ts';
import type { ListedServers } from './config/lists.ts';
import type { LoadedConfig } from './config/load.ts';
import type { Connection } from './connection/connection.ts';
import type { Connections, Reconciling } from './connection/connections.ts';
import type { SandboxNews, SandboxState } from './connection/sandbox-state.ts';
import type { Session } from './connection/session.ts';
import { type ServerStatus, statusOf } from './connection/status.ts';
import type { Clock } from './kernel/clock.ts';
import { canonicalJson, type JsonObject } from './kernel/json.ts';
import { nearest } from './kernel/nearest.ts';
import { settleWithin } from './kernel/settle.ts';
import { RuntimeError } from './model/errors.ts';
import { limits } from './model/limits.ts';
import type { QualifiedName, ServerName } from './model/names.ts';
import { labelOf, type ServerDefinition } from './model/server.ts';
import type { Tool } from './model/tool.ts';
import { parseRule, type Rule } from './policy/rule.ts';
import { definitionHash } from './trust/fingerprint.ts';

/** What is known of a server only once everything is filled in. */
export interface Prepared {
  /** What was filled in, as written. */
  readonly launch: ServerDefinition['launch'];
  /** What it goes without, in words for the person. */
  readonly warnings: readonly string[];
  /** A workspace's server that nobody approved: what the person allows to servers of its name was not meant for it. */
  readonly isStranger: boolean;
  /** Asks lists again. What was filled in stays inside. */
  readonly refusal: (lists: readonly ListedServers[]) => string | undefined;
}

export interface FleetParts {
  readonly connections: Connections;
  readonly catalog: Catalog;
  readonly knownTools: KnownTools;
  readonly breakers: Breakers;
  readonly sandbox: SandboxNews;
  readonly clock: Clock;
}

export interface Waiting {
  readonly timeoutMs: number;
  readonly servers?: readonly ServerName[] | undefined;
  /** Whether further attempts are waited for, and not only the first one. */
  readonly untilDecided?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export class Fleet implements Lines, Directory {
  readonly #parts: FleetParts;
  readonly #connections: Connections;
  readonly #catalog: Catalog;
  readonly #clock: Clock;
  #config: LoadedConfig | undefined;
  #definitions = new Map<ServerName, ServerDefinition>();
  #rules: readonly Rule[] = [];
  #prepared = new Map<ServerName, Prepared>();
  #used: readonly ServerDefinition[] = [];
  #refused: ReadonlyMap<ServerName, string> = new Map();

  constructor(parts: FleetParts) {
    const { connections, catalog, clock } = parts;
    this.#parts = parts;
    this.#connections = connections;
    this.#catalog = catalog;
    this.#clock = clock;
  }

  /** Makes the fleet what the configuration says; connections that did not change stay as they are. */
  async apply(config: LoadedConfig, { replaceAll }: Pick<Reconciling, 'replaceAll'> = {}): Promise<void> {
    this.#config = config;
    this.#definitions = new Map(config.definitions.map((definition) => [definition.name, definition]));
    this.#rules = config.rules.map(parseRule);
    this.#forgetChanged();
    this.#refused = this.#refusals(config);
    const used = config.definitions.filter(({ name, settings }) => settings.enabled && !this.#refused.has(name));
    this.#used = used;
    const known = await this.#knownTools(used);
    const isWantedAtOnce = ({ name, settings }: ServerDefinition) =>
      settings.lifecycle === 'eager' || (settings.lifecycle === 'lazy' && !known.has(name));
    const reconciled = this.#connections.reconcile(used, { isWantedAtOnce, replaceAll });
    // Only now: what a server that has changed brought before is gone. One that was disconnected stays without tools.
    for (const { definition, connection } of this.#connections.all()) {
      const listing = known.get(definition.name);
      if (listing && connection.state.kind !== 'closed') this.#catalog.adopt(definition, listing);
    }
    await reconciled;
  }

  /** A lazy server is started right away only to learn what it offers: once that is known, it waits for its first call. */
  async #knownTools(definitions: readonly ServerDefinition[]): Promise<ReadonlyMap<ServerName, Listing>> {
    const known = new Map<ServerName, Listing>();
    const recall = async (definition: ServerDefinition) => {
      const listing = await this.#parts.knownTools.recall(toolsKey(definition));
      if (listing) known.set(definition.name, listing);
    };
    await Promise.all(definitions.filter(({ settings }) => settings.lifecycle !== 'eager').map(recall));
    return known;
  }

  /** Tools of servers that are not started before they are called are remembered for the next start. */
  async listed(definition: ServerDefinition): Promise<void> {
    const entry = this.#catalog.get(definition.name);
    if (definition.settings.lifecycle === 'eager' || entry === undefined || entry.error) return;
    await this.#parts.knownTools.remember(toolsKey(definition), entry);
  }

  /** What was found out about a server that is gone, or another one now, holds for nobody, and may hold secrets. */
  #forgetChanged(): void {
    for (const [server, { launch }] of this.#prepared) {
      if (!isDeepStrictEqual(launch, this.#definitions.get(server)?.launch)) this.#prepared.delete(server);
    }
  }

  /** By the files, and by what servers turned out to be once everything was filled in. */
  #refusals({ refused, lists }: LoadedConfig): ReadonlyMap<ServerName, string> {
    const found = new Map(refused);
    for (const [server, { refusal }] of this.#prepared) {
      const because = found.has(server) ? undefined : refusal(lists);
      if (because !== undefined) found.set(server, because);
    }
    return found;
  }

  status(): ServerStatus[] {
    const { invalid = [], suppressed = [] } = this.#config ?? {};
    const used = [
      ...[...this.#definitions.values()].map((each) => this.#statusOf(each)),
      ...invalid.map(invalidStatus),
    ];
    const names = new Set(used.map(({ name }) => name));
    const silenced = suppressed.filter(({ name }) => !names.has(name) && names.add(name));
    return [...used, ...silenced.map(suppressedStatus)].sort((a, b) =>
      a.name < b.name ? -1 : a.name > b.name ? 1 : 0,
    );
  }

  /** Resolves when the servers have settled, for better or worse, or the time is up; says who is not ready, and why. */
  async ready({ timeoutMs, servers, untilDecided = false, signal }: Waiting): Promise<Readiness> {
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
    const statuses = this.status().filter(({ name }) => isAwaited(name));
    return {
      ready: statuses.filter((each) => each.status === 'connected').map((each) => each.name),
      notReady: statuses
        // Who waits for its first call is where it should be.
        .filter((each) => each.status !== 'connected' && each.state !== 'idle')
        .map(({ name, state, error }) => ({ server: name, state, ...(error && { message: error.message }) })),
    };
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

  /** What its opening found out about a server; news replaces what was known before. */
  readonly prepared = (server: ServerName, prepared: Prepared): void => {
    this.#prepared.set(server, prepared);
  };

  /** For the opening of servers; nothing is opened before a configuration was applied. */
  readonly circumstances = (): LoadedConfig => {
    if (this.#config === undefined) throw new RuntimeError('INTERNAL', { problem: 'no configuration is in effect' });
    return this.#config;
  };

  watched(): readonly string[] {
    return this.#config?.watched ?? [];
  }

  // What the stages of a call ask.

  readonly refusal = (server: ServerName): string | undefined => this.#refused.get(server);
  readonly isStranger = (server: ServerName): boolean => this.#prepared.get(server)?.isStranger ?? false;

  readonly rules = (): readonly Rule[] => this.#rules;
  readonly maxResultChars = (server: ServerName): number =>
    this.#definitions.get(server)?.settings.maxResultChars ?? limits.failureTextChars;
  readonly callLimits = (server: ServerName): CallLimits => {
    const settings = this.#definitions.get(server)?.settings;
    return { totalMs: settings?.toolTimeoutMs ?? 0, silenceMs: settings?.toolIdleTimeoutMs ?? 0 };
  };

  open(server: ServerName): Session | undefined {
    return this.#connections.get(server)?.connection.session;
  }

  async whenReady(server: ServerName): Promise<Session> {
    return this.#startable(server).whenReady();
  }

  async whenReplaced(server: ServerName, lost: Session): Promise<Session> {
    return this.#startable(server).whenReplaced(lost);
  }

  /** What a tool says of itself counts only where somebody vouches for its server, and only from its own mouth. */
  isRepeatable({ id, definition: { annotations }, freshness }: Tool): boolean {
    if (freshness !== 'live' || !this.#definitions.get(id.server)?.settings.trustHints) return false;
    return annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
  }

  metaFor(session: Session): JsonObject | undefined {
    return this.#parts.sandbox.metaFor(session);
  }

  definition(server: ServerName): ServerDefinition | undefined {
    return this.#definitions.get(server);
  }

  /** Those that are switched on and refused by nobody. */
  used(): readonly ServerDefinition[] {
    return this.#used;
  }

  /** Says to every server that is up what the agent may touch. */
  announce(state: SandboxState, others: readonly Session[]): void {
    const shared = this.#connections
      .all()
      .flatMap(({ definition: { name }, connection: { session } }) =>
        session ? [{ session, openAnew: () => this.#connections.reconnect(name) }] : [],
      );
    const own = others.map((session) => ({ session, openAnew: () => undefined }));
    this.#parts.sandbox.announce(state, [...shared, ...own]);
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

  maxMessageBytes(server: ServerName): number {
    return this.#definitions.get(server)?.settings.maxMessageBytes ?? 0;
  }

  *names(): Iterable<QualifiedName> {
    for (const tool of this.#catalog.snapshot().tools) yield tool.name;
  }

  /** For the explanation only, never for routing: names are spelled again and compared. */
  whyMissing(name: QualifiedName): string | undefined {
    for (const definition of this.#definitions.values()) {
      const { state, error } = this.#statusOf(definition);
      const { hidden = [] } = this.#catalog.get(definition.name) ?? {};
      const spelled = [...assignNames(hidden.map((tool) => ({ server: definition.name, tool }))).values()];
      if (spelled.includes(name)) return `the tool filters of server "${definition.name}" hide it`;
      const prefix = spelledPrefix(definition.name);
      if (state !== 'connected' && prefix !== undefined && name.startsWith(prefix)) {
        const hint = state === 'connecting' ? '; wait for it with ready(), then begin a new turn' : '';
        return `server "${definition.name}" is ${state}${error ? ` (${error.message})` : hint}`;
      }
    }
    return undefined;
  }

  #statusOf(definition: ServerDefinition): ServerStatus {
    const { tools = [], problems = [], error } = this.#catalog.get(definition.name) ?? {};
    return statusOf({
      definition,
      connection: this.#connections.get(definition.name)?.connection,
      refusal: this.refusal(definition.name),
      breaker: this.#parts.breakers.statusOf(definition.name),
      listing: {
        toolCount: tools.length,
        problems: [...(this.#prepared.get(definition.name)?.warnings ?? []), ...problems],
        ...(error && { error }),
      },
      now: this.#clock.now(),
    });
  }

  #require(server: ServerName) {
    const entry = this.#connections.get(server);
    if (entry) return entry;
    this.#requireKnown(server);
    const because = this.refusal(server) ?? 'it is disabled, or its entry is not valid';
    throw new RuntimeError('SERVER_DENIED', { server, because });
  }

  #requireKnown(server: ServerName): void {
    const names = this.status().map(({ name }) => name);
    if (names.includes(server)) return;
    throw new RuntimeError('SERVER_UNKNOWN', { server, nearest: nearest(server, names, limits.suggestions) });
  }
}

/** Of the settings, those count that say which tools are offered: what is hidden now must not be shown from memory. */
const toolsKey = (definition: ServerDefinition): string => {
  const { enabledTools, disabledTools } = definition.settings;
  return definitionHash(definition) + canonicalJson([enabledTools ?? null, disabledTools]);
};

/** How the names of a server's tools begin; nothing where its own name leaves no room for them. */
function spelledPrefix(server: ServerName): string | undefined {
  const [name = ''] = assignNames([{ server, tool: 'x' }]).values();
  const end = name.indexOf('__', 'mcp__'.length);
  return end < 0 ? undefined : name.slice(0, end + 2);
}

type Invalid = LoadedConfig['invalid'][number];

/** An entry that could not be read is still a server somebody expects to see. */
function invalidStatus({ name, provenance, diagnostic }: Invalid): ServerStatus {
  return {
    name,
    status: 'failed',
    state: 'invalid',
    transport: 'unknown',
    toolCount: 0,
    scope: provenance.scope,
    label: labelOf({ name, provenance }),
    ...(provenance.file && { source: provenance.file }),
    error: new RuntimeError('CONFIG_INVALID', {
      problem: diagnostic.message,
      ...(diagnostic.file !== undefined && { file: diagnostic.file }),
      ...(diagnostic.line !== undefined && { line: diagnostic.line }),
    }),
  };
}

function suppressedStatus({ name, provenance, because }: LoadedConfig['suppressed'][number]): ServerStatus {
  return {
    name,
    status: 'disconnected',
    state: 'disabled',
    transport: 'unknown',
    toolCount: 0,
    scope: provenance.scope,
    label: labelOf({ name, provenance }),
    ...(provenance.file && { source: provenance.file }),
    error: new RuntimeError('SERVER_DENIED', { server: name, because }),
  };
}

/** What the container engine's source yields; see `config/sources/docker-gateway.ts`. */
const isGateway = ({ provenance }: ServerDefinition) => provenance.provider === 'docker';
