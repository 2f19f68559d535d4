// Owns the proof that each platform searches for its files in the right places, and that the administrator's file cannot be
// evaded: it switches all others off, also when it is broken.

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { isOwnScope, placesOf, stateFolder, userFolder } from '../../../src/config/scopes.ts';
import { scopeOrder } from '../../../src/model/server.ts';
import { verifies } from '../../verifies.ts';
import { createFolder, environment, loadFolder, messagesOf, SYSTEM, scopesOf, servers, USER } from './folder.ts';

test('only what the person, the host or an administrator wrote is the person’s own', () => {
  expect(scopeOrder.filter(isOwnScope)).toEqual(['enterprise', 'host', 'user']);
});

describe('places', () => {
  const linux = { cwd: '/work', home: '/home/me', env: {}, platform: 'linux' } as const;
  const windows = { cwd: 'C:\\work', home: 'C:\\Users\\me', env: {}, platform: 'win32' } as const;
  const filesOf = (scope: string, options: Parameters<typeof placesOf>[0]) =>
    placesOf(options).flatMap((place) => (place.scope === scope ? place.file : []));

  verifies('CFG-02', 'on Linux they lie in /etc, in the folder and in ~/.config, strongest first', () => {
    expect(placesOf(linux)).toEqual([
      { scope: 'enterprise', file: '/etc/plexus/mcp.toml' },
      { scope: 'enterprise', file: '/etc/plexus/mcp.json' },
      { scope: 'local', inWorkspace: true, file: '/work/.plexus.local.toml' },
      { scope: 'project', inWorkspace: true, file: '/work/.mcp.toml' },
      { scope: 'project', inWorkspace: true, file: '/work/.mcp.json' },
      { scope: 'project', inWorkspace: true, file: '/work/.plexus/mcp.json' },
      { scope: 'user', file: '/home/me/.config/plexus/mcp.toml' },
      { scope: 'user', file: '/home/me/.config/plexus/mcp.json' },
    ]);
  });

  test('XDG_CONFIG_HOME moves the user’s, unless it is relative', () => {
    const user = (XDG_CONFIG_HOME: string) => filesOf('user', { ...linux, env: { XDG_CONFIG_HOME } });
    expect(user('/x')).toEqual(['/x/plexus/mcp.toml', '/x/plexus/mcp.json']);
    expect(user('x')).toEqual(['/home/me/.config/plexus/mcp.toml', '/home/me/.config/plexus/mcp.json']);
  });

  test('macOS has its own', () => {
    const mac = { ...linux, platform: 'darwin' } as const;
    expect(filesOf('enterprise', mac)).toEqual([
      '/Library/Application Support/Plexus/mcp.toml',
      '/Library/Application Support/Plexus/mcp.json',
    ]);
    expect(userFolder(mac)).toBe('/home/me/Library/Application Support/plexus');
    expect(stateFolder(mac)).toBe('/home/me/Library/Application Support/plexus/state');
  });

  test('Windows has its own', () => {
    expect(placesOf({ ...windows, env: { APPDATA: 'D:\\Roaming' } }).map(({ file }) => file)).toEqual([
      'C:\\Program Files\\Plexus\\mcp.toml',
      'C:\\Program Files\\Plexus\\mcp.json',
      'C:\\work\\.plexus.local.toml',
      'C:\\work\\.mcp.toml',
      'C:\\work\\.mcp.json',
      'C:\\work\\.plexus\\mcp.json',
      'D:\\Roaming\\plexus\\mcp.toml',
      'D:\\Roaming\\plexus\\mcp.json',
    ]);
    expect(userFolder(windows)).toBe('C:\\Users\\me\\AppData\\Roaming\\plexus');
    expect(stateFolder(windows)).toBe('C:\\Users\\me\\AppData\\Local\\plexus\\state');
    expect(stateFolder({ ...windows, env: { LOCALAPPDATA: 'D:\\Local' } })).toBe('D:\\Local\\plexus\\state');
  });

  test('what Plexus remembers lies in ~/.local/state, or where XDG_STATE_HOME says', () => {
    expect(stateFolder(linux)).toBe('/home/me/.local/state/plexus');
    expect(stateFolder({ ...linux, env: { XDG_STATE_HOME: '/s' } })).toBe('/s/plexus');
    expect(stateFolder({ ...linux, env: { XDG_STATE_HOME: 's' } })).toBe('/home/me/.local/state/plexus');
  });

  verifies('CFG-03', 'no variable moves the enterprise’s file; only code does', () => {
    const env = { PROGRAMDATA: 'D:\\mine', XDG_CONFIG_DIRS: '/mine', XDG_CONFIG_HOME: '/mine', HOME: '/mine' };
    expect(filesOf('enterprise', { ...linux, env })[0]).toBe('/etc/plexus/mcp.toml');
    expect(filesOf('enterprise', { ...windows, env })[0]).toBe('C:\\Program Files\\Plexus\\mcp.toml');
    expect(filesOf('enterprise', { ...linux, systemFolder: '/policy' })).toEqual([
      '/policy/mcp.toml',
      '/policy/mcp.json',
    ]);
  });
});

