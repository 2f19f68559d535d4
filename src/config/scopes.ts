// Owns the scopes: where the files of each lie, and which of them a repository can write. Also the folders of Plexus's own state.

import { posix, win32 } from 'node:path';
import type { Scope } from '../model/server.ts';

/**
 * Scopes that only the user, the host or the administrator writes: they may start servers, read variables, run commands and
 * loosen rules.
 */
export function isOwnScope(scope: Scope): boolean {
  return scope === 'enterprise' || scope === 'host' || scope === 'user';
}

export interface HostEnvironment {
  /** The workspace: `findWorkspace` says which folder that is. */
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The folder of the enterprise's file; the default is the platform's, and no environment variable can move it. */
  readonly systemFolder?: string;
}

export interface ConfigPlace {
  readonly scope: Scope;
  /** Absent for settings that a host gives in code. */
  readonly file?: string;
  /** The author of the repository may have written it: it may define servers and tighten rules, never start or loosen anything. */
  readonly inWorkspace?: true;
  readonly provider?: string;
}

export type FilePlace = ConfigPlace & { readonly file: string };

/** Every configuration file of Plexus itself, strongest first; most of them do not exist. */
export function placesOf(environment: HostEnvironment): readonly FilePlace[] {
  return [
    ...enterprisePlaces(environment),
    ...workspacePlaces(environment),
    ...bothDialects(userFolder(environment), environment, 'user'),
  ];
}

export function workspacePlaces({ cwd, platform }: Pick<HostEnvironment, 'cwd' | 'platform'>): readonly FilePlace[] {
  const { join } = pathsOf(platform);
  const local = { scope: 'local', inWorkspace: true } as const;
  const project = { scope: 'project', inWorkspace: true } as const;
  return [
    { ...local, file: join(cwd, '.plexus.local.toml') },
    { ...project, file: join(cwd, '.mcp.toml') },
    { ...project, file: join(cwd, '.mcp.json') },
    { ...project, file: join(cwd, '.plexus', 'mcp.json') },
  ];
}

export function enterprisePlaces(environment: HostEnvironment): readonly FilePlace[] {
  return bothDialects(environment.systemFolder ?? systemFolder(environment), environment, 'enterprise');
}

function bothDialects(folder: string, { platform }: HostEnvironment, scope: Scope): readonly FilePlace[] {
  return ['mcp.toml', 'mcp.json'].map((name) => ({ scope, file: pathsOf(platform).join(folder, name) }));
}

/** Only an administrator can write to these folders. */
function systemFolder({ platform }: HostEnvironment): string {
  if (platform === 'win32') return 'C:\\Program Files\\Plexus';
  return platform === 'darwin' ? '/Library/Application Support/Plexus' : '/etc/plexus';
}

type UserEnvironment = Omit<HostEnvironment, 'cwd'>;

/** Where each platform has a folder, in the home folder unless a variable moves it. */
interface PlatformFolder {
  readonly xdg: string;
  readonly windows: readonly ['Roaming' | 'Local', ...string[]];
  readonly mac: readonly string[];
  readonly unix: readonly string[];
}

/** The XDG variable counts on every platform; a relative path in it is ignored, as its specification demands. */
function platformFolder({ home, env, platform }: UserEnvironment, { xdg, windows, mac, unix }: PlatformFolder): string {
  const { join, isAbsolute } = pathsOf(platform);
  const moved = env[xdg];
  if (moved && isAbsolute(moved)) return join(moved, 'plexus');
  if (platform === 'darwin') return join(home, 'Library', ...mac);
  if (platform !== 'win32') return join(home, ...unix);
  const [kind, ...rest] = windows;
  return join(env[kind === 'Roaming' ? 'APPDATA' : 'LOCALAPPDATA'] || join(home, 'AppData', kind), ...rest);
}

/** The folder of the user's own configuration file. */
export const userFolder = (environment: UserEnvironment): string =>
  platformFolder(environment, {
    xdg: 'XDG_CONFIG_HOME',
    windows: ['Roaming', 'plexus'],
    mac: ['Application Support', 'plexus'],
    unix: ['.config', 'plexus'],
  });

/** The folder of approvals, grants and tokens. Never in the workspace. */
export const stateFolder = (environment: UserEnvironment): string =>
  platformFolder(environment, {
    xdg: 'XDG_STATE_HOME',
    windows: ['Local', 'plexus', 'state'],
    mac: ['Application Support', 'plexus', 'state'],
    unix: ['.local', 'state', 'plexus'],
  });

/** The folder of files that can be made again. */
export const cacheFolder = (environment: UserEnvironment): string =>
  platformFolder(environment, {
    xdg: 'XDG_CACHE_HOME',
    windows: ['Local', 'plexus', 'cache'],
    mac: ['Caches', 'plexus'],
    unix: ['.cache', 'plexus'],
  });

/** The folder of results that were too long for the model and are kept for a while. */
export const resultsFolder = (environment: UserEnvironment): string =>
  pathsOf(environment.platform).join(cacheFolder(environment), 'results');

/** The key that decrypts stored secrets. It lies in another folder than they do, so that neither folder alone is enough. */
export const keyFile = (environment: UserEnvironment): string => keyFileNamed('key', environment);

/** The logins, encrypted; one file for all of them. */
export const loginsFile = (environment: UserEnvironment): string =>
  pathsOf(environment.platform).join(stateFolder(environment), 'logins.json');

/** The key that decrypts the logins, where no system keychain keeps it. */
export const loginsKeyFile = (environment: UserEnvironment): string => keyFileNamed('logins.key', environment);

function keyFileNamed(name: string, environment: UserEnvironment): string {
  const folder = platformFolder(environment, {
    xdg: 'XDG_DATA_HOME',
    windows: ['Local', 'plexus'],
    mac: ['Application Support', 'plexus'],
    unix: ['.local', 'share', 'plexus'],
  });
  return pathsOf(environment.platform).join(folder, name);
}

export const pathsOf = (platform: NodeJS.Platform) => (platform === 'win32' ? win32 : posix);

/** The folder itself counts as within it. */
export function isWithin(folder: string, path: string, platform: NodeJS.Platform): boolean {
  const { relative, isAbsolute } = pathsOf(platform);
  const route = relative(folder, path);
  return !/^\.\.(?:[\\/]|$)/.test(route) && !isAbsolute(route);
}
