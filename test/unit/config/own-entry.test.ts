// Owns the proof that Plexus is recognized in the files of other programs, however it is written there, and nothing else is.

import { expect } from 'vitest';
import { isOwnEntry } from '../../../src/config/own-entry.ts';
import type { Launch } from '../../../src/model/server.ts';
import { discoverMCPServers } from '../../../src/runtime.ts';
import { verifies } from '../../verifies.ts';
import { createFolder } from './folder.ts';

const launch = (line: string): Launch => {
  const [command = '', ...args] = line.split(' ');
  return { kind: 'stdio', command, args } as unknown as Launch;
};

verifies('EXT-45', 'an entry of Plexus itself is known, so that it is never imported', () => {
  const own = [
    'plexus connect',
    '/usr/local/bin/plexus connect --profile work',
    'npx -y plexus connect',
    'npx -y plexus@0.1.0 serve --stdio',
    'node /home/me/plexus/dist/cli.js connect',
    'node /home/me/plexus/dist/cli.cjs connect',
    'C:\\npm\\plexus.cmd connect',
    'cmd /c plexus connect',
  ];
  const others = [
    'plexus-notes connect',
    'npx plexus tools',
    'node dist/server.js connect',
    'connect plexus',
    'plexus',
  ];
  expect(own.filter((line) => !isOwnEntry(launch(line)))).toEqual([]);
  expect(others.filter((line) => isOwnEntry(launch(line)))).toEqual([]);
  expect(isOwnEntry({ kind: 'http', url: 'http://plexus/connect' } as unknown as Launch)).toBe(false);
});

verifies('EXT-45', 'a workspace file that leads other agents to the gateway defines no server', async () => {
  const entries = { plexus: { command: 'plexus', args: ['connect'] }, notes: { command: 'notes' } };
  const cwd = await createFolder({ '.mcp.json': JSON.stringify({ mcpServers: entries }) });
  const home = await createFolder();
  const { servers, diagnostics } = await discoverMCPServers({ cwd, home, env: {} });
  expect([servers.map(({ name }) => name), diagnostics]).toEqual([['notes'], []]);
});
