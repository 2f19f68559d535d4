// Owns the addresses of the gateway: which route a path leads to.

import type { ServerName } from '../model/names.ts';
import { DEFAULT_PROFILE, type Profile } from './profiles.ts';

/** One address: all that a profile shows, or one server as it is. */
export interface Route {
  readonly path: string;
  readonly profile: Profile;
  /** Set for a route of one server. */
  readonly server: ServerName | undefined;
}

export type RouteWords =
  | { readonly kind: 'profile'; readonly profile: string }
  | { readonly kind: 'server'; readonly server: ServerName };

/** `/mcp`, `/mcp/p/PROFILE` or `/mcp/s/SERVER`. */
export function readPath(path: string): RouteWords | undefined {
  if (path === '/mcp') return { kind: 'profile', profile: DEFAULT_PROFILE };
  const [, kind, word] = /^\/mcp\/([ps])\/([^/]+)$/.exec(path) ?? [];
  if (word === undefined) return undefined;
  try {
    const name = decodeURIComponent(word);
    return kind === 'p' ? { kind: 'profile', profile: name } : { kind: 'server', server: name };
  } catch {
    return undefined;
  }
}
