// Owns importing from Windsurf, which has no file of the workspace; its plugins for other editors share the last one.

import { pathsOf } from '../scopes.ts';
import type { Importer } from './importer.ts';
import { groupAt } from './lookup.ts';
import { ownFiles } from './places.ts';

export const windsurf: Importer = {
  app: 'windsurf',
  title: 'Windsurf',
  places: (environment) =>
    ownFiles(
      environment,
      pathsOf(environment.platform).join(environment.home, '.codeium'),
      'windsurf/mcp_config.json',
      'windsurf-next/mcp_config.json',
      'mcp_config.json',
    ),
  find: (content) => groupAt(content, 'mcpServers'),
};
