// Owns importing from Codex.

import type { ConfigMap } from '../config-map.ts';
import { isMap } from '../config-map.ts';
import type { Importer } from './importer.ts';
import { groupAt } from './lookup.ts';
import { folderNamed, ownFiles, workspaceFiles } from './places.ts';

export const codex: Importer = {
  app: 'codex',
  title: 'Codex',
  places: (environment) => [
    ...workspaceFiles(environment, '.codex/config.toml'),
    ...ownFiles(environment, folderNamed(environment, 'CODEX_HOME', '.codex'), 'config.toml'),
  ],
  find: (content) => groupAt(content, 'mcp_servers'),
  translate,
};

/** A variable to pass on may come with the machine it is read on, which here is always this one. */
function translate({ env_vars, http_headers_helper, ...entry }: ConfigMap): ConfigMap {
  const named = (variable: unknown) => (isMap(variable) ? variable['name'] : variable);
  return {
    ...entry,
    ...(env_vars === undefined ? {} : { env_vars: Array.isArray(env_vars) ? env_vars.map(named) : env_vars }),
    ...(http_headers_helper === undefined ? {} : { headersHelper: http_headers_helper }),
  };
}
