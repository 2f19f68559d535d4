// Owns importing from cocode: its handbook names the TOML files, its program reads the JSON ones.

import { pathsOf } from '../scopes.ts';
import type { Importer } from './importer.ts';
import { groupAt } from './lookup.ts';
import { dotConfigFolder, folderNamed, ownFiles, workspaceFiles } from './places.ts';

export const cocode: Importer = {
  app: 'cocode',
  title: 'cocode',
  places: (environment) => [
    ...workspaceFiles(environment, '.cocode.local.toml', '.cocode.local/mcp.json'),
    ...workspaceFiles(environment, '.mcp.toml', '.cocode/mcp.json', '.mcp.json'),
    ...ownFiles(environment, pathsOf(environment.platform).join(dotConfigFolder(environment), 'cocode'), 'mcp.toml'),
    ...ownFiles(environment, folderNamed(environment, 'COCO_CONFIG_DIR', '.cocode'), 'mcp.json'),
  ],
  find: (content) => [...groupAt(content, 'mcp_servers'), ...groupAt(content, 'mcpServers')],
};
