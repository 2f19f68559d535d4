// Owns importing from Gemini CLI. Its `mcp` key holds settings about servers, and no server.

import type { ConfigMap } from '../config-map.ts';
import { pathsOf } from '../scopes.ts';
import type { Importer } from './importer.ts';
import { groupAt } from './lookup.ts';
import { ownFiles, workspaceFiles } from './places.ts';
import { mapTexts, timeoutInMs } from './words.ts';

export const gemini: Importer = {
  app: 'gemini',
  title: 'Gemini CLI',
  places: (environment) => {
    const home = environment.env['GEMINI_CLI_HOME'] || environment.home;
    return [
      ...workspaceFiles(environment, '.gemini/settings.json'),
      ...ownFiles(environment, pathsOf(environment.platform).join(home, '.gemini'), 'settings.json'),
    ];
  },
  find: (content) => groupAt(content, 'mcpServers'),
  translate: (entry) => timeoutInMs(withBraces(entry)),
};

/** `$VAR` is a placeholder as much as `${VAR}`. */
const withBraces = (entry: ConfigMap) =>
  mapTexts(entry, (text) => text.replace(/\$([A-Za-z_]\w*)/g, (_, name: string) => `\${${name}}`));
