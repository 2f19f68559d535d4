// Owns finding out how to log in to a server: the metadata of the resource, then that of its authorization server, with every
// fallback that the specification names, for both eras. `metadata.ts` reads the documents.

import type { OAuthSettings } from '../model/server.ts';
import { headerIn } from '../transport/exchange.ts';
import type { TextResponse } from '../transport/fetch-text.ts';
import { MESSAGE_HEADERS } from '../transport/http-headers.ts';
import { type AuthHttp, isSafe, loginFailed, unavailable } from './auth-http.ts';
import { type Challenge, challengeIn } from './challenge.ts';
import {
  defaultMetadata,
  type Read,
  type ResourceMetadata,
  readResourceMetadata,
  readServerMetadata,
  type ServerMetadata,
} from './metadata.ts';

export interface DiscoveryRequest {
  /** The address of the MCP server. */
  readonly url: string;
  readonly settings: Pick<OAuthSettings, 'metadataUrl'>;
  /** The entry stands in a file of the person's own. */
  readonly isOwn: boolean;
  /** As the server sent it with its 401; without it, the server is asked. */
  readonly challenge?: Challenge | undefined;
}

export interface Discovered {
  readonly challenge: Challenge | undefined;
  /** `undefined` for a server of 2025-03-26, which is its own authorization server. */
  readonly resource: ResourceMetadata | undefined;
  readonly server: ServerMetadata;
}

export async function discover(http: AuthHttp, request: DiscoveryRequest): Promise<Discovered> {
  const { url, settings } = request;
  const asked = request.challenge === undefined ? await askForChallenge(http, url) : undefined;
  const challenge = request.challenge ?? asked?.challenge;
  const resource = await findResource(http, url, challenge?.resourceMetadata);
  if (asked?.isOpen && resource === undefined) throw loginFailed(http.server, { kind: 'no-login-offered', url });
  const { origin } = new URL(url);
  const address = resource?.authorizationServers[0];
  const server =
    settings.metadataUrl === undefined
      ? await findServer(http, address ?? origin, resource === undefined || address === undefined)
      : await serverAt(http, settings.metadataUrl, request.isOwn);
  await requireSafe(http, server);
  return { challenge, resource, server };
}

/** Sent without credentials: a server that wants a login answers it with a challenge, in either era. */
const QUESTION = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });

async function askForChallenge(http: AuthHttp, url: string) {
  const { status, headers } = await http.request(url, { method: 'POST', headers: MESSAGE_HEADERS, body: QUESTION });
  const challenge = status === 401 ? challengeIn(headerIn(headers, 'www-authenticate')) : undefined;
  return { challenge, isOpen: status >= 200 && status < 300 };
}

/** At the address that the challenge names, then below the path of the server, then at its root. */
async function findResource(
  http: AuthHttp,
  url: string,
  named: string | undefined,
): Promise<ResourceMetadata | undefined> {
  const { origin, pathname, search } = new URL(url);
  const wellKnown = `${origin}/.well-known/oauth-protected-resource`;
  const path = `${pathname === '/' ? '' : pathname.replace(/\/$/, '')}${search}`;
  const places = [...(named === undefined ? [] : [named]), `${wellKnown}${path}`, wellKnown];
  const found = await firstDocument(http, new Set(places), readResourceMetadata);
  if (found === undefined) return undefined;
  if (!isFor(found.resource, url))
    throw loginFailed(http.server, { kind: 'other-resource', url, resource: found.resource });
  return found;
}

/** The resource is the server itself, or a whole of which the server is a part: the same origin, and a path above. */
export function isFor(resource: string, url: string): boolean {
  if (!URL.canParse(resource)) return false;
  const [named, own] = [new URL(resource), new URL(url)];
  const withSlash = (path: string) => (path.endsWith('/') ? path : `${path}/`);
  return named.origin === own.origin && withSlash(own.pathname).startsWith(withSlash(named.pathname));
}

