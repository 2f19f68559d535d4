// Owns importing from Zed. What an extension of it runs cannot be run from outside: such an entry has no command.

import { pathsOf, type Surroundings } from '../scopes.ts';
import type { Importer } from './importer.ts';
import { groupAt } from './lookup.ts';
import { appFolder, dotConfigFolder, ownFiles, workspaceFiles } from './places.ts';

export const zed: Importer = {
  app: 'zed',
  title: 'Zed',
  places: (around) => [
    ...workspaceFiles(around, '.zed/settings.json'),
    ...ownFiles(around, settingsFolder(around), 'settings.json'),
  ],
  find: (content) => groupAt(content, 'context_servers'),
  // `remote` is about projects on another machine, and no transport.
  translate: ({ remote, ...entry }) => entry,
};

/** macOS knows no variable for it. */
function settingsFolder(around: Surroundings): string {
  const { home, env, platform } = around;
  const { join } = pathsOf(platform);
  if (platform === 'win32') return join(appFolder(around), 'Zed');
  if (platform === 'darwin') return join(home, '.config', 'zed');
  return join(env['FLATPAK_XDG_CONFIG_HOME'] || dotConfigFolder(around), 'zed');
}
