// Owns importing from agent-code.

import { pathsOf } from '../scopes.ts';
import type { Importer } from './importer.ts';
import { groupAt } from './lookup.ts';
import { appFolder, ownFiles, workspaceFiles } from './places.ts';

export const agentCode: Importer = {
  app: 'agent-code',
  title: 'agent-code',
  places: (environment) => [
    ...workspaceFiles(environment, '.agent/settings.local.toml', '.agent/settings.toml'),
    ...ownFiles(environment, pathsOf(environment.platform).join(appFolder(environment), 'agent-code'), 'config.toml'),
  ],
  find: (content) => groupAt(content, 'mcp_servers'),
};