export async function findServer(http: AuthHttp, issuer: string, isLegacy: boolean): Promise<ServerMetadata> {
  if (!URL.canParse(issuer) || !isSafe(issuer))
    throw loginFailed(http.server, { kind: 'insecure-address', what: 'its authorization server', address: issuer });
  const found = await firstDocument(http, new Set(serverPlaces(issuer)), readServerMetadata);
  if (found === undefined) {
    if (isLegacy) return defaultMetadata(new URL(issuer).origin);
    throw loginFailed(http.server, { kind: 'metadata-missing', issuer });
  }
  if (!isSameIssuer(found.issuer, issuer) && !(isLegacy && isWithinOrigin(found.issuer, issuer)))
    throw loginFailed(http.server, { kind: 'issuer-lies', address: issuer, issuer: found.issuer });
  return found;
}

/** Byte for byte, except for a slash at the end of the address alone: many resources write one that the issuer does not have. */
const isSameIssuer = (issuer: string, address: string) => issuer === address || `${issuer}/` === address;

/** A server of 2025-03-26 is found by its origin alone, and its issuer may be a path of it. */
const isWithinOrigin = (issuer: string, origin: string) =>
  URL.canParse(issuer) && new URL(issuer).origin === new URL(origin).origin;

/**
 * A repository could pair the pages of an honest issuer with a token endpoint of its own: the person would see the honest name, and
 * the code would go elsewhere.
 */
async function serverAt(http: AuthHttp, address: string, isOwn: boolean): Promise<ServerMetadata> {
  const found = await requireDocument(http, address, readServerMetadata);
  if (isOwn || isWithinOrigin(found.issuer, address)) return found;
  throw loginFailed(http.server, { kind: 'metadata-elsewhere', address, issuer: found.issuer });
}

/** OAuth first, then OpenID Connect; for an issuer with a path the path is inserted, and for OpenID Connect also put before. */
export function serverPlaces(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
}

/** Places that answer 4xx have no document. Any other answer counts: a document that cannot be read hides no other one. */
async function firstDocument<Document>(
  http: AuthHttp,
  places: Iterable<string>,
  read: (text: string) => Read<Document>,
): Promise<Document | undefined> {
  for (const place of places) {
    const response = await http.request(place, { method: 'GET' });
    if (response.status >= 400 && response.status < 500) continue;
    return documentIn(http, place, response, read);
  }
  return undefined;
}

async function requireDocument<Document>(
  http: AuthHttp,
  address: string,
  read: (text: string) => Read<Document>,
): Promise<Document> {
  return documentIn(http, address, await http.request(address, { method: 'GET' }), read);
}

function documentIn<Document>(
  { server }: AuthHttp,
  address: string,
  { status, text }: TextResponse,
  read: (text: string) => Read<Document>,
): Document {
  if (status >= 500) throw unavailable(server, new URL(address).origin, `it answered HTTP ${status}`);
  if (status !== 200)
    throw loginFailed(server, { kind: 'metadata-broken', address, problem: `cannot be had (HTTP ${status})` });
  const found = read(text);
  if ('problem' in found) throw loginFailed(server, { kind: 'metadata-broken', address, problem: found.problem });
  return found.document;
}

/** Before anything is sent to it: every endpoint is https, or on this machine. The page is opened by the browser, which asks nobody. */
async function requireSafe(http: AuthHttp, metadata: ServerMetadata): Promise<void> {
  const { server } = http;
  const { authorizationEndpoint, tokenEndpoint, registrationEndpoint, revocationEndpoint } = metadata;
  if (authorizationEndpoint !== undefined && !/^https?:/i.test(authorizationEndpoint))
    throw loginFailed(server, { kind: 'page-refused', address: authorizationEndpoint });
  for (const [what, address] of Object.entries({
    'its login page': authorizationEndpoint,
    'its token endpoint': tokenEndpoint,
    'its registration endpoint': registrationEndpoint,
    'its revocation endpoint': revocationEndpoint,
  }))
    if (address !== undefined && (!URL.canParse(address) || !isSafe(address)))
      throw loginFailed(server, { kind: 'insecure-address', what, address });
  if (authorizationEndpoint !== undefined && (await http.leadsInside(authorizationEndpoint)))
    throw loginFailed(server, { kind: 'private-address', address: new URL(authorizationEndpoint).origin });
}
