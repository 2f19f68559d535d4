// Owns putting the serving side together: a service in, and ways to reach it out. The parts decide; this file only joins them.

import { type Clock, systemClock } from '../kernel/clock.ts';
import { limits as fixedLimits } from '../model/limits.ts';
import type { Authenticate } from './access.ts';
import { inHostHeader, isLoopback, loopbackHosts, withoutToken } from './access.ts';
import type { ChangedList, IsMeant } from './changes.ts';
import { Dispatcher } from './dispatcher.ts';
import { HttpEndpoint } from './http-endpoint.ts';
import type { HttpHandler } from './http-exchange.ts';
import { type ListeningServer, listenHttp } from './http-listener.ts';
import type { Principal, Service } from './service.ts';
import { type ServingLimits, withDefaults } from './serving-limits.ts';
import { ServingRoom } from './serving-room.ts';
import { SseEndpoint } from './sse-endpoint.ts';
import { StateSeal } from './state-seal.ts';
import { StdioEndpoint, type StdioPipes } from './stdio-endpoint.ts';

export interface McpServerOptions {
  /** Limits other than the defaults of `plexus.serving`. */
  readonly limits?: Partial<ServingLimits>;
  /** Called with an error of a handler that is no `ProtocolError`: the client is only told that there was one. */
  readonly onError?: (error: unknown) => void;
  readonly clock?: Clock;
}

export interface HttpOptions {
  /** Says whose request it is: `byToken`, `withoutToken` on loopback, or a function of your own. */
  readonly authenticate: Authenticate;
  /** Names and addresses by which clients reach the server, without a port. Default: those of loopback. */
  readonly hosts?: readonly string[];
  /** Web pages that may send requests. Default: none. */
  readonly origins?: readonly string[];
}

export interface ListenOptions extends HttpOptions {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** 0 takes any free one. */
  readonly port: number;
  /** Default: `/mcp`. */
  readonly path?: string;
}

export interface SseHandlers {
  readonly stream: HttpHandler;
  readonly message: HttpHandler;
}

export interface ServerCounts {
  /** Open over HTTP. */
  readonly sessions: number;
  /** Clients on pipes; a stream of the oldest kind over HTTP is served as one. */
  readonly pipes: number;
  /** Requests without an answer so far, open subscriptions included. */
  readonly unanswered: number;
  /** Calls that have a place. */
  readonly running: number;
  readonly suspended: number;
}

