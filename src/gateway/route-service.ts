// Owns one route as a service: what its clients list, call, read and are told. Hands each request to its server and the answer back;
// what belongs to a call alone is in `call-relay.ts`.

import type { Runtime } from '../api.ts';
import type { ListCapability } from '../catalog/listing.ts';
import { createResources } from '../catalog/resources/resources.ts';
import { requestWithRetry } from '../catalog/resources/retried-request.ts';
import { visibleResources } from '../catalog/resources/visible-resources.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { CALL_TOOL, SEARCH_TOOL, unwrapCall } from '../model/builtin.ts';
import { RuntimeError } from '../model/errors.ts';
import { identity } from '../model/identity.ts';
import type { ServerName } from '../model/names.ts';
import type { Prompt } from '../model/resource.ts';
import type { Tool } from '../model/tool.ts';
import { invalidParams, ProtocolError } from '../serving/protocol.ts';
import type { Implementation, Offer, Peer, Principal, ServedCall, ServedMethod, Service } from '../serving/service.ts';
import type { CallRelays } from './call-relay.ts';
import { type GatewayClient, refusalOf } from './client.ts';
import type { Clients } from './clients.ts';
import { failureAnswer, redactedAnswer } from './commands/told-failure.ts';
import { failureError } from './failures.ts';
import type { GatewayFleet } from './gateway-fleet.ts';
import { type Named, nameAll, ownedUri, readOwnedUri } from './names.ts';
import { seesServer } from './profiles.ts';
import type { Route } from './route.ts';
import { passedMeta, ServedRelay } from './served-relay.ts';
import { outcomesOf, SERVERS_META, STATUS_TOOL, statusResult, statusTool } from './status-tool.ts';
import type { Watched } from './watched-resources.ts';

export interface RouteServiceDeps {
  readonly route: Route;
  readonly clients: Clients;
  readonly calls: CallRelays;
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
  /** How each subscription ends, by its uri: it ends where it began, also if its client is of another folder by then. */
  readonly #subscribed = new WeakMap<Peer, Map<string, () => void>>();
  /** As the only server of the route introduced itself. */
  #info: Implementation = identity;

  constructor(deps: RouteServiceDeps) {
    this.#deps = deps;
    this.#route = deps.route;
    this.keepsRequestState = deps.calls.isOwnState;
    const methods: Service['methods'] = {
      'tools/list': this.#for((client, { peer }) => this.#listTools(client, peer)),
      'tools/call': (served) => this.#callTool(served),
      'resources/list': this.#for((client) => this.#listResources(client)),
      'resources/templates/list': this.#for((client) => this.#listTemplates(client)),
      'resources/read': this.#for((client, served) => this.#read(client, served)),
      'prompts/list': this.#for((client) => this.#listPrompts(client)),
      'prompts/get': this.#for((client, served) => this.#getPrompt(client, served)),
      'completion/complete': this.#for((client, served) => this.#complete(client, served)),
    };
    this.methods = deps.route.isOwn ? this.#redacted(methods) : methods;
  }

  get info(): Implementation {
    return this.#info;
  }

