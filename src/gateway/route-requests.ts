// Owns the requests of a route that go to one server and are no call: reading a resource, getting a prompt, completing a value. No rule
// speaks of them, and they may be sent again when the connection was lost.

import { requestWithRetry } from '../catalog/resources/retried-request.ts';
import type { Progress } from '../connection/session.ts';
import type { Clock } from '../kernel/clock.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import type { ServerName } from '../model/names.ts';
import { invalidParams, ProtocolError } from '../serving/protocol.ts';
import type { ServedCall } from '../serving/service.ts';
import { type GatewayClient, refusalOf } from './client.ts';
import { legacyReadError } from './failures.ts';
import { withUrisOf } from './result-uris.ts';
import type { RouteCatalog } from './route-catalog.ts';
import { passedMeta, type RelayCaller, ServedRelay } from './served-relay.ts';
import type { RoundSeal } from './state-of-round.ts';

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
    const reading = this.#handOn(client, served, owner.server, { uri: owner.uri });
    const result = await reading.catch((error: unknown) => {
      throw served.peer.era === 'legacy' && era() === 'modern' ? legacyReadError(error, uri) : error;
    });
    return withUrisOf(client, owner.server, result, (named) => (named === owner.uri ? uri : undefined));
  }

  async getPrompt(client: GatewayClient, served: ServedCall): Promise<JsonObject> {
    const { name, arguments: args } = served.params;
    const prompt = await this.#deps.catalog.promptOf(client, name);
    const params = { name: prompt.name, ...(args !== undefined && { arguments: args }) };
    return withUrisOf(client, prompt.server, await this.#handOn(client, served, prompt.server, params));
  }

  async complete(client: GatewayClient, served: ServedCall): Promise<JsonObject> {
    const { catalog } = this.#deps;
    const { ref, ...others } = served.params;
    if (!isObject(ref)) throw invalidParams('ref must be an object');
    if (ref['type'] === 'ref/prompt') {
      const { server, name } = await catalog.promptOf(client, ref['name']);
      return this.#handOn(client, served, server, { ...others, ref: { ...ref, name } });
    }
    const uri = ref['uri'];
    if (ref['type'] !== 'ref/resource' || typeof uri !== 'string')
      throw invalidParams('ref must name a prompt or a resource');
    const owner = await catalog.templateOwner(client, uri);
    return this.#handOn(client, served, owner.server, { ...others, ref: { ...ref, uri: owner.uri } });
  }

  /** In the line of its server, as a call is: the server may ask its client something meanwhile. */
  async #handOn(client: GatewayClient, served: ServedCall, server: ServerName, own: JsonObject): Promise<JsonObject> {
    const { seal, clock } = this.#deps;
    const { fleet } = client;
    const refusal = refusalOf(client, server);
    if (refusal !== undefined) throw refusal;
    const caller = client.callerOf(served.peer);
    const options = { server, isRaw: true, isOwnOrder: true, inputs: seal.inputsOf(served), clock };
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
    return seal.passed(served, served.params['inputResponses'] === undefined ? result : uncached(result));
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
