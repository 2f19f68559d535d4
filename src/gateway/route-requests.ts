// Owns the requests of a route that go to one server and are no call: reading a resource, getting a prompt, completing a value. They may
// be sent again when the connection was lost. What a client reads is looked through for orders to its model, as the result of a call is.

import { requestWithRetry } from '../catalog/resources/retried-request.ts';
import type { Progress } from '../connection/session.ts';
import type { Clock } from '../kernel/clock.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import type { ServerName } from '../model/names.ts';
import { invalidParams, ProtocolError } from '../serving/protocol.ts';
import type { ServedCall } from '../serving/service.ts';
import { findAtEnds } from '../shaping/injection.ts';
import { type GatewayClient, refusalOf } from './client.ts';
import { legacyReadError } from './failures.ts';
import { permitReading, readings, refuseDenied, type WantedReading } from './read-permission.ts';
import { withUrisOf } from './result-uris.ts';
import type { RouteCatalog } from './route-catalog.ts';
import { passedMeta, type RelayCaller, ServedRelay } from './served-relay.ts';
import { inputsOf, type Round, type RoundSeal } from './state-of-round.ts';

export interface RouteRequestsDeps {
  readonly catalog: RouteCatalog;
  readonly seal: RoundSeal;
  readonly clock: Clock;
}

export class RouteRequests {
  readonly #deps: RouteRequestsDeps;

  constructor(deps: RouteRequestsDeps) {
    this.#deps = deps;
  }

  async read(client: GatewayClient, served: ServedCall): Promise<JsonObject> {
    const { uri } = served.params;
    if (typeof uri !== 'string') throw invalidParams('uri must be a string');
    const owner = await this.#deps.catalog.ownerOf(client, uri);
    const era = () => client.fleet.servers.sessions.open(owner.server)?.era;
    const reading = this.#read(client, served, { reading: 'resources', ...owner, arguments: { uri: owner.uri } });
    const result = await reading.catch((error: unknown) => {
      throw served.peer.era === 'legacy' && era() === 'modern' ? legacyReadError(error, uri) : error;
    });
    return withUrisOf(client, owner.server, result, (named) => (named === owner.uri ? uri : undefined));
  }

  async getPrompt(client: GatewayClient, served: ServedCall): Promise<JsonObject> {
    const { name, arguments: args } = served.params;
    const prompt = await this.#deps.catalog.promptOf(client, name);
    const params = { name: prompt.name, ...(args !== undefined && { arguments: args }) };
    const got = await this.#read(client, served, { reading: 'prompts', server: prompt.server, arguments: params });
    return withUrisOf(client, prompt.server, got);
  }

  async complete(client: GatewayClient, served: ServedCall): Promise<JsonObject> {
    const { catalog } = this.#deps;
    const { ref, ...others } = served.params;
    if (!isObject(ref)) throw invalidParams('ref must be an object');
    if (ref['type'] === 'ref/prompt') {
      const { server, name } = await catalog.promptOf(client, ref['name']);
      refuseDenied(client, { reading: 'prompts', server, arguments: { name } });
      return this.#handOn(client, served, server, { ...others, ref: { ...ref, name } });
    }
    const uri = ref['uri'];
    if (ref['type'] !== 'ref/resource' || typeof uri !== 'string')
      throw invalidParams('ref must name a prompt or a resource');
    const owner = await catalog.templateOwner(client, uri);
    refuseDenied(client, { reading: 'resources', server: owner.server, arguments: { uri: owner.uri } });
    return this.#handOn(client, served, owner.server, { ...others, ref: { ...ref, uri: owner.uri } });
  }