  async offer(peer: Peer): Promise<Offer> {
    const { server } = this.#route;
    if (server === undefined) return { capabilities: MERGED_CAPABILITIES };
    let runtime: Runtime | undefined;
    try {
      const fleet = await this.#deps.clients.fleetBefore(peer);
      ({ runtime } = fleet);
      const { capabilities, instructions, serverInfo } = await fleet.session(server);
      if (serverInfo !== undefined) this.#info = { ...serverInfo, version: serverInfo.version ?? '' };
      const shown = this.#route.isOwn ? runtime.redact(instructions) : instructions;
      return { capabilities: offered(capabilities), ...(shown !== undefined && { instructions: shown }) };
    } catch (error) {
      if (!this.#route.isOwn) throw failureError(error, { isStatus: true });
      throw redactedAnswer(failureAnswer(error), (value) => runtime?.redact(value) ?? value);
    }
  }

  async inputSchema(name: string, peer: Peer): Promise<JsonObject | undefined> {
    return (await this.#clientOf(peer)).tools().byName.get(name)?.definition.inputSchema;
  }

  async onSubscribed(uri: string, peer: Peer): Promise<void> {
    const client = await this.#clientOf(peer);
    const subscribed = this.#subscribed.get(peer) ?? new Map<string, () => void>();
    this.#subscribed.set(peer, subscribed);
    try {
      const owner = await this.#ownerOf(client, uri);
      subscribed.set(uri, await this.#deps.watched.add(client.fleet, { ...owner, told: uri }, peer));
    } catch (error) {
      throw failureError(error);
    }
  }

  onUnsubscribed(uri: string, peer: Peer): void {
    const subscribed = this.#subscribed.get(peer);
    subscribed?.get(uri)?.();
    subscribed?.delete(uri);
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
        return await answer(await this.#clientOf(served.peer), served);
      } catch (error) {
        if (this.#route.isOwn) throw failureAnswer(error);
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
        const { runtime } = (await this.#clientOf(served.peer)).fleet;
        try {
          return runtime.redact(await method(served));
        } catch (error) {
          throw redactedAnswer(error, (value) => runtime.redact(value));
        }
      };
    return Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, redacted(method)]));
  }

  #clientOf(peer: Peer): GatewayClient | Promise<GatewayClient> {
    return this.#deps.clients.of(peer);
  }

  async #listTools(client: GatewayClient, peer: Peer): Promise<JsonObject> {
    const { server, profile } = this.#route;
    await client.fleet.whenToolsListed(server);
    if (server !== undefined) return { tools: client.tools().list.map(({ item }) => item.definition) };
    const shown = profile.expose === 'search' ? searchTools(client) : this.#mergedTools(client, peer);
    return { tools: [...shown, statusTool], ...this.#outcomes(client.fleet) };
  }

  /** Tools that only an app may call are shown to clients that show apps; a model has no use for them. */
  #mergedTools(client: GatewayClient, peer: Peer): readonly JsonObject[] {
    const isShown = ({ item }: { readonly item: Tool }) => !isForApps(item.definition) || showsApps(peer);
    return client
      .tools()
      .list.filter(isShown)
      .map(({ name, item: { id, definition } }) => {
        const ui = uiOf(definition);
        const uri = ui?.['resourceUri'];
        const isOwned = typeof uri === 'string' && this.#visible(client).ownersOf(uri).length > 1;
        if (!isOwned) return { ...definition, name };
        const meta = { ...(definition['_meta'] as JsonObject), ui: { ...ui, resourceUri: ownedUri(id.server, uri) } };
        return { ...definition, name, _meta: meta };
      });
  }

  #callTool(served: ServedCall): JsonObject | Promise<JsonObject> {
    const client = this.#clientOf(served.peer);
    return client instanceof Promise
      ? client.then((opened) => this.#callFor(opened, served))
      : this.#callFor(client, served);
  }

  #callFor(client: GatewayClient, served: ServedCall): JsonObject | Promise<JsonObject> {
    const { name } = served.params;
    const { calls } = this.#deps;
    if (typeof name !== 'string') throw invalidParams('name must be a string');
    const { server, profile } = this.#route;
    const tool = client.tools().byName.get(name);
    if (server === undefined) {
      if (name === STATUS_TOOL) return statusResult(this.#seenStatuses(client.fleet));
      if (profile.expose === 'search')
        return this.#callFound(client, served, searchTool(client, name) ?? unknown(name));
    }
    if (tool !== undefined) return calls.call(client, served, tool);
    return this.#callLater(client, served, name);
  }

