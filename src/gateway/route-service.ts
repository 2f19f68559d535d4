// Owns one route as a service: which method of the protocol is answered where, what the route offers, its subscriptions, and how a
// failure is told. Lists, calls and other requests are in files of their own.

import type { Runtime } from '../api.ts';
import type { Clock } from '../kernel/clock.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { identity } from '../model/identity.ts';
import type { LogLevel } from '../model/server.ts';
import type { Implementation, Offer, Peer, Principal, ServedCall, ServedMethod, Service } from '../serving/service.ts';
import type { CallRelays } from './call-relay.ts';
import { type GatewayClient, refuseSubscription } from './client.ts';
import type { Clients } from './clients.ts';
import { failureAnswer, redactedAnswer } from './commands/told-failure.ts';
import { failureError } from './failures.ts';
import { refuseDenied } from './read-permission.ts';
import type { Route } from './route.ts';
import { RouteCalls } from './route-calls.ts';
import { RouteCatalog } from './route-catalog.ts';
import { RouteLists } from './route-lists.ts';
import { RouteRequests } from './route-requests.ts';
import type { RoundSeal } from './state-of-round.ts';
import { PeerSubscriptions, type Watched } from './watched-resources.ts';

export interface RouteServiceDeps {
  readonly route: Route;
  readonly clients: Clients;
  readonly calls: CallRelays;
  readonly seal: RoundSeal;
  readonly clock: Clock;
  readonly watched: Watched;
  readonly onSessionOpened: (peer: Peer) => void;
  readonly onSessionClosed: (peer: Peer) => void;
  /** The lists of a session's client may be others now. */
  readonly onRootsChanged: (peer: Peer) => void;
}

/** Everything that a route of all servers may offer: servers come and go while its clients stay. */
const MERGED_CAPABILITIES: JsonObject = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

export class RouteService implements Service {
  readonly methods: Service['methods'];
  readonly keepsRequestState: (state: unknown) => boolean;
  readonly #deps: RouteServiceDeps;
  readonly #route: Route;
  readonly #catalog: RouteCatalog;
  readonly #subscriptions = new PeerSubscriptions();
  readonly info: Implementation = identity;

