// Owns the proof that an unapproved entry of the workspace never takes a name from outside of it, however the name is spelled,
// and can only switch the server of that name off.

import { describe, expect, test } from 'vitest';
import { nameKey } from '../../../src/config/displacement.ts';
import { verifies } from '../../verifies.ts';
import { type Files, loadFolder, messagesOf, scopesOf, servers, USER } from './folder.ts';

const pendingOf = (loaded: Awaited<ReturnType<typeof loadFolder>>) =>
  loaded.pending.map(({ name, provenance, lostTo, because }) => [name, provenance.file, lostTo.file, because]);
const why = (name: string) =>
  `it is not approved, and ${USER} has a server of the same name; approve it with: plexus approve ${name}`;

verifies(
  'CFG-02',
  'an unapproved entry is shadowed, an approved one displaces, and a third loses to the approved',
  async () => {
    const files = { '.plexus.local.toml': servers('a'), '.mcp.toml': servers('a', 'b'), [USER]: servers('a') };
    const nobody = await loadFolder(files);
    expect(scopesOf(nobody)).toEqual(['a user', 'b project']);
    expect(pendingOf(nobody)).toEqual([
      ['a', '.plexus.local.toml', USER, why('a')],
      ['a', '.mcp.toml', USER, why('a')],
    ]);
    expect(nobody.shadowed).toEqual(nobody.pending);
    expect(messagesOf(nobody)).toEqual(
      Array(2).fill(
        'warning: this server "a" is not used, because it is not approved and another of that name is yours',
      ),
    );

    const local = await loadFolder(files, { mayDisplace: async ({ provenance }) => provenance.scope === 'local' });
    expect([scopesOf(local), local.pending, local.diagnostics]).toEqual([['a local', 'b project'], [], []]);
    const project = await loadFolder(files, { mayDisplace: async ({ provenance }) => provenance.scope === 'project' });
    expect([scopesOf(project), pendingOf(project).map(([, file]) => file)]).toEqual([
      ['a project', 'b project'],
      ['.plexus.local.toml'],
    ]);
  },
);

verifies(
  'CFG-02',
  'an entry that cannot be read displaces nothing, and servers of the home folder are safe too',
  async () => {
    const files: Files = {
      '.mcp.json': '{"mcpServers":{"mine":{},"theirs":{"url":"https://a.example"},"plugin:p:s":{"command":"x"}}}',
      [USER]: `${servers('mine')}[plexus]\nimport = ["cursor"]\n`,
      'home/.cursor/mcp.json': '{"mcpServers":{"theirs":{"command":"y"}}}',
      'home/.config/plexus/plugins/p/plugin.json': '{"mcpServers":{"s":{"command":"z"}}}',
    };
    const loaded = await loadFolder(files);
    expect(scopesOf(loaded)).toEqual(['mine user', 'plugin:p:s plugin', 'theirs imported']);
    expect(loaded.invalid).toEqual([]);
  },
);

verifies(
  'CFG-13',
  'an unapproved entry that is disabled switches a weaker server off, unless the person says otherwise',
  async () => {
    const off = { '.mcp.toml': '[mcp_servers.a]\nurl = "https://a.example"\nenabled = false\n' };
    const state = async (user: string, options = {}) => {
      const { definitions, refused } = await loadFolder(
        { ...off, [USER]: `${servers('a')}[plexus]\n${user}` },
        options,
      );
      return [definitions.map(({ provenance, settings }) => [provenance.scope, settings.enabled]), refused.get('a')];
    };
    expect(await state('')).toEqual([[['user', false]], '.mcp.toml switches it off']);
    expect(await state('enabled_servers = ["a"]')).toEqual([[['user', true]], undefined]);
    expect(await state('merge_order = "user-over-project"')).toEqual([[['user', true]], undefined]);
    expect(await state('', { mayDisplace: async () => true })).toEqual([[['project', false]], undefined]);
  },
);

describe('names', () => {
  const spelled = ['Notes', 'notes', 'caf\u00e9', 'cafe\u0301'];
  const keys = (platform: NodeJS.Platform) => new Set(spelled.map((name) => nameKey(name, platform))).size;

  verifies('CFG-02', 'are compared as the platform compares the names of files', () => {
    expect([keys('linux'), keys('win32'), keys('darwin')]).toEqual([4, 3, 2]);
  });

  verifies(
    'CFG-02',
    'that differ by case alone are one where files are: the entry is shadowed until it is approved',
    async () => {
      const linux = await loadFolder({ '.mcp.toml': servers('Notes'), [USER]: servers('notes') });
      expect(scopesOf(linux)).toEqual(['Notes project', 'notes user']);
      const mac = {
        '.mcp.toml': servers('Notes'),
        'home/Library/Application Support/plexus/mcp.toml': servers('notes'),
      };
      const loaded = await loadFolder(mac, { platform: 'darwin' });
      expect([scopesOf(loaded), loaded.pending.map(({ name }) => name)]).toEqual([['notes user'], ['Notes']]);
      const approved = await loadFolder(mac, { platform: 'darwin', mayDisplace: async () => true });
      expect(scopesOf(approved)).toEqual(['Notes project', 'notes user']);
    },
  );
});

test('a weaker entry of the workspace is shadowed as any other, approved or not', async () => {
  const files = { '.mcp.toml': servers('a'), [USER]: `${servers('a')}[plexus]\nmerge_order = "user-over-project"\n` };
  const { pending, shadowed } = await loadFolder(files);
  expect([pending, shadowed.map(({ because }) => because)]).toEqual([
    [],
    ['a stronger file defines a server of the same name'],
  ]);
});
