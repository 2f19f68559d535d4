// Owns the folders that other programs keep their files in, on each platform, and whether such a folder belongs to the user or
// to the repository.

import { type HostEnvironment, isWithin, pathsOf } from '../scopes.ts';
import type { ImportPlace } from './importer.ts';

/** The folders of one machine, in the words that a row of the importers is written in. */
export interface ImportFolders extends Pick<HostEnvironment, 'env' | 'platform'> {
  readonly join: (...parts: readonly string[]) => string;
  /** Files of the workspace, which the author of the repository may have written. */
  readonly workspace: (...files: readonly string[]) => readonly ImportPlace[];
  /** Files in a folder of the user's. None when the folder is not known. */
  readonly own: (folder: string | undefined, ...files: readonly string[]) => readonly ImportPlace[];
  /** A path in the home folder. */
  readonly home: (...parts: readonly string[]) => string;
  /** A path in the folder that programs with windows keep their settings in. */
  readonly appData: (...parts: readonly string[]) => string;
  /** A path in the folder that terminal programs keep their settings in, on every platform. */
  readonly dotConfig: (...parts: readonly string[]) => string;
  /** Files of VS Code's user folders. Its extensions share them. */
  readonly editor: (...files: readonly string[]) => readonly ImportPlace[];
}

export function importFolders({ cwd, home: homeFolder, env, platform }: HostEnvironment): ImportFolders {
  const { join, resolve, isAbsolute } = pathsOf(platform);
  const home = (...parts: readonly string[]) => join(homeFolder, ...parts);
  const xdg = env['XDG_CONFIG_HOME'];
  const dotConfig = (...parts: readonly string[]) =>
    xdg && isAbsolute(xdg) ? join(xdg, ...parts) : home('.config', ...parts);
  const appData = (...parts: readonly string[]) => {
    if (platform === 'win32') return join(env['APPDATA'] || home('AppData', 'Roaming'), ...parts);
    return platform === 'darwin' ? home('Library', 'Application Support', ...parts) : dotConfig(...parts);
  };
  /** A variable may move the user's folder into the repository: then its files count as the repository's. */
  const own = (folder: string | undefined, ...files: readonly string[]) => {
    if (!folder) return [];
    const absolute = resolve(cwd, folder);
    const inWorkspace = isWithin(cwd, absolute, platform) && !isWithin(cwd, homeFolder, platform);
    return files.map((file) => ({ file: join(absolute, file), inWorkspace }));
  };
  /** A portable VS Code has one user folder, beside its program. */
  const editorFolders = () => {
    const portable = env['VSCODE_PORTABLE'];
    if (portable) return [join(portable, 'user-data', 'User')];
    const base = env['VSCODE_APPDATA'] || appData();
    return ['Code', 'Code - Insiders'].map((edition) => join(base, edition, 'User'));
  };
  return {
    env,
    platform,
    join,
    workspace: (...files) => files.map((file) => ({ file: join(cwd, file), inWorkspace: true })),
    own,
    home,
    appData,
    dotConfig,
    editor: (...files) => editorFolders().flatMap((folder) => own(folder, ...files)),
  };
}
