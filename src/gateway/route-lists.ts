// Owns the lists of a route: tools, resources, templates and prompts of its servers, named so that no two are alike.

import type { ListedResources } from '../catalog/resources/resource-catalog.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import type { Tool, ToolDefinition } from '../model/tool.ts';
import type { Peer } from '../serving/service.ts';
import type { GatewayClient } from './client.ts';
import { ownedUri } from './names.ts';
import { searchToolNames } from './profiles.ts';
import type { OwnedResource, RouteCatalog } from './route-catalog.ts';
import { statusTool } from './status-tool.ts';

export class RouteLists {
  readonly #catalog: RouteCatalog;

  constructor(catalog: RouteCatalog) {
    this.#catalog = catalog;
  }

  async tools(client: GatewayClient, peer: Peer): Promise<JsonObject> {
    const { server, profile } = this.#catalog.route;
    await client.fleet.whenToolsListed(server);
    if (server !== undefined) return { tools: client.tools().list.map(({ item }) => this.#shown(item.definition)) };
    const shown = profile.expose === 'search' ? searchTools(client) : this.#mergedTools(client, peer);
    return { tools: [...shown, statusTool], ...this.#catalog.outcomes(client.fleet) };
  }

  async resources(client: GatewayClient): Promise<JsonObject> {
    await this.#catalog.whenListed(client, 'resources');
    const visible = this.#catalog.visible(client);
    const resources = visible.resources(this.#catalog.route.server);
    const shown = resources.map(({ server, uri, definition }) => this.#withUri(visible, definition, { server, uri }));
    return { resources: shown, ...this.#catalog.outcomes(client.fleet) };
  }

  async templates(client: GatewayClient): Promise<JsonObject> {
    await this.#catalog.whenListed(client, 'resources');
    const templates = this.#catalog.visible(client).templates(this.#catalog.route.server);
    const owners = new Map<string, number>();
    for (const { uriTemplate } of templates) owners.set(uriTemplate, (owners.get(uriTemplate) ?? 0) + 1);
    const shown = templates.map(({ server, uriTemplate, definition }) =>
      (owners.get(uriTemplate) ?? 0) > 1 ? { ...definition, uriTemplate: ownedUri(server, uriTemplate) } : definition,
    );
    return { resourceTemplates: shown, ...this.#catalog.outcomes(client.fleet) };
  }

  async prompts(client: GatewayClient): Promise<JsonObject> {
    await this.#catalog.whenListed(client, 'prompts');
    const prompts = this.#catalog
      .prompts(client)
      .list.map(({ name, item: { definition } }) =>
        name === definition['name'] ? definition : { ...definition, name },
      );
    return { prompts, ...this.#catalog.outcomes(client.fleet) };
  }

  /** Tools that only an app may call are shown to clients that show apps; a model has no use for them. */
  #mergedTools(client: GatewayClient, peer: Peer): readonly JsonObject[] {
    const isShown = ({ item }: { readonly item: Tool }) => !isForApps(item.definition) || showsApps(peer);
    return client
      .tools()
      .list.filter(isShown)
      .map(({ name, item: { id, definition } }) => {
        const shown = this.#shown(definition);
        const ui = uiOf(definition);
        const uri = ui?.['resourceUri'];
        const isOwned = typeof uri === 'string' && this.#catalog.visible(client).ownersOf(uri).length > 1;
        if (!isOwned) return { ...shown, name };
        const meta = { ...(definition['_meta'] as JsonObject), ui: { ...ui, resourceUri: ownedUri(id.server, uri) } };
        return { ...shown, name, _meta: meta };
      });
  }

  /** A shaped result is text alone: a client that was promised structured content would refuse it. */
  #shown(definition: ToolDefinition): JsonObject {
    if (this.#catalog.route.profile.shaping === 'raw' || definition.outputSchema === undefined) return definition;
    const { outputSchema: _, ...others } = definition;
    return others;
  }

  /** A resource keeps its uri where only one server has it. */
  #withUri(visible: ListedResources, definition: JsonObject, { server, uri }: OwnedResource) {
    const isShared = this.#catalog.route.server === undefined && visible.ownersOf(uri).length > 1;
    return isShared ? { ...definition, uri: ownedUri(server, uri) } : definition;
  }
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

const searchTools = (client: GatewayClient): readonly JsonObject[] =>
  searchToolNames.flatMap((name) => client.turn().find(name)?.definition ?? []);
