// Owns the proof that each kind of wrong entry has its own sentence, place and remedy, and costs only itself.

import { describe, expect, test } from 'vitest';
import { jsonSchema } from '../../../src/config/schema.ts';
import { verifies } from '../../verifies.ts';
import { loadFolder } from './folder.ts';

const loadEntry = (entry: unknown) =>
  loadFolder({ '.mcp.json': JSON.stringify({ mcpServers: { it: entry } }, null, 2) });
const launchOf = async (entry: unknown) => (await loadEntry(entry)).definitions[0]?.launch;
const said = async (entry: unknown) =>
  (await loadEntry(entry)).diagnostics.map(({ severity, message }) => `${severity}: ${message}`);

describe('an entry that cannot be used', () => {
  const cases: Record<string, [entry: unknown, message: string]> = {
    'has neither command nor url': [{}, 'neither "command" nor "url" is set'],
    'is stdio without a command': [{ type: 'stdio' }, 'transport "stdio" needs "command", which is not set'],
    'is stdio with a url': [{ type: 'stdio', url: 'http://a' }, 'transport "stdio" needs "command", which is not set'],
    'is remote without a url': [{ transport: 'sse' }, 'transport "sse" needs "url", which is not set'],
    'is remote with a command': [{ type: 'http', command: 'x' }, 'transport "http" needs "url", which is not set'],
    'has both command and url': [
      { command: 'x', url: 'http://a' },
      'more than one of "command", "url" and "serve" is set, so it is unclear whether to start the server or to reach it',
    ],
    'has an unknown transport': [
      { type: 'carrier-pigeon', url: 'http://a' },
      '"type" must be "stdio", "http", "sse", "ws" or "auto", but is the string "carrier-pigeon"',
    ],
    'has an address that is none': [
      { url: 'example.com/mcp' },
      '"url" must be an address that begins with http:// or https:// or ws:// or wss://',
    ],
    'has an address of another kind': [
      { type: 'http', url: 'file:///etc/passwd' },
      '"url" must be an address that begins with http:// or https://',
    ],
    'has an empty command': [{ command: '' }, '"command" must be a string that is not empty, but is empty'],
    'has a number for a command': [{ command: 5 }, '"command" must be a string, but is the number 5'],
    'has text for arguments': [{ command: 'x', args: '-y pkg' }, '"args" must be a list of strings, but is a string'],
    'has a map among its arguments': [{ command: 'x', args: ['-y', {}] }, '"args[1]" must be a string, but is a map'],
    'has a list for an environment': [{ command: 'x', env: ['A=b'] }, '"env" must be a map of strings, but is a list'],
    'has a list in its environment': [{ command: 'x', env: { A: [1] } }, '"env.A" must be a string, but is a list'],
    'has a number no string can keep': [
      { command: 'x', env: { A: 1e21 } },
      '"env.A" must be a string, but is a number',
    ],
    'has text for a switch': [
      { command: 'x', disabled: 'yes' },
      '"disabled" must be true or false, but is the string "yes"',
    ],
    'is only a string': ['npx files', '"it" must be a map of settings, but is the string "npx files"'],
    'is a list': [['npx'], '"it" must be a map of settings, but is a list'],
  };
  for (const [sentence, [entry, message]] of Object.entries(cases)) {
    verifies('VAL-01', `${sentence}, and is told so`, async () => {
      const { definitions, diagnostics } = await loadEntry(entry);
      expect(definitions).toEqual([]);
      expect(diagnostics.filter(({ severity }) => severity === 'error').map((each) => each.message)).toEqual([message]);
      expect(diagnostics[0]).toMatchObject({
        code: 'CONFIG_INVALID',
        file: '.mcp.json',
        server: 'it',
        line: expect.any(Number),
      });
      expect(diagnostics[0]?.remedy).toMatch(/^[A-Z].*\.$/);
    });
  }

  verifies(['VAL-02', 'CFG-18'], 'is kept as invalid with file, line and field, and its neighbours load', async () => {
    const { definitions, invalid } = await loadFolder({
      '.mcp.json':
        '{\n  "mcpServers": {\n    "bad": {\n      "command": 1\n    },\n    "good": { "command": "x" }\n  }\n}',
      '.mcp.toml': '[mcp_servers.worse]\ncommand = "x"\n[mcp_servers.worse.env]\nA = 1\nB = [2]\n',
    });
    expect(definitions.map(({ name }) => name)).toEqual(['good']);
    expect(invalid).toEqual([
      {
        name: 'bad',
        provenance: { scope: 'project', file: '.mcp.json', key: ['mcpServers', 'bad'] },
        diagnostic: {
          severity: 'error',
          code: 'CONFIG_INVALID',
          message: '"command" must be a string, but is the number 1',
          remedy: 'Write a string there.',
          file: '.mcp.json',
          line: 4,
          column: 7,
          server: 'bad',
        },
      },
      {
        name: 'worse',
        provenance: { scope: 'project', file: '.mcp.toml', key: ['mcp_servers', 'worse'] },
        diagnostic: {
          severity: 'error',
          code: 'CONFIG_INVALID',
          message: '"env.B" must be a string, but is a list',
          remedy: 'Write a string there.',
          file: '.mcp.toml',
          line: 5,
          column: 1,
          server: 'worse',
        },
      },
    ]);
  });

  test('inherits what is not a choice, in a file of the person, and is told so', async () => {
    const { definitions, diagnostics } = await loadFolder({
      'home/.config/plexus/mcp.toml': '[mcp_servers.a]\ncommand = "x"\ninherit_env = "most"',
    });
    expect(definitions).toEqual([]);
    expect(diagnostics.map(({ message }) => message)).toEqual([
      '"inherit_env" must be "safe", "all" or a list of variable names, but is a string',
    ]);
  });

  test('says nothing of the secrets in it', async () => {
    const secret = 'sk-live-0123456789';
    const entries = [
      { command: 'x', env: secret },
      { command: 'x', env: { A: [secret] } },
      { command: 'x', args: secret },
      { url: `${secret}.example` },
      { url: 'http://a', headers: { Authorization: { secret } } },
      { url: 'http://a', bearerTokenEnvVar: `${secret}` },
    ];
    for (const entry of entries) {
      const { diagnostics } = await loadEntry(entry);
      expect(diagnostics).toHaveLength(1);
      expect(JSON.stringify(diagnostics)).not.toContain(secret);
    }
  });
});

