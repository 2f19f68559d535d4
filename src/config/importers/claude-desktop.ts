// Owns importing from Claude Desktop.

import { pathsOf } from '../scopes.ts';
import type { Importer } from './importer.ts';
import { groupAt } from './lookup.ts';
import { appFolder, ownFiles } from './places.ts';

/** How Windows calls the app when it came from the store, which keeps its files apart. */
const STORE_PACKAGE = 'Claude_pzs8sxrjxfjjc';

export const claudeDesktop: Importer = {
  app: 'claude-desktop',
  title: 'Claude Desktop',
  places: (environment) => {
    const { home, env, platform } = environment;
    const { join } = pathsOf(platform);
    const packages = join(env['LOCALAPPDATA'] || join(home, 'AppData', 'Local'), 'Packages');
    const folders = [
      join(appFolder(environment), 'Claude'),
      ...(platform === 'win32' ? [join(packages, STORE_PACKAGE, 'LocalCache', 'Roaming', 'Claude')] : []),
    ];
    return folders.flatMap((folder) => ownFiles(environment, folder, 'claude_desktop_config.json'));
  },
  find: (content) => groupAt(content, 'mcpServers'),
};
