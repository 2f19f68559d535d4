// Owns what is reported about the servers: their status, who is ready and who is not, counts, and why a tool is missing. The words
// of a status are in `connection/status.ts`, the states behind them (idle, connecting, waiting …) in `connection/state.ts`.

import type { Catalog } from '../catalog/catalog.ts';
import type { ResourceCatalog } from '../catalog/resources/resource-catalog.ts';
import type { Connections } from '../connection/connections.ts';
import type { NotReady } from '../connection/events.ts';
import { type ServerStatus, type StatusExtent, statusOf } from '../connection/status.ts';
import type { Clock } from '../kernel/clock.ts';
import { nearest } from '../kernel/nearest.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { QualifiedName, ServerName } from '../model/names.ts';
import type { ServerDefinition } from '../model/server.ts';
import { allStatuses } from './all-statuses.ts';
import type { AwaitedPersons } from './awaited-persons.ts';
import type { Breakers } from './breakers.ts';
import { type MissingReason, stateInWords, whyMissing } from './missing-tool.ts';
import type { ServerRegistry } from './registry.ts';
import type { ServerLogins } from './server-logins.ts';

export interface Readiness {
  readonly ready: readonly ServerName[];
  readonly notReady: readonly NotReady[];
}

export interface StartReport extends Readiness {
  /** Servers that are not up yet and whose tools are cached from an earlier start. */
  readonly known: readonly ServerName[];
}

/** How many calls the runtime has performed, and how many of them ended in a failure or in an error of the tool. */
export interface CallCounts {
  readonly calls: number;
  readonly failedCalls: number;
}

export interface RuntimeStats extends CallCounts {
  readonly servers: number;
  readonly connected: number;
  readonly tools: number;
  /** How many different names the tools have on their servers. */
  readonly uniqueTools: number;
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
  readonly persons: Pick<AwaitedPersons, 'isAsked'>;
  readonly logins: Pick<ServerLogins, 'statusOf'>;
  /** Takes secrets out of what a server wrote. */
  readonly redact: (text: string) => string;
  readonly clock: Clock;
}

export class FleetStatus {
  readonly #deps: FleetStatusDeps;

  constructor(deps: FleetStatusDeps) {
    this.#deps = deps;
  }

  /** Every server that a file names, also invalid and suppressed ones, sorted by name. */
  all(): ServerStatus[] {
    return this.#all('whole');
  }

  #all(extent: StatusExtent): ServerStatus[] {
    return allStatuses(this.#deps.registry, (each) => this.#of(each, extent));
  }