describe('keys', () => {
  verifies('VAL-01', 'one that is not known is a warning with the likely spelling, and the rest loads', async () => {
    const { definitions, diagnostics } = await loadFolder({
      '.mcp.toml':
        '[mcp_servers.a]\ncommand = "x"\nstartup_timout_sec = 3\ntimeout = 3\n\n[mcp_server.b]\ncommand = "y"\n',
    });
    expect(definitions.map(({ name }) => name)).toEqual(['a']);
    expect(diagnostics.map(({ line, message, remedy }) => [line, message, remedy])).toEqual([
      [
        3,
        '"startup_timout_sec" is not a setting of a server and without effect',
        'Did you mean "startup_timeout_sec"?',
      ],
      [
        4,
        '"timeout" is not a setting of a server and without effect',
        'Did you mean "startupTimeoutMs" or "startupTimeoutSec" or "toolIdleTimeoutMs"?',
      ],
      [6, '"mcp_server" is not a setting of a configuration file and without effect', 'Did you mean "mcp_servers"?'],
    ]);
  });

  test('those meant for other programs share one warning', async () => {
    const entry = { command: 'x', autoApprove: [], gallery: 1, oauth: {}, roots: [], dev: {}, icon: '', color: '' };
    expect(await said(entry)).toEqual([
      'warning: "autoApprove", "gallery", "oauth", "roots", "dev" and 2 more are not settings of a server and without effect',
    ]);
  });

  test('a thousand servers are read and a hundred problems told; the rest is counted', async () => {
    const servers = Object.fromEntries(
      Array.from({ length: 1_200 }, (_, at) => [`s${at}`, at < 300 ? 1 : { command: 'x' }]),
    );
    const { definitions, invalid, diagnostics } = await loadFolder({ '.mcp.json': JSON.stringify({ servers }) });
    expect([definitions.length, invalid.length, diagnostics.length]).toEqual([700, 300, 101]);
    expect(diagnostics[0]?.message).toBe('"servers" holds 1200 servers, of which only the first 1000 are read');
    expect(diagnostics.at(-1)?.message).toBe('201 more problems in this file are not listed');
  });

  test('one set to null is one not set', async () => {
    expect(await said({ command: 'x', url: null, env: null })).toEqual([]);
  });

  test('one written twice is told, and the last one counts', async () => {
    const { definitions, diagnostics } = await loadFolder({
      '.mcp.json': '{ "servers": {\n "a": { "command": "x" },\n "a": { "command": "y" }\n} }',
    });
    expect(definitions.map(({ launch }) => launch.kind === 'stdio' && launch.command)).toEqual(['y']);
    expect(diagnostics).toMatchObject([
      {
        severity: 'warning',
        message: '"servers.a" is written more than once, and only the last one counts',
        line: 3,
        column: 2,
      },
    ]);
  });

  test.each(['__proto__', 'constructor', 'prototype', '', ' ', 'a\nb', 'a'.repeat(101)])(
    'a server cannot be called %j',
    async (name) => {
      const { definitions, diagnostics } = await loadFolder({
        '.mcp.json': `{"servers":{${JSON.stringify(name)}:{"command":"x"}}}`,
      });
      expect(definitions).toEqual([]);
      expect(diagnostics).toMatchObject([{ severity: 'error', remedy: 'Give the server another name.' }]);
    },
  );

  test.each(['oraios/serena', 'Сontext7', 'Azure MCP Server (Support Mode)', 'a__b', 'plugin:a:b'])(
    'a server may be called %j, as in real files',
    async (name) => {
      const { definitions } = await loadFolder({
        '.mcp.json': JSON.stringify({ servers: { [name]: { command: 'x' } } }),
      });
      expect(definitions.map((each) => each.name)).toEqual([name]);
    },
  );

  test('__proto__ changes no object, wherever it stands', async () => {
    const polluting =
      '{"__proto__":{"polluted":1},"command":"x","env":{"__proto__":"x","A":"b"},"constructor":{"prototype":{"polluted":1}}}';
    const { definitions, diagnostics } = await loadFolder({
      '.mcp.json': `{"__proto__":{"polluted":1},"servers":{"a":${polluting}}}`,
      '.mcp.toml':
        '[__proto__]\npolluted = 1\n[mcp_servers.b]\ncommand = "x"\n[mcp_servers.b.__proto__]\npolluted = 1\n',
    });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(definitions.map(({ launch }) => launch.kind === 'stdio' && launch.env)).toEqual([{ A: 'b' }, {}]);
    expect(diagnostics.filter(({ severity }) => severity === 'warning')).toHaveLength(5);
  });
});

