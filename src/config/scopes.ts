// Owns the scopes: their order, where the files of each lie, and which of them a repository can write.

import { posix, win32 } from 'node:path';
import type { Scope } from '../model/server.ts';

const inWorkspace: Readonly<Record<Scope, boolean>> = {
  enterprise: false,
  host: false,
  local: true,
  project: true,
  user: false,
  plugin: true,
  imported: true,
};

/** What lies there comes from whoever wrote the repository: it may define and tighten, never start or loosen. */
export function isWorkspaceScope(scope: Scope): boolean {
  return inWorkspace[scope];
}

export interface Surroundings {
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

export interface Place {
  readonly scope: Scope;
  readonly file: string;
}

/** Every file that may hold configuration, strongest first; most of them do not exist. */
export function placesOf(around: Surroundings): readonly Place[] {
  const { join } = pathsOf(around.platform);
  const user = userFolder(around);
  return [
    { scope: 'local', file: join(around.cwd, '.plexus.local.toml') },
    { scope: 'project', file: join(around.cwd, '.mcp.toml') },
    { scope: 'project', file: join(around.cwd, '.mcp.json') },
    { scope: 'project', file: join(around.cwd, '.plexus', 'mcp.json') },
    { scope: 'user', file: join(user, 'mcp.toml') },
    { scope: 'user', file: join(user, 'mcp.json') },
  ];
}

/** `XDG_CONFIG_HOME` counts wherever someone set it; a relative one is ignored, as its specification demands. */
export function userFolder({ home, env, platform }: Omit<Surroundings, 'cwd'>): string {
  const { join, isAbsolute } = pathsOf(platform);
  const xdg = env['XDG_CONFIG_HOME'];
  if (xdg && isAbsolute(xdg)) return join(xdg, 'plexus');
  if (platform === 'win32') return join(env['APPDATA'] || join(home, 'AppData', 'Roaming'), 'plexus');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'plexus');
  return join(home, '.config', 'plexus');
}

/** Where what Plexus itself remembers lies: approvals, grants, tokens. Never in the workspace. */
export function stateFolder({ home, env, platform }: Omit<Surroundings, 'cwd'>): string {
  const { join, isAbsolute } = pathsOf(platform);
  const xdg = env['XDG_STATE_HOME'];
  if (xdg && isAbsolute(xdg)) return join(xdg, 'plexus');
  if (platform === 'win32') return join(env['LOCALAPPDATA'] || join(home, 'AppData', 'Local'), 'plexus', 'state');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'plexus', 'state');
  return join(home, '.local', 'state', 'plexus');
}

const pathsOf = (platform: NodeJS.Platform) => (platform === 'win32' ? win32 : posix);
