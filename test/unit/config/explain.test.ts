// Owns the proof that every setting of a server can be traced to its file and line, and every shadowed entry to the entry that
// shadows it.

import { describe, expect, test } from 'vitest';
import type { LoadOptions } from '../../../src/config/discover.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { verifies } from '../../verifies.ts';
import { createFolder, environment, type Files, SYSTEM, servers, USER, withoutFolder } from './folder.ts';

const load = async (files: Files, options: Partial<LoadOptions> = {}) => {
  const cwd = await createFolder(files);
  const { explain } = await loadConfig({ ...environment(cwd), ...options });
  return {
    server: async (name: string) => withoutFolder(await explain.server(name), cwd),
    settings: async () => withoutFolder(await explain.settings(), cwd),
  };
};

/** `key = value (file:line)`, or where else it comes from. */
const linesOf = (settings: readonly { key: string; value: unknown; from: string; file?: string; line?: number }[]) =>
  settings.map(
    ({ key, value, from, file, line }) => `${key} = ${JSON.stringify(value)} (${file ? `${file}:${line}` : from})`,
  );

describe('a server', () => {
  const files = {
    [SYSTEM]: ['mode = "merge"', '', '[mcp_servers.it]', 'command = "policy"', 'tool_timeout_sec = 5'].join('\n'),
    '.plexus.local.toml': '[mcp_servers.it]\nprogram = "local"\nargs = ["-v"]\n',
    '.mcp.json': '{\n  "mcpServers": {\n    "other": {},\n    "it": {\n      "url": "https://project"\n    }\n  }\n}',
    [USER]: '[mcp_servers.it]\ncommand = 5\n',
  };

  verifies(
    ['CFG-02', 'CFG-10'],
    'of four scopes is explained with the file and line of each setting, and what it beat',
    async () => {
      const explained = await (await load(files, { env: { MCP_TIMEOUT: '7' } })).server('it');
      expect(explained?.provenance).toEqual({
        scope: 'enterprise',
        file: SYSTEM,
        key: ['mcp_servers', 'it'],
        line: 3,
      });
      expect(linesOf(explained?.settings ?? [])).toEqual([
        'transport = "stdio" (default)',
        `command = "policy" (${SYSTEM}:4)`,
        'args = [] (default)',
        'env = {} (default)',
        'inheritEnv = "safe" (default)',
        'enabled = true (default)',
        'startupTimeoutMs = 7 (environment)',
        `toolTimeoutMs = 5000 (${SYSTEM}:5)`,
        'disabledTools = [] (default)',
        'alwaysLoad = false (default)',
        'instructions = true (default)',
        'cacheable = true (default)',
        'subscriptions = false (default)',
        'maxResultChars = 50000 (default)',
        'maxResultTokens = 25000 (default)',
        'maxMessageBytes = 67108864 (default)',
        'lifecycle = "eager" (default)',
        'required = false (default)',
        'perClient = false (default)',
        'share = "workspace" (default)',
        'trustHints = false (default)',
        'elicitation = "ask" (default)',
        'parallel = true (default)',
        'reconnect = "steady" (default)',
        'health = {"mode":"remote","intervalMs":30000,"timeoutMs":5000,"failures":5} (default)',
        'keepAliveMs = 50000 (default)',
      ]);
      expect(
        explained?.beaten.map(({ provenance, because, problem, settings }) => ({
          where: `${provenance.file}:${provenance.line}`,
          because,
          problem,
          written: linesOf(settings.filter(({ from }) => from === 'file')),
        })),
      ).toEqual([
        {
          where: '.plexus.local.toml:1',
          because: 'a stronger file defines a server of the same name',
          problem: undefined,
          written: ['command = "local" (.plexus.local.toml:2)', 'args = ["-v"] (.plexus.local.toml:3)'],
        },
        {
          where: '.mcp.json:4',
          because: 'a stronger file defines a server of the same name',
          problem: undefined,
          written: ['url = "https://project" (.mcp.json:5)'],
        },
        {
          where: `${USER}:1`,
          because: 'a stronger file defines a server of the same name',
          problem: '"command" must be a string, but is the number 5',
          written: [],
        },
      ]);
    },
  );

  test('that nobody defines is not explained', async () => {
    expect(await (await load(files)).server('nobody')).toBeUndefined();
    expect(await (await load(files)).server('toString')).toBeUndefined();
  });

  test('given in code has no file', async () => {
    const explained = await (await load({}, { servers: { it: { command: 'x' } } })).server('it');
    expect(explained?.settings.filter(({ from }) => from !== 'default')).toEqual([
      { key: 'command', value: 'x', from: 'code' },
    ]);
    const inside = await (await load({}, { servers: { it: { serve: () => undefined } } })).server('it');
    expect(inside?.settings[0]).toEqual({ key: 'transport', value: 'in-process', from: 'default' });
  });

  test('that is broken says why', async () => {
    expect(await (await load(files)).server('other')).toEqual({
      name: 'other',
      provenance: { scope: 'project', inWorkspace: true, file: '.mcp.json', key: ['mcpServers', 'other'], line: 3 },
      settings: [],
      problem: 'neither "command" nor "url" is set',
      beaten: [],
    });
  });

  test('that another setting keeps out of use says which', async () => {
    const { server } = await load({
      '.mcp.toml': servers('a', 'b'),
      [USER]: '[plexus]\ndisabled_servers = ["a"]\n[security]\nmcp_server_denylist = ["b"]',
    });
    expect([(await server('a'))?.refusal, (await server('b'))?.refusal]).toEqual([
      '"disabledServers" names it',
      expect.stringMatching(/^mcp_server_denylist names it \(in .*mcp\.toml\)$/),
    ]);
  });

  test('that a list switches on although its entry says otherwise is on, because of that list', async () => {
    const { server } = await load({
      '.mcp.toml': `${servers('a')}enabled = false`,
      [USER]: '[plexus]\nenabled_servers = ["a"]',
    });
    expect((await server('a'))?.settings.find(({ key }) => key === 'enabled')).toEqual({
      key: 'enabled',
      value: true,
      from: 'file',
      file: USER,
      line: 2,
    });
  });

  test('that is the twin of another says of whom', async () => {
    const { server } = await load({
      [USER]: servers('x'),
      'home/.config/plexus/plugins/p/plugin.json': '{"mcpServers":{"s":{"command":"x"}}}',
    });
    expect((await server('plugin:p:s'))?.refusal).toBe('it is the same as "x"');
  });
});

