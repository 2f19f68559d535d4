// Owns importing from Oh My Pi. The person's own servers belong to the profile that is active.

import type { ConfigMap } from '../config-map.ts';
import { isMap } from '../config-map.ts';
import { type HostEnvironment, pathsOf } from '../scopes.ts';
import type { Importer } from './importer.ts';
import { groupAt } from './lookup.ts';
import { ownFiles, workspaceFiles } from './places.ts';
import { mapTexts, timeoutInMs } from './words.ts';

export const ohMyPi: Importer = {
  app: 'oh-my-pi',
  title: 'Oh My Pi',
  places: (environment) => [
    ...workspaceFiles(environment, '.omp/mcp.json', '.omp/.mcp.json'),
    ...ownFiles(environment, agentFolder(environment), 'mcp.json', '.mcp.json'),
    ...workspaceFiles(environment, 'mcp.json', '.mcp.json'),
  ],
  find: (content) => groupAt(content, 'mcpServers'),
  translate: (entry) => timeoutInMs(withVariables(entry)),
};

/** The name of a profile becomes part of a path, so only what the app itself would take counts. */
function agentFolder({ home, env, platform }: HostEnvironment): string {
  const { join } = pathsOf(platform);
  const root = join(home, env['PI_CONFIG_DIR'] || '.omp');
  const profile = (env['OMP_PROFILE'] ?? env['PI_PROFILE'] ?? '').trim();
  const isNamed = profile !== 'default' && /^[a-z0-9][a-z0-9._-]{0,63}$/.test(profile);
  return isNamed ? join(root, 'profiles', profile, 'agent') : env['PI_CODING_AGENT_DIR'] || join(root, 'agent');
}

/** A value that is the name of a variable stands for that variable, as long as it is set. */
function withVariables(entry: ConfigMap): ConfigMap {
  const named = (text: string) => (/^[A-Z_][A-Z0-9_]*$/.test(text) ? `\${${text}:-${text}}` : text);
  const maps = Object.entries(entry).filter(([key]) => key === 'env' || key === 'headers');
  return {
    ...entry,
    ...Object.fromEntries(maps.map(([key, map]) => [key, isMap(map) ? mapTexts(map, named) : map])),
  };
}
