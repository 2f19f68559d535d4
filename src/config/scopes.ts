// Owns the scopes: their order, where the files of each lie, and which of them a repository can write.

import { posix, win32 } from 'node:path';
import type { Scope } from '../model/server.ts';

/** Written by the person or by who runs the machine: it may start servers, read variables, run commands and loosen rules. */
export function isOwnScope(scope: Scope): boolean {
  return scope === 'enterprise' || scope === 'host' || scope === 'user';
}

export interface HostEnvironment {
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** Where the enterprise's file lies; the default is the platform's place, and no variable can move it. */
  readonly systemFolder?: string;
}

export interface ConfigPlace {
  readonly scope: Scope;
  /** Absent for settings that a host put in. */
  readonly file?: string;
  /** Whoever wrote the repository wrote it: it may define and tighten, never start or loosen. */
  readonly inWorkspace?: true;
  readonly provider?: string;
}

export type FilePlace = ConfigPlace & { readonly file: string };

/** Every file of our own that may hold configuration, strongest first; most of them do not exist. */
export function placesOf(environment: HostEnvironment): readonly FilePlace[] {
  const { join } = pathsOf(environment.platform);
  const local = { scope: 'local', inWorkspace: true } as const;
  const project = { scope: 'project', inWorkspace: true } as const;
  return [
    ...enterprisePlaces(environment),
    { ...local, file: join(environment.cwd, '.plexus.local.toml') },
    { ...project, file: join(environment.cwd, '.mcp.toml') },
    { ...project, file: join(environment.cwd, '.mcp.json') },
    { ...project, file: join(environment.cwd, '.plexus', 'mcp.json') },
    ...bothDialects(userFolder(environment), environment, 'user'),
  ];
}

export function enterprisePlaces(environment: HostEnvironment): readonly FilePlace[] {
  return bothDialects(environment.systemFolder ?? systemFolder(environment), environment, 'enterprise');
}

function bothDialects(folder: string, { platform }: HostEnvironment, scope: Scope): readonly FilePlace[] {
  return ['mcp.toml', 'mcp.json'].map((name) => ({ scope, file: pathsOf(platform).join(folder, name) }));
}

/** Only an administrator writes there. */
function systemFolder({ platform }: HostEnvironment): string {
  if (platform === 'win32') return 'C:\\Program Files\\Plexus';
  return platform === 'darwin' ? '/Library/Application Support/Plexus' : '/etc/plexus';
}

/** `XDG_CONFIG_HOME` counts wherever someone set it; a relative one is ignored, as its specification demands. */
export function userFolder({ home, env, platform }: Omit<HostEnvironment, 'cwd'>): string {
  const { join, isAbsolute } = pathsOf(platform);
  const xdg = env['XDG_CONFIG_HOME'];
  if (xdg && isAbsolute(xdg)) return join(xdg, 'plexus');
  if (platform === 'win32') return join(env['APPDATA'] || join(home, 'AppData', 'Roaming'), 'plexus');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'plexus');
  return join(home, '.config', 'plexus');
}

/** Where what Plexus itself remembers lies: approvals, grants, tokens. Never in the workspace. */
export function stateFolder({ home, env, platform }: Omit<HostEnvironment, 'cwd'>): string {
  const { join, isAbsolute } = pathsOf(platform);
  const xdg = env['XDG_STATE_HOME'];
  if (xdg && isAbsolute(xdg)) return join(xdg, 'plexus');
  if (platform === 'win32') return join(env['LOCALAPPDATA'] || join(home, 'AppData', 'Local'), 'plexus', 'state');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'plexus', 'state');
  return join(home, '.local', 'state', 'plexus');
}

/** Where results that a model could not read whole are kept for a while. */
export const resultsFolder = (environment: Omit<HostEnvironment, 'cwd'>): string =>
  pathsOf(environment.platform).join(cacheFolder(environment), 'results');

/** Where what can be found out again is kept. */
export function cacheFolder({ home, env, platform }: Omit<HostEnvironment, 'cwd'>): string {
  const { join, isAbsolute } = pathsOf(platform);
  const xdg = env['XDG_CACHE_HOME'];
  if (xdg && isAbsolute(xdg)) return join(xdg, 'plexus');
  if (platform === 'win32') return join(env['LOCALAPPDATA'] || join(home, 'AppData', 'Local'), 'plexus', 'cache');
  if (platform === 'darwin') return join(home, 'Library', 'Caches', 'plexus');
  return join(home, '.cache', 'plexus');
}

/** The key to what is kept encrypted; not beside it, so that neither folder alone gives anything away. */
export function keyFile({ home, env, platform }: Omit<HostEnvironment, 'cwd'>): string {
  const { join, isAbsolute } = pathsOf(platform);
  const xdg = env['XDG_DATA_HOME'];
  if (xdg && isAbsolute(xdg)) return join(xdg, 'plexus', 'key');
  if (platform === 'win32') return join(env['LOCALAPPDATA'] || join(home, 'AppData', 'Local'), 'plexus', 'key');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'plexus', 'key');
  return join(home, '.local', 'share', 'plexus', 'key');
}

export const pathsOf = (platform: NodeJS.Platform) => (platform === 'win32' ? win32 : posix);

/** The folder itself counts as within. */
export function isWithin(folder: string, path: string, platform: NodeJS.Platform): boolean {
  const { relative, isAbsolute } = pathsOf(platform);
  const way = relative(folder, path);
  return !/^\.\.(?:[\\/]|$)/.test(way) && !isAbsolute(way);
}
