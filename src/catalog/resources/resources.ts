// Owns the resources of all servers as a host uses them: listed, found by their uri, read, subscribed to.

import type { Session } from '../../connection/session.ts';
import type { UpdateListener } from '../../connection/subscription-book.ts';
import type { Subscriptions } from '../../connection/subscriptions.ts';
import { nearest } from '../../kernel/nearest.ts';
import { settleWithin } from '../../kernel/settle.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';
import type { Completion, Resource, ResourceContents, ResourceTemplate } from '../../model/offer.ts';
import { type CompleteOptions, complete } from './completing.ts';
import { pageOf } from './paging.ts';
import { ask, type ReachDeps, reachSession, type Waiting } from './reaching.ts';
import type { OfferProblem, ResourceCatalog } from './resource-catalog.ts';
import { contentsOf } from './resource-contents.ts';
import { matchesTemplate } from './uri-template.ts';

export interface OfServer {
  readonly server?: ServerName | undefined;
}

export interface ResourcePage {
  readonly resources: readonly Resource[];
  /** Where the next page begins; absent on the last one. */
  readonly nextCursor?: string;
}

export interface Resources {
  /** By server and uri. Wakes nobody; waits a little for lists that are on their way. All of them, unless limited. */
  list(options?: OfServer & { readonly cursor?: string; readonly limit?: number }): Promise<ResourcePage>;
  templates(options?: OfServer): Promise<readonly ResourceTemplate[]>;
  /** Wakes a server that is not up. Without a server's name the uri must lead to one. */
  read(uri: string, options?: OfServer & Waiting): Promise<ResourceContents>;
  /** Resolves with how to stop, once the server has agreed. Goes on across reconnects. */
  subscribe(
    uri: string,
    listener: UpdateListener,
    options?: OfServer & Pick<Waiting, 'signal'>,
  ): Promise<() => Promise<void>>;
  /** What may stand for an argument of a template, by what is typed so far. */
  complete(
    uriTemplate: string,
    argument: { readonly name: string; readonly value: string },
    options?: OfServer & CompleteOptions,
  ): Promise<Completion>;
  /** What was left out of the lists, or cut off, by what is known now. */
  problems(options?: OfServer): readonly OfferProblem[];
  /** Whose the resource is, by what is known now; throws where it is nobody's or several's. */
  ownerOf(uri: string, server?: ServerName): ServerName;
}

export interface ResourcesDeps extends ReachDeps {
  readonly offers: ResourceCatalog;
  readonly subscriptions: Subscriptions;
}

export function createResources(deps: ResourcesDeps): Resources {
  const { offers, reach, clock, subscriptions } = deps;
  const whenListed = async (server: ServerName | undefined) => {
    await settleWithin([offers.listed('resources', server)], { limitMs: limits.offersWaitMs, clock });
  };
  const ownerOf = (uri: string, server: ServerName | undefined) => server ?? findOwner(offers, uri);
  /** Who is being listed right now may turn out to be the one. */
  const owner = async (uri: string, server: ServerName | undefined) => {
    if (server === undefined && offers.ownersOf(uri).length === 0) await whenListed(undefined);
    return ownerOf(uri, server);
  };
  return {
    ownerOf,
    problems: ({ server } = {}) => offers.problems('resources', server),
    async list({ server, cursor, limit = Number.POSITIVE_INFINITY } = {}) {
      await whenListed(server);
      const { items, ...rest } = pageOf(offers.resources(server), {
        keyOf: ({ server: of, uri }) => [of, uri],
        ...{ cursor, limit },
      });
      return { resources: items, ...rest };
    },
    async templates({ server } = {}) {
      await whenListed(server);
      return offers.templates(server);
    },
    async read(uri, { server: named, ...waiting } = {}) {
      const server = await owner(uri, named);
      const refusal = (code: number, because: string) => unknownTo(offers, { server, uri, code, because });
      const require = (session: Session) => requireResources(session, server);
      const question = { server, method: 'resources/read', params: { uri }, refusal, require };
      const contents = contentsOf(await ask(deps, question, waiting), server, uri);
      const session = offers.isFollowed(server) ? reach.open(server) : undefined;
      if (session) subscriptions.follow(server, session, uri);
      return contents;
    },
    async subscribe(uri, listener, { server: named, signal } = {}) {
      const server = await owner(uri, named);
      const session = await reachSession(deps, server, { signal });
      return subscriptions.subscribe(server, session, { uri, listener });
    },
    async complete(uriTemplate, argument, { server: named, ...options } = {}) {
      const server = named ?? templateOwner(offers, uriTemplate);
      return complete(deps, { server, ref: { type: 'ref/resource', uri: uriTemplate }, argument }, options);
    },
  };
}

/** Who lists it, or whose template it fits, or the only one there is; what is unclear is for whoever asks to decide. */
function findOwner(offers: ResourceCatalog, uri: string): ServerName {
  const listed = offers.ownersOf(uri);
  if (listed.length > 0) return theOnly(listed, uri);
  const fitting = offers.templates().filter(({ uriTemplate }) => matchesTemplate(uriTemplate, uri));
  if (fitting.length > 0) return theOnly([...new Set(fitting.map(({ server }) => server))], uri);
  const [only, ...others] = offers.declaring('resources');
  if (only !== undefined && others.length === 0) return only;
  const because =
    only === undefined ? 'no server that is up has resources' : `none of ${[only, ...others].join(', ')} lists it`;
  throw new RuntimeError('RESOURCE_UNKNOWN', { uri, because, nearest: nearestTo(offers, uri) });
}

function theOnly(servers: readonly ServerName[], uri: string): ServerName {
  const [only, another] = servers;
  if (only !== undefined && another === undefined) return only;
  throw new RuntimeError('RESOURCE_AMBIGUOUS', { uri, servers });
}

function templateOwner(offers: ResourceCatalog, uriTemplate: string): ServerName {
  const owners = offers.templates().flatMap((each) => (each.uriTemplate === uriTemplate ? [each.server] : []));
  if (owners.length > 0) return theOnly(owners, uriTemplate);
  const known = offers.templates().map((each) => each.uriTemplate);
  const proposed = nearest(uriTemplate, known.slice(0, limits.listItems), limits.suggestions);
  throw new RuntimeError('RESOURCE_UNKNOWN', {
    uri: uriTemplate,
    nearest: proposed,
    because: 'it is no known template',
  });
}

/** The older era has a code of its own for it, the modern one takes that of wrong arguments; many older servers do so too. */
const NOT_FOUND = new Set([-32002, -32602]);

interface Refused {
  readonly server: ServerName;
  readonly uri: string;
  readonly code: number;
  readonly because: string;
}

function unknownTo(offers: ResourceCatalog, { server, uri, code, because }: Refused): RuntimeError | undefined {
  if (!NOT_FOUND.has(code)) return undefined;
  return new RuntimeError('RESOURCE_UNKNOWN', { server, uri, because, nearest: nearestTo(offers, uri, server) });
}

/** Measuring costs: of very many the first are enough. */
function nearestTo(offers: ResourceCatalog, uri: string, server?: ServerName): readonly string[] {
  const known = offers.resources(server).slice(0, limits.listItems);
  const others = known.flatMap((each) => (each.uri === uri ? [] : [each.uri]));
  return nearest(uri, others, limits.suggestions);
}

function requireResources({ capabilities }: Session, server: ServerName): void {
  if (capabilities['resources']) return;
  throw new RuntimeError('NOT_OFFERED', { server, what: 'it has no resources' });
}
