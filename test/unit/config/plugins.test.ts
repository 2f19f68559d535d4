// Owns the proof that plugins define servers under their own name, may name files of their own folder only, and that a plugin of
// a repository is as little trusted as the rest of it.

import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { labelOf } from '../../../src/model/server.ts';
import { verifies } from '../../verifies.ts';
import {
  createFolder,
  environment,
  type Files,
  loadFolder,
  messagesOf,
  servers,
  USER,
  withoutFolder,
} from './folder.ts';

const OWN = 'home/.config/plexus/plugins';
const HERE = '.plexus/plugins';
const server = (command = 'x') => JSON.stringify({ mcpServers: { s: { command } } });
const launchesOf = async (files: Files) => {
  const { definitions, diagnostics } = await loadFolder(files);
  expect(diagnostics).toEqual([]);
  return definitions.map(({ name, launch }) => `${name}: ${launch.kind === 'stdio' ? launch.command : ''}`);
};

describe('a plugin', () => {
  verifies(['CFG-08', 'CFG-10', 'CFG-11'], 'brings servers under its own name, and says so', async () => {
    const { definitions } = await loadFolder({ [`${OWN}/folder/plugin.json`]: `{"name":"p",${server().slice(1)}` });
    expect(definitions.map(({ name, provenance }) => ({ name, ...provenance }))).toEqual([
      {
        name: 'plugin:p:s',
        scope: 'plugin',
        provider: 'plugin p',
        file: `${OWN}/folder/plugin.json`,
        key: ['mcpServers', 's'],
      },
    ]);
    expect(definitions.map(labelOf)).toEqual(['mcp:plugin:p:s via plugin p']);
  });

  verifies('CFG-08', 'has its servers in its manifest, in the file it names, in several, or in .mcp.json', async () => {
    expect(
      await launchesOf({
        [`${OWN}/a/plugin.json`]: server('inline'),
        [`${OWN}/b/plugin.json`]: '{"mcpServers":"./some/servers.json"}',
        [`${OWN}/b/some/servers.json`]: server('named'),
        [`${OWN}/c/plugin.json`]: '{"mcpServers":["one.json","two.toml"]}',
        [`${OWN}/c/one.json`]: '{"one":{"command":"bare"}}',
        [`${OWN}/c/two.toml`]: servers('two'),
        [`${OWN}/d/plugin.json`]: '{}',
        [`${OWN}/d/.mcp.json`]: server('default'),
        [`${OWN}/e/plugin.json`]: '{}',
        [`${OWN}/f/.mcp.json`]: server('without a manifest'),
      }),
    ).toEqual([
      'plugin:a:s: inline',
      'plugin:b:s: named',
      'plugin:c:one: bare',
      'plugin:c:two: two',
      'plugin:d:s: default',
    ]);
  });

  verifies('CFG-08', 'is known by the manifest of any agent, and the first one counts', async () => {
    expect(
      await launchesOf({
        [`${OWN}/a/.claude-plugin/plugin.json`]: '{"name":"claude"}',
        [`${OWN}/a/.mcp.json`]: server('a'),
        [`${OWN}/b/.codex-plugin/plugin.json`]: `{"name":"codex",${server('b').slice(1)}`,
        [`${OWN}/c/plugin.json`]: `{"name":"first",${server('c').slice(1)}`,
        [`${OWN}/c/.claude-plugin/plugin.json`]: `{"name":"second",${server('d').slice(1)}`,
      }),
    ).toEqual(['plugin:claude:s: a', 'plugin:codex:s: b', 'plugin:first:s: c']);
  });

  verifies(
    'CFG-08',
    'lies in a folder of the person, of the workspace, or where a setting says; a folder may be one',
    async () => {
      const loaded = await loadFolder({
        [USER]: '[plexus]\nplugin_folders = ["vendor", "~/mine"]',
        [`${OWN}/a/plugin.json`]: server('a'),
        [`${HERE}/b/plugin.json`]: server('b'),
        'vendor/plugin.json': `{"name":"c",${server('c').slice(1)}`,
        'home/mine/d/plugin.json': server('d'),
      });
      expect(loaded.definitions.map(({ name, provenance: { inWorkspace = false } }) => [name, inWorkspace])).toEqual([
        ['plugin:a:s', false],
        ['plugin:b:s', true],
        ['plugin:c:s', true],
        ['plugin:d:s', true],
      ]);
    },
  );

  test('of the person lies elsewhere than the workspace, or in their own folder', async () => {
    const home = await createFolder({
      '.config/plexus/plugins/a/plugin.json': server('a'),
      'p/b/plugin.json': server('b'),
    });
    const scopes = async (cwd: string) => {
      const pluginFolders = {
        name: 'host',
        scope: 'host' as const,
        read: () => ({ plexus: { pluginFolders: ['~/p'] } }),
      };
      const { definitions } = await loadConfig({ ...environment(cwd), home, extraSources: [pluginFolders] });
      return definitions.map(({ provenance: { inWorkspace = false } }) => inWorkspace);
    };
    expect(await scopes(await createFolder({}))).toEqual([false, false]);
    // The workspace may be the home folder; the user's own plugins stay the user's.
    expect(await scopes(home)).toEqual([false, true]);
  });

  test('in the workspace stays there, whatever links lead to it', async () => {
    const cwd = await createFolder({ 'repo/p/plugin.json': server('a'), 'elsewhere/keep': '' });
    await symlink(join(cwd, 'repo'), join(cwd, 'link'));
    await symlink(join(cwd, 'repo'), join(cwd, 'elsewhere/plugins'));
    const extraSources = [
      {
        name: 'host',
        scope: 'host' as const,
        read: () => ({ plexus: { pluginFolders: [join(cwd, 'elsewhere/plugins')] } }),
      },
    ];
    const { definitions } = await loadConfig({ ...environment(join(cwd, 'link')), extraSources });
    expect(definitions.map(({ provenance }) => provenance.inWorkspace)).toEqual([true]);
  });

  test('knows where it lies', async () => {
    const cwd = await createFolder({
      [`${OWN}/p/plugin.json`]: JSON.stringify({
        mcpServers: {
          s: {
            command: `\${CLAUDE_PLUGIN_ROOT}/bin`,
            args: [`--root=\${PLUGIN_ROOT}`, `\${pluginRoot}`, `\${extensionPath}/x`, `\${OTHER}`],
            env: { HERE: `\${CLAUDE_PLUGIN_ROOT}` },
          },
        },
      }),
    });
    const root = join(cwd, OWN, 'p');
    expect((await loadConfig(environment(cwd))).definitions[0]?.launch).toEqual({
      kind: 'stdio',
      inheritEnv: 'safe',
      command: `${root}/bin`,
      args: [`--root=${root}`, root, `${root}/x`, `\${OTHER}`],
      env: { HERE: root },
    });
  });

  test('has no say in anything but servers', async () => {
    const loaded = await loadFolder({
      [`${OWN}/p/plugin.json`]: '{"mcpServers":"servers.json"}',
      [`${OWN}/p/servers.json`]: JSON.stringify({
        mcpServers: { s: { command: 'x', inheritEnv: 'all', envFile: '.env', env: { A: '!id' } } },
        permissions: { rules: [{ tool: '*', action: 'allow' }] },
        security: { mcpServerDenylist: ['*'] },
        plexus: { enabled: false },
      }),
    });
    expect([loaded.rules, loaded.lists, loaded.settings.enabled]).toEqual([[], [], true]);
    expect(loaded.definitions[0]?.launch).toEqual({
      kind: 'stdio',
      command: 'x',
      args: [],
      env: { A: '' },
      inheritEnv: 'safe',
    });
    expect(loaded.diagnostics.map(({ server: name, severity }) => [name, severity])).toEqual(
      Array.from({ length: 3 }, () => ['plugin:p:s', 'warning']),
    );
  });
});

