// Owns the host's interface to the resources of all servers: list, find by uri, read, subscribe.

import type { Session } from '../../connection/session.ts';
import type { UpdateListener } from '../../connection/subscription-book.ts';
import type { Subscriptions } from '../../connection/subscriptions.ts';
import { nearest } from '../../kernel/nearest.ts';
import { settleWithin } from '../../kernel/settle.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';
import type { Completion, Resource, ResourceContents, ResourceTemplate } from '../../model/resource.ts';
import { type CompleteOptions, complete } from './completion.ts';
import { cursorPageOf } from './cursor-page.ts';
import type { ListedResources, ListProblem } from './resource-catalog.ts';
import { contentsOf } from './resource-contents.ts';
import { type CancelOptions, type ReachDeps, reachSession, requestWithRetry } from './retried-request.ts';
import { matchesTemplate } from './uri-template.ts';

export interface ServerOption {
  readonly server?: ServerName | undefined;
}

export interface ResourcePage {
  readonly resources: readonly Resource[];
  /** The cursor of the next page; absent on the last one. */
  readonly nextCursor?: string;
}

export interface Resources {
  /** Sorted by server and uri. Starts no server; waits a little for lists that are being fetched. All of them, unless limited. */
  list(options?: ServerOption & { readonly cursor?: string; readonly limit?: number }): Promise<ResourcePage>;
  templates(options?: ServerOption): Promise<readonly ResourceTemplate[]>;
  /** Starts a server that is not connected. Without a server's name, the uri must lead to exactly one server. */
  read(uri: string, options?: ServerOption & CancelOptions): Promise<ResourceContents>;
  /** Resolves with the function that unsubscribes, once the server has confirmed. The subscription survives reconnects. */
  subscribe(
    uri: string,
    listener: UpdateListener,
    options?: ServerOption & Pick<CancelOptions, 'signal'>,
  ): Promise<() => Promise<void>>;
  /** The server's proposals for an argument of a template, by what is typed so far. */
  complete(
    uriTemplate: string,
    argument: { readonly name: string; readonly value: string },
    options?: ServerOption & CompleteOptions,
  ): Promise<Completion>;
  /** Parts of the lists that are currently left out or cut off. */
  problems(options?: ServerOption): readonly ListProblem[];
  /** The server that has the resource, by the lists known now; throws if no server or more than one has it. */
  ownerOf(uri: string, server?: ServerName): ServerName;
}

export interface ResourcesDeps extends ReachDeps {
  readonly resourceCatalog: ListedResources;
  readonly subscriptions: Subscriptions;
}

export function createResources(deps: ResourcesDeps): Resources {
  const { resourceCatalog, reach, clock, subscriptions } = deps;
  const whenListed = async (server: ServerName | undefined) => {
    await settleWithin([resourceCatalog.listed('resources', server)], { limitMs: limits.listWaitMs, clock });
  };
  const ownerOf = (uri: string, server: ServerName | undefined) => server ?? findOwner(resourceCatalog, uri);
  /** A server whose list is being fetched right now may turn out to be the owner. */
  const owner = async (uri: string, server: ServerName | undefined) => {
    if (server === undefined && resourceCatalog.ownersOf(uri).length === 0) await whenListed(undefined);
    return ownerOf(uri, server);
  };
  return {
    ownerOf,
    problems: ({ server } = {}) => resourceCatalog.problems('resources', server),
    async list({ server, cursor, limit = Number.POSITIVE_INFINITY } = {}) {
      await whenListed(server);
      const { items, ...rest } = cursorPageOf(resourceCatalog.resources(server), {
        keyOf: (resource) => [resource.server, resource.uri],
        cursor,
        limit,
      });
      return { resources: items, ...rest };
    },
    async templates({ server } = {}) {
      await whenListed(server);
      return resourceCatalog.templates(server);
    },
    async read(uri, { server: named, ...cancelOptions } = {}) {
      const server = await owner(uri, named);
      const refusal = (code: number, because: string) => unknownTo(resourceCatalog, { server, uri, code, because });
      const require = (session: Session) => requireResources(session, server);
      const request = { server, method: 'resources/read', params: { uri }, refusal, require };
      const contents = contentsOf(await requestWithRetry(deps, request, cancelOptions), server, uri);
      const session = resourceCatalog.isFollowed(server) ? reach.open(server) : undefined;
      if (session) subscriptions.follow(server, session, uri);
      return contents;
    },
    async subscribe(uri, listener, { server: named, signal } = {}) {
      const server = await owner(uri, named);
      const session = await reachSession(deps, server, { signal });
      return subscriptions.subscribe(server, session, { uri, listener });
    },
    async complete(uriTemplate, argument, { server: named, ...options } = {}) {
      const server = named ?? templateOwner(resourceCatalog, uriTemplate);
      return complete(deps, { server, ref: { type: 'ref/resource', uri: uriTemplate }, argument }, options);
    },
  };
}

