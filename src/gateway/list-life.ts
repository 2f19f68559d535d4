// Owns what a list of a route says besides its items: how long it holds and for whom, and how each of its servers is. Of several
// servers the shortest time counts, and the narrowest scope.

import type { ListState } from '../catalog/resources/resource-catalog.ts';
import type { ServerStatus } from '../connection/status.ts';
import type { JsonObject } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { GatewayFleet } from './gateway-fleet.ts';
import { outcomesOf, SERVERS_META } from './status-tool.ts';

const routeLists = ['tools', 'resources', 'templates', 'prompts'] as const;
export type RouteList = (typeof routeLists)[number];

const methods: Readonly<Record<RouteList, string>> = {
  tools: 'tools/list',
  resources: 'resources/list',
  templates: 'resources/templates/list',
  prompts: 'prompts/list',
};

const capabilityOf = (list: RouteList) => (list === 'templates' ? 'resources' : list);

export function stateOf({ servers }: GatewayFleet, list: RouteList, server: ServerName): ListState | undefined {
  if (list !== 'tools') return servers.resourceCatalog.stateOf(list, server);
  const { listed, listedAt, ttlMs, isPublic, error } = servers.catalog.get(server) ?? {};
  if (listed === undefined || listedAt === undefined) return undefined;
  return {
    ...{ size: listed.length, listedAt },
    ...(ttlMs !== undefined && { ttlMs }),
    ...(isPublic && { isPublic }),
    ...(error && { failure: error }),
  };
}

/** Whether the server may have such a list; one that was never up may have any. */
function mayHave({ servers }: GatewayFleet, list: RouteList, server: ServerName): boolean {
  const session = servers.sessions.open(server);
  if (session !== undefined) return session.capabilities[capabilityOf(list)] !== undefined;
  if (list === 'tools') return true;
  const known = servers.catalog.get(server);
  return known === undefined || known.capabilities?.some((each) => each === capabilityOf(list)) === true;
}

/** Throws where the only server of a route has not sent its list: it is not empty for that. */
export function requireList(fleet: GatewayFleet, list: RouteList, server: ServerName): void {
  const state = stateOf(fleet, list, server);
  if (state?.failure !== undefined && state.size === 0) throw state.failure;
  if (state === undefined && mayHave(fleet, list, server)) throw unlisted(list, server);
}

const unlisted = (list: RouteList, server: ServerName) =>
  new RuntimeError('REQUEST_TIMEOUT', { server, what: methods[list], afterMs: limits.listWaitMs, isFixed: true });

/** Why a server that is up is missing from a list, or has a former one in it. */
function failureOf(fleet: GatewayFleet, list: RouteList, { name, state }: ServerStatus): RuntimeError | undefined {
  if (state !== 'connected') return undefined;
  const known = stateOf(fleet, list, name);
  return known === undefined && mayHave(fleet, list, name) ? unlisted(list, name) : known?.failure;
}

/** A broken server is told in every merged list, and never silently missing. */
export const outcomesIn = (fleet: GatewayFleet, list: RouteList, statuses: readonly ServerStatus[]): JsonObject => ({
  _meta: { [SERVERS_META]: outcomesOf(statuses, (status) => failureOf(fleet, list, status)) },
});

/** For `plexus_status`: the first list of the server that is missing. */
export const failureIn = (fleet: GatewayFleet, status: ServerStatus): RuntimeError | undefined =>
  routeLists.map((list) => failureOf(fleet, list, status)).find((failure) => failure !== undefined);

/** For modern clients. A list of a workspace is for those who work there. */
export function lifeOf(fleet: GatewayFleet, list: RouteList, servers: readonly ServerName[]): JsonObject {
  const parts = servers.filter((server) => mayHave(fleet, list, server)).map((server) => stateOf(fleet, list, server));
  const now = fleet.parts.host.clock.now();
  const left = parts.map((part) => leftMs(part, now));
  const isPublic = fleet.workspace === undefined && parts.every((part) => part?.isPublic === true);
  return {
    ttlMs: left.length === 0 ? 0 : Math.min(...left),
    cacheScope: isPublic && left.length > 0 ? 'public' : 'private',
  };
}

function leftMs(part: ListState | undefined, now: number): number {
  if (part?.ttlMs === undefined || part.listedAt === undefined || part.failure !== undefined) return 0;
  return Math.max(0, Math.floor(part.listedAt + part.ttlMs - now));
}
