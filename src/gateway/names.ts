// Owns how tools, prompts and resources of many servers are called on one route: `server__tool`, and resources by their own uri
// where only one server has it. A route of one server keeps that server's names.

import { assignNames } from '../catalog/naming.ts';
import { limits } from '../model/limits.ts';
import { type ServerName, type ToolId, toolKey } from '../model/names.ts';

const PREFIX = 'mcp__';

/** `server__tool` for each, unique; at most as long as every provider accepts. By `toolKey`. */
export function mergedNames(ids: readonly ToolId[]): ReadonlyMap<string, string> {
  const names = assignNames(ids, { maxLength: limits.toolNameLength + PREFIX.length });
  return new Map([...names].map(([key, name]) => [key, name.slice(PREFIX.length)]));
}

export interface Named<Item> {
  readonly list: readonly { readonly name: string; readonly item: Item }[];
  readonly byName: ReadonlyMap<string, Item>;
}

/** Under its own name where `isAlone`, otherwise with its server's. */
export function nameAll<Item>(items: readonly Item[], idOf: (item: Item) => ToolId, isAlone: boolean): Named<Item> {
  const names = isAlone ? undefined : mergedNames(items.map(idOf));
  const list = items.map((item) => {
    const id = idOf(item);
    return { name: names?.get(toolKey(id)) ?? id.tool, item };
  });
  return { list, byName: new Map(list.map(({ name, item }) => [name, item])) };
}

const OWNED = 'plexus://';
/** The page of an app: hosts refuse it under any other scheme. */
const APP = 'ui://';
const OWNED_APP = 'ui://plexus/';

/** The uri of a resource whose own uri does not lead to its server alone. */
export function ownedUri(server: ServerName, uri: string): string {
  const owner = encodeURIComponent(server);
  return uri.startsWith(APP) ? `${OWNED_APP}${owner}/${uri.slice(APP.length)}` : `${OWNED}${owner}/${uri}`;
}

/** The server and its own uri, from such a uri. */
export function readOwnedUri(uri: string): { readonly server: ServerName; readonly uri: string } | undefined {
  const isApp = uri.startsWith(OWNED_APP);
  if (!isApp && !uri.startsWith(OWNED)) return undefined;
  const start = isApp ? OWNED_APP.length : OWNED.length;
  const end = uri.indexOf('/', start);
  if (end < 0) return undefined;
  try {
    const server = decodeURIComponent(uri.slice(start, end));
    return { server, uri: `${isApp ? APP : ''}${uri.slice(end + 1)}` };
  } catch {
    return undefined;
  }
}
