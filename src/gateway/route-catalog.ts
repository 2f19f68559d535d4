// Owns which servers, prompts and resources the clients of a route see: by which names, whose each is, and how each server is.

import type { ListCapability } from '../catalog/listing.ts';
import { createResources, knownOwners } from '../catalog/resources/resources.ts';
import { visibleResources } from '../catalog/resources/visible-resources.ts';
import type { ServerStatus } from '../connection/status.ts';
import type { JsonObject } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { Prompt } from '../model/resource.ts';
import { invalidParams } from '../serving/protocol.ts';
import type { GatewayClient } from './client.ts';
import type { GatewayFleet } from './gateway-fleet.ts';
import { failureIn, lifeOf, outcomesIn, type RouteList, requireList } from './list-life.ts';
import { type Named, nameAll, ownedUri, readOwnedUri } from './names.ts';
import { seesServer } from './profiles.ts';
import { isListed, type Reading } from './read-permission.ts';
import type { Route } from './route.ts';
import { statusResult } from './status-tool.ts';

export interface OwnedResource {
  readonly server: ServerName;
  /** As its server knows it. */
  readonly uri: string;
}

export class RouteCatalog {
  readonly route: Route;

  constructor(route: Route) {
    this.route = route;
  }

  async whenListed({ fleet }: GatewayClient, capability: ListCapability): Promise<void> {
    await fleet.whenListed(capability, this.route.server);
  }

  visible({ fleet }: GatewayClient, reading: Reading = 'resources'): ReturnType<typeof visibleResources> {
    const { resourceCatalog, registry } = fleet.servers;
    const isVisible = (server: ServerName) =>
      this.#isSeen(fleet, server) && (this.route.isOfCommands === true || isListed(registry, server, reading));
    // Asked once for each server, and not for each of its resources.
    const known = new Map<ServerName, boolean>();
    return visibleResources(resourceCatalog, (server) => {
      const isKnown = known.get(server) ?? isVisible(server);
      known.set(server, isKnown);
      return isKnown;
    });
  }

  prompts(client: GatewayClient): Named<Prompt> {
    const { server } = this.route;
    const prompts = this.visible(client, 'prompts').prompts(server);
    return nameAll(prompts, (prompt) => ({ server: prompt.server, tool: prompt.name }), server !== undefined);
  }

  async promptOf(
    client: GatewayClient,
    name: unknown,
  ): Promise<{ readonly server: ServerName; readonly name: string }> {
    if (typeof name !== 'string') throw invalidParams('name must be a string');
    const { server } = this.route;
    if (server !== undefined) return { server, name };
    const known = this.prompts(client).byName.get(name);
    if (known !== undefined) return known;
    await this.whenListed(client, 'prompts');
    const found = this.prompts(client).byName.get(name);
    if (found === undefined) throw new RuntimeError('PROMPT_UNKNOWN', { name, nearest: [] });
    return found;
  }

  async ownerOf(client: GatewayClient, uri: string): Promise<OwnedResource> {
    const { server } = this.route;
    if (server !== undefined) return { server, uri };
    const { subscriptions, sessions } = client.fleet.servers;
    const { clock } = client.fleet.parts.host;
    const resourceCatalog = this.visible(client);
    const owned = readOwnedUri(uri);
    if (owned !== undefined) {
      if (this.#isSeen(client.fleet, owned.server)) return owned;
      if (resourceCatalog.ownersOf(uri).length === 0)
        throw new RuntimeError('RESOURCE_UNKNOWN', { uri, because: 'no server that is seen here has it', nearest: [] });
    }
    if (resourceCatalog.ownersOf(uri).length === 0) await this.whenListed(client, 'resources');
    const resources = createResources({ resourceCatalog, subscriptions, reach: sessions, handlers: {}, clock });
    return { server: resources.ownerOf(uri), uri };
  }

  async templateOwner(client: GatewayClient, template: string): Promise<OwnedResource> {
    const { server } = this.route;
    if (server !== undefined) return { server, uri: template };
    const owners = () =>
      this.visible(client)
        .templates()
        .flatMap(({ uriTemplate, server: owner }) => (uriTemplate === template ? [owner] : []));
    if (owners().length === 0 && readOwnedUri(template) === undefined) await this.whenListed(client, 'resources');
    const [only, ...others] = owners();
    if (only === undefined) return this.ownerOf(client, template);
    if (others.length === 0) return { server: only, uri: template };
    throw new RuntimeError('RESOURCE_AMBIGUOUS', { uri: template, servers: [only, ...others] });
  }

  /** By which a client of the route reaches a resource that a server names: its own uri, where that leads to this server alone. */
  uriOf(client: GatewayClient, { server, uri }: OwnedResource): string {
    if (this.route.server !== undefined) return uri;
    const resourceCatalog = this.visible(client);
    const known = knownOwners(resourceCatalog, uri);
    const [only, another] = known.length > 0 ? known : resourceCatalog.declaring('resources');
    return only === server && another === undefined ? uri : ownedUri(server, uri);
  }

  /** The result of `plexus_status`. */
  status(fleet: GatewayFleet): JsonObject {
    return statusResult(this.#seenStatuses(fleet), (status) => failureIn(fleet, status));
  }

  /** The fields of a list beside its items. Throws where the only server of the route has none. */
  about(fleet: GatewayFleet, list: RouteList): JsonObject {
    const { server } = this.route;
    if (server !== undefined) {
      requireList(fleet, list, server);
      return lifeOf(fleet, list, [server]);
    }
    const statuses = this.#seenStatuses(fleet);
    const inUse = statuses.filter(({ state }) => state !== 'disabled' && state !== 'invalid');
    const names = inUse.map(({ name }) => name);
    return { ...lifeOf(fleet, list, names), ...outcomesIn(fleet, list, statuses) };
  }

  #seenStatuses(fleet: GatewayFleet): readonly ServerStatus[] {
    return fleet.status().filter(({ name }) => seesServer(this.route.profile, name));
  }

  #isSeen(fleet: GatewayFleet, server: ServerName): boolean {
    const { server: only, profile } = this.route;
    return (
      (only === undefined ? seesServer(profile, server) : server === only) && !fleet.servers.registry.isSetAside(server)
    );
  }
}
