// Owns the proof of which file may set Plexus's settings: the user's own files all of them, a file of the workspace only those
// that tighten, and never those that decide which files are read.

import { describe, expect, test } from 'vitest';
import { verifies } from '../../verifies.ts';
import { loadFolder, messagesOf, SYSTEM, scopesOf, servers, USER } from './folder.ts';

const plexus = (...lines: readonly string[]) => `[plexus]\n${lines.join('\n')}\n`;
const enabledOf = ({ definitions }: Awaited<ReturnType<typeof loadFolder>>) =>
  definitions.flatMap(({ name, settings }) => (settings.enabled ? name : []));

const defaults = {
  enabled: true,
  import: 'off',
  mergeOrder: 'project-over-user',
  unresolvedEnv: 'scoped',
  project: { enabled: true },
  pluginFolders: [],
  disabledServers: [],
  enabledServers: [],
  startup: { gateMs: 250, waitMs: 10_000, installTimeoutMs: 300_000, requiredWaitMs: 120_000 },
  gateway: 'auto',
  connectConcurrency: { stdio: 3, remote: 20 },
  naming: 'canonical',
  maxToolNameLength: 64,
  toolCacheTtlMs: 300_000,
  toolSearch: 'auto',
  lazyList: 'on-request',
  minContextWindow: 32_000,
  searchOnListChanged: true,
  alwaysLoad: [],
  alwaysLoadChars: 2_000,
  instructions: true,
  builtinTools: true,
  subagents: 'inherit',
  results: { redact: 'known', wrap: true },
  signals: 'log',
  taint: 'off',
  trust: { pinFiles: false },
  serving: {
    ...{ port: 7_417, sampling: false, profiles: {}, idleStopMs: 600_000, queuedCalls: 64 },
    ...{ messageBytes: 16_777_216, inFlight: 256, waiting: 128, connections: 2_000, sessions: 1_000, streams: 32 },
    ...{ sessionIdleMs: 3_600_000, headersMs: 10_000, bodyMs: 30_000, questionMs: 600_000, suspendedCalls: 1_000 },
  },
  agent: { models: [], maxSteps: 50, maxTokens: 1_000_000, maxTimeMs: 600_000 },
};

describe('the master switch', () => {
  const others = {
    '.mcp.toml': '[',
    '.plexus.local.toml': servers('local'),
    'home/.config/plexus/plugins/p/plugin.json': '{"mcpServers":{"s":{"command":"x"}}}',
  };

  verifies('CFG-01', 'is on by default', async () => {
    expect((await loadFolder({})).settings).toEqual(defaults);
  });

  verifies('CFG-01', 'when off, no other file is read, no server is used, and it is said why', async () => {
    const loaded = await loadFolder(
      { ...others, [USER]: plexus('enabled = false', 'import = "auto"') + servers('mine') },
      { servers: { code: { command: 'x' } } },
    );
    expect([loaded.files, enabledOf(loaded)]).toEqual([[USER], []]);
    expect([...loaded.refused]).toEqual([['mine', `${USER} switches everything off`]]);
    expect(loaded.diagnostics).toEqual([
      {
        severity: 'warning',
        code: 'SERVER_DENIED',
        message: 'MCP is switched off: "plexus.enabled" is false, so no other file is read and there are no tools',
        remedy: 'Set it to true, or remove it.',
        file: USER,
      },
    ]);
  });

  verifies('CFG-01', 'is still looked at, so that it can be switched on again', async () => {
    expect((await loadFolder({ [USER]: plexus('enabled = false') })).watched).toContain(USER);
  });

  verifies(
    'CFG-01',
    'is the person’s alone: a file of the workspace cannot set it, not even an approved one',
    async () => {
      for (const isApproved of [async () => false, async () => true]) {
        const loaded = await loadFolder({ '.mcp.toml': plexus('enabled = false') + servers('a') }, { isApproved });
        expect([enabledOf(loaded), loaded.settings.enabled]).toEqual([['a'], true]);
        expect(loaded.diagnostics).toMatchObject([
          {
            severity: 'warning',
            file: '.mcp.toml',
            line: 2,
            message: 'a file in the workspace cannot set "plexus.enabled", so this is ignored',
            remedy: 'Set it in your own file.',
          },
        ]);
      }
    },
  );

  verifies('CFG-01', 'can be set by an administrator and by a named file, and the stronger word counts', async () => {
    const merged = `mode = "merge"\n${servers('a')}`;
    expect(enabledOf(await loadFolder({ ...others, [SYSTEM]: merged + plexus('enabled = false') }))).toEqual([]);
    expect(
      enabledOf(await loadFolder({ [SYSTEM]: merged + plexus('enabled = true'), [USER]: plexus('enabled = false') })),
    ).toEqual(['a']);
    const named = { 'mine.toml': plexus('enabled = false') + servers('b') };
    expect(enabledOf(await loadFolder(named, { configFile: 'mine.toml' }))).toEqual([]);
  });
});