export interface McpServer {
  /**
   * Serves one client over a pair of pipes; resolves when its input has ended and every answer is written. Each pair is a
   * principal of its own unless one is given. Rejects while too many sessions are open: a pair is one of them.
   */
  stdio(pipes?: StdioPipes, options?: { readonly principal?: Principal }): Promise<void>;
  /** Handlers for the oldest clients: one for the stream, one for the messages, whose path the stream tells. */
  sse(options: HttpOptions & { readonly messages: string }): SseHandlers;
  /** A handler for the requests of one URL, to mount in a host's own server. */
  handler(options: HttpOptions): HttpHandler;
  /** Listens on a port of its own. */
  listen(options: ListenOptions): Promise<ListeningServer>;
  /** Tells clients that a list has changed; `isMeant` leaves some of them out. */
  listChanged(kind: ChangedList, isMeant?: IsMeant): void;
  /** Tells the clients that subscribed to a resource that it has changed. */
  resourceUpdated(uri: string, isMeant?: IsMeant): void;
  /** Ends the sessions, calls and subscriptions of some principals, such as those whose token was revoked. */
  endSessions(isMeant: (principal: Principal) => boolean): void;
  counts(): ServerCounts;
  /** Refuses new requests, lets running calls end within the time, and ends all streams and sessions. */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

export function createMcpServer(service: Service, { limits, ...options }: McpServerOptions = {}): McpServer {
  return createServerIn(new ServingRoom(withDefaults(limits)), service, options);
}

/** One of several servers of a program, which share its limits. */
export function createServerIn(
  room: ServingRoom,
  service: Service,
  { clock = systemClock, onError: report = () => undefined }: Omit<McpServerOptions, 'limits'> = {},
): McpServer {
  const { limits } = room;
  const dispatcher = new Dispatcher({ service, room, clock, seal: new StateSeal(), report });
  const endpoints: HttpEndpoint[] = [];
  const listeners: ListeningServer[] = [];
  const pipes = new Set<StdioEndpoint>();
  let isClosing = false;
  const sessions = () => endpoints.reduce((sum, endpoint) => sum + endpoint.sessions, 0);
  const leaveRoom = room.join(() => sessions() + pipes.size);

  const mount = ({ authenticate, hosts = loopbackHosts, origins = [] }: HttpOptions): HttpEndpoint => {
    const endpoint = new HttpEndpoint(dispatcher, { authenticate, hosts, origins });
    endpoints.push(endpoint);
    return endpoint;
  };

  const serve = async (pair: StdioPipes, principal?: Principal) => {
    const { refusal } = room;
    if (refusal !== undefined) throw refusal;
    const endpoint = new StdioEndpoint(dispatcher, pair, principal);
    pipes.add(endpoint);
    await endpoint.run();
    pipes.delete(endpoint);
    const { id } = endpoint.principal;
    if (![...pipes].some((each) => each.principal.id === id))
      dispatcher.tell(() => service.onGone?.(endpoint.principal));
  };

  return {
    stdio: (pair = { input: process.stdin, output: process.stdout }, { principal } = {}) => serve(pair, principal),
    sse({ authenticate, hosts = loopbackHosts, origins = [], messages }) {
      const isOver = () => isClosing;
      const { stream, message } = new SseEndpoint({
        ...{ authenticate, hosts, origins, messages, room, clock, report, serve, isOver },
      });
      return { stream, message };
    },
    handler: (http) => mount(http).handle,
    async listen({ host = '127.0.0.1', port, path = '/mcp', ...http }) {
      if (http.authenticate === withoutToken && !isLoopback(host))
        throw new TypeError(`A server without a token listens on loopback only, not on ${host}`);
      const hosts = http.hosts ?? (isLoopback(host) ? loopbackHosts : [...loopbackHosts, inHostHeader(host)]);
      const endpoint = mount({ ...http, hosts });
      const route = (asked: string) => (asked === path ? endpoint.handle : undefined);
      const listener = await listenHttp({ host, port, path, route, limits });
      listeners.push(listener);
      return listener;
    },
    listChanged: (kind, isMeant) => dispatcher.changes.listChanged(kind, isMeant),
    resourceUpdated: (uri, isMeant) => dispatcher.changes.resourceUpdated(uri, isMeant),
    endSessions(isMeant) {
      const reason = new DOMException('the access was withdrawn', 'AbortError');
      for (const endpoint of endpoints) endpoint.endSessions(isMeant, reason);
      for (const endpoint of pipes) endpoint.stop(isMeant);
      dispatcher.cancelCalls(reason, isMeant);
    },
    counts: () => ({
      sessions: sessions(),
      pipes: pipes.size,
      unanswered: dispatcher.unanswered,
      running: dispatcher.places.running,
      suspended: dispatcher.suspended.size,
    }),
    async close({ drainMs = fixedLimits.served.drainMs } = {}) {
      isClosing = true;
      for (const endpoint of [...endpoints, ...pipes]) endpoint.stop();
      dispatcher.close();
      const timeUp = new AbortController();
      await Promise.race([dispatcher.places.whenIdle(), clock.sleep(drainMs, timeUp.signal).catch(onAbort)]);
      timeUp.abort();
      // The answers of the calls that ended last are on their way.
      await answersSent();
      const reason = new DOMException('the server stops', 'AbortError');
      dispatcher.cancelCalls(reason);
      await answersSent();
      for (const endpoint of endpoints) endpoint.endSessions(() => true, reason);
      await Promise.all(listeners.map((listener) => listener.close()));
      leaveRoom();
    },
  };
}

/** Answers follow the end of their calls without a wait for anything outside. */
const answersSent = () => new Promise<void>((resolve) => setImmediate(resolve));

/** The calls ended before the time was up. */
function onAbort(error: unknown): void {
  if (!(error instanceof DOMException)) throw error;
}