  /** A reading that its user has agreed to stays agreed to, in as many rounds as its server asks for. */
  async #read(client: GatewayClient, served: ServedCall, wanted: WantedReading): Promise<JsonObject> {
    const { seal } = this.#deps;
    const { server } = wanted;
    const place = client.placeOf(server);
    const round = served.peer.era === 'modern' ? seal.open(served, place) : undefined;
    const hasAgreed = (to: string) => round !== undefined && seal.useApproval(round, to);
    const approved = await permitReading(client, served, wanted, hasAgreed);
    const result = await this.#handOn(client, served, server, wanted.arguments, round);
    noteReading(client, wanted, result);
    const { shaping } = client.route.profile;
    const shown = shaping === 'shaped' ? client.fleet.runtime.redact(result) : result;
    return seal.passed(served, place, shown, approved);
  }

  /** In the line of its server, as a call is: the server may ask its client something meanwhile. */
  async #handOn(
    client: GatewayClient,
    served: ServedCall,
    server: ServerName,
    own: JsonObject,
    round?: Round,
  ): Promise<JsonObject> {
    const { clock } = this.#deps;
    const { fleet } = client;
    const refusal = refusalOf(client, server);
    if (refusal !== undefined) throw refusal;
    const caller = client.callerOf(served.peer);
    const inputs = round && inputsOf(served, round);
    const options = { server, isRaw: true, isOwnOrder: true, inputs, clock };
    const relay = new ServedRelay(caller, served, options);
    const relayed = {
      ...{ relay, meta: passedMeta(served.meta), refused: refusedBy },
      onProgress: (progress: Progress) => relay.onProgress(progress),
    };
    const { _meta: _, inputResponses: __, requestState: ___, ...params } = own;
    const request = () =>
      requestWithRetry(
        { reach: client.sessions, handlers: caller.handlers, clock: fleet.parts.host.clock },
        { server, method: served.method, params, relayed },
        { signal: served.signal },
      );
    const result = await this.#inLine({ caller, served, relay, server }, request);
    return served.params['inputResponses'] === undefined ? result : uncached(result);
  }

  async #inLine<Value>(
    { caller, served, relay, server }: PlacedRequest,
    request: () => Promise<Value>,
  ): Promise<Value> {
    const { fleet } = caller;
    const line = fleet.lineOf(server);
    fleet.requestBegan();
    try {
      await line.enter(caller, served, this.#deps.clock);
      const place = caller.begin(server, served, relay);
      let isDone = false;
      try {
        const result = await request();
        isDone = true;
        return result;
      } finally {
        caller.end(place, isDone);
        line.leave();
      }
    } finally {
      fleet.requestEnded();
    }
  }
}

interface PlacedRequest {
  readonly caller: RelayCaller;
  readonly served: ServedCall;
  readonly relay: ServedRelay;
  readonly server: ServerName;
}

/** A result with what the client's user has answered holds for this request alone, whatever its server says. */
function uncached({ ttlMs: _, cacheScope: __, ...result }: JsonObject): JsonObject {
  return result;
}

const refusedBy = ({ code, message, data }: { code: number; message: string; data?: unknown }) =>
  new ProtocolError(code, message, data);

/** A model reads it as it reads the result of a call: orders in it are told of, and taint the calls that follow. */
function noteReading(
  client: GatewayClient,
  { server, reading, arguments: args }: WantedReading,
  result: JsonObject,
): void {
  const signals = findAtEnds(textsOf(result).join('\n'));
  client.noteRead({ meta: { server, tool: readings[reading].read }, signals });
  if (signals.length === 0) return;
  const about = reading === 'prompts' ? { prompt: String(args['name']) } : { tool: readings[reading].read };
  const surface = reading === 'prompts' ? 'prompt' : 'tool_output';
  client.fleet.parts.host.emit({ type: 'signal.raised', server, ...about, surface, signals });
}

/** The texts of a resource's contents, or of a prompt's messages. */
function textsOf({ contents, messages }: JsonObject): readonly string[] {
  const parts = Array.isArray(contents) ? contents : Array.isArray(messages) ? messages.map(contentOf) : [];
  return parts.flatMap((part: unknown) => {
    if (!isObject(part)) return [];
    const { text, resource } = part;
    return [text, isObject(resource) ? resource['text'] : undefined].filter((each) => typeof each === 'string');
  });
}

const contentOf = (message: unknown): unknown => (isObject(message) ? message['content'] : undefined);