/** The servers that list the uri, or else those that have a template for it. */
export function knownOwners(resourceCatalog: ListedResources, uri: string): readonly ServerName[] {
  const listed = resourceCatalog.ownersOf(uri);
  if (listed.length > 0) return listed;
  const fitting = resourceCatalog.templates().filter(({ uriTemplate }) => matchesTemplate(uriTemplate, uri));
  return [...new Set(fitting.map(({ server }) => server))];
}

/** The server that lists the uri, or has a template for it, or is the only one with resources; otherwise the caller must name one. */
function findOwner(resourceCatalog: ListedResources, uri: string): ServerName {
  const known = knownOwners(resourceCatalog, uri);
  if (known.length > 0) return theOnly(known, uri);
  const [only, ...others] = resourceCatalog.declaring('resources');
  if (only !== undefined && others.length === 0) return only;
  const because =
    only === undefined ? 'no server that is up has resources' : `none of ${[only, ...others].join(', ')} lists it`;
  throw new RuntimeError('RESOURCE_UNKNOWN', { uri, because, nearest: nearestTo(resourceCatalog, uri) });
}

function theOnly(servers: readonly ServerName[], uri: string): ServerName {
  const [only, another] = servers;
  if (only !== undefined && another === undefined) return only;
  throw new RuntimeError('RESOURCE_AMBIGUOUS', { uri, servers });
}

function templateOwner(resourceCatalog: ListedResources, uriTemplate: string): ServerName {
  const owners = resourceCatalog.templates().flatMap((each) => (each.uriTemplate === uriTemplate ? [each.server] : []));
  if (owners.length > 0) return theOnly(owners, uriTemplate);
  const templates = resourceCatalog.templates().map((each) => each.uriTemplate);
  const proposed = nearest(uriTemplate, templates.slice(0, limits.listItems), limits.suggestions);
  throw new RuntimeError('RESOURCE_UNKNOWN', {
    uri: uriTemplate,
    nearest: proposed,
    because: 'it is no known template',
  });
}

/** Older protocol versions have their own code for it; the modern one, and many older servers, use that of invalid parameters. */
const NOT_FOUND = new Set([-32002, -32602]);

interface RefusedRead {
  readonly server: ServerName;
  readonly uri: string;
  readonly code: number;
  readonly because: string;
}

function unknownTo(
  resourceCatalog: ListedResources,
  { server, uri, code, because }: RefusedRead,
): RuntimeError | undefined {
  if (!NOT_FOUND.has(code)) return undefined;
  return new RuntimeError('RESOURCE_UNKNOWN', {
    server,
    uri,
    because,
    nearest: nearestTo(resourceCatalog, uri, server),
  });
}

/** Comparing is expensive: of very many resources only the first are compared. */
function nearestTo(resourceCatalog: ListedResources, uri: string, server?: ServerName): readonly string[] {
  const listed = resourceCatalog.resources(server).slice(0, limits.listItems);
  const others = listed.flatMap((each) => (each.uri === uri ? [] : [each.uri]));
  return nearest(uri, others, limits.suggestions);
}

function requireResources({ capabilities }: Session, server: ServerName): void {
  if (capabilities['resources']) return;
  throw new RuntimeError('NOT_OFFERED', { server, what: 'it has no resources' });
}
