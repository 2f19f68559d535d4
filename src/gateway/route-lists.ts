// Owns the lists of a route: tools, resources, templates and prompts of its servers, named so that no two are alike.

import { isForModels } from '../catalog/tool-meta.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import type { Tool, ToolDefinition } from '../model/tool.ts';
import type { Peer } from '../serving/service.ts';
import type { GatewayClient } from './client.ts';
import { ownedUri } from './names.ts';
import { searchToolNames } from './profiles.ts';
import type { RouteCatalog } from './route-catalog.ts';
import { statusTool } from './status-tool.ts';

export class RouteLists {
  readonly #catalog: RouteCatalog;

  constructor(catalog: RouteCatalog) {
    this.#catalog = catalog;
  }

  async tools(client: GatewayClient, peer: Peer): Promise<JsonObject> {
    const { server, profile } = this.#catalog.route;
    await client.fleet.whenToolsListed(server);
    // The list of resources shows which server a page is of.
    if (server === undefined && client.tools().list.some(({ item }) => pageOf(item.definition) !== undefined))
      await client.fleet.whenFetched('resources');
    const about = this.#catalog.about(client.fleet, 'tools');
    if (server !== undefined)
      return { tools: client.tools().list.map(({ item }) => this.#shown(item.definition)), ...about };
    const shown = profile.expose === 'search' ? searchTools(client) : this.#mergedTools(client, peer);
    return { tools: [...shown, statusTool], ...about };
  }

  async resources(client: GatewayClient): Promise<JsonObject> {
    await this.#catalog.whenListed(client, 'resources');
    const resources = this.#catalog.visible(client).resources(this.#catalog.route.server);
    const shown = resources.map(({ server, uri: own, definition }) => {
      const uri = this.#catalog.uriOf(client, { server, uri: own });
      return uri === own ? definition : { ...definition, uri };
    });
    return { resources: shown, ...this.#catalog.about(client.fleet, 'resources') };
  }

  async templates(client: GatewayClient): Promise<JsonObject> {
    await this.#catalog.whenListed(client, 'resources');
    const templates = this.#catalog.visible(client).templates(this.#catalog.route.server);
    const owners = new Map<string, number>();
    for (const { uriTemplate } of templates) owners.set(uriTemplate, (owners.get(uriTemplate) ?? 0) + 1);
    const shown = templates.map(({ server, uriTemplate, definition }) =>
      (owners.get(uriTemplate) ?? 0) > 1 ? { ...definition, uriTemplate: ownedUri(server, uriTemplate) } : definition,
    );
    return { resourceTemplates: shown, ...this.#catalog.about(client.fleet, 'templates') };
  }

  async prompts(client: GatewayClient): Promise<JsonObject> {
    await this.#catalog.whenListed(client, 'prompts');
    const prompts = this.#catalog
      .prompts(client)
      .list.map(({ name, item: { definition } }) =>
        name === definition['name'] ? definition : { ...definition, name },
      );
    return { prompts, ...this.#catalog.about(client.fleet, 'prompts') };
  }

  /** Tools that only an app may call are shown to clients that show apps; a model has no use for them. */
  #mergedTools(client: GatewayClient, peer: Peer): readonly JsonObject[] {
    const isShown = ({ item }: { readonly item: Tool }) => isForModels(item.definition) || showsApps(peer);
    return client
      .tools()
      .list.filter(isShown)
      .map(({ name, item: { id, definition } }) => {
        const page = pageOf(definition);
        const uri = page && this.#catalog.uriOf(client, { server: id.server, uri: page });
        return { ...this.#shown(definition), name, ...(uri !== page && { _meta: withPage(definition, uri) }) };
      });
  }

  /** A shaped result is text alone: a client that was promised structured content would refuse it. */
  #shown(definition: ToolDefinition): JsonObject {
    if (this.#catalog.route.profile.shaping === 'raw' || definition.outputSchema === undefined) return definition;
    const { outputSchema: _, ...others } = definition;
    return others;
  }
}

function uiOf({ _meta: meta }: JsonObject): JsonObject | undefined {
  const ui = isObject(meta) ? meta['ui'] : undefined;
  return isObject(ui) ? ui : undefined;
}

/** The key of an earlier version of the extension; libraries write both. */
const FORMER_PAGE = 'ui/resourceUri';

/** The page of an app that shows the results of the tool. */
function pageOf(definition: JsonObject): string | undefined {
  const { _meta: meta } = definition;
  const page = uiOf(definition)?.['resourceUri'] ?? (isObject(meta) ? meta[FORMER_PAGE] : undefined);
  return typeof page === 'string' ? page : undefined;
}

/** The `_meta` of the tool with another uri for its page. */
function withPage(definition: JsonObject, uri: string | undefined): JsonObject {
  const meta = definition['_meta'] as JsonObject;
  const ui = uiOf(definition);
  return {
    ...meta,
    ...(ui?.['resourceUri'] !== undefined && { ui: { ...ui, resourceUri: uri } }),
    ...(meta[FORMER_PAGE] !== undefined && { [FORMER_PAGE]: uri }),
  };
}

function showsApps({ capabilities: { extensions } }: Peer): boolean {
  return isObject(extensions) && extensions['io.modelcontextprotocol/ui'] !== undefined;
}

const searchTools = (client: GatewayClient): readonly JsonObject[] =>
  searchToolNames.flatMap((name) => client.turn().find(name)?.definition ?? []);