describe('transports', () => {
  verifies('VAL-03', 'a command means stdio and a bare url means auto', async () => {
    expect(await launchOf({ command: 'x' })).toMatchObject({ kind: 'stdio' });
    expect(await launchOf({ url: 'https://a.example/sse' })).toMatchObject({ kind: 'auto' });
    expect(await launchOf({ url: 'wss://a.example' })).toMatchObject({ kind: 'ws' });
  });

  const words = {
    http: ['http', 'HTTP', 'streamable-http', 'streamableHttp', 'streamable_http', 'url'],
    sse: ['sse', 'SSE'],
    auto: ['auto', 'remote'],
  };
  for (const [kind, spellings] of Object.entries(words)) {
    verifies('VAL-04', `${spellings.join(', ')} all mean ${kind}`, async () => {
      for (const key of ['type', 'transport', 'transportType', 'transport_type']) {
        for (const word of spellings) expect(await launchOf({ url: 'http://a', [key]: word })).toMatchObject({ kind });
      }
    });
  }

  verifies('VAL-04', 'local and stdio mean the same, and so do the common words for an address', async () => {
    expect(await launchOf({ type: 'local', command: ['npx', '-y', 'files'] })).toMatchObject({
      kind: 'stdio',
      command: 'npx',
      args: ['-y', 'files'],
    });
    expect(await launchOf({ command: ['npx'], args: ['-y'], environment: { A: 'b' } })).toMatchObject({
      command: 'npx',
      args: ['-y'],
      env: { A: 'b' },
    });
    expect(await launchOf({ httpUrl: 'http://a' })).toMatchObject({ kind: 'http', url: 'http://a' });
    expect(await launchOf({ serverUrl: 'http://a' })).toMatchObject({ kind: 'auto' });
    expect(await launchOf({ base_url: 'http://a' })).toMatchObject({ kind: 'auto' });
  });

  test('two words that contradict each other are an error', async () => {
    expect(await said({ type: 'sse', httpUrl: 'http://a' })).toEqual([
      'error: "type" and "httpUrl" mean the same, but say different things',
    ]);
    expect(await said({ command: 'x', enabled: true, disabled: true })).toHaveLength(1);
  });

  test('an address with a placeholder is not judged before it is filled in', async () => {
    expect(await launchOf({ url: '$' + '{HOST}/mcp' })).toMatchObject({ kind: 'auto' });
  });
});

