// Owns the gateway: every server of a runtime behind one handler, for clients of both eras. Puts the routes together; a route's
// requests are in `route-service.ts`, its calls in `call-relay.ts`. The door is `plexus/gateway`.

import type { IncomingMessage } from 'node:http';
import type { Runtime } from '../api.ts';
import type { ClientHandlers } from '../connection/client-handlers.ts';
import type { ServerStatus } from '../connection/status.ts';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { type Emit, Emitter, type Unsubscribe } from '../kernel/emitter.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { type Authenticate, loopbackHosts } from '../serving/access.ts';
import type { ChangedList } from '../serving/changes.ts';
import { refuse } from '../serving/http-answers.ts';
import type { HttpHandler, RequestHead, ServedRequest, ServedResponse } from '../serving/http-exchange.ts';
import { createServerIn, type McpServer } from '../serving/mcp-server.ts';
import { codes, invalidRequest, ProtocolError } from '../serving/protocol.ts';
import type { Peer, Principal } from '../serving/service.ts';
import { type ServingLimits, withDefaults } from '../serving/serving-limits.ts';
import { ServingRoom } from '../serving/serving-room.ts';
import type { StdioPipes } from '../serving/stdio-endpoint.ts';
import { accessOf, identify, originOf } from './access.ts';
import { CallRelays } from './call-relay.ts';
import { concerns } from './client.ts';
import { Clients } from './clients.ts';
import type { GatewayEvent, SessionFacts } from './events.ts';
import type { GatewayFleet, ListChange } from './gateway-fleet.ts';
import { Measures, type ServerMeasures } from './measures.ts';
import { DEFAULT_PROFILE, openProfile, type Profile } from './profiles.ts';
import { MESSAGES_PATH, pathOf, type Route, readPath, STREAM_PATH } from './route.ts';
import { RouteService } from './route-service.ts';
import { Routes } from './routes.ts';
import { RoundSeal } from './state-of-round.ts';
import { Watched } from './watched-resources.ts';
import { Workspaces } from './workspaces.ts';

export type { Access } from './access.ts';
export { CLIENT_HEADER, WORKSPACE_HEADER } from './access.ts';
export type { GatewayEvent, SessionFacts } from './events.ts';
export type { CallEnding, ServerMeasures } from './measures.ts';
export { secondBounds } from './measures.ts';
export type { Profile } from './profiles.ts';

export interface GatewayOptions {
  /** Says whose request it is; `details` of the principal may be an `Access`. */
  readonly authenticate: Authenticate;
  /** Refuses a request before anything else, such as one that the gateway has sent itself. */
  readonly refuses?: (request: RequestHead) => Refusal | undefined;
  /** Names and addresses by which clients reach the gateway, without a port. Default: those of loopback. */
  readonly hosts?: readonly string[];
  /** Web pages that may send requests. Default: none. */
  readonly origins?: readonly string[];
  /** By name; that of `/mcp` is `default`. Default: everything, as servers send it. */
  readonly profiles?: Readonly<Record<string, Omit<Profile, 'name'>>>;
  /** Opens the runtime for clients of a folder. Without it all clients share the one runtime. */
  readonly openWorkspace?: (folder: string) => Promise<Runtime>;
  /** The folder of the runtime itself: clients that work in it share it. */
  readonly folder?: string;
  /** The workspace that a folder is in: clients of one workspace share a runtime. Default: each folder is one. */
  readonly workspaceOf?: (folder: string) => string;
  /** Whether the roots of a session say which folder it is of: only where clients are on this machine. Default: no. */
  readonly trustsRoots?: boolean;
  /** 32 bytes that seal the state of open questions. With a stored key they outlive a restart. */
  readonly stateKey?: Buffer;
  /** Limits other than the defaults of `plexus.serving`. */
  readonly limits?: Partial<ServingLimits & { readonly queuedCalls: number }>;
  readonly onError?: (error: unknown) => void;
  readonly clock?: Clock;
}

/** Why a request is refused, with the status of its answer. */
export interface Refusal {
  readonly status: number;
  readonly sentence: string;
}

export interface GatewayMeasures {
  readonly servers: ReadonlyMap<ServerName, ServerMeasures>;
  /** Open sessions of the older era over HTTP. Modern clients have none. */
  readonly sessions: number;
  /** Clients on pipes: links, and streams of the oldest kind. */
  readonly pipes: number;
  /** Requests without an answer so far, open subscriptions included. */
  readonly unanswered: number;
  /** Calls of modern clients that were answered with a question, and wait for the client to come back. */
  readonly suspended: number;
}

