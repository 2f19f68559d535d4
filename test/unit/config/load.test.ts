// Owns the proof that everything configured is found, read and merged, and that a broken part disables only itself and is
// reported with its position.

import { execFile } from 'node:child_process';
import { chmod, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import type { RuntimeError } from '../../../src/model/errors.ts';
import { verifies } from '../../verifies.ts';
import {
  createFolder,
  environment,
  loadFolder,
  messagesOf,
  scopesOf,
  servers,
  USER,
  withoutFolder,
  writeFiles,
} from './folder.ts';

const settings = {
  enabled: true,
  startupTimeoutMs: 60_000,
  toolTimeoutMs: 100_000_000,
  disabledTools: [],
  alwaysLoad: false,
  instructions: true,
  cacheable: true,
  subscriptions: false,
  maxResultChars: 50_000,
  maxResultTokens: 25_000,
  elicitation: 'ask',
  parallel: true,
  maxMessageBytes: 67_108_864,
  lifecycle: 'eager',
  required: false,
  perClient: false,
  share: 'workspace',
  trustHints: false,
  reconnect: {
    schedule: { delaysMs: [500, 1_000, 2_000, 4_000], jitter: 0.2 },
    background: { baseMs: 15_000, maxMs: 300_000 },
  },
  health: { mode: 'remote', intervalMs: 30_000, timeoutMs: 5_000, failures: 5 },
  keepAliveMs: 50_000,
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
        provenance: { scope: 'project', inWorkspace: true, file: '.mcp.json', key: ['mcpServers', 'files'] },
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
    expect(scopesOf({ definitions })).toEqual([
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
        exposure = "defer"
        always_load = true
        instructions = false
        cacheable = false
        tool_cache_ttl_sec = 9
        subscriptions = true
        log_level = "notice"
        max_result_chars = 10
        max_message_bytes = 1024
        lifecycle = "lazy"
        idle_stop_sec = 60
        required = true
        per_client = true
        trust_hints = true
        keep_alive_ms = 0

        [mcp_servers.local.tools]
        get_old = false
        "get_b*" = { enabled = true, always_load = false, exposure = "use_tool", tool_timeout_sec = 2 }

        [mcp_servers.local.reconnect]
        initial_sec = 0.2
        multiplier = 3
        max_sec = 5
        max_attempts = 7
        jitter = 0
        background = { base_sec = 1, max_ms = 2000 }

        [mcp_servers.local.health]
        mode = "all"
        interval_sec = 10
        timeout_ms = 100
        failures = 2

        [mcp_servers.remote]
        url = "https://example.com/mcp"
        transport = "http"
        headers = { "X-Team" = "a" }
        bearer_token_env_var = "TRACKER_TOKEN"
        proxy = "http://proxy.example:8080"
        ca_file = "ca.pem"
        cert_file = "~/cert.pem"
        key_file = "~/key.pem"
        reconnect = { delays_sec = [1, 0.5] }
        health = false
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
          tools: {
            get_old: { enabled: false },
            'get_b*': { enabled: true, alwaysLoad: false, exposure: 'use_tool', toolTimeoutMs: 2_000 },
          },
          exposure: 'defer',
          alwaysLoad: true,
          instructions: false,
          cacheable: false,
          toolCacheTtlMs: 9_000,
          subscriptions: true,
          logLevel: 'notice',
          maxResultChars: 10,
          maxResultTokens: 25_000,
          elicitation: 'ask',
          parallel: true,
          maxMessageBytes: 1024,
          lifecycle: 'lazy',
          idleStopMs: 60_000,
          required: true,
          perClient: true,
          share: 'workspace',
          trustHints: true,
          reconnect: {
            schedule: { initialMs: 200, multiplier: 3, maxMs: 5_000, maxAttempts: 7, jitter: 0 },
            background: { baseMs: 1_000, maxMs: 2_000 },
          },
          health: { mode: 'all', intervalMs: 10_000, timeoutMs: 100, failures: 2 },
          keepAliveMs: 0,
        },
      },
      {
        launch: {
          kind: 'http',
          url: 'https://example.com/mcp',
          headers: { 'X-Team': 'a' },
          bearerTokenEnvVar: 'TRACKER_TOKEN',
          proxy: 'http://proxy.example:8080',
          caFile: 'ca.pem',
          certFile: '~/cert.pem',
          keyFile: '~/key.pem',
        },
        settings: {
          ...settings,
          toolIdleTimeoutMs: 300_000,
          reconnect: { schedule: { delaysMs: [1_000, 500], jitter: 0.2 } },
          health: { ...settings.health, mode: 'off' },
        },
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
    const loaded = await loadConfig({ ...environment(folder), configFile: 'mine.conf' });
    expect(scopesOf(loaded)).toEqual(['a host']);
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
    const loaded = await loadConfig(environment(folder));
    expect(loaded.files).toEqual([join(folder, '.mcp.json')]);
    expect(loaded.shadowed).toEqual([]);
  });

  test('a link in the repository to the person’s own file does not take it from them', async () => {
    const folder = await createFolder({ [USER]: `${servers('a')}[[permissions.rules]]\ntool = "b"\naction = "allow"` });
    await symlink(join(folder, USER), join(folder, '.plexus.local.toml'));
    const loaded = await loadConfig(environment(folder));
    expect([scopesOf(loaded), loaded.rules.map(({ action }) => action), loaded.shadowed]).toEqual([
      ['a user'],
      ['allow'],
      [],
    ]);
  });

  verifies('CFG-19', 'a definition is frozen and keeps its placeholders as written', async () => {
    const cwd = await createFolder({ '.mcp.json': `{"servers":{"a":{"command":"x","env":{"K":"\${SECRET}"}}}}` });
    const { definitions } = await loadConfig({ ...environment(cwd), env: { SECRET: 'hunter2' } });
    expect(JSON.stringify(definitions)).not.toContain('hunter2');
    const [definition] = definitions;
    expect(
      [definition, definition?.launch, definition?.settings, definition?.provenance.key].every(Object.isFrozen),
    ).toBe(true);
    expect(definition?.launch.kind === 'stdio' && Object.isFrozen(definition.launch.env)).toBe(true);
  });

  test('a definition that a setting switches off is frozen as well', async () => {
    const cwd = await createFolder({ [USER]: `${servers('a')}[plexus]\ndisabled_servers = ["a"]` });
    const [definition] = (await loadConfig(environment(cwd))).definitions;
    expect([definition?.settings.enabled, Object.isFrozen(definition), Object.isFrozen(definition?.settings)]).toEqual([
      false,
      true,
      true,
    ]);
  });
});

