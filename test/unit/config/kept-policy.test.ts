// Owns the proof that a broken file of the person's own forbids what it forbade, and that nothing doubtful starts where that is
// not known.

import { describe, expect, test } from 'vitest';
import { createKeptPolicies } from '../../../src/config/kept-policy.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { createMemoryStore } from '../../../src/kernel/store.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';
import { createFolder, environment, servers, USER, withoutFolder, writeFiles } from './folder.ts';

const POLICY = `
[security]
mcp_server_denylist = ["bad"]
mcp_server_allowlist = ["theirs", "bad", "mine", "off", { command = "x" }]
[plexus]
disabled_servers = ["off"]
[[permissions.rules]]
tool = "mcp__theirs__delete"
action = "deny"
args.path = { under = "/etc" }
[[permissions.rules]]
tool = "mcp__theirs__send"
action = "ask"
[[permissions.rules]]
tool = "mcp__theirs__*"
action = "allow"
`;
const THEIRS = { '.mcp.toml': servers('theirs', 'bad', 'off', 'other') };

async function createHome(text: string) {
  const cwd = await createFolder({ ...THEIRS, [USER]: text });
  const store = createMemoryStore(createFakeClock());
  const load = async () =>
    withoutFolder(await loadConfig({ ...environment(cwd), kept: createKeptPolicies(store) }), cwd);
  const isKept = () => waitFor(async () => expect(await store.get(`own-files/${cwd}/${USER}`)).toBeDefined());
  return { cwd, store, load, isKept, write: (written: string) => writeFiles(cwd, { [USER]: written }) };
}

const state = ({ definitions, refused }: Awaited<ReturnType<typeof loadConfig>>) =>
  Object.fromEntries(definitions.map(({ name, settings }) => [name, refused.get(name) ?? settings.enabled]));

verifies('CFG-17', 'of a broken file the lists and the rules that deny or ask count as they were last', async () => {
  const { load, isKept, write } = await createHome(`${servers('mine')}${POLICY}`);
  const before = await load();
  const forbidden = {
    theirs: true,
    bad: `mcp_server_denylist names it (in ${USER})`,
    off: '"disabledServers" names it',
    other: `mcp_server_allowlist does not name it (in ${USER})`,
  };
  expect(state(before)).toEqual({ mine: true, ...forbidden });
  await isKept();

  await write(`${POLICY}[mcp_servers.mine\n`);
  const broken = await load();
  expect(state(broken), 'without the file’s own entries').toEqual(forbidden);
  expect(broken.rules.map(({ tool, action, args, provenance }) => [tool, action, args, provenance.scope])).toEqual([
    ['mcp__theirs__delete', 'deny', { path: { under: '/etc' } }, 'user'],
    ['mcp__theirs__send', 'ask', undefined, 'user'],
  ]);
  expect(broken.diagnostics[0]).toMatchObject({
    code: 'CONFIG_INVALID',
    file: USER,
    remedy: expect.stringContaining('Until then its lists and its rules that deny or ask count as they were.'),
  });

  await write(servers('mine'));
  const mended = await load();
  expect(state(mended)).toEqual({ mine: true, theirs: true, bad: true, off: true, other: true });
});

describe('where nothing was kept', () => {
  const files = {
    'home/.cursor/mcp.json': '{"mcpServers":{"imported":{"command":"y"}}}',
    'home/.config/plexus/plugins/p/plugin.json': '{"mcpServers":{"s":{"command":"z"}}}',
    'home/.config/plexus/mcp.json': '{"mcpServers":{"mine":{"command":"x"}},"plexus":{"import":["cursor"]}}',
  };

  verifies(
    'CFG-17',
    'nothing of the workspace, of plugins and of imports starts until the file is mended',
    async () => {
      const { cwd, load, write, store } = await createHome('[broken');
      await writeFiles(cwd, files);
      const broken = await load();
      const because = `${USER} is broken, and it may forbid this server`;
      expect(state(broken)).toEqual({
        mine: true,
        ...Object.fromEntries(
          ['theirs', 'bad', 'off', 'other', 'imported', 'plugin:p:s'].map((name) => [name, because]),
        ),
      });
      expect(broken.diagnostics[0]?.remedy).toContain(
        'Until then no server of the workspace, of a plugin or of an import',
      );
      expect(await store.get(`own-files/${cwd}/${USER}`)).toBeUndefined();
      await write('');
      expect(new Set(Object.values(state(await load())))).toEqual(new Set([true]));
    },
  );

  test('what was kept and cannot be read counts as nothing, and a store that fails as well', async () => {
    const { cwd, store, load } = await createHome('[broken');
    const key = `own-files/${cwd}/${USER}`;
    const none = { allowlist: [], denylist: [], disabledServers: [], rules: [] };
    for (const text of ['', '[]', '{}', JSON.stringify({ ...none, rules: [{ tool: 'a', action: 'allow' }] })]) {
      await store.set(key, text);
      expect(state(await load())['theirs'], text).not.toBe(true);
    }
    await store.set(key, JSON.stringify(none));
    expect(state(await load())['theirs']).toBe(true);
    const failing = {
      ...store,
      get: () => Promise.reject(new Error('no disk')),
      set: () => Promise.reject(new Error()),
    };
    const kept = createKeptPolicies(failing);
    expect(await kept.read('a')).toBeUndefined();
    expect(await kept.keep('a', none)).toBe(false);
  });
});