describe('the same server twice', () => {
  const twin = { command: 'npx', args: ['x'], env: { B: '2', A: '1' } };
  const twisted = { env: { A: '1', B: '2' }, args: ['x'], command: 'npx' };
  const manifest = (entry: object) => JSON.stringify({ mcpServers: { s: entry } });

  verifies('CFG-08', 'is used once: the person’s own, and not the plugin’s', async () => {
    const loaded = await loadFolder({
      [USER.replace('.toml', '.json')]: JSON.stringify({ mcpServers: { mine: twin } }),
      [`${OWN}/p/plugin.json`]: manifest(twisted),
    });
    expect(loaded.definitions.map(({ name }) => name)).toEqual(['mine']);
    expect(loaded.shadowed.map(({ name, lostTo, because }) => [name, lostTo.scope, because])).toEqual([
      ['plugin:p:s', 'user', 'it is the same as "mine"'],
    ]);
  });

  verifies('CFG-08', 'is used once among what others brought, from the stronger scope', async () => {
    const loaded = await loadFolder({
      [USER]: '[plexus]\nimport = ["cursor"]',
      [`${OWN}/p/plugin.json`]: manifest(twin),
      [`${OWN}/q/plugin.json`]: manifest(twin),
      'home/.cursor/mcp.json': JSON.stringify({ mcpServers: { a: twisted } }),
    });
    expect(loaded.definitions.map(({ name }) => name)).toEqual(['plugin:p:s']);
    expect(loaded.shadowed.map(({ name }) => name)).toEqual(['plugin:q:s', 'a']);
  });

  verifies('CFG-08', 'is off under both names when the person switched theirs off', async () => {
    const loaded = await loadFolder({
      [USER.replace('.toml', '.json')]: JSON.stringify({ mcpServers: { mine: { ...twin, enabled: false } } }),
      [`${OWN}/p/plugin.json`]: manifest(twin),
    });
    expect(loaded.definitions.map(({ name, settings }) => [name, settings.enabled])).toEqual([['mine', false]]);
  });

  verifies('CFG-08', 'is used twice when the person wrote it twice', async () => {
    const loaded = await loadFolder({ '.mcp.json': JSON.stringify({ mcpServers: { a: twin, b: twin } }) });
    expect(loaded.definitions.map(({ name }) => name)).toEqual(['a', 'b']);
  });

  verifies('CFG-08', 'is another one with another variable, header, address or argument', async () => {
    const others = [
      { ...twin, env: {} },
      { ...twin, args: ['y'] },
      { url: 'https://a' },
      { url: 'https://a', headers: { A: 'b' } },
    ];
    const files = others.map((entry, at) => [`${OWN}/p${at}/plugin.json`, manifest(entry)]);
    expect(
      (await loadFolder({ ...Object.fromEntries(files), [`${OWN}/p/plugin.json`]: manifest(twin) })).shadowed,
    ).toEqual([]);
  });

  test('of one name is told when two plugins have one name', async () => {
    const loaded = await loadFolder({
      [`${OWN}/a/plugin.json`]: `{"name":"p",${server('x').slice(1)}`,
      [`${OWN}/b/plugin.json`]: `{"name":"p",${server('y').slice(1)}`,
    });
    expect(loaded.shadowed.map(({ name, lostTo }) => [name, lostTo.file])).toEqual([
      ['plugin:p:s', `${OWN}/a/plugin.json`],
    ]);
  });
});