verifies('CFG-10', 'each setting of Plexus is explained with its file and line, or as a default', async () => {
  const { settings } = await load({
    [USER]: '[plexus]\nimport = ["cursor"]\ndisabled_servers = ["a"]\n[plexus.startup]\ngate_ms = 5',
    '.mcp.json': '{"plexus":{\n"disabledServers":["b"]}}',
  });
  expect(linesOf(await settings())).toEqual([
    'enabled = true (default)',
    `import = ["cursor"] (${USER}:2)`,
    'mergeOrder = "project-over-user" (default)',
    'unresolvedEnv = "scoped" (default)',
    'project.enabled = true (default)',
    'pluginFolders = [] (default)',
    'disabledServers = ["b","a"] (.mcp.json:2)',
    'enabledServers = [] (default)',
    `startup.gateMs = 5 (${USER}:5)`,
    'startup.waitMs = 10000 (default)',
    'startup.installTimeoutMs = 300000 (default)',
    'startup.requiredWaitMs = 120000 (default)',
    'gateway = "auto" (default)',
    'connectConcurrency.stdio = 3 (default)',
    'connectConcurrency.remote = 20 (default)',
    'naming = "canonical" (default)',
    'maxToolNameLength = 64 (default)',
    'toolCacheTtlMs = 300000 (default)',
    'toolSearch = "auto" (default)',
    'lazyList = "on-request" (default)',
    'minContextWindow = 32000 (default)',
    'searchOnListChanged = true (default)',
    'alwaysLoad = [] (default)',
    'alwaysLoadChars = 2000 (default)',
    'instructions = true (default)',
    'builtinTools = true (default)',
    'subagents = "inherit" (default)',
    'results.redact = "known" (default)',
    'results.wrap = true (default)',
    'signals = "log" (default)',
    'taint = "off" (default)',
    'trust.pinFiles = false (default)',
    'serving.port = 7417 (default)',
    'serving.sampling = false (default)',
    'serving.profiles = {} (default)',
    'serving.idleStopMs = 600000 (default)',
    'serving.queuedCalls = 64 (default)',
    'serving.messageBytes = 16777216 (default)',
    'serving.inFlight = 256 (default)',
    'serving.waiting = 128 (default)',
    'serving.connections = 2000 (default)',
    'serving.sessions = 1000 (default)',
    'serving.streams = 32 (default)',
    'serving.sessionIdleMs = 3600000 (default)',
    'serving.headersMs = 10000 (default)',
    'serving.bodyMs = 30000 (default)',
    'serving.questionMs = 600000 (default)',
    'serving.suspendedCalls = 1000 (default)',
    'agent.models = [] (default)',
    'agent.maxSteps = 50 (default)',
    'agent.maxTokens = 1000000 (default)',
    'agent.maxTimeMs = 600000 (default)',
  ]);
});
