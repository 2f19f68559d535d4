// Owns importing from VS Code: from the file it has for servers, and from its settings, where they were before.

import type { Importer } from './importer.ts';
import { groupAt, groupsOfSetting } from './lookup.ts';
import { editorFolders, ownFiles, workspaceFiles } from './places.ts';
import { mapTexts } from './words.ts';

export const vscode: Importer = {
  app: 'vscode',
  title: 'VS Code',
  places: (environment) => [
    ...workspaceFiles(environment, '.vscode/mcp.json', '.vscode/settings.json'),
    ...editorFolders(environment).flatMap((folder) => ownFiles(environment, folder, 'mcp.json', 'settings.json')),
  ],
  find: (content) => [...groupAt(content, 'servers'), ...groupsOfSetting(content, 'mcp.servers')],
  // Otherwise they would be looked for in the environment.
  translate: (entry) => mapTexts(entry, (text) => text.replace(/\$\{(?:workspaceRoot|cwd)\}/g, () => WORKSPACE_FOLDER)),
};

// biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
const WORKSPACE_FOLDER = '${workspaceFolder}';
