// Owns importing from Copilot CLI.

import type { ConfigMap } from '../config-map.ts';
import type { Importer } from './importer.ts';
import { groupAt } from './lookup.ts';
import { folderNamed, ownFiles, workspaceFiles } from './places.ts';
import { timeoutInMs } from './words.ts';

export const copilot: Importer = {
  app: 'copilot',
  title: 'Copilot CLI',
  places: (environment) => [
    ...workspaceFiles(environment, '.mcp.json'),
    ...ownFiles(environment, folderNamed(environment, 'COPILOT_HOME', '.copilot'), 'mcp-config.json'),
  ],
  find: (content) => groupAt(content, 'mcpServers'),
  translate: (entry) => timeoutInMs(withoutEverything(entry)),
};

/** Every entry must say which tools it wants; a star among them means all. */
function withoutEverything({ tools, ...entry }: ConfigMap): ConfigMap {
  return tools === undefined || [tools].flat().includes('*') ? entry : { ...entry, tools };
}
