// Owns a server definition that tests start from and change.

import type { Launch, RemoteLaunch, Scope, ServerDefinition, StdioLaunch } from '../../../src/model/server.ts';
import { defaultSettings } from '../config/folder.ts';

export const stdio: StdioLaunch = { kind: 'stdio', command: 'node', args: ['server.js'], env: {}, inheritEnv: 'safe' };
export const remote: RemoteLaunch = { kind: 'http', url: 'https://a.example/mcp', headers: {} };

/** As read from a file in the workspace, unless another scope is given. */
export function defined(launch: Launch = stdio, scope: Scope = 'project'): ServerDefinition {
  return {
    name: 'files',
    launch,
    settings: defaultSettings,
    provenance: {
      scope,
      ...(scope === 'project' && { inWorkspace: true }),
      file: '/work/.mcp.json',
      key: ['mcpServers', 'files'],
    },
  };
}
