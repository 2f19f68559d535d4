// Owns the addresses of the gateway: which route a path leads to.

import type { ServerName } from '../model/names.ts';
import { COMMAND_PATH } from './link-words.ts';
import { DEFAULT_PROFILE, type Profile } from './profiles.ts';

/** One address: all that a profile shows, or one server as it is. */
export interface Route {
  readonly path: string;
  readonly profile: Profile;
  /** Set for a route of one server. */
  readonly server: ServerName | undefined;
  /** Of commands that a person types: what they call was approved by that person, or is asked about where they typed it. */
  readonly isOfCommands?: true;
}

export type RouteWords =
  | { readonly kind: 'profile'; readonly profile: string }
  | { readonly kind: 'server'; readonly server: ServerName };

/** The addresses for the oldest clients, which see what `/mcp` shows: of their stream, and of the messages that they send. */
export const STREAM_PATH = '/sse';
export const MESSAGES_PATH = '/messages';

export const pathOf = (profile: string): string => (profile === DEFAULT_PROFILE ? '/mcp' : `/mcp/p/${profile}`);

/** `/mcp`, `/mcp/p/PROFILE`, `/mcp/s/SERVER`, or an address for the oldest clients. */
export function readPath(path: string): RouteWords | undefined {
  if (path === '/mcp' || path === STREAM_PATH || path === MESSAGES_PATH)
    return { kind: 'profile', profile: DEFAULT_PROFILE };
  const [, kind, word] = /^\/mcp\/([ps])\/([^/]+)$/.exec(path) ?? [];
  const name = decoded(word);
  if (name === undefined) return undefined;
  return kind === 'p' ? { kind: 'profile', profile: name } : { kind: 'server', server: name };
}

/** The server of a link for a command that a person typed. */
export const readCommandPath = (path: string): ServerName | undefined =>
  path.startsWith(COMMAND_PATH) ? decoded(path.slice(COMMAND_PATH.length)) : undefined;

function decoded(word: string | undefined): string | undefined {
  try {
    return word === undefined ? undefined : decodeURIComponent(word);
  } catch {
    return undefined;
  }
}