describe('which of two files counts', () => {
  const files = {
    '.plexus.local.toml': servers('a', 'b'),
    '.mcp.toml': servers('a', 'b', 'c'),
    'home/.config/plexus/mcp.json': '{"mcpServers":{"a":{"command":"x"},"c":{"command":"x"}}}',
  };
  const approved = { mayDisplace: async () => true };
  const order = (word: string) => ({ ...files, [USER]: plexus(`merge_order = "${word}"`) });

  verifies('CFG-02', 'is the workspace’s over the person’s by default', async () => {
    for (const each of [files, order('project-over-user')])
      expect(scopesOf(await loadFolder(each, approved))).toEqual(['a local', 'b local', 'c project']);
  });

  verifies(
    'CFG-02',
    'is the person’s over the workspace’s when they say so, and local still beats project',
    async () => {
      const extraSources = [
        { name: 'editor', read: () => ({ mcpServers: { b: { command: 'x' }, a: { command: 'x' } } }) },
      ];
      const loaded = await loadFolder(order('user-over-project'), { extraSources });
      expect(
        loaded.definitions.map(({ name, provenance: { scope, provider = '' } }) => [name, scope, provider]),
      ).toEqual([
        ['a', 'user', ''],
        ['b', 'local', 'editor'],
        ['c', 'user', ''],
      ]);
    },
  );

  verifies('CFG-02', 'is not a repository’s to decide, unless the person approved its file', async () => {
    const text = plexus('merge_order = "user-over-project"') + servers('a');
    const mine = { '.mcp.toml': text, 'home/.config/plexus/mcp.json': '{"servers":{"a":{"command":"x"}}}' };
    expect(scopesOf(await loadFolder(mine, approved))).toEqual(['a project']);
    const isApproved = async (_: string, said: string) => said === text;
    expect(scopesOf(await loadFolder(mine, { ...approved, isApproved }))).toEqual(['a user']);
  });
});

describe('the files of the project', () => {
  const files = {
    '.mcp.toml': servers('project'),
    '.plexus.local.toml': servers('local'),
    '.plexus/plugins/p/plugin.json': '{"mcpServers":{"s":{"command":"x"}}}',
    '.cursor/mcp.json': '{"mcpServers":{"cursor":{"command":"y"}}}',
    'home/.cursor/mcp.json': '{"mcpServers":{"mine":{"command":"z"}}}',
  };
  const user = (enabled: boolean) => plexus('import = "auto"', `project.enabled = ${enabled}`);

  verifies('CFG-12', 'are read by default, as when the person says so', async () => {
    for (const text of [plexus('import = "auto"'), user(true)])
      expect(scopesOf(await loadFolder({ ...files, [USER]: text }))).toEqual([
        'cursor imported',
        'local local',
        'mine imported',
        'plugin:p:s plugin',
        'project project',
      ]);
  });

  verifies(
    'CFG-12',
    'are left out when the person says so, with its plugins and other agents’ files in it',
    async () => {
      const loaded = await loadFolder({ ...files, '.mcp.json': '[', [USER]: user(false) });
      expect(scopesOf(loaded)).toEqual(['local local', 'mine imported']);
      expect(loaded.diagnostics).toEqual([]);
    },
  );

  verifies('CFG-12', 'cannot say of themselves that they count, or that others do not', async () => {
    const text = plexus('project.enabled = false') + servers('local');
    const loaded = await loadFolder({ ...files, '.plexus.local.toml': text }, { isApproved: async () => true });
    expect(scopesOf(loaded)).toEqual(['local local', 'plugin:p:s plugin', 'project project']);
    expect(messagesOf(loaded)).toEqual([
      'warning: a file in the workspace cannot set "plexus.project.enabled", so this is ignored',
    ]);
  });
});

