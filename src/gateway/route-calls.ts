// Owns finding the tool that a call on a route names, also one of a server that has not listed its tools yet or one that is carried by
// the call of a search tool. What follows is in `call-relay.ts`.

import type { JsonObject } from '../kernel/json.ts';
import { CALL_TOOL, SEARCH_TOOL, unwrapCall } from '../model/builtin.ts';
import { RuntimeError } from '../model/errors.ts';
import type { Tool } from '../model/tool.ts';
import { invalidParams } from '../serving/protocol.ts';
import type { ServedCall } from '../serving/service.ts';
import type { CallRelays } from './call-relay.ts';
import type { GatewayClient } from './client.ts';
import type { Clients } from './clients.ts';
import { searchToolNames } from './profiles.ts';
import type { RouteCatalog } from './route-catalog.ts';
import { STATUS_TOOL } from './status-tool.ts';

export interface RouteCallsDeps {
  readonly catalog: RouteCatalog;
  readonly clients: Clients;
  readonly calls: CallRelays;
}

export class RouteCalls {
  readonly #deps: RouteCallsDeps;

  constructor(deps: RouteCallsDeps) {
    this.#deps = deps;
  }

  call(served: ServedCall): JsonObject | Promise<JsonObject> {
    const client = this.#deps.clients.of(served.peer);
    return client instanceof Promise
      ? client.then((opened) => this.#callFor(opened, served))
      : this.#callFor(client, served);
  }

  #callFor(client: GatewayClient, served: ServedCall): JsonObject | Promise<JsonObject> {
    const { name } = served.params;
    const { calls, catalog } = this.#deps;
    if (typeof name !== 'string') throw invalidParams('name must be a string');
    const { server, profile } = catalog.route;
    const tool = client.tools().byName.get(name);
    if (server === undefined) {
      if (name === STATUS_TOOL) return catalog.status(client.fleet);
      if (profile.expose === 'search')
        return this.#callFound(client, served, searchTool(client, name) ?? unknown(name));
    }
    if (tool !== undefined) return calls.call(client, served, tool);
    return this.#callLater(client, served, name);
  }

  /** The tool that is called through another one is the one that counts: its server's limits, its questions, its place. */
  #callFound(client: GatewayClient, served: ServedCall, own: Tool): Promise<JsonObject> {
    const { calls } = this.#deps;
    const carried = own.name === CALL_TOOL ? unwrapCall(served.params['arguments']) : '';
    if (typeof carried === 'string') return calls.call(client, served, own);
    const tool = client.turn().find(carried.name);
    if (tool === undefined) return calls.call(client, served, own);
    if (client.hasTool(tool)) return calls.call(client, served, tool, carried.arguments);
    const unseen = { name: carried.name, nearest: [], searchWith: SEARCH_TOOL };
    return Promise.resolve(calls.failed(client, new RuntimeError('TOOL_UNKNOWN', unseen)));
  }

  /** A tool that is not known may be of a server that has not listed its tools yet. */
  async #callLater(client: GatewayClient, served: ServedCall, name: string): Promise<JsonObject> {
    const { calls, catalog } = this.#deps;
    try {
      await client.fleet.whenToolsListed(catalog.route.server);
    } catch (error) {
      return calls.failed(client, error);
    }
    return calls.call(client, served, client.tools().byName.get(name) ?? unknown(name));
  }
}

function unknown(name: string): never {
  throw invalidParams(`Unknown tool: ${name.slice(0, 200)}`);
}

const searchTool = (client: GatewayClient, name: string) =>
  searchToolNames.includes(name) ? client.turn().find(name) : undefined;
