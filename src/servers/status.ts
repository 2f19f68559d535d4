// Owns what is reported about the servers: their status, who is ready and who is not, counts, and why a tool is missing. The words
// of a status are in `connection/status.ts`, the states behind them (idle, connecting, waiting …) in `connection/state.ts`.

import type { Catalog } from '../catalog/catalog.ts';
import type { ResourceCatalog } from '../catalog/resources/resource-catalog.ts';
import { invalidStatus, suppressedStatus } from '../connection/absent-status.ts';
import type { Connections } from '../connection/connections.ts';
import type { NotReady } from '../connection/events.ts';
import { type ServerStatus, statusOf } from '../connection/status.ts';
import type { Clock } from '../kernel/clock.ts';
import { nearest } from '../kernel/nearest.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { QualifiedName, ServerName } from '../model/names.ts';
import type { ServerDefinition } from '../model/server.ts';
import type { Breakers } from './breakers.ts';
import { type MissingReason, stateInWords, whyMissing } from './missing-tool.ts';
import type { ServerRegistry } from './registry.ts';

export interface Readiness {
  readonly ready: readonly ServerName[];
  readonly notReady: readonly NotReady[];
}

export interface RuntimeStats {
  readonly servers: number;
  readonly connected: number;
  readonly tools: number;
  readonly toolsByServer: Readonly<Record<ServerName, number>>;
  /** The only server is Docker's own gateway. */
  readonly isGatewayMode: boolean;
}

export interface FleetStatusDeps {
  readonly registry: ServerRegistry;
  readonly connections: Connections;
  readonly catalog: Catalog;
  readonly resourceCatalog: ResourceCatalog;
  readonly breakers: Breakers;
  /** The servers that may be being installed now, with the runner that does it. */
  readonly installs: ReadonlyMap<ServerName, string>;
  readonly clock: Clock;
}

export class FleetStatus {
  readonly #deps: FleetStatusDeps;

  constructor(deps: FleetStatusDeps) {
    this.#deps = deps;
  }

  /** Every server that a file names, also invalid and suppressed ones, sorted by name. */
  all(): ServerStatus[] {
    const { registry } = this.#deps;
    const { invalid = [], suppressed = [] } = registry.absent();
    const used = [...registry.definitions().map((each) => this.#of(each)), ...invalid.map(invalidStatus)];
    const names = new Set(used.map(({ name }) => name));
    const silenced = suppressed.filter(({ name }) => !names.has(name) && names.add(name));
    return [...used, ...silenced.map(suppressedStatus)].sort((a, b) =>
      a.name < b.name ? -1 : a.name > b.name ? 1 : 0,
    );
  }

  /** Which servers are up with their tools listed, and which are not although they should be. */
  readiness(servers?: readonly ServerName[]): Readiness {
    const { connections, catalog } = this.#deps;
    const isAsked = (name: ServerName) => servers?.includes(name) ?? connections.get(name) !== undefined;
    const isReady = ({ name, status }: ServerStatus) => status === 'connected' && catalog.get(name) !== undefined;
    const statuses = this.all().filter(({ name }) => isAsked(name));
    return {
      ready: statuses.filter(isReady).map(({ name }) => name),
      notReady: statuses
        // An idle server starts with its first call: that is how it should be.
        .filter((each) => !isReady(each) && each.state !== 'idle')
        .map(({ name, status, state, error, reason = error?.message }) => ({
          server: name,
          ...(status === 'connected' ? UNLISTED : { state, ...(reason !== undefined && { message: reason }) }),
        })),
    };
  }

  stats(): RuntimeStats {
    const { connections, catalog } = this.#deps;
    const servers = this.all();
    const used = connections.all();
    return {
      servers: servers.length,
      connected: servers.filter(({ status }) => status === 'connected').length,
      tools: catalog.snapshot().tools.length,
      toolsByServer: Object.fromEntries(servers.map(({ name, toolCount }) => [name, toolCount])),
      isGatewayMode: used.length === 1 && used.every(({ definition }) => isGateway(definition)),
    };
  }

  /** Why a search may find nothing of a server, one sentence each, for a model. */
  remarks(): readonly string[] {
    return this.readiness().notReady.map(({ server, state }) => `Server "${server}" ${stateInWords(state)}.`);
  }

  /** Why no tool of that name can be called. Only explains: a call is never routed by it. */
  whyMissing(name: QualifiedName): MissingReason | undefined {
    const { registry, catalog } = this.#deps;
    const servers = registry.definitions().map((definition) => {
      const { state, error } = this.#of(definition);
      return { server: definition.name, state, error, hidden: catalog.get(definition.name)?.hidden ?? NONE };
    });
    return whyMissing(name, servers);
  }

  /** Throws `SERVER_UNKNOWN` for a name that no file and no host configured. */
  requireConfigured(server: ServerName): void {
    if (this.#deps.registry.definition(server) !== undefined) return;
    const names = this.all().map(({ name }) => name);
    if (names.includes(server)) return;
    throw new RuntimeError('SERVER_UNKNOWN', { server, nearest: nearest(server, names, limits.suggestions) });
  }

  #of(definition: ServerDefinition): ServerStatus {
    const { registry, connections, catalog, resourceCatalog, breakers, installs, clock } = this.#deps;
    const { name } = definition;
    const entry = catalog.get(name);
    return statusOf({
      definition,
      connection: connections.get(name)?.connection,
      refusal: registry.refusal(name),
      breaker: breakers.statusOf(name),
      installer: installs.get(name),
      listing: {
        toolCount: entry?.tools.length ?? 0,
        hiddenCount: entry?.hidden.length ?? 0,
        freshness: entry?.freshness,
        listedAt: entry?.listedAt,
        problems: [...registry.warningsOf(name), ...(entry?.problems ?? []), ...resourceCatalog.problemsOf(name)],
        ...(entry?.error && { error: entry.error }),
      },
      now: clock.now(),
    });
  }
}

const NONE: readonly string[] = [];

const UNLISTED = { state: 'connecting', message: 'It is up, and has not listed its tools yet.' } as const;

/** The server that `config/sources/docker-gateway.ts` adds. */
const isGateway = ({ provenance }: ServerDefinition) => provenance.provider === 'docker';