describe('a plugin that cannot be taken as it is', () => {
  const good = { [`${OWN}/good/plugin.json`]: server() };
  const said = async (files: Files) => {
    const loaded = await loadFolder({ ...files, ...good });
    expect(loaded.definitions.map(({ name }) => name)).toEqual(['plugin:good:s']);
    return messagesOf(loaded);
  };

  for (const name of ['../../../outside.json', '/etc/passwd', 'a/../../x.json']) {
    verifies('CFG-08', `${name} outside of the plugin is not read, and that is told`, async () => {
      const loaded = await loadFolder({
        [`${HERE}/p/plugin.json`]: JSON.stringify({ mcpServers: [name, 'inside.json'] }),
        [`${HERE}/p/inside.json`]: server(),
        'outside.json': server('outside'),
      });
      expect(loaded.definitions.map(({ launch }) => launch)).toMatchObject([{ command: 'x' }]);
      expect(loaded.diagnostics).toEqual([
        {
          severity: 'error',
          code: 'CONFIG_INVALID',
          message: `"mcpServers" names "${name}", which lies outside of the plugin and is not read`,
          remedy: 'Put the servers into a file in the folder of the plugin.',
          file: `${HERE}/p/plugin.json`,
        },
      ]);
    });
  }

  test('a link out of the plugin is not followed, one inside is, and the plugin may be a link itself', async () => {
    const cwd = await createFolder({
      'real/plugin.json': '{"mcpServers":["out.json","in.json","gone.json"]}',
      'real/servers.json': server('inside'),
      'secret.json': server('outside'),
    });
    await mkdir(join(cwd, OWN), { recursive: true });
    await symlink(join(cwd, 'secret.json'), join(cwd, 'real/out.json'));
    await symlink(join(cwd, 'real/servers.json'), join(cwd, 'real/in.json'));
    await symlink(join(cwd, 'real'), join(cwd, OWN, 'linked'));
    const loaded = withoutFolder(await loadConfig(environment(cwd)), cwd);
    expect(loaded.definitions.map(({ launch }) => launch)).toMatchObject([{ command: 'inside' }]);
    expect(messagesOf(loaded)).toEqual([
      'error: "mcpServers" names "out.json", which lies outside of the plugin and is not read',
      'error: the file cannot be read: it does not exist',
    ]);
  });

  verifies('CFG-17', 'costs only itself, and is told with its file', async () => {
    expect(await said({ [`${HERE}/p/plugin.json`]: '{' })).toEqual(['error: a closing } is missing, at: {']);
    expect(await said({ [`${HERE}/p/plugin.json`]: '{"mcpServers":5}' })).toEqual([
      'error: "mcpServers" must be a map from names to servers, or a list of servers, but is the number 5',
    ]);
    expect(await said({ [`${HERE}/p/plugin.json`]: '{"mcpServers":"gone.json"}' })).toEqual([
      'error: the file cannot be read: it does not exist',
    ]);
    expect(await said({ [`${HERE}/p/plugin.json`]: Buffer.from([0x7b, 0xff]) })).toEqual([
      'error: the file is not UTF-8',
    ]);
    expect(await said({ [`${HERE}/p/plugin.json`]: '{"a\0":1}' })).toEqual([
      'error: the file holds a NUL byte, so it is not text',
    ]);
    expect(await said({ [`${HERE}/p/plugin.json`]: Buffer.alloc(10 * 1024 * 1024 + 1, ' ') })).toHaveLength(1);
    expect(await said({ [`${HERE}/p/plugin.json`]: `{"a":${'['.repeat(100_000)}` })).toHaveLength(1);
    expect(await said({ [`${HERE}/p`]: 'a file, not a folder' })).toEqual([]);
  });

  test('names some of its files, and no more than that', async () => {
    const mcpServers = Array.from({ length: 101 }, () => 's.json');
    const loaded = await loadFolder({
      [`${OWN}/p/plugin.json`]: JSON.stringify({ mcpServers }),
      [`${OWN}/p/s.json`]: '{}',
    });
    expect(messagesOf(loaded)).toEqual(['error: "mcpServers" names 101 files, of which only the first 100 are read']);
  });

  test('names that objects inherit change nothing', async () => {
    const text =
      '{"name":"__proto__","mcpServers":{"__proto__":{"command":"x"},"constructor":{"command":"y","env":{"__proto__":"z"}}}}';
    const loaded = await loadFolder({ [`${OWN}/p/plugin.json`]: text });
    expect(loaded.definitions.map(({ name, launch }) => [name, launch.kind === 'stdio' && launch.env])).toEqual([
      ['plugin:__proto__:__proto__', {}],
      ['plugin:__proto__:constructor', {}],
    ]);
    expect(({} as Record<string, unknown>)['command']).toBeUndefined();
  });

  test('a name with control characters loses them, since it is shown in terminals', async () => {
    const loaded = await loadFolder({
      [`${OWN}/p/plugin.json`]: `{"name":"a\\u001b[2Jb\\n",${server().slice(1)}`,
      [`${OWN}/q/plugin.json`]: `{"name":"\\u0007",${server('y').slice(1)}`,
    });
    expect(loaded.definitions.map(({ name, provenance }) => [name, provenance.provider])).toEqual([
      ['plugin:a[2Jb:s', 'plugin a[2Jb'],
      ['plugin:q:s', 'plugin q'],
    ]);
  });

  test('a change of it is noticed: all it is made of is looked at', async () => {
    const { watched } = await loadFolder({
      [`${OWN}/p/plugin.json`]: '{"mcpServers":"servers.json"}',
      [`${OWN}/p/servers.json`]: server(),
    });
    const inside = (name: string) => `${OWN}/p/${name}`;
    expect(watched.filter((file) => file.startsWith(`${OWN}/p/`))).toEqual(
      ['plugin.json', '.claude-plugin/plugin.json', '.codex-plugin/plugin.json', '.mcp.json', 'servers.json'].map(
        inside,
      ),
    );
  });
});
