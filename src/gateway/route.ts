// Owns the addresses of the gateway: which route a path leads to.

import type { ServerName } from '../model/names.ts';
import { OWN_PATH } from './link-words.ts';
import { DEFAULT_PROFILE, type Profile } from './profiles.ts';

/** One address: all that a profile shows, or one server as it is. */
export interface Route {
  readonly path: string;
  readonly profile: Profile;
  /** Set for a route of one server. */
  readonly server: ServerName | undefined;
  /** Of commands that a person types: what they call was approved by that person, or is asked about where they typed it. */
  readonly isOwn?: true;
}

export type RouteWords =
  | { readonly kind: 'profile'; readonly profile: string }
  | { readonly kind: 'server'; readonly server: ServerName };

/** `/mcp`, `/mcp/p/PROFILE` or `/mcp/s/SERVER`. */
export function readPath(path: string): RouteWords | undefined {
  if (path === '/mcp') return { kind: 'profile', profile: DEFAULT_PROFILE };
  const [, kind, word] = /^\/mcp\/([ps])\/([^/]+)$/.exec(path) ?? [];
  const name = decoded(word);
  if (name === undefined) return undefined;
  return kind === 'p' ? { kind: 'profile', profile: name } : { kind: 'server', server: name };
}

/** The server of a link for a person's own commands. */
export const readOwnPath = (path: string): ServerName | undefined =>
  path.startsWith(OWN_PATH) ? decoded(path.slice(OWN_PATH.length)) : undefined;

function decoded(word: string | undefined): string | undefined {
  try {
    return word === undefined ? undefined : decodeURIComponent(word);
  } catch {
    return undefined;
  }
}
