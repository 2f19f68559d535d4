// Owns the requests of a route that go to one server and are no call: reading a resource, getting a prompt, completing a value. No rule
// speaks of them, and they may be sent again when the connection was lost.

import { requestWithRetry } from '../catalog/resources/retried-request.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import type { ServerName } from '../model/names.ts';
import { invalidParams, ProtocolError } from '../serving/protocol.ts';
import type { ServedCall } from '../serving/service.ts';
import type { CallRelays } from './call-relay.ts';
import { type GatewayClient, refusalOf } from './client.ts';
import type { RouteCatalog } from './route-catalog.ts';
import { passedMeta, ServedRelay } from './served-relay.ts';

export interface RouteRequestsDeps {
  readonly catalog: RouteCatalog;
  readonly calls: CallRelays;
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
    const result = await this.#handOn(client, served, owner.server, { uri: owner.uri });
    const { contents } = result;
    if (owner.uri === uri || !Array.isArray(contents)) return result;
    const renamed = contents.map((part: unknown) =>
      isObject(part) && part['uri'] === owner.uri ? { ...part, uri } : part,
    );
    return { ...result, contents: renamed };
  }

  async getPrompt(client: GatewayClient, served: ServedCall): Promise<JsonObject> {
    const { name, arguments: args } = served.params;
    const prompt = await this.#deps.catalog.promptOf(client, name);
    const params = { name: prompt.name, ...(args !== undefined && { arguments: args }) };
    return this.#handOn(client, served, prompt.server, params);
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
    const owner = catalog.templateOwner(client, uri) ?? (await catalog.ownerOf(client, uri));
    return this.#handOn(client, served, owner.server, { ...others, ref: { ...ref, uri: owner.uri } });
  }

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
}

const refusedBy = ({ code, message, data }: { code: number; message: string; data?: unknown }) =>
  new ProtocolError(code, message, data);