  /** Which servers are connected, in the words of `all()`, and which are not although they should be. */
  readiness(servers?: readonly ServerName[]): Readiness {
    const { connections } = this.#deps;
    const isAsked = (name: ServerName) => servers?.includes(name) ?? connections.get(name) !== undefined;
    return readinessOf(this.#all('brief').filter(({ name }) => isAsked(name)));
  }

  /** How a start or a reload went, for servers that it starts by itself and entries that it could not read. */
  startReport(): StartReport {
    const { connections } = this.#deps;
    const isStarted = ({ name, state, lifecycle }: ServerStatus) =>
      lifecycle === undefined && (state === 'invalid' || connections.get(name) !== undefined);
    const statuses = this.#all('brief').filter(isStarted);
    const known = statuses.filter(isKnown).map(({ name }) => name);
    const { ready, notReady } = readinessOf(statuses.filter((each) => !isKnown(each)));
    return { ready, notReady, known };
  }

  /** Throws `SERVER_UNKNOWN` for a name that no file and no host configured. */
  of(server: ServerName): ServerStatus {
    const all = this.all();
    const found = all.find(({ name }) => name === server);
    if (found !== undefined) return found;
    const names = all.map(({ name }) => name);
    throw new RuntimeError('SERVER_UNKNOWN', { server, nearest: nearest(server, names, limits.suggestions) });
  }

  stats(): Omit<RuntimeStats, keyof CallCounts> {
    const { connections, catalog } = this.#deps;
    const servers = this.all();
    const used = connections.all();
    const tools = catalog.everything();
    return {
      servers: servers.length,
      connected: servers.filter(({ status }) => status === 'connected').length,
      tools: tools.length,
      uniqueTools: new Set(tools.map(({ id }) => id.tool)).size,
      toolsByServer: Object.fromEntries(servers.map(({ name, toolCount }) => [name, toolCount])),
      isGatewayMode: used.length === 1 && used.every(({ definition }) => isGateway(definition)),
    };
  }

  /** Why a search may find nothing of a server, one sentence each, for a model. */
  remarks(): readonly string[] {
    const { registry } = this.#deps;
    const notReady = this.readiness().notReady.filter(({ server }) => !registry.isSetAside(server));
    return notReady.map(({ server, state }) => `Server "${server}" ${stateInWords(state)}.`);
  }

  /** Why no tool of that name can be called. Only explains: a call is never routed by it. */
  whyMissing(name: QualifiedName): MissingReason | undefined {
    const { registry, connections, catalog } = this.#deps;
    const inTurns = registry.definitions().filter((each) => !registry.isSetAside(each.name));
    const servers = inTurns.map((definition) => {
      const { name: server } = definition;
      const { state, error } = this.#of(definition, 'brief');
      // While a further attempt is under way, the failure before it is the reason.
      const before = state === 'reconnecting' ? connections.get(server)?.connection.lastFailure?.cause : undefined;
      return { server, state, error: error ?? before, hidden: catalog.get(server)?.hidden ?? NONE };
    });
    return whyMissing(name, servers);
  }

  /** Throws `SERVER_UNKNOWN` for a name that no file and no host configured. */
  requireConfigured(server: ServerName): void {
    if (this.#deps.registry.definition(server) === undefined) this.of(server);
  }

  #of(definition: ServerDefinition, extent: StatusExtent): ServerStatus {
    const { registry, connections, catalog, resourceCatalog, breakers, installs, persons, logins, redact, clock } =
      this.#deps;
    const { name } = definition;
    const entry = catalog.get(name);
    const standing = registry.standing(name);
    return statusOf({
      definition,
      connection: connections.get(name)?.connection,
      refusal: registry.refusal(name),
      breaker: breakers.statusOf(name),
      installer: installs.get(name),
      ...(standing && { unapproved: standing }),
      isPersonAsked: persons.isAsked(name),
      login: logins.statusOf(definition),
      listing: {
        isListed: catalog.hasListed(name),
        toolCount: entry?.tools.length ?? 0,
        hiddenCount: entry?.hidden.length ?? 0,
        freshness: entry?.freshness,
        listedAt: entry?.listedAt,
        problems: [...registry.warningsOf(name), ...(entry?.problems ?? []), ...resourceCatalog.problemsOf(name)],
        ...(entry?.error && { error: entry.error }),
      },
      redact,
      now: clock.now(),
      extent,
    });
  }
}

const NONE: readonly string[] = [];

function readinessOf(statuses: readonly ServerStatus[]): Readiness {
  return {
    ready: statuses.filter(({ status }) => status === 'connected').map(({ name }) => name),
    notReady: statuses.flatMap((each) =>
      // An idle server starts with its first call: that is how it should be.
      each.status === 'connected' || each.state === 'idle'
        ? []
        : [{ server: each.name, state: each.state, message: each.reason }],
    ),
  };
}

/** Its tools can be used from the cache, and nothing is wrong with it so far. */
const isKnown = ({ state, freshness }: ServerStatus) =>
  freshness === 'cached' && (state === 'idle' || state === 'connecting');

/** The server that `config/sources/docker-gateway.ts` adds. */
const isGateway = ({ provenance }: ServerDefinition) => provenance.provider === 'docker';
