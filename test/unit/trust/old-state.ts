// Owns the definitions that were approved when `test/data/state-of-version-1` was written, by the code of 18 November 2026
// (commit 2077a2c): `gate.approve` for the first three and `grants.grant` for all of them. The secrets are made up.

import type { HostEnvironment } from '../../../src/config/scopes.ts';
import type { Launch, Provenance, ServerDefinition } from '../../../src/model/server.ts';
import type { ToolDefinition } from '../../../src/model/tool.ts';
import { defaultSettings } from '../config/folder.ts';

/** No program is found along this path, so that the fixture is the same on every machine. */
export const oldEnvironment: HostEnvironment = {
  cwd: '/repo',
  home: '/home/me',
  platform: 'linux',
  env: { PATH: '/nowhere', TEAM: 'blue', SERVICE_TOKEN: 'made-up-1' },
};

export const tool: ToolDefinition = { name: 'read', description: 'Reads.', inputSchema: { type: 'object' } };

const workspaceFile = (file = '/repo/.mcp.json'): Provenance => ({
  scope: 'project',
  inWorkspace: true,
  file,
  key: ['mcpServers'],
});

const defined = (name: string, launch: Launch, provenance: Provenance = workspaceFile()): ServerDefinition => ({
  name,
  launch,
  settings: defaultSettings,
  provenance,
});

const process = { kind: 'stdio', command: 'no-such-program', inheritEnv: 'safe' } as const;

/** Values that version 1 kept in clear, each in another place. */
export const clearSecrets = [
  'made-up-pwd',
  'made-up-pat',
  'ghp_madeUp0123456789',
  'made-up-db',
  'sk-made-up-path-0123456789',
];

export const oldDefinitions = {
  local: defined('local', {
    ...process,
    args: [
      'serve',
      '--pwd',
      'made-up-pwd',
      '--pat=made-up-pat',
      'ghp_madeUp0123456789',
      'postgres://me:made-up-db@h/d',
    ],
    env: { TEAM: `\${TEAM}`, LEVEL: 'debug' },
  }),
  web: defined('web', {
    kind: 'http',
    url: 'https://a.example/s/sk-made-up-path-0123456789/mcp',
    headers: { Authorization: `Bearer \${SERVICE_TOKEN}` },
  }),
  asking: defined('asking', { ...process, args: [`\${input:what}`], env: {} }),
  mine: defined(
    'mine',
    { ...process, args: ['--api-key', 'made-up-own'], env: {} },
    {
      scope: 'user',
      file: '/home/me/.config/plexus/mcp.json',
      key: ['mcpServers'],
    },
  ),
} as const;