export interface Gateway {
  /** For `node:http`: answers `/mcp`, `/mcp/p/PROFILE`, `/mcp/s/SERVER`, for the oldest clients `/sse`, and every other path with 404. */
  readonly handler: HttpHandler;
  /** Whether the gateway answers this path. */
  isRoute(path: string): boolean;
  /** Serves one client over a pair of pipes, with the profile of that name. */
  stdio(options?: { readonly pipes?: StdioPipes; readonly profile?: string }): Promise<void>;
  /** Serves the one client behind an upgraded request, at the request's address; or says why not. `principal` is as for `authenticate`. */
  link(request: IncomingMessage, principal: Principal, pipes: StdioPipes): Promise<void> | Refusal;
  /** Runs `work` with the runtime of clients that work in a folder, of all others without one; it stays open meanwhile. */
  withRuntime<Value>(folder: string | undefined, work: (runtime: Runtime) => Promise<Value>): Promise<Value>;
  on(listener: Emit<GatewayEvent>): Unsubscribe;
  /** Ends the sessions and calls of some callers, such as those whose token was revoked. */
  endSessions(isMeant: (principal: Principal) => boolean): void;
  measures(): GatewayMeasures;
  /** Every server of every workspace that is open. */
  status(): Promise<readonly { readonly workspace: string | undefined; readonly servers: readonly ServerStatus[] }[]>;
  /** Refuses new requests, lets running calls end within the time, and ends streams and sessions. The runtime stays its host's. */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

/**
 * The handlers of the gateway itself, to spread into the options of its runtime: a legacy server is told of elicitation and roots,
 * whichever client calls it.
 */
export function gatewayHandlers({
  sampling = false,
  roots = [] as readonly { readonly uri: string }[],
} = {}): ClientHandlers {
  return {
    elicit: async () => ({ action: 'decline' }),
    roots: async () => roots,
    ...(sampling && { sample: () => Promise.reject(new TypeError('no client has called')) }),
  };
}

interface RouteServer {
  readonly route: Route;
  readonly server: McpServer;
  readonly clients: Clients;
  readonly handle: HttpHandler;
  /** For the oldest clients, on the default route alone. */
  readonly oldest: ReadonlyMap<string, HttpHandler>;
}

export function createGateway(runtime: Runtime, options: GatewayOptions): Gateway {
  const { clock = systemClock, onError = reportNowhere, authenticate, trustsRoots = false } = options;
  const { hosts = loopbackHosts, origins = [] } = options;
  const profiles = new Map<string, Profile>([[DEFAULT_PROFILE, openProfile]]);
  for (const [name, profile] of Object.entries(options.profiles ?? {})) profiles.set(name, { ...profile, name });
  const events = new Emitter<GatewayEvent>(onError);
  const queue = { queuedCalls: options.limits?.queuedCalls ?? limits.relay.queuedCalls };
  const measures = new Measures();
  const seal = new RoundSeal({ clock, key: options.stateKey });
  const calls = new CallRelays({ seal, measures, clock, ...queue });
  const room = new ServingRoom(withDefaults(options.limits));
  const principals = new WeakMap<RequestHead, Principal>();
  const opened: RouteServer[] = [];
  let closing: Promise<void> | undefined;

  const tellOf = (fleet: GatewayFleet, kind: ChangedList, change: ListChange) => {
    for (const { route, server, clients } of opened)
      if (concerns(route, change)) server.listChanged(kind, (peer) => clients.isOf(peer, fleet));
  };
  const workspaces = new Workspaces(runtime, {
    open: options.openWorkspace,
    ...{ folder: options.folder, workspaceOf: options.workspaceOf },
    isUsed: (fleet) => opened.some(({ clients }) => clients.isUsed(fleet)),
    onFleet: (fleet) => fleet.onListChanged((kind, change) => tellOf(fleet, kind, change)),
  });

  const openRoute = (route: Route): RouteServer => {
    const clients = new Clients({ route, workspaces, clock, trustsRoots, onError });
    const service = new RouteService({
      ...{ route, clients, calls, seal, clock },
      watched: new Watched((told, isMeant) => server.resourceUpdated(told, isMeant)),
      onSessionOpened: (peer) => events.emit({ type: 'session.opened', ...factsOf(route, peer) }),
      onSessionClosed: (peer) => events.emit({ type: 'session.closed', ...factsOf(route, peer) }),
      onRootsChanged: (peer) => {
        if (!clients.rootsChanged(peer)) return;
        for (const kind of changedLists) server.listChanged(kind, (each) => each === peer);
      },
    });
    const server = createServerIn(room, service, { clock, onError });
    const http = { authenticate: (request: RequestHead) => principals.get(request), hosts, origins };
    const { stream, message } = server.sse({ ...http, messages: MESSAGES_PATH });
    const oldest = new Map([
      [STREAM_PATH, stream],
      [MESSAGES_PATH, message],
    ]);
    const made = { route, server, clients, handle: server.handler(http), oldest };
    opened.push(made);
    // An address that no client has used before refuses requests as the others do.
    if (closing !== undefined) void server.close({ drainMs: 0 });
    return made;
  };

  const routes = new Routes({
    profiles,
    open: openRoute,
    isServer: (server) => workspaces.open().some((fleet) => fleet.hasServer(server)),
  });

  /** There always is one. */
  const defaultRoute = () => routes.ofProfile(DEFAULT_PROFILE) as RouteServer;

  /** The handler of the request's route; `undefined` if the request is refused already. */
  const handlerFor = (request: ServedRequest, response: ServedResponse): HttpHandler | undefined => {
    const refused = (status: number, sentence: string) => void refuse(response, status, invalidRequest(sentence));
    const path = pathIn(request);
    const found = routes.ofPath(path);
    const noRoute = () => refused(404, 'There is no such route');
    if (found === undefined && readPath(path) === undefined) return noRoute();
    const refusal = options.refuses?.(request);
    if (refusal !== undefined) return refused(refusal.status, refusal.sentence);
    const caller = authenticate(request);
    const { oldest, handle } = found ?? defaultRoute();
    // Without a token every name is refused alike: otherwise a guess would tell which servers and profiles there are.
    if (caller === undefined) return oldest.get(path) ?? handle;
    const identified = identify(caller, request);
    if (typeof identified === 'string') return refused(403, identified);
    const { profile } = accessOf(caller);
    if (profile !== undefined && found?.route.path !== pathOf(profile))
      return refused(403, `This token is for the route ${pathOf(profile)} only`);
    if (found === undefined) return noRoute();
    principals.set(request, identified);
    return oldest.get(path) ?? handle;
  };

  const closeAll: Gateway['close'] = async (how) => {
    await Promise.all(opened.map(({ server }) => server.close(how)));
    for (const { clients } of opened) clients.close();
    await workspaces.close();
  };

  return {
    isRoute: (path) => routes.ofPath(path) !== undefined,
    handler(request, response) {
      let handle: HttpHandler | undefined;
      try {
        handle = handlerFor(request, response);
      } catch (error) {
        // A host's own `authenticate` may throw: that fails this request only.
        onError(error);
        refuse(response, 500, new ProtocolError(codes.internal, 'Internal error'));
      }
      return handle?.(request, response);
    },
    stdio: async ({ pipes, profile = DEFAULT_PROFILE } = {}) => {
      const found = routes.ofProfile(profile);
      if (found === undefined) throw new TypeError(`there is no profile "${profile}"`);
      await found.server.stdio(pipes);
    },
    link(request, principal, pipes) {
      const found = routes.ofLink(pathIn(request));
      if (found === undefined) return { status: 404, sentence: missingRoute(pathIn(request), [...profiles.keys()]) };
      const identified = identify(principal, request);
      if (typeof identified === 'string') return { status: 403, sentence: `${identified}.` };
      const { refusal } = room;
      if (refusal !== undefined) return { status: 503, sentence: `${refusal.message}.` };
      const release = workspaces.hold(originOf(identified).workspace);
      return found.server.stdio(pipes, { principal: identified }).finally(release);
    },
    withRuntime: (folder, work) => workspaces.use(folder, ({ runtime: opened }) => work(opened)),
    on: (listener) => events.on(listener),
    endSessions(isMeant) {
      const isOfThem = (principal: Principal) => isMeant(originOf(principal).principal);
      for (const { server, clients } of opened) {
        server.endSessions(isOfThem);
        clients.forgetCallers(isOfThem);
      }
    },
    measures: () => {
      const counts = opened.map(({ server }) => server.counts());
      const sumOf = (count: Exclude<keyof GatewayMeasures, 'servers'>) =>
        counts.reduce((sum, each) => sum + each[count], 0);
      const clientsNow = { sessions: sumOf('sessions'), pipes: sumOf('pipes') };
      const requests = { unanswered: sumOf('unanswered'), suspended: sumOf('suspended') };
      return { servers: measures.servers, ...clientsNow, ...requests };
    },
    async status() {
      return (await workspaces.all()).map((fleet) => ({ workspace: fleet.workspace, servers: fleet.status() }));
    },
    close(how) {
      closing ??= closeAll(how);
      return closing;
    },
  };
}

const changedLists: readonly ChangedList[] = ['tools', 'prompts', 'resources'];

function pathIn({ url = '' }: RequestHead): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

/** For the person whose client names the route. */
function missingRoute(path: string, profiles: readonly string[]): string {
  const words = readPath(path);
  if (words?.kind !== 'profile') return `The gateway has no ${path}.`;
  return `There is no profile "${words.profile}", only ${profiles.join(', ')}; a gateway reads its profiles when it starts.`;
}

const reportNowhere = (): void => undefined;

function factsOf({ profile, server }: Route, { session, era, client }: Peer): SessionFacts {
  const name = client?.['name'];
  return {
    ...{ sessionId: session?.id ?? '', era, profile: profile.name },
    ...(typeof name === 'string' && { client: name }),
    ...(server !== undefined && { server }),
  };
}