describe('times', () => {
  verifies(['VAL-06', 'LIF-11', 'CAL-05'], 'are read in seconds and milliseconds, and 0 stays 0', async () => {
    const entry = { command: 'x', startupTimeoutSec: 0, tool_timeout_ms: 5, tool_idle_timeout_sec: 1.5 };
    expect((await loadEntry(entry)).definitions[0]?.settings).toMatchObject({
      startupTimeoutMs: 0,
      toolTimeoutMs: 5,
      toolIdleTimeoutMs: 1_500,
    });
  });

  for (const value of ['-1', 'nan', 'inf', '"10"', '1979-05-27']) {
    verifies('VAL-06', `${value} is not a time`, async () => {
      const { invalid } = await loadFolder({
        '.mcp.toml': `[mcp_servers.a]\ncommand = "x"\nstartup_timeout_sec = ${value}`,
      });
      expect(invalid.map(({ diagnostic }) => [diagnostic.line, diagnostic.message])).toEqual([
        [3, expect.stringMatching(/^"startup_timeout_sec" must be a number, 0 or more, but is /)],
      ]);
    });
  }

  verifies(
    ['LIF-11', 'CAL-05'],
    'MCP_TIMEOUT and MCP_TOOL_TIMEOUT replace defaults, not what an entry says',
    async () => {
      const { definitions, diagnostics } = await loadFolder(
        {
          '.mcp.toml':
            '[mcp_servers.a]\ncommand = "x"\n[mcp_servers.b]\ncommand = "x"\nstartup_timeout_sec = 1\ntool_timeout_ms = 2',
        },
        { env: { MCP_TIMEOUT: '30000', MCP_TOOL_TIMEOUT: '0' }, servers: { c: { serve: () => undefined } } },
      );
      expect(definitions.map(({ settings }) => [settings.startupTimeoutMs, settings.toolTimeoutMs])).toEqual([
        [30_000, 0],
        [1_000, 2],
        [30_000, 0],
      ]);
      expect(diagnostics).toEqual([]);
    },
  );

  test.each(['soon', '-5', '1e3', 'NaN', '9'.repeat(40)])('MCP_TIMEOUT=%s is told and ignored', async (value) => {
    const { definitions, diagnostics } = await loadFolder(
      { '.mcp.toml': '[mcp_servers.a]\ncommand = "x"' },
      { env: { MCP_TIMEOUT: value, MCP_TOOL_TIMEOUT: '' } },
    );
    expect(definitions[0]?.settings.startupTimeoutMs).toBe(60_000);
    expect(diagnostics).toMatchObject([{ severity: 'warning', message: expect.stringContaining('MCP_TIMEOUT') }]);
  });
});