describe('the lists of servers that are on or off', () => {
  const files = { '.mcp.toml': `${servers('a', 'b')}enabled = false\n${servers('c')}` };

  verifies('CFG-13', 'switch a server on or off, whatever its entry says; off wins', async () => {
    const loaded = await loadFolder({
      ...files,
      [USER]: plexus('enabled_servers = ["b", "c"]', 'disabled_servers = ["a", "c", "nobody"]'),
    });
    expect(enabledOf(loaded)).toEqual(['b']);
    expect([...loaded.refused]).toEqual([
      ['a', '"disabledServers" names it'],
      ['c', '"disabledServers" names it'],
    ]);
    expect(loaded.diagnostics).toEqual([]);
  });

  verifies('CFG-13', 'are joined where they take away, and a repository cannot switch on', async () => {
    const loaded = await loadFolder({
      '.mcp.toml': files['.mcp.toml'] + plexus('enabled_servers = ["b"]', 'disabled_servers = ["a"]'),
      [USER]: plexus('disabled_servers = ["c"]'),
    });
    expect([enabledOf(loaded), loaded.settings.disabledServers]).toEqual([[], ['a', 'c']]);
    expect(messagesOf(loaded)).toEqual([
      'warning: a file in the workspace cannot set "plexus.enabled_servers", so this is ignored',
    ]);
  });

  verifies('CFG-13', 'leave a disabled entry its name, so that a weaker one of that name stays off', async () => {
    const loaded = await loadFolder({ '.mcp.toml': `${servers('a')}enabled = false`, [USER]: servers('a') });
    expect(enabledOf(loaded)).toEqual([]);
  });
});