describe('which of several wins', () => {
  verifies('CFG-02', 'code over local over project over user, and the losers say to whom they lost', async () => {
    const { definitions, shadowed } = await loadFolder(
      {
        '.plexus.local.toml': '[mcp_servers.a]\ncommand = "local"\n[mcp_servers.b]\ncommand = "local"',
        '.mcp.toml': '[mcp_servers.b]\ncommand = "project"\n[mcp_servers.c]\ncommand = "project"',
        '.mcp.json': '{"mcpServers":{"c":{"command":"project 2"}}}',
        [USER]: '[mcp_servers.c]\ncommand = "user"\n[mcp_servers.d]\ncommand = "user"',
      },
      { servers: { a: { command: 'code' } }, mayDisplace: async () => true },
    );
    expect(definitions.map(({ name, launch }) => [name, launch.kind === 'stdio' && launch.command])).toEqual([
      ['a', 'code'],
      ['b', 'local'],
      ['c', 'project'],
      ['d', 'user'],
    ]);
    expect(shadowed.map(({ name, provenance, lostTo }) => [name, provenance.file, lostTo.file])).toEqual([
      ['a', '.plexus.local.toml', undefined],
      ['b', '.mcp.toml', '.plexus.local.toml'],
      ['c', '.mcp.json', '.mcp.toml'],
      ['c', USER, '.mcp.toml'],
    ]);
    expect(new Set(shadowed.map(({ because }) => because))).toEqual(
      new Set(['a stronger file defines a server of the same name']),
    );
  });

  verifies(
    'CFG-02',
    'enterprise over code over a named file over local, project, user, plugins and imports',
    async () => {
      const files = {
        'system/mcp.toml': `mode = "merge"\n${servers('a')}`,
        '.plexus.local.toml': servers('a', 'b', 'c'),
        '.mcp.toml': servers('a', 'b', 'c', 'd'),
        [USER]: `${servers('a', 'b', 'c', 'd', 'e')}[plexus]\nimport = ["cursor"]\n`,
        'home/.config/plexus/plugins/p/plugin.json': '{"mcpServers":{"f":{"command":"plugin"}}}',
        'home/.cursor/mcp.json': JSON.stringify({
          mcpServers: { e: { command: 'x' }, g: { command: 'y' }, 'plugin:p:f': { command: 'z' } },
        }),
      };
      const loaded = await loadFolder(files, { servers: { b: { command: 'code' } }, mayDisplace: async () => true });
      expect(scopesOf(loaded)).toEqual([
        'a enterprise',
        'b host',
        'c local',
        'd project',
        'e user',
        'g imported',
        'plugin:p:f plugin',
      ]);
      expect(
        loaded.shadowed.map(({ name, provenance, lostTo }) => `${name} ${provenance.scope} < ${lostTo.scope}`),
      ).toEqual([
        'a local < enterprise',
        'b local < host',
        'a project < enterprise',
        'b project < host',
        'c project < local',
        'a user < enterprise',
        'b user < host',
        'c user < local',
        'd user < project',
        'e imported < user',
        'plugin:p:f imported < plugin',
      ]);
    },
  );

  test('code over the file it names', async () => {
    const options = { configFile: 'mine.toml', servers: { a: { command: 'code' } } };
    const { definitions } = await loadFolder({ 'mine.toml': servers('a', 'b') }, options);
    expect(definitions.map(({ provenance }) => provenance.file)).toEqual([undefined, 'mine.toml']);
  });

  verifies('CFG-13', 'a disabled or broken entry still owns its name', async () => {
    const { definitions, invalid, shadowed } = await loadFolder({
      '.plexus.local.toml': '[mcp_servers.off]\ncommand = "x"\ndisabled = true\n[mcp_servers.broken]\n',
      '.mcp.json': '{"mcpServers":{"off":{"command":"y"},"broken":{"command":"y"}}}',
    });
    expect(definitions.map(({ name, settings: { enabled } }) => [name, enabled])).toEqual([['off', false]]);
    expect(invalid.map(({ name }) => name)).toEqual(['broken']);
    expect(shadowed.map(({ name }) => name)).toEqual(['off', 'broken']);
  });

  test('a server that one file names in two maps is taken from the first, and said', async () => {
    const { definitions, diagnostics } = await loadFolder({
      '.mcp.json': '{\n"mcpServers": {"a":{"command":"x"}},\n"servers": {"a":{"command":"y"}}\n}',
    });
    expect(definitions.map(({ launch }) => launch.kind === 'stdio' && launch.command)).toEqual(['x']);
    expect(diagnostics).toMatchObject([{ severity: 'warning', server: 'a', line: 3, column: 13 }]);
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
        message: 'a comma is missing before this, at: "b": {}',
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
    [
      'servers in a text',
      '{"mcpServers":"x"}',
      '"mcpServers" must be a map from names to servers, or a list of servers, but is the string "x"',
    ],
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
    const { diagnostics } = await loadConfig(environment(folder));
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
    const load = (configFile: string) => loadConfig({ ...environment(cwd), configFile });
    await expect(load('gone.json')).rejects.toMatchObject({
      code: 'CONFIG_UNREADABLE',
      data: { file: join(cwd, 'gone.json'), problem: 'it does not exist' },
    } satisfies Partial<RuntimeError>);
    await expect(load('.')).rejects.toMatchObject({ code: 'CONFIG_UNREADABLE' });
    await expect(load('broken.json')).rejects.toMatchObject({ code: 'CONFIG_INVALID', data: { line: 1 } });
  });

  test('YAML is told for what it is, by either of its endings', async () => {
    const cwd = await createFolder({ 'a.yaml': 'mcpServers:\n  a: {}', 'a.yml': '' });
    for (const configFile of ['a.yaml', 'a.yml']) {
      await expect(loadConfig({ ...environment(cwd), configFile })).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        data: { problem: 'the file is YAML, which is not read; write the same as TOML or JSON' },
      });
    }
  });
});

