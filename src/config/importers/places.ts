// Owns the folders other programs keep their files in, on each platform, and whose hand wrote what lies there.

import { type HostEnvironment, isWithin, pathsOf } from '../scopes.ts';
import type { ImportPlace } from './importer.ts';

/** Files of the workspace, which whoever wrote the repository wrote. */
export function workspaceFiles(
  { cwd, platform }: HostEnvironment,
  ...files: readonly string[]
): readonly ImportPlace[] {
  return files.map((file) => ({ file: pathsOf(platform).join(cwd, file), inWorkspace: true }));
}

/** A variable may move the person's own folder into the repository: what lies there then is the repository's. */
export function ownFiles(
  environment: HostEnvironment,
  folder: string,
  ...files: readonly string[]
): readonly ImportPlace[] {
  const { cwd, home, platform } = environment;
  const absolute = pathsOf(platform).resolve(cwd, folder);
  const inWorkspace = isWithin(cwd, absolute, platform) && !isWithin(cwd, home, platform);
  return files.map((file) => ({ file: pathsOf(platform).join(absolute, file), inWorkspace }));
}

/** What the variable names, otherwise a folder in the home folder. */
export function folderNamed({ home, env, platform }: HostEnvironment, variable: string, otherwise: string): string {
  return env[variable] || pathsOf(platform).join(home, otherwise);
}

/** Where programs with windows keep their settings. */
export function appFolder(environment: HostEnvironment): string {
  const { home, env, platform } = environment;
  const { join } = pathsOf(platform);
  if (platform === 'win32') return env['APPDATA'] || join(home, 'AppData', 'Roaming');
  return platform === 'darwin' ? join(home, 'Library', 'Application Support') : dotConfigFolder(environment);
}

/** Where programs without windows keep theirs, on every platform. */
export function dotConfigFolder({ home, env, platform }: HostEnvironment): string {
  const { join, isAbsolute } = pathsOf(platform);
  const xdg = env['XDG_CONFIG_HOME'];
  return xdg && isAbsolute(xdg) ? xdg : join(home, '.config');
}

/** The user folders of VS Code, which extensions share. A portable one has no other. */
export function editorFolders(environment: HostEnvironment): readonly string[] {
  const { env, platform } = environment;
  const { join } = pathsOf(platform);
  const portable = env['VSCODE_PORTABLE'];
  if (portable) return [join(portable, 'user-data', 'User')];
  const base = env['VSCODE_APPDATA'] || appFolder(environment);
  return ['Code', 'Code - Insiders'].map((edition) => join(base, edition, 'User'));
}

/** Where an extension finds its settings: the workspace's beat the person's. */
export function editorSettings(environment: HostEnvironment): readonly ImportPlace[] {
  return [
    ...workspaceFiles(environment, '.vscode/settings.json'),
    ...editorFolders(environment).flatMap((folder) => ownFiles(environment, folder, 'settings.json')),
  ];
}