describe('a file in the workspace', () => {
  verifies('PER-02', 'can tighten rules but not loosen them', async () => {
    const rules =
      '[[permissions.rules]]\ntool = "mcp__a__*"\naction = "allow"\n[[permissions.rules]]\ntool = "mcp__b"\naction = "deny"\n';
    const { rules: read, diagnostics } = await loadFolder({ '.mcp.toml': rules, [USER]: rules });
    expect(
      read.map(({ tool, action, provenance }) => [tool, action, provenance.scope, provenance.key.join('.')]),
    ).toEqual([
      ['mcp__b', 'deny', 'project', 'permissions.rules.1'],
      ['mcp__a__*', 'allow', 'user', 'permissions.rules.0'],
      ['mcp__b', 'deny', 'user', 'permissions.rules.1'],
    ]);
    expect(diagnostics).toMatchObject([
      { severity: 'warning', file: '.mcp.toml', line: 1, message: expect.stringContaining('"mcp__a__*" is ignored') },
    ]);
  });

  verifies('PER-02', 'cannot widen what a server sees of the environment', async () => {
    const entry = '[mcp_servers.NAME]\ncommand = "x"\ninherit_env = "all"';
    const { definitions, diagnostics } = await loadFolder({
      '.plexus.local.toml': entry.replace('NAME', 'a'),
      [USER]: entry.replace('NAME', 'b'),
    });
    expect(definitions.map(({ launch }) => launch.kind === 'stdio' && launch.inheritEnv)).toEqual(['safe', 'all']);
    expect(diagnostics).toMatchObject([{ severity: 'warning', file: '.plexus.local.toml', line: 3, server: 'a' }]);
  });

  const loosening = [
    ...['[mcp_servers.a]', 'command = "x"', 'inherit_env = ["DISPLAY"]', 'env_allow = ["TOKEN"]', 'trust_hints = true'],
    ...['[[permissions.rules]]', 'tool = "mcp__a"', 'action = "allow"'],
    ...[
      '[plexus]',
      'import = "auto"',
      'unresolved_env = "empty"',
      'plugin_folders = ["/p"]',
      'enabled_servers = ["a"]',
    ],
    ...['gateway = "on"', '[plexus.startup]', 'gate_ms = 1'],
    ...['[plexus.connect_concurrency]', 'stdio = 1', 'remote = 2'],
  ].join('\n');

  for (const file of ['.mcp.toml', '.plexus.local.toml']) {
    verifies('PER-02', `${file} loosens nothing, and each thing it would loosen is told with its line`, async () => {
      const loaded = await loadFolder({ [file]: loosening });
      expect(loaded.settings).toEqual(defaults);
      expect([loaded.rules, loaded.definitions[0]?.settings.trustHints, loaded.definitions[0]?.launch]).toEqual([
        [],
        false,
        { kind: 'stdio', command: 'x', args: [], env: {}, inheritEnv: 'safe' },
      ]);
      expect(loaded.diagnostics.map(({ severity, line }) => [severity, line])).toEqual(
        [3, 4, 5, 6, 10, 11, 12, 13, 14, 16, 18, 19].map((line) => ['warning', line]),
      );
      expect(loaded.diagnostics.every(({ remedy }) => remedy.endsWith('plexus approve --policy'))).toBe(true);
    });

    verifies('PER-02', `${file} loosens what it says once a person approved exactly this content`, async () => {
      const load = (approved: string) =>
        loadFolder(
          { [file]: loosening },
          { isApproved: async (path, text) => path.endsWith(file) && text === approved },
        );
      const { settings, rules, definitions, diagnostics } = await load(loosening);
      expect(settings).toEqual({
        ...defaults,
        import: 'auto',
        unresolvedEnv: 'empty',
        pluginFolders: ['/p'],
        enabledServers: ['a'],
        startup: { gateMs: 1, waitMs: 10_000, installTimeoutMs: 300_000, requiredWaitMs: 120_000 },
        gateway: 'on',
        connectConcurrency: { stdio: 1, remote: 2 },
      });
      expect(rules.map(({ action }) => action)).toEqual(['allow']);
      expect(definitions[0]).toMatchObject({
        launch: { inheritEnv: ['DISPLAY'], envAllow: ['TOKEN'] },
        settings: { trustHints: true },
      });
      expect(diagnostics.map(({ server }) => server)).toEqual(['docker-gateway']);
      expect((await load(`${loosening} `)).diagnostics).toHaveLength(12);
    });
  }

  verifies('PER-02', 'may say that the word of tools is not believed', async () => {
    const { definitions, diagnostics } = await loadFolder({
      '.mcp.toml': '[mcp_servers.a]\ncommand = "x"\ntrust_hints = false\n',
    });
    expect([definitions[0]?.settings.trustHints, diagnostics]).toEqual([false, []]);
  });

  test('never says how a remote server is reached, approved or not', async () => {
    const entry = [
      ...['[mcp_servers.a]', 'url = "https://a"', 'proxy = "http://proxy.example"', 'ca_file = "ca.pem"'],
      ...['cert_file = "cert.pem"', 'key_file = "key.pem"'],
    ].join('\n');
    const loaded = await loadFolder({ '.mcp.toml': entry }, { isApproved: async () => true });
    expect(loaded.definitions.map(({ launch }) => launch)).toEqual([{ kind: 'auto', url: 'https://a', headers: {} }]);
    expect(loaded.diagnostics.map(({ severity, line, message }) => [severity, line, message])).toEqual([
      ['warning', 3, 'only your own files may say which proxy is used, so "proxy" is left out'],
      ...['ca_file', 'cert_file', 'key_file'].map((key, at) => [
        'warning',
        4 + at,
        `only your own files may have a command run or a file read for a value, so "${key}" is left out`,
      ]),
    ]);
  });

  test('never has a command run or a file read for a value, approved or not', async () => {
    const entry =
      '[mcp_servers.a]\nurl = "https://a"\nheaders = { A = "!cat ~/.ssh/id", B = "!!b" }\nheaders_helper = "x"\n';
    const local = '[mcp_servers.b]\ncommand = "x"\nenv_file = ".env"\nenv = { C = "!id" }\n';
    const loaded = await loadFolder({ '.mcp.toml': entry + local }, { isApproved: async () => true });
    expect(loaded.definitions.map(({ launch }) => launch)).toEqual([
      { kind: 'auto', url: 'https://a', headers: { A: '', B: '!!b' } },
      { kind: 'stdio', command: 'x', args: [], env: { C: '' }, inheritEnv: 'safe' },
    ]);
    expect(loaded.diagnostics.map(({ line }) => line)).toEqual([3, 4, 8, 7]);
    const own = await loadFolder({ [USER]: entry + local });
    expect([own.diagnostics, own.definitions.map(({ launch }) => launch)]).toMatchObject([
      [],
      [
        { headers: { A: '!cat ~/.ssh/id' }, headersHelper: 'x' },
        { envFile: '.env', env: { C: '!id' } },
      ],
    ]);
  });

  test('a rule that cannot be read asks, and one without a tool is none', async () => {
    const { rules, diagnostics } = await loadFolder({
      '.mcp.json': JSON.stringify({
        permissions: { rules: [{ tool: 'mcp__a', action: 'denny' }, { action: 'deny' }, 'x', { tool: 'b' }] },
      }),
    });
    expect(rules.map(({ tool, action }) => [tool, action])).toEqual([
      ['mcp__a', 'ask'],
      ['b', 'ask'],
    ]);
    expect(diagnostics.map(({ message }) => message)).toEqual([
      '"action" must be "allow", "ask" or "deny", but is the string "denny"',
      '"tool" is missing; it must be a string',
      '"permissions.rules[2]" must be a map of settings, but is the string "x"',
      '"action" is missing; it must be "allow", "ask" or "deny"',
    ]);
  });

  test('rules as another agent writes them are told how to be written here', async () => {
    const { diagnostics } = await loadFolder({ '.mcp.json': '{"permissions":{"allow":["a"],"deny":["b"],"ask":[]}}' });
    const asRules = 'Write it as rules under "permissions", each with "tool" and "action".';
    expect(diagnostics.map(({ message, remedy }) => [message, remedy])).toEqual([
      ['"allow" is not a setting of "permissions" and without effect', asRules],
      ['"deny" is not a setting of "permissions" and without effect', asRules],
    ]);
  });

  test('a section of the wrong kind is told, and costs only itself', async () => {
    const loaded = await loadFolder({
      [USER.replace('.toml', '.json')]: JSON.stringify({
        servers: { a: { command: 'x' } },
        inputs: {},
        permissions: { rules: 'none' },
        security: [],
        plexus: { startup: { gateMs: -1, waitMs: 5, wait: 3 }, enabld: true, import: 5, project: 'x' },
      }),
    });
    expect(loaded.definitions).toHaveLength(1);
    expect(loaded.settings).toEqual({ ...defaults, startup: { ...defaults.startup, waitMs: 5 } });
    expect(loaded.diagnostics.map(({ message }) => message)).toEqual([
      '"permissions.rules" must be a list of rules, but is the string "none"',
      '"security" must be a map of settings, but is a list',
      '"inputs" must be a list of inputs, but is a map',
      '"enabld" is not a setting of "plexus" and without effect',
      '"import" must be "off", "auto" or a list of apps, but is the number 5',
      '"wait" is not a setting of "plexus.startup" and without effect',
      '"gateMs" must be a number, 0 or more, but is the number -1',
      '"plexus.project" must be a map of settings, but is the string "x"',
    ]);
  });

  test('a section that also holds servers still says the rest', async () => {
    const loaded = await loadFolder({
      [USER.replace('.toml', '.json')]:
        '{"plexus":{"mcpServers":{"a":{"command":"x"}},"mergeOrder":"user-over-project"}}',
    });
    expect([scopesOf(loaded), loaded.settings.mergeOrder, loaded.diagnostics]).toEqual([
      ['a user'],
      'user-over-project',
      [],
    ]);
  });
});

