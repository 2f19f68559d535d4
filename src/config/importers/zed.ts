// Owns importing from Zed. What an extension of it runs cannot be run from outside: such an entry has no command.

import { type HostEnvironment, pathsOf } from '../scopes.ts';
import type { Importer } from './importer.ts';
import { groupAt } from './lookup.ts';
import { appFolder, dotConfigFolder, ownFiles, workspaceFiles } from './places.ts';

export const zed: Importer = {
  app: 'zed',
  title: 'Zed',
  places: (environment) => [
    ...workspaceFiles(environment, '.zed/settings.json'),
    ...ownFiles(environment, settingsFolder(environment), 'settings.json'),
  ],
  find: (content) => groupAt(content, 'context_servers'),
  // `remote` is about projects on another machine, and no transport.
  translate: ({ remote, ...entry }) => entry,
};

/** macOS knows no variable for it. */
function settingsFolder(environment: HostEnvironment): string {
  const { home, env, platform } = environment;
  const { join } = pathsOf(platform);
  if (platform === 'win32') return join(appFolder(environment), 'Zed');
  if (platform === 'darwin') return join(home, '.config', 'zed');
  return join(env['FLATPAK_XDG_CONFIG_HOME'] || dotConfigFolder(environment), 'zed');
}
