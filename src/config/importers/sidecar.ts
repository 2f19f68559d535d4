// Owns importing from SideCar, an extension of VS Code: what its setting says beats the file of the workspace.

import type { ConfigMap } from '../config-map.ts';
import { isMap } from '../config-map.ts';
import type { Importer } from './importer.ts';
import { groupAt, groupsOfSetting } from './lookup.ts';
import { editorSettings, workspaceFiles } from './places.ts';

export const sidecar: Importer = {
  app: 'sidecar',
  title: 'SideCar',
  places: (environment) => [...editorSettings(environment), ...workspaceFiles(environment, '.mcp.json')],
  find: (content) => [...groupsOfSetting(content, 'sidecar.mcpServers'), ...groupAt(content, 'mcpServers')],
  translate,
};

/** `tools` is a map with a switch for each tool. */
function translate({ tools, toolAllowlist, ...entry }: ConfigMap): ConfigMap {
  const off = isMap(tools) ? Object.keys(tools).filter((name) => isOff(tools[name])) : [];
  return {
    ...entry,
    ...(toolAllowlist === undefined ? {} : { enabledTools: toolAllowlist }),
    ...(tools === undefined || isMap(tools) ? {} : { tools }),
    ...(off.length === 0 ? {} : { disabledTools: off }),
  };
}

const isOff = (tool: unknown) => isMap(tool) && tool['enabled'] === false;
