// Owns the proof that everything configured is found, read and merged, and that what is broken costs itself and is told with its place.

import { execFile } from 'node:child_process';
import { chmod, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import type { RuntimeError } from '../../../src/model/errors.ts';
import { verifies } from '../../verifies.ts';
import { createFolder, loadFolder } from './folder.ts';

const USER = 'home/.config/plexus/mcp.toml';
const settings = {
  enabled: true,
  startupTimeoutMs: 60_000,
  toolTimeoutMs: 100_000_000,
  disabledTools: [],
  maxResultChars: 50_000,
  maxMessageBytes: 67_108_864,
};

describe('what is read', () => {
  verifies('CFG-05', 'the mcpServers of .mcp.json are servers of the project', async () => {
    const { definitions, diagnostics, files } = await loadFolder({
      '.mcp.json': '{ "mcpServers": { "files": { "command": "npx", "args": ["-y", "files"], "env": { "A": "b" } } } }',
    });
    expect(definitions).toEqual([
      {
        name: 'files',
        launch: { kind: 'stdio', command: 'npx', args: ['-y', 'files'], env: { A: 'b' }, inheritEnv: 'safe' },
        settings,
        provenance: { scope: 'project', file: '.mcp.json', key: ['mcpServers', 'files'] },
      },
    ]);
    expect(diagnostics).toEqual([]);
    expect(files).toEqual(['.mcp.json']);
  });

  verifies(['CFG-05', 'CFG-06'], 'every server map is understood in both dialects', async () => {
    const { definitions, diagnostics } = await loadFolder({
      '.mcp.json': '{ "servers": { "a": { "command": "x" } }, "mcp_servers": { "b": { "command": "x" } } }',
      '.plexus/mcp.json': '// mine\n{ "mcpServers": { "c": { "command": "x", }, }, }',
      '.mcp.toml': '[mcpServers.d]\ncommand = "x"\n[servers.e]\ncommand = "x"\n[mcp_servers.f]\ncommand = "x"',
      '.plexus.local.toml': '[mcp_servers.g]\ncommand = "x"',
      'home/.config/plexus/mcp.json': '{ "mcpServers": { "h": { "command": "x" } } }',
      [USER]: '[mcp_servers.i]\ncommand = "x"',
    });
    expect(definitions.map(({ name, provenance }) => `${name} ${provenance.scope}`)).toEqual([
      'a project',
      'b project',
      'c project',
      'd project',
      'e project',
      'f project',
      'g local',
      'h user',
      'i user',
    ]);
    expect(diagnostics).toEqual([]);
  });

  verifies('CFG-06', 'a TOML server takes every key in snake_case, with units', async () => {
    const { definitions, diagnostics } = await loadFolder({
      [USER]: `
        [mcp_servers.local]
        program = "python"
        args = ["-m", "weather"]
        env = { API_KEY = "\${WEATHER_KEY}", PORT = 8080, DEBUG = true }
        cwd = "/srv"
        inherit_env = ["DISPLAY"]
        enabled = false
        description = "Weather"
        startup_timeout_sec = 10
        tool_timeout_sec = 0.5
        tool_idle_timeout_ms = 30
        enabled_tools = ["get_*"]
        disabled_tools = ["get_secret"]
        max_result_chars = 10
        max_message_bytes = 1024

        [mcp_servers.remote]
        url = "https://example.com/mcp"
        transport = "http"
        headers = { "X-Team" = "a" }
        bearer_token_env_var = "TRACKER_TOKEN"
      `,
    });
    expect(diagnostics).toEqual([]);
    expect(definitions.map(({ launch, settings: each }) => ({ launch, settings: each }))).toEqual([
      {
        launch: {
          kind: 'stdio',
          command: 'python',
          args: ['-m', 'weather'],
          // biome-ignore lint/suspicious/noTemplateCurlyInString: as the file writes it
          env: { API_KEY: '${WEATHER_KEY}', PORT: '8080', DEBUG: 'true' },
          cwd: '/srv',
          inheritEnv: ['DISPLAY'],
        },
        settings: {
          enabled: false,
          description: 'Weather',
          startupTimeoutMs: 10_000,
          toolTimeoutMs: 500,
          toolIdleTimeoutMs: 30,
          enabledTools: ['get_*'],
          disabledTools: ['get_secret'],
          maxResultChars: 10,
          maxMessageBytes: 1024,
        },
      },
      {
        launch: {
          kind: 'http',
          url: 'https://example.com/mcp',
          headers: { 'X-Team': 'a' },
          bearerTokenEnvVar: 'TRACKER_TOKEN',
        },
        settings: { ...settings, toolIdleTimeoutMs: 300_000 },
      },
    ]);
  });

  verifies('CFG-06', 'command and program may both be written when they agree, and not otherwise', async () => {
    const { definitions, diagnostics } = await loadFolder({
      '.mcp.toml':
        '[mcp_servers.same]\ncommand = "a"\nprogram = "a"\n[mcp_servers.other]\ncommand = "a"\nprogram = "b"\n',
    });
    expect(definitions.map(({ name }) => name)).toEqual(['same']);
    expect(diagnostics).toEqual([
      {
        severity: 'error',
        code: 'CONFIG_INVALID',
        message: '"command" and "program" mean the same, but say different things',
        remedy: 'Keep one of them.',
        file: '.mcp.toml',
        line: 6,
        column: 1,
        server: 'other',
      },
    ]);
  });

  test('a file named on the command line is the only one that is read, and a person chose it', async () => {
    const folder = await createFolder({
      'mine.conf': ' {"servers":{"a":{"command":"x"}}}',
      '.mcp.json': '{"servers":{"b":{}}}',
    });
    const loaded = await loadConfig({
      cwd: folder,
      home: folder,
      env: {},
      platform: 'linux',
      discover: true,
      configFile: 'mine.conf',
    });
    expect(loaded.definitions.map(({ name, provenance }) => [name, provenance.scope])).toEqual([['a', 'host']]);
    expect(loaded.files).toEqual([join(folder, 'mine.conf')]);
  });

  test('without discovery no file is read', async () => {
    const { definitions, files } = await loadFolder(
      { '.mcp.json': '{"servers":{"a":{"command":"x"}}}' },
      { discover: false },
    );
    expect({ definitions, files }).toEqual({ definitions: [], files: [] });
  });

  test('a file that two paths lead to is read once, for the stronger scope', async () => {
    const folder = await createFolder({ '.mcp.json': '{"servers":{"a":{"command":"x"}}}', '.plexus/keep': '' });
    await symlink(join(folder, '.mcp.json'), join(folder, '.plexus/mcp.json'));
    const loaded = await loadConfig({ cwd: folder, home: folder, env: {}, platform: 'linux', discover: true });
    expect(loaded.files).toEqual([join(folder, '.mcp.json')]);
    expect(loaded.losers).toEqual([]);
  });

  verifies('CFG-19', 'a definition is frozen and keeps its placeholders as written', async () => {
    const cwd = await createFolder({ '.mcp.json': `{"servers":{"a":{"command":"x","env":{"K":"\${SECRET}"}}}}` });
    const { definitions } = await loadConfig({
      ...{ cwd, home: cwd, platform: 'linux', discover: true },
      env: { SECRET: 'hunter2' },
    });
    expect(JSON.stringify(definitions)).not.toContain('hunter2');
    const [definition] = definitions;
    expect(
      [definition, definition?.launch, definition?.settings, definition?.provenance.key].every(Object.isFrozen),
    ).toBe(true);
    expect(definition?.launch.kind === 'stdio' && Object.isFrozen(definition.launch.env)).toBe(true);
  });
});

describe('which of several wins', () => {
  verifies('CFG-02', 'code over local over project over user, and the losers say to whom they lost', async () => {
    const { definitions, losers } = await loadFolder(
      {
        '.plexus.local.toml': '[mcp_servers.a]\ncommand = "local"\n[mcp_servers.b]\ncommand = "local"',
        '.mcp.toml': '[mcp_servers.b]\ncommand = "project"\n[mcp_servers.c]\ncommand = "project"',
        '.mcp.json': '{"mcpServers":{"c":{"command":"project 2"}}}',
        [USER]: '[mcp_servers.c]\ncommand = "user"\n[mcp_servers.d]\ncommand = "user"',
      },
      { servers: { a: { command: 'code' } } },
    );
    expect(definitions.map(({ name, launch }) => [name, launch.kind === 'stdio' && launch.command])).toEqual([
      ['a', 'code'],
      ['b', 'local'],
      ['c', 'project'],
      ['d', 'user'],
    ]);
    expect(losers.map(({ name, provenance, lostTo }) => [name, provenance.file, lostTo.file])).toEqual([
      ['a', '.plexus.local.toml', undefined],
      ['b', '.mcp.toml', '.plexus.local.toml'],
      ['c', '.mcp.json', '.mcp.toml'],
      ['c', USER, '.mcp.toml'],
    ]);
  });

  verifies('CFG-13', 'a disabled or broken entry still owns its name', async () => {
    const { definitions, invalid, losers } = await loadFolder({
      '.mcp.json': '{"mcpServers":{"off":{"command":"x","disabled":true},"broken":{}}}',
      [USER]: '[mcp_servers.off]\ncommand = "y"\n[mcp_servers.broken]\ncommand = "y"',
    });
    expect(definitions.map(({ name, settings: { enabled } }) => [name, enabled])).toEqual([['off', false]]);
    expect(invalid.map(({ name }) => name)).toEqual(['broken']);
    expect(losers.map(({ name }) => name)).toEqual(['off', 'broken']);
  });

  test('a server that one file names in two maps is taken from the first, and said', async () => {
    const { definitions, diagnostics } = await loadFolder({
      '.mcp.json': '{\n"mcpServers": {"a":{"command":"x"}},\n"servers": {"a":{"command":"y"}}\n}',
    });
    expect(definitions.map(({ launch }) => launch.kind === 'stdio' && launch.command)).toEqual(['x']);
    expect(diagnostics).toMatchObject([{ severity: 'warning', server: 'a', line: 3, column: 13 }]);
  });

  test('how long the start waits comes from the person’s own files, and never from the workspace', async () => {
    const { settings: loaded, diagnostics } = await loadFolder({
      '.mcp.json': '{"plexus":{"startup":{"gateMs":100}}}',
      [USER]: '[plexus.startup]\ngate_ms = 5\nwait_sec = 3',
    });
    expect(loaded).toEqual({ startup: { gateMs: 5, waitMs: 3_000 } });
    expect(diagnostics).toMatchObject([
      { severity: 'warning', message: expect.stringContaining('cannot set how long the start waits') },
    ]);
  });
});

describe('servers given in code', () => {
  test('are trusted, and may run inside the host', async () => {
    const serve = () => undefined;
    const { definitions, diagnostics } = await loadFolder(
      {},
      { servers: { inside: { serve, toolTimeoutMs: 5 }, web: { url: 'https://a.example' } } },
    );
    expect(diagnostics).toEqual([]);
    expect(definitions).toEqual([
      {
        name: 'inside',
        launch: { kind: 'in-process', serve },
        settings: { ...settings, toolTimeoutMs: 5 },
        provenance: { scope: 'host', key: ['servers', 'inside'] },
      },
      {
        name: 'web',
        launch: { kind: 'auto', url: 'https://a.example', headers: {} },
        settings: { ...settings, toolIdleTimeoutMs: 300_000 },
        provenance: { scope: 'host', key: ['servers', 'web'] },
      },
    ]);
  });

  test('cost only themselves when they are wrong', async () => {
    const servers = { a: { command: 5 }, b: { command: 'x' }, c: { serve: () => undefined, command: 'x' } };
    const { definitions, invalid } = await loadFolder({}, { servers: servers as never });
    expect(definitions.map(({ name }) => name)).toEqual(['b']);
    expect(invalid.map(({ diagnostic }) => [diagnostic.server, diagnostic.message])).toEqual([
      ['a', '"command" must be a string, but is the number 5'],
      [
        'c',
        'more than one of "command", "url" and "serve" is set, so it is unclear whether to start the server or to reach it',
      ],
    ]);
  });
});

describe('a file that cannot be taken as it is', () => {
  const good = { [USER]: '[mcp_servers.good]\ncommand = "x"' };
  const only = async (files: Record<string, string | Uint8Array>) => {
    const { definitions, diagnostics } = await loadFolder({ ...files, ...good });
    expect(definitions.map(({ name }) => name)).toEqual(['good']);
    return diagnostics;
  };

  verifies('CFG-17', 'broken JSON is an error with file, line, column and text; other files load', async () => {
    expect(
      await only({ '.mcp.json': '{\n  "mcpServers": {\n    "a": { "command": "x" }\n    "b": {}\n  }\n}' }),
    ).toEqual([
      {
        severity: 'error',
        code: 'CONFIG_INVALID',
        message: 'a comma is missing, at: "b": {}',
        remedy: 'Correct that line; until then nothing in the file counts.',
        file: '.mcp.json',
        line: 4,
        column: 5,
      },
    ]);
  });

  verifies('CFG-17', 'broken TOML is an error with file, line, column and text; other files load', async () => {
    expect(await only({ '.mcp.toml': '[mcp_servers.a]\ncommand = "x"\nargs = [1, 2\n' })).toMatchObject([
      {
        severity: 'error',
        code: 'CONFIG_INVALID',
        file: '.mcp.toml',
        line: expect.any(Number),
        column: expect.any(Number),
      },
    ]);
    expect(await only({ '.mcp.toml': '[mcp_servers.a]\ncommand = x\n' })).toMatchObject([
      { message: expect.stringMatching(/, at: command = x$/), line: 2, column: 11 },
    ]);
  });

  test.each([
    ['an empty JSON file', '.mcp.json', ''],
    ['a JSON file with only a comment', '.mcp.json', '// nothing yet\n'],
    ['an empty TOML file', '.mcp.toml', '\n'],
  ])('%s has no servers, and says so', async (_, file, content) => {
    expect(await only({ [file]: content })).toEqual([
      {
        severity: 'warning',
        code: 'CONFIG_INVALID',
        message: 'the file is empty',
        remedy: 'Add servers to it, or delete it.',
        file,
      },
    ]);
  });

  test.each([
    ['a list', '[]', 'the file must be a map of settings, but is a list'],
    ['a string', '"x"', 'the file must be a map of settings, but is the string "x"'],
    ['null', 'null', 'the file must be a map of settings, but is null'],
    ['servers in a list', '{"mcpServers":[]}', '"mcpServers" must be a map from names to servers, but is a list'],
  ])('%s is not a configuration', async (_, content, message) => {
    expect(await only({ '.mcp.json': content })).toMatchObject([{ severity: 'error', message, line: 1 }]);
  });

  test.each([
    [
      'a NUL byte',
      Buffer.from('{\n "a\0": 1}'),
      { line: 2, column: 4, message: 'the file holds a NUL byte, so it is not text' },
    ],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), { message: 'the file is not UTF-8' }],
    ['UTF-16', Buffer.from('\uFEFF{}', 'utf16le'), { message: 'the file is not UTF-8' }],
    [
      'more than 10 MiB',
      Buffer.alloc(10 * 1024 * 1024 + 1, ' '),
      { message: expect.stringContaining('10485761 bytes') },
    ],
  ])('%s is told, and costs only that file', async (_, content, expected) => {
    expect(await only({ '.mcp.json': content })).toMatchObject([
      { severity: 'error', code: 'CONFIG_INVALID', ...expected },
    ]);
  });

  test('a byte order mark is read over', async () => {
    const { definitions, diagnostics } = await loadFolder({
      '.mcp.json': '\uFEFF{"servers":{"a":{"command":"x"}}}',
      '.mcp.toml': '\uFEFF[mcp_servers.b]\ncommand = "x"',
    });
    expect(definitions.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(diagnostics).toEqual([]);
  });

  const deep = 100_000;
  test.each([
    ['JSON', '.mcp.json', `{"a":${'['.repeat(deep)}${']'.repeat(deep)}}`],
    ['JSON with comments', '.mcp.json', `/* " */{"a":${'['.repeat(deep)}${']'.repeat(deep)}}`],
    ['JSON that never ends', '.mcp.json', '{"a":'.repeat(deep)],
    ['TOML', '.mcp.toml', `a = ${'['.repeat(deep)}${']'.repeat(deep)}`],
    ['TOML keys', '.mcp.toml', `${'a.'.repeat(deep)}b = 1`],
    ['TOML tables', '.mcp.toml', `[${'a.'.repeat(deep)}b]\nc = 1`],
  ])('%s nested without end is told and does not overflow the stack', async (_, file, content) => {
    expect(await only({ [file]: content })).toMatchObject([{ severity: 'error', code: 'CONFIG_INVALID' }]);
  });

  test('a folder, a pipe and a file nobody may read are told, and never wait', async () => {
    const folder = await createFolder({ '.mcp.toml/x': '', '.plexus/mcp.json': '{}' });
    await promisify(execFile)('mkfifo', [join(folder, '.mcp.json')]);
    await symlink(join(folder, 'loop'), join(folder, 'loop'));
    await symlink(join(folder, 'loop'), join(folder, '.plexus.local.toml'));
    await chmod(join(folder, '.plexus/mcp.json'), 0o000);
    const { diagnostics } = await loadConfig({ cwd: folder, home: folder, env: {}, platform: 'linux', discover: true });
    const expected = [
      '.plexus.local.toml',
      '.mcp.toml',
      '.mcp.json',
      ...(process.getuid?.() === 0 ? [] : ['.plexus/mcp.json']),
    ];
    expect(diagnostics.map(({ file, code }) => [file, code])).toEqual(
      expected.map((file) => [join(folder, file), 'CONFIG_UNREADABLE']),
    );
  });

  test('only a file someone named must be there, and readable as what it is', async () => {
    const cwd = await createFolder({ 'broken.json': '{' });
    const load = (configFile: string) =>
      loadConfig({ cwd, home: cwd, env: {}, platform: 'linux', discover: true, configFile });
    await expect(load('gone.json')).rejects.toMatchObject({
      code: 'CONFIG_UNREADABLE',
      data: { file: join(cwd, 'gone.json'), problem: 'it does not exist' },
    } satisfies Partial<RuntimeError>);
    await expect(load('.')).rejects.toMatchObject({ code: 'CONFIG_UNREADABLE' });
    await expect(load('broken.json')).rejects.toMatchObject({ code: 'CONFIG_INVALID', data: { line: 1 } });
  });
});