  /** The tool that is called through another one is the one that counts: its server's limits, its questions, its place. */
  #callFound(client: GatewayClient, served: ServedCall, own: Tool): Promise<JsonObject> {
    const carried = own.name === CALL_TOOL ? unwrapCall(served.params['arguments']) : '';
    const tool = typeof carried === 'string' ? undefined : client.turn().find(carried.name);
    if (tool === undefined || typeof carried === 'string') return this.#deps.calls.call(client, served, own);
    return this.#deps.calls.call(client, served, tool, carried.arguments);
  }

  /** A tool that is not known may be of a server that has not listed its tools yet. */
  async #callLater(client: GatewayClient, served: ServedCall, name: string): Promise<JsonObject> {
    try {
      await client.fleet.whenToolsListed(this.#route.server);
    } catch (error) {
      return this.#deps.calls.failed(client, error);
    }
    return this.#deps.calls.call(client, served, client.tools().byName.get(name) ?? unknown(name));
  }

  async #listResources(client: GatewayClient): Promise<JsonObject> {
    await this.#whenListed(client, 'resources');
    const resources = this.#visible(client).resources(this.#route.server);
    const shown = resources.map(({ server, uri, definition }) => this.#withUri(client, definition, { server, uri }));
    return { resources: shown, ...this.#outcomes(client.fleet) };
  }

  async #listTemplates(client: GatewayClient): Promise<JsonObject> {
    await this.#whenListed(client, 'resources');
    const templates = this.#visible(client).templates(this.#route.server);
    const owners = new Map<string, number>();
    for (const { uriTemplate } of templates) owners.set(uriTemplate, (owners.get(uriTemplate) ?? 0) + 1);
    const shown = templates.map(({ server, uriTemplate, definition }) =>
      (owners.get(uriTemplate) ?? 0) > 1 ? { ...definition, uriTemplate: ownedUri(server, uriTemplate) } : definition,
    );
    return { resourceTemplates: shown, ...this.#outcomes(client.fleet) };
  }

  async #read(client: GatewayClient, served: ServedCall): Promise<JsonObject> {
    const { uri } = served.params;
    if (typeof uri !== 'string') throw invalidParams('uri must be a string');
    const owner = await this.#ownerOf(client, uri);
    const result = await this.#handOn(client, served, owner.server, { uri: owner.uri });
    const { contents } = result;
    if (owner.uri === uri || !Array.isArray(contents)) return result;
    const renamed = contents.map((part: unknown) =>
      isObject(part) && part['uri'] === owner.uri ? { ...part, uri } : part,
    );
    return { ...result, contents: renamed };
  }

  async #listPrompts(client: GatewayClient): Promise<JsonObject> {
    await this.#whenListed(client, 'prompts');
    const prompts = this.#prompts(client).list.map(({ name, item: { definition } }) =>
      name === definition['name'] ? definition : { ...definition, name },
    );
    return { prompts, ...this.#outcomes(client.fleet) };
  }

  async #getPrompt(client: GatewayClient, served: ServedCall): Promise<JsonObject> {
    const { name, arguments: args } = served.params;
    const prompt = await this.#promptOf(client, name);
    const params = { name: prompt.name, ...(args !== undefined && { arguments: args }) };
    return this.#handOn(client, served, prompt.server, params);
  }

  async #complete(client: GatewayClient, served: ServedCall): Promise<JsonObject> {
    const { ref, ...others } = served.params;
    if (!isObject(ref)) throw invalidParams('ref must be an object');
    if (ref['type'] === 'ref/prompt') {
      const { server, name } = await this.#promptOf(client, ref['name']);
      return this.#handOn(client, served, server, { ...others, ref: { ...ref, name } });
    }
    const uri = ref['uri'];
    if (ref['type'] !== 'ref/resource' || typeof uri !== 'string')
      throw invalidParams('ref must name a prompt or a resource');
    const owner = this.#templateOwner(client, uri) ?? (await this.#ownerOf(client, uri));
    return this.#handOn(client, served, owner.server, { ...others, ref: { ...ref, uri: owner.uri } });
  }

  /** Any request but a call of a tool: no rule speaks of it, and it may be sent again when the connection was lost. */
  async #handOn(client: GatewayClient, served: ServedCall, server: ServerName, own: JsonObject): Promise<JsonObject> {
    const { fleet } = client;
    const caller = client.callerOf(served.peer);
    const inputs = this.#deps.calls.inputsOf(served);
    const relay = new ServedRelay(caller, served, {
      server,
      isRaw: true,
      isOwnOrder: true,
      inputs,
      clock: fleet.parts.host.clock,
    });
    const { _meta: _, inputResponses: __, requestState: ___, ...params } = own;
    const refusal = refusalOf(client, server);
    if (refusal !== undefined) throw refusal;
    const { sessions } = client;
    const { clock } = fleet.parts.host;
    const meta = passedMeta(served.meta);
    const relayed = {
      ...{ relay, meta, refused: refusedBy },
      onProgress: (progress: Parameters<ServedRelay['onProgress']>[0]) => relay.onProgress(progress),
    };
    const place = caller.begin(server, served);
    try {
      const result = await requestWithRetry(
        { reach: sessions, handlers: caller.handlers, clock },
        { server, method: served.method, params, relayed },
        { signal: served.signal },
      );
      return this.#deps.calls.sealed(served, result);
    } finally {
      caller.end(place);
    }
  }

  async #whenListed(client: GatewayClient, capability: ListCapability): Promise<void> {
    await client.fleet.whenListed(capability, this.#route.server);
  }

  #isSeen(fleet: GatewayFleet, server: ServerName): boolean {
    const { server: only, profile } = this.#route;
    return (
      (only === undefined ? seesServer(profile, server) : server === only) && !fleet.servers.registry.isSetAside(server)
    );
  }

  #visible({ fleet }: GatewayClient): ReturnType<typeof visibleResources> {
    return visibleResources(fleet.servers.resourceCatalog, (server) => this.#isSeen(fleet, server));
  }

  #prompts(client: GatewayClient): Named<Prompt> {
    const { server } = this.#route;
    const prompts = this.#visible(client).prompts(server);
    return nameAll(prompts, (prompt) => ({ server: prompt.server, tool: prompt.name }), server !== undefined);
  }

  async #promptOf(
    client: GatewayClient,
    name: unknown,
  ): Promise<{ readonly server: ServerName; readonly name: string }> {
    if (typeof name !== 'string') throw invalidParams('name must be a string');
    const { server } = this.#route;
    if (server !== undefined) return { server, name };
    const known = this.#prompts(client).byName.get(name);
    if (known !== undefined) return known;
    await this.#whenListed(client, 'prompts');
    const found = this.#prompts(client).byName.get(name);
    if (found === undefined) throw new RuntimeError('PROMPT_UNKNOWN', { name, nearest: [] });
    return found;
  }

  async #ownerOf(client: GatewayClient, uri: string): Promise<{ readonly server: ServerName; readonly uri: string }> {
    const { server } = this.#route;
    if (server !== undefined) return { server, uri };
    const owned = readOwnedUri(uri);
    if (owned !== undefined) {
      if (this.#isSeen(client.fleet, owned.server)) return owned;
      throw new RuntimeError('RESOURCE_UNKNOWN', { uri, because: 'no server that is seen here has it', nearest: [] });
    }
    const { subscriptions, sessions } = client.fleet.servers;
    const { clock } = client.fleet.parts.host;
    const resourceCatalog = this.#visible(client);
    if (resourceCatalog.ownersOf(uri).length === 0) await this.#whenListed(client, 'resources');
    const resources = createResources({ resourceCatalog, subscriptions, reach: sessions, handlers: {}, clock });
    return { server: resources.ownerOf(uri), uri };
  }

  #templateOwner(client: GatewayClient, template: string) {
    const { server } = this.#route;
    if (server !== undefined) return { server, uri: template };
    const owners = this.#visible(client)
      .templates()
      .filter(({ uriTemplate }) => uriTemplate === template);
    const [only, another] = owners;
    return only !== undefined && another === undefined ? { server: only.server, uri: template } : undefined;
  }

  /** A resource keeps its uri where only one server has it. */
  #withUri(client: GatewayClient, definition: JsonObject, { server, uri }: { server: ServerName; uri: string }) {
    const isShared = this.#route.server === undefined && this.#visible(client).ownersOf(uri).length > 1;
    return isShared ? { ...definition, uri: ownedUri(server, uri) } : definition;
  }

  #seenStatuses(fleet: GatewayFleet) {
    return fleet.status().filter(({ name }) => seesServer(this.#route.profile, name));
  }

  /** A broken server is told in every merged list, and never silently missing. */
  #outcomes(fleet: GatewayFleet): JsonObject {
    if (this.#route.server !== undefined) return {};
    return { _meta: { [SERVERS_META]: outcomesOf(this.#seenStatuses(fleet)) } };
  }
}

const refusedBy = ({ code, message, data }: { code: number; message: string; data?: unknown }) =>
  new ProtocolError(code, message, data);

function unknown(name: string): never {
  throw invalidParams(`Unknown tool: ${name.slice(0, 200)}`);
}

function uiOf({ _meta: meta }: JsonObject): JsonObject | undefined {
  const ui = isObject(meta) ? meta['ui'] : undefined;
  return isObject(ui) ? ui : undefined;
}

function isForApps(definition: JsonObject): boolean {
  const visibility = uiOf(definition)?.['visibility'];
  return Array.isArray(visibility) && !visibility.includes('model');
}

function showsApps({ capabilities: { extensions } }: Peer): boolean {
  return isObject(extensions) && extensions['io.modelcontextprotocol/ui'] !== undefined;
}

const SEARCH_NAMES: readonly string[] = [SEARCH_TOOL, CALL_TOOL];

const searchTool = (client: GatewayClient, name: string) =>
  SEARCH_NAMES.includes(name) ? client.turn().find(name) : undefined;

const searchTools = (client: GatewayClient): readonly JsonObject[] =>
  SEARCH_NAMES.flatMap((name) => client.turn().find(name)?.definition ?? []);

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
