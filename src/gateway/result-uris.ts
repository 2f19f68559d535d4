// Owns the uris of resources that a server names in a result: on a route of many servers, a client can only read what leads to that
// server. A result that names none is passed on as it is.

import { isObject, type JsonObject } from '../kernel/json.ts';
import type { ServerName } from '../model/names.ts';
import type { GatewayClient } from './client.ts';
import { RouteCatalog } from './route-catalog.ts';

/** The uri that the client knows already, where there is one. */
type KnownAs = (uri: string) => string | undefined;

/** The result of a call, a prompt or a read, with the uris by which the client of the route reaches what it names. */
export function withUrisOf(
  client: GatewayClient,
  server: ServerName,
  result: JsonObject,
  knownAs: KnownAs = () => undefined,
): JsonObject {
  if (client.route.server !== undefined) return result;
  let catalog: RouteCatalog | undefined;
  const uriOf = (uri: string): string => {
    const known = knownAs(uri);
    if (known !== undefined) return known;
    catalog ??= new RouteCatalog(client.route);
    return catalog.uriOf(client, { server, uri });
  };
  const { content, contents, messages } = result;
  if (Array.isArray(content))
    return withPart(
      result,
      'content',
      reachable(content, (part) => block(part, uriOf)),
    );
  if (Array.isArray(contents))
    return withPart(
      result,
      'contents',
      reachable(contents, (part) => named(part, uriOf)),
    );
  if (Array.isArray(messages))
    return withPart(
      result,
      'messages',
      reachable(messages, (part) => message(part, uriOf)),
    );
  return result;
}

type UriOf = (uri: string) => string;
type Rename = (part: unknown) => unknown;

/** The same array where nothing in it has another uri. */
function reachable(parts: readonly unknown[], rename: Rename): readonly unknown[] {
  let renamed: unknown[] | undefined;
  for (const [at, part] of parts.entries()) {
    const next = rename(part);
    if (next === part) continue;
    renamed ??= [...parts];
    renamed[at] = next;
  }
  return renamed ?? parts;
}

/** The same object where the part is the same. */
const withPart = (whole: JsonObject, key: string, part: unknown): JsonObject =>
  whole[key] === part ? whole : { ...whole, [key]: part };

function named(part: unknown, uriOf: UriOf): unknown {
  if (!isObject(part) || typeof part['uri'] !== 'string') return part;
  return withPart(part, 'uri', uriOf(part['uri']));
}

function block(part: unknown, uriOf: UriOf): unknown {
  if (!isObject(part)) return part;
  if (part['type'] === 'resource_link') return named(part, uriOf);
  return part['type'] === 'resource' ? withPart(part, 'resource', named(part['resource'], uriOf)) : part;
}

/** A message has one block, or several. */
function message(part: unknown, uriOf: UriOf): unknown {
  if (!isObject(part)) return part;
  const { content } = part;
  const blocks = Array.isArray(content) ? reachable(content, (each) => block(each, uriOf)) : block(content, uriOf);
  return withPart(part, 'content', blocks);
}
