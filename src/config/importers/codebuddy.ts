// Owns importing from CodeBuddy: two programs have that name and share a folder, an editor's extension and a terminal agent.

import type { Importer } from './importer.ts';
import { groupAt, groupsByFolder, groupsOfSetting } from './lookup.ts';
import { editorSettings, folderNamed, ownFiles, workspaceFiles } from './places.ts';

export const codebuddy: Importer = {
  app: 'codebuddy',
  title: 'CodeBuddy',
  places: (around) => [
    ...workspaceFiles(around, '.codebuddy/mcp.json', '.mcp.json'),
    ...ownFiles(around, folderNamed(around, 'CODEBUDDY_CONFIG_DIR', '.codebuddy'), '.mcp.json', 'mcp.json'),
    ...ownFiles(around, around.home, '.codebuddy.json'),
    ...editorSettings(around),
  ],
  find: (content, around) => [
    ...groupsByFolder(content, around),
    ...groupAt(content, 'servers'),
    ...groupsOfSetting(content, 'codebuddy.mcp.servers'),
  ],
};