describe('what the model sees', () => {
  test('is said in both spellings, and a wrong word costs itself', async () => {
    const said = { naming: 'bare', toolSearch: 'auto:5', instructions: false, alwaysLoad: ['mcp__a__*'] };
    const good = await loadFolder({
      [USER]: plexus(
        'naming = "bare"',
        'max_tool_name_length = 128',
        'description_prefix = "[{server}] "',
        'tool_cache_ttl_sec = 60',
        'tool_search = "auto:5"',
        'always_load = ["mcp__a__*"]',
        'instructions = false',
      ),
    });
    expect([good.diagnostics, good.settings]).toEqual([
      [],
      { ...defaults, ...said, maxToolNameLength: 128, descriptionPrefix: '[{server}] ', toolCacheTtlMs: 60_000 },
    ]);
    const bad = await loadFolder({
      [USER]: plexus('naming = "short"', 'max_tool_name_length = 19', 'tool_search = "auto:101"', 'always_load = "a"'),
    });
    expect(bad.settings).toEqual(defaults);
    expect(bad.diagnostics.map(({ message }) => message)).toEqual([
      '"naming" must be "canonical", "compact", "single" or "bare", but is the string "short"',
      '"max_tool_name_length" must be a whole number from 20 to 256, but is the number 19',
      '"tool_search" must be "auto", "on", "off" or "auto:N" with a percentage, but is the string "auto:101"',
      '"always_load" must be a list of strings, but is the string "a"',
    ]);
  });
});

