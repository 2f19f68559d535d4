// Owns importing from Claude Code. Its own file holds the person's servers for all folders, and for each single one.

import { pathsOf } from '../scopes.ts';
import type { Importer } from './importer.ts';
import { groupsByFolder } from './lookup.ts';
import { ownFiles, workspaceFiles } from './places.ts';
import { timeoutInMs } from './words.ts';

export const claudeCode: Importer = {
  app: 'claude-code',
  title: 'Claude Code',
  places: (environment) => {
    const { home, env, platform } = environment;
    const { join } = pathsOf(platform);
    return [
      ...workspaceFiles(environment, '.mcp.json'),
      // The older name still wins where it exists. Without the variable, the newer one lies beside the folder.
      ...ownFiles(environment, env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'), '.config.json'),
      ...ownFiles(environment, env['CLAUDE_CONFIG_DIR'] || home, '.claude.json'),
    ];
  },
  find: groupsByFolder,
  translate: timeoutInMs,
};
