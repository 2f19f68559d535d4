// Owns importing from Cursor.

import { pathsOf } from '../scopes.ts';
import type { Importer } from './importer.ts';
import { groupAt } from './lookup.ts';
import { ownFiles, workspaceFiles } from './places.ts';

export const cursor: Importer = {
  app: 'cursor',
  title: 'Cursor',
  places: (around) => [
    ...workspaceFiles(around, '.cursor/mcp.json'),
    ...ownFiles(around, pathsOf(around.platform).join(around.home, '.cursor'), 'mcp.json'),
  ],
  find: (content) => groupAt(content, 'mcpServers'),
};