describe('inputs', () => {
  test('are read with their file, from beside the servers or from an editor’s settings', async () => {
    const inputs = [{ id: 'key', type: 'promptString', description: 'The key', password: true }];
    const { promptInputs: read, diagnostics } = await loadFolder({
      '.mcp.json': JSON.stringify({ servers: {}, inputs }),
      '.plexus/mcp.json': JSON.stringify({ mcp: { servers: {}, inputs } }),
    });
    expect([...read]).toEqual([
      ['.mcp.json', inputs],
      ['.plexus/mcp.json', inputs],
    ]);
    expect(diagnostics).toEqual([]);
  });

  test('that are wrong cost themselves, and a mistyped key is told: the answer might be shown', async () => {
    const { promptInputs: inputs, diagnostics } = await loadFolder({
      '.mcp.json': '{"inputs":[{"id":"a","pasword":true},{"id":5},"b",{"type":"x"},{"__proto__":{"id":"c"}}]}',
    });
    expect([...inputs]).toEqual([['.mcp.json', [{ id: 'a', password: false }]]]);
    expect(diagnostics.map(({ severity, message }) => [severity, message])).toEqual([
      ['warning', '"pasword" is not a setting of an input and without effect'],
      ['error', '"id" must be a string, but is the number 5'],
      ['error', '"inputs[2]" must be a map of settings, but is the string "b"'],
      ['error', '"id" is missing; it must be a string'],
      ['error', '"id" is missing; it must be a string'],
    ]);
  });
});

describe('the agent', () => {
  const agent = (...lines: readonly string[]) => `[plexus.agent]\n${lines.join('\n')}\n`;
  const whole = [
    ...['provider = "ollama"', 'url = "https://a.example/v1"', 'model = "m"', 'key = "!pass k"', 'models = ["n"]'],
    ...['context_window = 8000', 'vision = true'],
  ];

  verifies(
    'PER-02',
    'is the person’s to set up: no file of the workspace names an endpoint, a model or a key, not even an approved one',
    async () => {
      for (const approved of [false, true])
        for (const file of ['.mcp.toml', '.plexus.local.toml']) {
          const loaded = await loadFolder({ [file]: agent(...whole) }, { isApproved: async () => approved });
          expect(loaded.settings).toEqual(defaults);
          expect(loaded.diagnostics.map(({ line, remedy }) => [line, remedy])).toEqual(
            whole.map((_, at) => [at + 2, 'Set it in your own file.']),
          );
        }
      const { settings, diagnostics } = await loadFolder({ [USER]: agent(...whole) });
      expect([settings.agent, diagnostics]).toMatchObject([
        { provider: 'ollama', model: 'm', contextWindow: 8_000 },
        [],
      ]);
    },
  );

  test('has a key by reference only', async () => {
    const { settings, diagnostics } = await loadFolder({ [USER]: agent('key = "sk-1234"') });
    expect([settings.agent, diagnostics]).toMatchObject([
      defaults.agent,
      [
        {
          line: 2,
          message: '"plexus.agent.key" is the secret itself, which does not belong in a file, and is left out',
        },
      ],
    ]);
  });

  verifies(
    'PER-02',
    'gets the lowest budget that any file says, and none that the workspace raises, approved or not',
    async () => {
      const budget = (steps: number, seconds: number) => agent(`max_steps = ${steps}`, `max_time_sec = ${seconds}`);
      for (const approved of [false, true]) {
        const load = (project: string, user: string) =>
          loadFolder({ '.mcp.toml': project, [USER]: user }, { isApproved: async () => approved });
        const lower = await load(budget(7, 30), budget(20, 60));
        expect([lower.settings.agent, lower.diagnostics]).toMatchObject([{ maxSteps: 7, maxTimeMs: 30_000 }, []]);
        const higher = await load(budget(30, 61), budget(20, 60));
        expect(higher.settings.agent).toMatchObject({ maxSteps: 20, maxTimeMs: 60_000 });
        expect(higher.diagnostics).toMatchObject([
          {
            ...{ severity: 'warning', file: '.mcp.toml', line: 2, remedy: 'Set it in your own file.' },
            message: 'a file in the workspace cannot raise "plexus.agent.max_steps" to 30, so it stays at 20',
          },
          { line: 3 },
        ]);
        expect((await load(budget(51, 1), '')).settings.agent).toMatchObject({ maxSteps: 50, maxTimeMs: 1_000 });
        expect((await load('', budget(90, 1))).settings.agent.maxSteps).toBe(90);
      }
    },
  );

  test('explains which file lowered a budget', async () => {
    const files = { '.mcp.toml': agent('max_steps = 3'), [USER]: agent('max_steps = 90') };
    const found = (await (await loadFolder(files)).explain.settings()).find(({ key }) => key === 'agent.maxSteps');
    expect(found).toMatchObject({ value: 3, from: 'file', line: 2 });
  });
});