describe('a reader that lives on', () => {
  const reader = async (files: Record<string, string>, options = {}) => {
    const cwd = await createFolder(files);
    const remembered = new Map();
    return {
      write: (changed: Record<string, string>) => writeFiles(cwd, changed),
      remove: (file: string) => rm(join(cwd, file)),
      load: async () => withoutFolder(await loadConfig({ ...environment(cwd), ...options, remembered }), cwd),
    };
  };

  for (const [kind, file, good] of [
    ['a file', '.mcp.toml', servers('a')],
    ['a plugin', 'home/.config/plexus/plugins/p/plugin.json', '{"name":"n","mcpServers":{"s":{"command":"x"}}}'],
    ['an imported file', 'home/.cursor/mcp.json', '{"mcpServers":{"a":{"command":"x"}}}'],
  ] as const) {
    verifies('CFG-17', `keeps what ${kind} said while it is broken by its editing, and says so`, async () => {
      const { write, load } = await reader({ [USER]: '[plexus]\nimport = "auto"', [file]: good });
      const before = await load();
      expect(before.definitions).toHaveLength(1);
      await write({ [file]: `${good.slice(0, 5)}\n"` });
      const broken = await load();
      expect(broken.definitions).toEqual(before.definitions);
      expect(broken.diagnostics).toMatchObject([
        {
          severity: 'error',
          code: 'CONFIG_INVALID',
          file,
          remedy: 'Correct that line; until then the previous content of the file counts.',
        },
      ]);
      await write({ [file]: good });
      expect((await load()).diagnostics).toEqual([]);
    });
  }

  test('forgets a file that is gone, so that it says nothing when it comes back broken', async () => {
    const { write, remove, load } = await reader({ '.mcp.toml': servers('a') });
    await load();
    await remove('.mcp.toml');
    expect((await load()).definitions).toEqual([]);
    await write({ '.mcp.toml': '[' });
    expect((await load()).definitions).toEqual([]);
  });

  test('keeps what a named file said while it is broken, and still demands that it is there', async () => {
    const { write, remove, load } = await reader({ 'mine.toml': servers('a') }, { configFile: 'mine.toml' });
    await load();
    await write({ 'mine.toml': '[' });
    expect(scopesOf(await load())).toEqual(['a host']);
    await remove('mine.toml');
    await expect(load()).rejects.toMatchObject({ code: 'CONFIG_UNREADABLE' });
  });

  test('asks whether the text was approved that counts, not the broken one', async () => {
    const text = `${servers('a')}inherit_env = "all"\n`;
    const asked: string[] = [];
    const isApproved = async (_: string, said: string) => asked.push(said) > 0;
    const { write, load } = await reader({ '.mcp.toml': text }, { isApproved });
    await load();
    await write({ '.mcp.toml': '[' });
    expect((await load()).definitions[0]?.launch).toMatchObject({ inheritEnv: 'all' });
    expect(asked).toEqual([text, text]);
  });

  test('watches every place, whether or not something is there', async () => {
    const { load } = await reader({ [USER]: '[plexus]\nimport = ["cursor"]\nplugin_folders = ["more"]' });
    expect((await load()).watched).toEqual([
      'system/mcp.toml',
      'system/mcp.json',
      '.plexus.local.toml',
      '.mcp.toml',
      '.mcp.json',
      '.plexus/mcp.json',
      USER,
      'home/.config/plexus/mcp.json',
      'more',
      '.plexus/plugins',
      'home/.config/plexus/plugins',
      '.cursor/mcp.json',
      'home/.cursor/mcp.json',
    ]);
  });
});