  constructor(deps: RouteServiceDeps) {
    this.#deps = deps;
    this.#route = deps.route;
    this.keepsRequestState = deps.seal.isOwn;
    this.#catalog = new RouteCatalog(deps.route);
    const lists = new RouteLists(this.#catalog);
    const calls = new RouteCalls({ ...deps, catalog: this.#catalog });
    const requests = new RouteRequests({ ...deps, catalog: this.#catalog });
    const methods: Service['methods'] = {
      'tools/list': this.#for((client, { peer }) => lists.tools(client, peer)),
      'tools/call': (served) => calls.call(served),
      'resources/list': this.#for((client) => lists.resources(client)),
      'resources/templates/list': this.#for((client) => lists.templates(client)),
      'resources/read': this.#for((client, served) => requests.read(client, served)),
      'prompts/list': this.#for((client) => lists.prompts(client)),
      'prompts/get': this.#for((client, served) => requests.getPrompt(client, served)),
      'completion/complete': this.#for((client, served) => requests.complete(client, served)),
    };
    this.methods = deps.route.isOfCommands ? this.#redacted(methods) : methods;
  }

  /** The only server of the route introduces itself, as it did in the workspace of the client. */
  infoOf(peer: Peer): Implementation {
    const { server } = this.#route;
    const fleet = server === undefined ? undefined : this.#deps.clients.fleetOf(peer);
    const told = server && fleet?.servers.sessions.open(server)?.serverInfo;
    return told ? { ...told, version: told.version ?? '' } : identity;
  }

  async offer(peer: Peer): Promise<Offer> {
    const { server, isOfCommands } = this.#route;
    if (server === undefined) return { capabilities: MERGED_CAPABILITIES };
    let runtime: Runtime | undefined;
    try {
      return await this.#deps.clients.useFleet(peer, async (fleet) => {
        ({ runtime } = fleet);
        const { capabilities, instructions } = await fleet.session(server);
        const shown = isOfCommands ? runtime.redact(instructions) : instructions;
        return { capabilities: offered(capabilities), ...(shown !== undefined && { instructions: shown }) };
      });
    } catch (error) {
      if (!isOfCommands) throw failureError(error, { isStatus: true });
      throw redactedAnswer(failureAnswer(error), (value) => runtime?.redact(value) ?? value);
    }
  }

  async inputSchema(name: string, peer: Peer): Promise<JsonObject | undefined> {
    return (await this.#deps.clients.of(peer)).tools().byName.get(name)?.definition.inputSchema;
  }

  async onSubscribed(uri: string, peer: Peer): Promise<void> {
    const client = await this.#deps.clients.of(peer);
    try {
      await this.#subscriptions.begin(uri, peer, async () => {
        const owner = await this.#catalog.ownerOf(client, uri);
        refuseSubscription(client, owner.server);
        refuseDenied(client, { reading: 'resources', server: owner.server, arguments: { uri: owner.uri } });
        return this.#deps.watched.add(client.fleet, { ...owner, told: uri }, peer);
      });
    } catch (error) {
      throw failureError(error);
    }
  }

  onUnsubscribed(uri: string, peer: Peer): void {
    this.#subscriptions.end(uri, peer);
  }

  onLogLevel(level: LogLevel, peer: Peer): void {
    this.#deps.clients.known(peer)?.callerOf(peer).wantLogLevel(level);
  }

  onNotification(method: string, _params: JsonObject, peer: Peer): void {
    if (method === 'notifications/roots/list_changed') this.#deps.onRootsChanged(peer);
  }

  onSessionOpened(peer: Peer): void {
    this.#deps.onSessionOpened(peer);
  }

  onSessionClosed(peer: Peer): void {
    this.#deps.clients.forget(peer);
    this.#deps.onSessionClosed(peer);
  }

  onGone({ id }: Principal): void {
    this.#deps.clients.forgetCallers((principal) => principal.id === id);
  }

  /** A failure of the runtime becomes an error of the request; where the route is of one server, with its HTTP status. */
  #for(answer: (client: GatewayClient, served: ServedCall) => Promise<JsonObject>): ServedMethod {
    return async (served) => {
      try {
        return await answer(await this.#deps.clients.of(served.peer), served);
      } catch (error) {
        if (this.#route.isOfCommands) throw failureAnswer(error);
        const isStatus = this.#route.server !== undefined && served.method.endsWith('/list');
        throw failureError(error, { isStatus });
      }
    };
  }

  /** A command prints what it gets; the values that must not be seen are known where the server runs. */
  #redacted(methods: Service['methods']): Service['methods'] {
    const redacted =
      (method: ServedMethod): ServedMethod =>
      async (served) => {
        const { runtime } = (await this.#deps.clients.of(served.peer)).fleet;
        try {
          return runtime.redact(await method(served));
        } catch (error) {
          throw redactedAnswer(error, (value) => runtime.redact(value));
        }
      };
    return Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, redacted(method)]));
  }
}

/** Of one server, what the gateway passes on; it tells of changed lists itself. */
function offered({ tools, resources, prompts, completions, logging, extensions }: JsonObject): JsonObject {
  const listed = (declared: unknown) => ({ ...(isObject(declared) ? declared : {}), listChanged: true });
  return {
    ...(tools !== undefined && { tools: listed(tools) }),
    ...(resources !== undefined && { resources: listed(resources) }),
    ...(prompts !== undefined && { prompts: listed(prompts) }),
    ...(completions !== undefined && { completions }),
    ...(logging !== undefined && { logging }),
    ...(extensions !== undefined && { extensions }),
  };
}
