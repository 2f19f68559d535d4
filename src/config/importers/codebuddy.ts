// Owns importing from CodeBuddy: two programs have that name and share a folder, an editor's extension and a terminal agent.

import type { Importer } from './importer.ts';
import { groupAt, groupsByFolder, groupsOfSetting } from './lookup.ts';
import { editorSettings, folderNamed, ownFiles, workspaceFiles } from './places.ts';

export const codebuddy: Importer = {
  app: 'codebuddy',
  title: 'CodeBuddy',
  places: (environment) => [
    ...workspaceFiles(environment, '.codebuddy/mcp.json', '.mcp.json'),
    ...ownFiles(environment, folderNamed(environment, 'CODEBUDDY_CONFIG_DIR', '.codebuddy'), '.mcp.json', 'mcp.json'),
    ...ownFiles(environment, environment.home, '.codebuddy.json'),
    ...editorSettings(environment),
  ],
  find: (content, environment) => [
    ...groupsByFolder(content, environment),
    ...groupAt(content, 'servers'),
    ...groupsOfSetting(content, 'codebuddy.mcp.servers'),
  ],
};