describe('settings that a host puts in', () => {
  const source = (read: () => unknown, scope?: 'host') => ({
    extraSources: [{ name: 'the editor', read, ...(scope && { scope }) }],
  });
  const entry = { mcpServers: { a: { command: 'x' } } };

  verifies(
    ['CFG-07', 'CFG-10'],
    'are a layer of scope local that beats the files of the project and says where it comes from',
    async () => {
      const loaded = await loadFolder(
        { '.mcp.toml': servers('a', 'b') },
        source(async () => entry),
      );
      expect(loaded.definitions.map(({ name, provenance }) => ({ name, ...provenance }))).toEqual([
        { name: 'a', scope: 'local', inWorkspace: true, provider: 'the editor', key: ['mcpServers', 'a'] },
        { name: 'b', scope: 'project', inWorkspace: true, file: '.mcp.toml', key: ['mcp_servers', 'b'] },
      ]);
      expect(loaded.shadowed.map(({ name, lostTo }) => [name, lostTo.provider])).toEqual([['a', 'the editor']]);
      expect(loaded.diagnostics).toEqual([]);
    },
  );

  verifies('CFG-07', 'are read without any file too, and silent when the host has none', async () => {
    expect(scopesOf(await loadFolder({}, { ...source(() => entry), discover: false }))).toEqual(['a local']);
    for (const nothing of [undefined, null, {}]) {
      expect(
        (
          await loadFolder(
            {},
            source(() => nothing),
          )
        ).diagnostics,
      ).toEqual([]);
    }
  });

  verifies('CFG-07', 'loosen nothing unless the person wrote them', async () => {
    const settingsOf = { plexus: { mergeOrder: 'user-over-project', startup: { gateMs: 1 } } };
    const foreign = await loadFolder(
      {},
      source(() => settingsOf),
    );
    expect([foreign.settings.mergeOrder, foreign.settings.startup.gateMs]).toEqual(['project-over-user', 250]);
    expect(messagesOf(foreign)).toEqual([
      'warning: a file in the workspace cannot set "plexus.mergeOrder", so this is ignored (in the editor)',
      'warning: a file in the workspace cannot set "plexus.startup.gateMs", so this is ignored (in the editor)',
    ]);
    const own = await loadFolder(
      {},
      source(() => settingsOf, 'host'),
    );
    expect([own.settings.mergeOrder, own.settings.startup.gateMs, own.diagnostics]).toEqual([
      'user-over-project',
      1,
      [],
    ]);
  });

  test('can switch MCP off, and the project’s files, when they are the person’s own', async () => {
    const files = { '.mcp.toml': servers('project'), '.plexus.local.toml': servers('local'), [USER]: servers('user') };
    const off = await loadFolder(
      files,
      source(() => ({ plexus: { enabled: false } }), 'host'),
    );
    expect(off.definitions.filter((each) => each.settings.enabled)).toEqual([]);
    expect(off.files).toEqual([USER]);
    const less = await loadFolder(
      files,
      source(() => ({ plexus: { project: { enabled: false } } }), 'host'),
    );
    expect(scopesOf(less)).toEqual(['local local', 'user user']);
    expect(
      messagesOf(
        await loadFolder(
          files,
          source(() => ({ plexus: { enabled: false } })),
        ),
      ),
    ).toEqual(['warning: a file in the workspace cannot set "plexus.enabled", so this is ignored (in the editor)']);
  });

  test('may ask for inputs, which have no file', async () => {
    const inputs = [{ id: 'key', type: 'promptString' }];
    const loaded = await loadFolder(
      {},
      source(() => ({ ...entry, inputs })),
    );
    expect([...loaded.promptInputs]).toEqual([
      ['provider:the editor', [{ id: 'key', type: 'promptString', password: false }]],
    ]);
  });

  verifies('CFG-17', 'cost only themselves when they cannot be read', async () => {
    const cyclic: Record<string, unknown> = { command: 'x' };
    cyclic['transport'] = cyclic;
    const failing = () => {
      throw new Error('no settings today');
    };
    for (const read of [failing, () => ({ mcpServers: { a: cyclic } })]) {
      const loaded = await loadFolder({ [USER]: servers('b') }, source(read));
      expect(scopesOf(loaded)).toEqual(['b user']);
      expect(loaded.diagnostics).toMatchObject([
        {
          severity: 'error',
          code: 'CONFIG_UNREADABLE',
          remedy: 'Correct them in the editor; the rest goes on without them.',
        },
      ]);
    }
    expect(
      messagesOf(
        await loadFolder(
          {},
          source(() => 5),
        ),
      ),
    ).toEqual(['error: the file must be a map of settings, but is the number 5 (in the editor)']);
  });

  test('are not frozen with what is made of them', async () => {
    const mine = { mcpServers: { a: { command: 'x', args: ['y'], env: { A: 'b' } } } };
    await loadFolder(
      {},
      source(() => mine),
    );
    expect([mine.mcpServers.a.args, mine.mcpServers.a.env, mine.mcpServers.a].some(Object.isFrozen)).toBe(false);
  });
});
