// Owns the servers of one runtime as they are now: what is configured, who is connected, which tools they brought.
// Answers the questions that the stages of a call and the outside ask about them.

import { isDeepStrictEqual } from 'node:util';
import type { Readiness } from './api.ts';
import type { CallLimits } from './call/deadline.ts';
import type { Lines } from './call/invoke.ts';
import type { Directory } from './call/resolve.ts';
import type { Catalog } from './catalog/catalog.ts';
import { assignNames } from './catalog/naming.ts';
import type { ListedServers } from './config/lists.ts';
import type { LoadedConfig } from './config/load.ts';
import type { Connections } from './connection/connections.ts';
import type { Session } from './connection/session.ts';

import { type ServerStatus, statusOf } from './connection/status.ts';
import type { Clock } from './kernel/clock.ts';
import { nearest } from './kernel/nearest.ts';
import { settleWithin } from './kernel/settle.ts';
import { RuntimeError } from './model/errors.ts';
import { limits } from './model/limits.ts';
import type { QualifiedName, ServerName } from './model/names.ts';
import { labelOf, type ServerDefinition } from './model/server.ts';
import { parseRule, type Rule } from './policy/rule.ts';

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
  readonly clock: Clock;
}

export interface Waiting {
  readonly timeoutMs: number;
  readonly servers?: readonly ServerName[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

export class Fleet implements Lines, Directory {
  readonly #connections: Connections;
  readonly #catalog: Catalog;
  readonly #clock: Clock;
  #config: LoadedConfig | undefined;
  #definitions = new Map<ServerName, ServerDefinition>();
  #rules: readonly Rule[] = [];
  #prepared = new Map<ServerName, Prepared>();
  #refused: ReadonlyMap<ServerName, string> = new Map();

  constructor({ connections, catalog, clock }: FleetParts) {
    this.#connections = connections;
    this.#catalog = catalog;
    this.#clock = clock;
  }

  /** Makes the fleet what the configuration says; connections that did not change stay as they are. */
  async apply(config: LoadedConfig): Promise<void> {
    this.#config = config;
    this.#definitions = new Map(config.definitions.map((definition) => [definition.name, definition]));
    this.#rules = config.rules.map(parseRule);
    this.#forgetChanged();
    this.#refused = this.#refusals(config);
    const used = config.definitions.filter(({ name, settings }) => settings.enabled && !this.#refused.has(name));
    await this.#connections.reconcile(used);
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
  async ready({ timeoutMs, servers, signal }: Waiting): Promise<Readiness> {
    const isAwaited = (name: ServerName) => servers?.includes(name) ?? this.#connections.get(name) !== undefined;
    for (const name of servers ?? []) this.#requireKnown(name);
    const settling = this.#connections
      .all()
      .filter(({ definition }) => isAwaited(definition.name))
      .map(({ definition, connection }) => connection.whenSettled().then(() => this.#catalog.listed(definition.name)));
    await settleWithin(settling, { limitMs: timeoutMs, clock: this.#clock, signal });
    const statuses = this.status().filter(({ name }) => isAwaited(name));
    return {
      ready: statuses.filter((each) => each.status === 'connected').map((each) => each.name),
      notReady: statuses
        .filter((each) => each.status !== 'connected')
        .map(({ name, state, error }) => ({ server: name, state, ...(error && { message: error.message }) })),
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
    return this.#require(server).connection.whenReady();
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