describe('the enterprise’s file', () => {
  const others = {
    '.plexus.local.toml': servers('local'),
    '.mcp.toml': `${servers('project')}[[permissions.rules]]\ntool = "mcp__a"\naction = "deny"\n`,
    [USER]: `${servers('user')}[plexus]\nmerge_order = "user-over-project"\nimport = ["cursor"]\n`,
    'home/.cursor/mcp.json': '{"mcpServers":{"imported":{"command":"imported"}}}',
    'home/.config/plexus/plugins/p/plugin.json': '{"mcpServers":{"s":{"command":"plugin"}}}',
  };
  const code = { servers: { code: { command: 'code' } } };

  verifies('CFG-03', 'replaces all others, and says of each server that it does', async () => {
    const loaded = await loadFolder({ ...others, [SYSTEM]: servers('policy') }, code);
    expect(scopesOf(loaded)).toEqual(['policy enterprise']);
    expect(loaded.suppressed.map(({ name, lostTo, because }) => [name, lostTo.file, because])).toEqual(
      ['code', 'local', 'project', 'user', 'plugin:p:s', 'imported'].map((name) => [
        name,
        SYSTEM,
        `the enterprise configuration ${SYSTEM} replaces all others`,
      ]),
    );
    expect([loaded.rules, loaded.diagnostics, loaded.settings.mergeOrder]).toEqual([[], [], 'project-over-user']);
  });

  verifies(
    'CFG-03',
    'leaves nothing else of the others in effect: no list, no input, no rule and no setting',
    async () => {
      const list = '[security]\nmcp_server_allowlist = ["nobody"]\nmcp_server_denylist = ["policy"]\n';
      const input = '[[inputs]]\nid = "key"\ntype = "promptString"\n';
      const switches = '[plexus]\nnaming = "bare"\ndisabled_servers = ["policy"]\n';
      const rule = '[[permissions.rules]]\ntool = "mcp__policy"\naction = "deny"\n';
      const all = `${input}${rule}${list}${switches}`;
      const files = { '.plexus.local.toml': all, '.mcp.toml': all, [USER]: all };
      const extraSources = [{ name: 'editor', scope: 'host', read: () => ({ plexus: { naming: 'single' } }) }] as const;
      const { definitions, refused, rules, lists, promptInputs, settings } = await loadFolder(
        { ...files, [SYSTEM]: servers('policy') },
        { extraSources, isApproved: async () => true },
      );
      expect(definitions.map(({ name, settings: { enabled } }) => [name, enabled])).toEqual([['policy', true]]);
      expect([rules, lists, [...promptInputs], [...refused], settings.naming]).toEqual([[], [], [], [], 'canonical']);
    },
  );

  verifies('CFG-03', 'lists what it silences of a host’s own sources too', async () => {
    const read = () => ({ mcpServers: { editor: { command: 'x' } } });
    const extraSources = [
      { name: 'a', scope: 'host', read },
      { name: 'b', read: () => ({ mcpServers: { shelf: { command: 'y' } } }) },
    ] as const;
    const loaded = await loadFolder({ [SYSTEM]: servers('policy') }, { extraSources });
    expect(scopesOf(loaded)).toEqual(['policy enterprise']);
    expect(loaded.suppressed.map(({ name, provenance }) => [name, provenance.scope])).toEqual([
      ['editor', 'host'],
      ['shelf', 'local'],
    ]);
  });

  verifies('CFG-03', 'explains a silenced server with its own settings and the reason', async () => {
    const cwd = await createFolder({ ...others, [SYSTEM]: servers('policy') });
    const explained = await (await loadConfig(environment(cwd))).explain.server('user');
    expect(explained?.refusal).toBe(`the enterprise configuration ${join(cwd, SYSTEM)} replaces all others`);
    expect(explained?.provenance).toMatchObject({ scope: 'user', line: 1 });
  });

  for (const text of ['mode = "merge"', 'enterprise = "merge"', '[enterprise]\nmode = "merge"']) {
    verifies('CFG-03', `joins the others and is the strongest of them with ${JSON.stringify(text)}`, async () => {
      const loaded = await loadFolder({ ...others, [SYSTEM]: `${text}\n${servers('policy', 'user')}` }, code);
      expect(scopesOf(loaded)).toEqual([
        'code host',
        'imported imported',
        'local local',
        'plugin:p:s plugin',
        'policy enterprise',
        'project project',
        'user enterprise',
      ]);
      expect(loaded.shadowed.map(({ name, provenance }) => [name, provenance.scope])).toEqual([['user', 'user']]);
      expect([loaded.suppressed, loaded.diagnostics]).toEqual([[], []]);
    });
  }

  for (const [sentence, text] of [
    ['cannot be parsed', 'mode = "merge"\n['],
    ['has a word for its mode that is none', 'mode = "mrege"'],
    ['is empty', ''],
    ['is not text', '\0'],
  ] as const) {
    verifies('CFG-03', `silences the others also when it ${sentence}, and that is told`, async () => {
      const loaded = await loadFolder({ ...others, [SYSTEM]: text }, code);
      expect(scopesOf(loaded)).toEqual([]);
      expect(loaded.suppressed).toHaveLength(6);
      expect(loaded.diagnostics).toMatchObject([{ code: 'CONFIG_INVALID', file: SYSTEM }]);
    });
  }

  verifies('CFG-03', 'silences the others when one of two is broken, whatever the other says', async () => {
    const loaded = await loadFolder({ ...others, [SYSTEM]: '[', 'system/mcp.json': '{"mode":"merge"}' });
    expect(scopesOf(loaded)).toEqual([]);
  });

  test('says its mode in either of two files, and the first one counts', async () => {
    const load = async (toml: string, json: string) =>
      scopesOf(await loadFolder({ '.mcp.toml': servers('a'), [SYSTEM]: toml, 'system/mcp.json': json }));
    expect(await load(servers('b'), '{"mode":"merge"}')).toEqual(['a project', 'b enterprise']);
    expect(await load('mode = "exclusive"', '{"mode":"merge"}')).toEqual([]);
  });

  verifies('CFG-03', 'counts beside a file named on the command line as well', async () => {
    const files = { 'mine.toml': servers('a', 'b'), '.mcp.toml': servers('c') };
    const options = { configFile: 'mine.toml' };
    expect(scopesOf(await loadFolder({ ...files, [SYSTEM]: servers('policy') }, options))).toEqual([
      'policy enterprise',
    ]);
    expect(scopesOf(await loadFolder({ ...files, [SYSTEM]: `mode = "merge"\n${servers('b')}` }, options))).toEqual([
      'a host',
      'b enterprise',
    ]);
  });

  test('is looked for as little as any other when no file is wanted', async () => {
    expect(scopesOf(await loadFolder({ [SYSTEM]: servers('policy') }, { discover: false, ...code }))).toEqual([
      'code host',
    ]);
  });

  test('alone has a mode: elsewhere the word is told and ignored', async () => {
    const loaded = await loadFolder({ '.mcp.toml': `mode = "exclusive"\n${servers('a')}`, [USER]: servers('b') });
    expect(scopesOf(loaded)).toEqual(['a project', 'b user']);
    expect(messagesOf(loaded)).toEqual([
      'warning: only the enterprise configuration can set "mode", so this is ignored',
    ]);
  });
});
