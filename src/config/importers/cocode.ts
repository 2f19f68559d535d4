// Owns importing from cocode: its handbook names the TOML files, its program reads the JSON ones.

import { pathsOf } from '../scopes.ts';
import type { Importer } from './importer.ts';
import { groupAt } from './lookup.ts';
import { dotConfigFolder, folderNamed, ownFiles, workspaceFiles } from './places.ts';

export const cocode: Importer = {
  app: 'cocode',
  title: 'cocode',
  places: (around) => [
    ...workspaceFiles(around, '.cocode.local.toml', '.cocode.local/mcp.json'),
    ...workspaceFiles(around, '.mcp.toml', '.cocode/mcp.json', '.mcp.json'),
    ...ownFiles(around, pathsOf(around.platform).join(dotConfigFolder(around), 'cocode'), 'mcp.toml'),
    ...ownFiles(around, folderNamed(around, 'COCO_CONFIG_DIR', '.cocode'), 'mcp.json'),
  ],
  find: (content) => [...groupAt(content, 'mcp_servers'), ...groupAt(content, 'mcpServers')],
};
