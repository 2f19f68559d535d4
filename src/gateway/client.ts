// Owns one client of the gateway on one route: its view of a fleet with its grants and taint, and the names that it knows tools by.
// A session of the older era is a client, and so is a caller with a name; modern requests without one share a client by their token.

import type { Taint } from '../call/taint.ts';
import type { CatalogSnapshot } from '../catalog/snapshot.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { Tool } from '../model/tool.ts';
import type { SessionProvider } from '../servers/sessions.ts';
import type { Peer } from '../serving/service.ts';
import type { Turn } from '../turn.ts';
import { partsOfView, type View } from '../view.ts';
import type { GatewayFleet, ListChange } from './gateway-fleet.ts';
import { type Named, nameAll } from './names.ts';
import { seesServer, seesTool, viewPatterns } from './profiles.ts';
import type { Route } from './route.ts';
import { RelayCaller } from './served-relay.ts';
import type { RoundPlace } from './state-of-round.ts';

/** The names of a fleet's tools on a route, as long as the catalog is the same. */
const namedTools = new WeakMap<Route, WeakMap<CatalogSnapshot, Named<Tool>>>();

function namesOn(route: Route, snapshot: CatalogSnapshot): Named<Tool> {
  const bySnapshot = namedTools.get(route) ?? new WeakMap<CatalogSnapshot, Named<Tool>>();
  namedTools.set(route, bySnapshot);
  const known = bySnapshot.get(snapshot);
  if (known !== undefined) return known;
  const { server, profile } = route;
  const isSeen = (tool: Tool) => (server === undefined || tool.id.server === server) && seesTool(profile, tool);
  const named = nameAll(snapshot.tools.filter(isSeen), ({ id }) => id, server !== undefined);
  bySnapshot.set(snapshot, named);
  return named;
}

/** Whether clients of the route see another list than before. */
export function concerns(route: Route, change: ListChange): boolean {
  const { server, profile } = route;
  if ('server' in change) return server === undefined ? seesServer(profile, change.server) : server === change.server;
  const [before, after] = [namesOn(route, change.before).list, namesOn(route, change.after).list];
  const isSame = (each: (typeof after)[number], at: number) =>
    each.name === before[at]?.name && each.item.definition === before[at].item.definition;
  return before.length !== after.length || !after.every(isSame);
}

/** Why the client may not use the server at all. */
export function refusalOf({ fleet, isNamed }: GatewayClient, server: ServerName): RuntimeError | undefined {
  if (isNamed || fleet.servers.registry.settings(server)?.perClient !== true) return undefined;
  const because = 'it has a connection for each client (per_client), and nothing tells this client from others';
  return new RuntimeError('SERVER_DENIED', { server, because: `${because}: it needs a session or a token of its own` });
}

/** A subscription is held by the connection of the workspace, which is another one than the client's own. */
export function refuseSubscription({ fleet }: GatewayClient, server: ServerName): void {
  if (fleet.servers.registry.settings(server)?.perClient !== true) return;
  const because = 'it has a connection for each client (per_client), and tells none of them of changed resources';
  throw new RuntimeError('SERVER_DENIED', { server, because });
}

export class GatewayClient {
  readonly fleet: GatewayFleet;
  readonly route: Route;
  /** It can be told from every other client: an approval may count for its session. */
  readonly isNamed: boolean;
  /** The readings that its user agreed to in this session; tools that may be called are among the grants of its view. */
  readonly agreed = new Set<string>();
  readonly #opened: View;
  readonly #view: View;
  /** Of a session; a modern request is a caller by itself, since nothing says which client it comes from. */
  readonly #caller: RelayCaller | undefined;
  #turn: { readonly snapshot: CatalogSnapshot; readonly turn: Turn } | undefined;

  constructor(fleet: GatewayFleet, route: Route, peer: Peer, isNamed: boolean) {
    this.fleet = fleet;
    this.route = route;
    this.isNamed = isNamed;
    const [first, ...others] = viewPatterns(route.profile);
    // The client's list of tools stays as it is: what was found by searching is called through the tool for that.
    this.#opened = fleet.runtime.view({ model: { promotion: false }, ...(first !== undefined && { tools: first }) });
    this.#view = others.reduce((view, tools) => view.narrow({ tools }), this.#opened);
    this.#caller = peer.era === 'legacy' ? new RelayCaller(fleet, peer) : undefined;
  }

  /** Private ones where a server wants one connection for each client. */
  get sessions(): SessionProvider {
    return partsOfView(this.#opened)?.sessions ?? this.fleet.servers.sessions;
  }

  /** The place of a round of questions with the server. */
  placeOf(server: ServerName): RoundPlace {
    return { path: this.route.path, server: this.fleet.servers.registry.identity(server) };
  }

  /** The client's model has read what a server wrote, in a request that is no call: later calls are judged by it. */
  noteRead(output: Parameters<Taint['note']>[0]): void {
    partsOfView(this.#opened)?.taint.note(output);
  }

  callerOf(peer: Peer): RelayCaller {
    return this.#caller ?? new RelayCaller(this.fleet, peer);
  }

  tools(): Named<Tool> {
    return namesOn(this.route, this.fleet.servers.catalog.snapshot());
  }

  /** Whether it is the tool of a server that the client sees, and not one of the runtime's own. */
  hasTool(tool: Tool): boolean {
    const isOfServer = this.fleet.servers.catalog.snapshot().find(tool.name) !== undefined;
    return isOfServer && seesTool(this.route.profile, tool);
  }

  /** A new one only when the catalog is another one: rules are read with each call. */
  turn(): Turn {
    const snapshot = this.fleet.servers.catalog.snapshot();
    if (this.#turn?.snapshot !== snapshot) this.#turn = { snapshot, turn: this.#view.turn() };
    return this.#turn.turn;
  }

  close(): Promise<void> {
    return this.#opened.close();
  }
}
