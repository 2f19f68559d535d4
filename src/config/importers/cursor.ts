// Owns importing from Cursor.

import { pathsOf } from '../scopes.ts';
import type { Importer } from './importer.ts';
import { groupAt } from './lookup.ts';
import { ownFiles, workspaceFiles } from './places.ts';

export const cursor: Importer = {
  app: 'cursor',
  title: 'Cursor',
  places: (environment) => [
    ...workspaceFiles(environment, '.cursor/mcp.json'),
    ...ownFiles(environment, pathsOf(environment.platform).join(environment.home, '.cursor'), 'mcp.json'),
  ],
  find: (content) => groupAt(content, 'mcpServers'),
};