describe('a file in the workspace', () => {
  verifies('PER-02', 'can tighten rules but not loosen them', async () => {
    const rules =
      '[[permissions.rules]]\ntool = "mcp__a__*"\naction = "allow"\n[[permissions.rules]]\ntool = "mcp__b"\naction = "deny"\n';
    const { rules: read, diagnostics } = await loadFolder({
      '.mcp.toml': rules,
      'home/.config/plexus/mcp.toml': rules,
    });
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
      'home/.config/plexus/mcp.toml': entry.replace('NAME', 'b'),
    });
    expect(definitions.map(({ launch }) => launch.kind === 'stdio' && launch.inheritEnv)).toEqual(['safe', 'all']);
    expect(diagnostics).toMatchObject([{ severity: 'warning', file: '.plexus.local.toml', line: 3, server: 'a' }]);
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

  test('a section of the wrong kind is told, and costs only itself', async () => {
    const { definitions, settings, diagnostics } = await loadFolder({
      '.mcp.json': JSON.stringify({
        servers: { a: { command: 'x' } },
        permissions: { rules: 'none' },
        security: [],
        plexus: { startup: { gateMs: -1, waitMs: 5, wait: 3 }, enabld: true },
      }),
    });
    expect(definitions).toHaveLength(1);
    expect(settings).toEqual({ startup: { gateMs: 250, waitMs: 10_000 } });
    expect(diagnostics.map(({ message }) => message)).toEqual([
      '"permissions.rules" must be a list of rules, but is the string "none"',
      '"security" must be a map of settings, but is a list',
      '"enabld" is not a setting of "plexus" and without effect',
      '"wait" is not a setting of "plexus.startup" and without effect',
      '"gateMs" must be a number, 0 or more, but is the number -1',
      'a file in the workspace cannot set how long the start waits, so this is ignored',
    ]);
  });
});

describe('the lists of servers', () => {
  const servers = '[mcp_servers.a]\ncommand = "x"\n[mcp_servers.b]\ncommand = "x"\n[mcp_servers.c]\ncommand = "x"\n';
  const enabled = async (files: Record<string, string>) => {
    const { definitions, diagnostics } = await loadFolder(files);
    return {
      enabled: definitions.filter(({ settings }) => settings.enabled).map(({ name }) => name),
      denied: diagnostics
        .filter(({ code }) => code === 'SERVER_DENIED')
        .map(({ server, message }) => [server, message]),
    };
  };

  verifies('TRU-03', 'when one allows by name, the others are switched off and told so', async () => {
    expect(await enabled({ '.mcp.toml': `${servers}[security]\nmcp_server_allowlist = ["a"]` })).toEqual({
      enabled: ['a'],
      denied: [
        ['b', 'server "b" is not used, because mcp_server_allowlist does not name it'],
        ['c', 'server "c" is not used, because mcp_server_allowlist does not name it'],
      ],
    });
  });

  verifies(['TRU-03', 'TRU-04'], 'a deny wins over every allow, and no file loosens the list of another', async () => {
    expect(
      await enabled({
        '.mcp.toml': `${servers}[security]\nmcp_server_allowlist = ["a", "b", "c"]`,
        'home/.config/plexus/mcp.toml': '[security]\nmcp_server_allowlist = ["a", "b"]\nmcp_server_denylist = ["b"]',
      }),
    ).toEqual({
      enabled: ['a'],
      denied: [
        ['b', 'server "b" is not used, because mcp_server_denylist names it'],
        ['c', 'server "c" is not used, because mcp_server_allowlist does not name it'],
      ],
    });
  });

  test('what can be read of a wrong list counts, and the rest is told', async () => {
    const { definitions, diagnostics } = await loadFolder({
      '.mcp.toml': `${servers}[security]\nmcp_server_allowlist = "a"\nmcp_server_denylist = ["b", 5]`,
    });
    expect(definitions.map(({ settings }) => settings.enabled)).toEqual([true, false, false]);
    expect(diagnostics.slice(0, 2).map(({ line, message }) => [line, message])).toEqual([
      [8, '"mcp_server_allowlist" must be a list of strings, but is the string "a"'],
      [9, '"mcp_server_denylist[1]" must be a string, but is the number 5'],
    ]);
  });
});

verifies('VAL-01', 'the JSON Schema names every key with its meaning, and allows $schema', async () => {
  const schema = jsonSchema() as { properties: Record<string, { description: string }> };
  expect(Object.keys(schema.properties)).toEqual(['$schema', 'mcpServers', 'permissions', 'security', 'plexus']);
  const server = (schema.properties['mcpServers'] as unknown as { additionalProperties: typeof schema })
    .additionalProperties;
  expect(Object.values(server.properties).every(({ description }) => description.length > 10)).toBe(true);
  const { diagnostics } = await loadFolder({
    '.mcp.json': '{"$schema":"https://plexus.example/schema.json","mcpServers":{}}',
  });
  expect(diagnostics).toEqual([]);
});
