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
    'plexus --config mine.toml --verbose connect',
    'env EDITOR=vi plexus connect',
  ];
  const others = [
    'plexus-notes connect',
    'npx plexus tools',
    'node dist/server.js connect',
    'connect plexus',
    'plexus',
    'plexus call desk connect',
  ];
  expect(own.filter((line) => !isOwnEntry(launch(line)))).toEqual([]);
  expect(others.filter((line) => isOwnEntry(launch(line)))).toEqual([]);
  const shell = (script: string) => ({ kind: 'stdio', command: 'bash', args: ['-lc', script] }) as unknown as Launch;
  expect(isOwnEntry(shell('cd ~ && exec plexus connect'))).toBe(true);
  expect(isOwnEntry(shell('echo plexus; connect'))).toBe(false);
});

verifies('EXT-45', 'the address of the gateway is known too, at the port that it has', () => {
  const remote = (url: string) => ({ kind: 'http', url }) as unknown as Launch;
  const own = ['/mcp', '/mcp/', '/mcp/p/work', '/mcp/s/files', '/sse'].map((path) => `http://127.0.0.1:7417${path}`);
  const others = [
    ...[
      'http://plexus/connect',
      'http://127.0.0.1:7417/other',
      'http://127.0.0.1:7418/mcp',
      'https://127.0.0.1:7417/mcp',
    ],
    ...['http://example.com:7417/mcp', 'http://127.0.0.1/mcp', 'no address'],
  ];
  expect(
    [...own, 'http://localhost:7417/mcp', 'http://[::1]:7417/mcp'].filter((url) => !isOwnEntry(remote(url))),
  ).toEqual([]);
  expect(others.filter((url) => isOwnEntry(remote(url)))).toEqual([]);
  expect([
    isOwnEntry(remote('http://127.0.0.1:7418/mcp'), 7418),
    isOwnEntry(remote('http://127.0.0.1:7417/mcp'), 7418),
  ]).toEqual([true, false]);
});

verifies('EXT-45', 'a workspace file that leads other agents to the gateway defines no server', async () => {
  const entries = {
    plexus: { command: 'plexus', args: ['connect'] },
    address: { type: 'http', url: 'http://127.0.0.1:7417/mcp' },
    notes: { command: 'notes' },
  };
  const cwd = await createFolder({ '.mcp.json': JSON.stringify({ mcpServers: entries }) });
  const home = await createFolder();
  const { servers, diagnostics } = await discoverMCPServers({ cwd, home, env: {} });
  expect([servers.map(({ name }) => name), diagnostics]).toEqual([['notes'], []]);
});
