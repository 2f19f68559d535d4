// Owns the proof that a repository's link to a file of the person's makes Plexus quote nothing of that file.

import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyLayer } from '../../../src/config/layer.ts';
import { withoutForeignQuotes } from '../../../src/config/links.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { verifies } from '../../verifies.ts';
import { createFolder, environment, scopesOf, servers, writeFiles } from './folder.ts';

/** A workspace whose file is a link to this text. */
async function loadLinked(place: string, text: string, target = '../outside/secret') {
  const root = await createFolder({ 'outside/secret': text, 'work/home/.config/plexus/mcp.toml': '' });
  const cwd = join(root, 'work');
  await writeFiles(cwd, { 'home/.config/plexus/mcp.toml': '[plexus]\nimport = ["cursor"]\n', inside: text });
  await mkdir(dirname(join(cwd, place)), { recursive: true });
  await symlink(join(cwd, target), join(cwd, place));
  return loadConfig(environment(cwd));
}

const SECRETS: Readonly<Record<string, string>> = {
  'a key': 'tidewater horse battery\n-----BEGIN tidewater-----\n',
  'a table': '[tidewater]\ntidewater = "tidewater"\n[mcp_servers.tidewater]\ncommand = 1\n',
  'a map': '{"mcpServers":{"tidewater":{"tidewater":1}},"tidewater":["tidewater"]}',
  'a list of rules': '{"permissions":{"rules":[{"tool":"mcp__tidewater","action":"tidewater"}]}}',
};

for (const place of [
  '.mcp.json',
  '.mcp.toml',
  '.plexus.local.toml',
  '.plexus/plugins/p/plugin.json',
  '.cursor/mcp.json',
])
  for (const [what, text] of Object.entries(SECRETS))
    verifies('CFG-17', `${place} that links out of the workspace to ${what} quotes nothing of it`, async () => {
      const { diagnostics, invalid } = await loadLinked(place, text);
      expect(JSON.stringify([diagnostics, invalid.map(({ diagnostic }) => diagnostic)])).not.toContain('tidewater');
    });

verifies('CFG-17', 'it is told that something is wrong, and why no more is said', async () => {
  const { diagnostics } = await loadLinked('.mcp.json', 'tidewater');
  expect(diagnostics.map(({ severity, message }) => [severity, message])).toEqual([
    ['error', 'something in the file is wrong; it is a link out of the workspace, so nothing of it is quoted'],
  ]);
});

test('nothing is looked up for a file with nothing to tell', () => {
  const place = { scope: 'project', inWorkspace: true, file: '/nowhere' } as const;
  expect(withoutForeignQuotes(emptyLayer, place, { cwd: '/', platform: 'linux' })).toBe(emptyLayer);
});

test('a link within the workspace is quoted as any file, and one that leads out is read as any', async () => {
  const inside = await loadLinked('.mcp.json', 'tidewater', 'inside');
  expect(inside.diagnostics[0]?.message).toContain('tidewater');
  expect(scopesOf(await loadLinked('.mcp.toml', servers('shared')))).toEqual(['shared project']);
});
