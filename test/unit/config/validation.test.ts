// Owns the proof that each kind of wrong entry has its own message, position and remedy, and disables only itself.

import fs, { type BigIntStats } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { jsonSchema } from '../../../src/config/json-schema.ts';
import { snakeCase } from '../../../src/config/key-case.ts';
import { readText } from '../../../src/config/read-text.ts';
import { serverSchema } from '../../../src/config/schema.ts';
import { verifies } from '../../verifies.ts';
import { createFolder, loadFolder, messagesOf, USER } from './folder.ts';

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
    'has an address that someone has to complete': [
      { url: 'https://<your-host>/mcp' },
      '"url" holds a part in < and > that is still to be filled in',
    ],
    'has an address without a host': [{ type: 'http', url: 'https:///' }, '"url" is not a complete address'],
    'has an address of another kind': [
      { type: 'http', url: 'file:///etc/passwd' },
      '"url" must be an address that begins with http:// or https://',
    ],
    'has an empty command': [{ command: '' }, '"command" is empty; it must be a string that is not empty'],
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
    'is only a string': ['npx files', '"it" must be a map of settings, but is a string'],
    'is a number': [5, '"it" must be a map of settings, but is the number 5'],
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
        provenance: { scope: 'project', inWorkspace: true, file: '.mcp.json', key: ['mcpServers', 'bad'] },
        written: new Map([['command', 'command']]),
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
        provenance: { scope: 'project', inWorkspace: true, file: '.mcp.toml', key: ['mcp_servers', 'worse'] },
        written: new Map([
          ['command', 'command'],
          ['env', 'env'],
        ]),
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
      [USER]: '[mcp_servers.a]\ncommand = "x"\ninherit_env = "most"',
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
      { url: 'http://a', bearerToken: [secret] },
      { url: 'http://a', envHttpHeaders: { 'X-Key': [secret] } },
      `https://a.example/mcp?key=${secret}`,
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
        '[mcp_servers.a]\ncommand = "x"\nstartup_timout_sec = 3\nagrs = []\nenable_tools = []\n\n[mcp_server.b]\ncommand = "y"\n',
    });
    expect(definitions.map(({ name }) => name)).toEqual(['a']);
    expect(diagnostics.map(({ line, message, remedy }) => [line, message, remedy])).toEqual([
      [
        3,
        '"startup_timout_sec" is not a setting of a server and without effect',
        'Did you mean "startup_timeout_sec"?',
      ],
      [4, '"agrs" is not a setting of a server and without effect', 'Did you mean "args"?'],
      [5, '"enable_tools" is not a setting of a server and without effect', 'Did you mean "enabled_tools"?'],
      [7, '"mcp_server" is not a setting of a configuration file and without effect', 'Did you mean "mcp_servers"?'],
    ]);
  });

  test('those meant for other programs share one warning', async () => {
    const entry = {
      command: 'x',
      gallery: 1,
      unheard: { a: 1 },
      roots: [1],
      dev: {},
      color: 'red',
      icon: '',
      a1: 1,
      a2: 2,
    };
    const { diagnostics } = await loadEntry({ ...entry, args: [], env: {}, cwd: '.', a3: 3 });
    expect(diagnostics.map(({ severity, message, remedy }) => [severity, message, remedy])).toEqual([
      [
        'warning',
        '"unheard", "roots", "color", "a1", "a2" and 1 more are not settings of a server and without effect',
        'Remove them, unless another program reads the file too; all settings: plexus config schema',
      ],
    ]);
  });

  test('those of other programs that say nothing are not spoken of', async () => {
    expect(await said({ command: 'x', autoApprove: [], settings: {}, trust: false, label: '' })).toEqual([]);
  });

  test('those that say to another program what is said differently here are told how', async () => {
    const { diagnostics } = await loadEntry({
      command: 'x',
      autoApprove: ['a'],
      alwaysAllow: ['a'],
      trust: true,
      tools: { a: { enabled: false, alwaysAllow: true } },
    });
    const asRules = 'Write it as rules under "permissions", each with "tool" and "action".';
    expect(diagnostics.map(({ message, remedy }) => [message.split(' ', 1)[0], remedy])).toEqual([
      ['"alwaysAllow"', asRules],
      ['"autoApprove"', asRules],
      ['"alwaysAllow"', asRules],
      ['"trust"', asRules],
    ]);
  });

  test('no guess is made where most of a map is written for another program', async () => {
    const settings = { model: 'x', permission: { a: 1 }, agent: { a: 1 }, theme: 'dark', formatter: true };
    const { diagnostics } = await loadFolder({
      '.mcp.json': JSON.stringify({ mcpServers: { a: { command: 'x' } }, ...settings }),
    });
    expect(diagnostics).toMatchObject([
      { message: expect.stringContaining('"model", "permission", "agent", "theme", "formatter" are not settings') },
    ]);
  });

  test('what only an administrator writes is no guess', async () => {
    const { diagnostics } = await loadFolder({ '.mcp.json': '{"mcpServers":{},"model":"x"}' });
    expect(diagnostics).toMatchObject([{ remedy: expect.stringMatching(/^Remove it/) }]);
  });

  test('a description of the file, and an editor’s own settings beside the servers, are nobody’s mistake', async () => {
    const others = { name: 'a', description: 'b', version: '1', 'editor.fontSize': 12, '[python]': { a: 1 }, $id: 'c' };
    const loaded = await loadFolder({
      '.mcp.json': JSON.stringify({ mcpServers: {}, ...others, 'plexus.enabled': 1 }),
    });
    expect(loaded.diagnostics.map(({ message, remedy }) => [message, remedy])).toEqual([
      [
        '"plexus.enabled" is not a setting of a configuration file and without effect',
        'Write it as a map inside a map.',
      ],
    ]);
  });

  test('a thousand servers of a person’s own file are read and a hundred problems told; the rest is counted', async () => {
    const servers = Object.fromEntries(
      Array.from({ length: 1_200 }, (_, at) => [`s${at}`, at < 300 ? 1 : { command: 'x' }]),
    );
    const text = JSON.stringify({ servers });
    const { definitions, invalid, diagnostics } = await loadFolder({ 'home/.config/plexus/mcp.json': text });
    expect([definitions.length, invalid.length, diagnostics.length]).toEqual([700, 300, 101]);
    expect(diagnostics[0]?.message).toBe('"servers" holds 1200 servers, of which only the first 1000 are read');
    expect(diagnostics.at(-1)?.message).toBe('201 more problems in this file are not listed');
  });

  test('one set to null is one not set', async () => {
    expect(await said({ command: 'x', url: null, env: null })).toEqual([]);
    expect(await launchOf({ command: 'x', env: { A: null, B: 'b' } })).toMatchObject({ env: { B: 'b' } });
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

  test('one written twice in another program’s part of the file is its own affair', async () => {
    const { diagnostics } = await loadFolder({ '.mcp.json': '{ "servers": {}, "editor.a": {"b": 1, "b": 2} }' });
    expect(diagnostics).toEqual([]);
  });

  for (const name of ['__proto__', 'constructor', 'prototype', '', ' ', 'a\nb', 'a\u009bb', 'a'.repeat(101)]) {
    verifies('VAL-05', `a server cannot be called ${JSON.stringify(name)}`, async () => {
      const { definitions, invalid, diagnostics } = await loadFolder({
        '.mcp.json': `{"servers":{${JSON.stringify(name)}:{"command":"x"}}}`,
      });
      expect([definitions, invalid.length]).toEqual([[], 1]);
      expect(diagnostics).toMatchObject([{ severity: 'error', remedy: 'Give the server another name.' }]);
    });
  }

  for (const name of [
    ...['a', 'a'.repeat(100), 'A.b:c-d_e', 'two words', 'a__b', 'plugin:a:b'],
    ...['oraios/serena', 'Сontext7', 'Azure MCP Server (Support Mode)', '{project-name}'],
  ]) {
    verifies('VAL-05', `a server may be called ${JSON.stringify(name)}, as in real files`, async () => {
      const { definitions, diagnostics } = await loadFolder({
        '.mcp.json': JSON.stringify({ servers: { [name]: { command: 'x' } } }),
      });
      expect([definitions.map((each) => each.name), diagnostics]).toEqual([[name], []]);
    });
  }

  verifies('VAL-05', 'names that differ only in what a tool’s name cannot hold are two servers', async () => {
    const { definitions, shadowed } = await loadFolder({
      '.mcp.json': JSON.stringify({
        servers: { 'a.b': { command: 'x' }, a_b: { command: 'y' }, 'a b': { command: 'z' } },
      }),
    });
    expect([definitions.map((each) => each.name), shadowed]).toEqual([['a b', 'a.b', 'a_b'], []]);
  });

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
    expect(diagnostics.map(({ file, message }) => [file, message])).toEqual([
      ['.mcp.json', '"constructor" is not a setting of a server and without effect'],
      ['.mcp.json', '"env.__proto__" is not a name and was left out'],
    ]);
  });
});

describe('transports', () => {
  verifies('VAL-03', 'a command means stdio and a bare url means auto', async () => {
    expect(await launchOf({ command: 'x' })).toMatchObject({ kind: 'stdio' });
    expect(await launchOf({ url: 'https://a.example/sse' })).toMatchObject({ kind: 'auto' });
    expect(await launchOf({ url: 'wss://a.example' })).toMatchObject({ kind: 'ws' });
  });

  const words = {
    http: ['http', 'HTTP', 'streamable-http', 'streamableHttp', 'streamable_http', 'streamable', 'url'],
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
    for (const key of ['serverUrl', 'base_url', 'endpoint', 'uri'])
      expect(await launchOf({ [key]: 'http://a' })).toEqual({ kind: 'auto', url: 'http://a', headers: {} });
  });

  test('two words that contradict each other are an error', async () => {
    expect(await said({ type: 'sse', httpUrl: 'http://a' })).toEqual([
      'error: "type" and "httpUrl" mean the same, but say different things',
    ]);
    expect(await said({ command: 'x', enabled: true, disabled: true })).toHaveLength(1);
    expect(await said({ command: 'x', startupTimeoutMs: 2_000, startup_timeout_sec: 2 })).toEqual([]);
    expect(await said({ command: 'x', startupTimeoutMs: 2, startup_timeout_sec: 2 })).toHaveLength(1);
    expect(await said({ url: 'http://a', headers: { A: '1' }, http_headers: { B: '2', A: '1' } })).toEqual([]);
    expect(await said({ url: 'http://a', headers: { A: '1' }, httpHeaders: { A: '2' } })).toEqual([
      'error: "headers" and "httpHeaders" mean the same, but say different things',
    ]);
  });

  test('an address with a placeholder is not judged before it is filled in', async () => {
    for (const url of [`\${HOST}/mcp`, `https://\${input:host}/mcp`, `\${input:address}`])
      expect(await launchOf({ url })).toEqual({ kind: 'auto', url, headers: {} });
  });
});

describe('the words of others', () => {
  const remote = { url: 'http://a' };
  const local = { command: 'x' };
  const launches: Record<string, [entry: object, launch: object]> = {
    'program, cmd': [{ program: 'x', cmd: 'x' }, { command: 'x' }],
    'command as a list': [
      { command: ['x', '-y'], args: [1, true] },
      { command: 'x', args: ['-y', '1', 'true'] },
    ],
    'command as a line': [
      { command: `npx -y 'a b' --x="c d" e` },
      { command: 'npx', args: ['-y', 'a b', '--x=c d', 'e'] },
    ],
    'command as a line with an empty list of arguments': [
      { command: 'npx a', args: [] },
      { command: 'npx', args: ['a'] },
    ],
    'command with spaces and arguments': [
      { command: 'npx a', args: ['b'] },
      { command: 'npx a', args: ['b'] },
    ],
    'command that is a path with spaces': [{ command: '/opt/my tools/x' }, { command: '/opt/my tools/x', args: [] }],
    'command that is a path of Windows': [
      { command: 'C:\\Program Files\\x.exe' },
      { command: 'C:\\Program Files\\x.exe' },
    ],
    'command with an open quote': [{ command: `npx it's` }, { command: `npx it's`, args: [] }],
    'command as a map': [
      { command: { path: 'x', args: ['y'], env: { A: 'b' } } },
      { command: 'x', args: ['y'], env: { A: 'b' } },
    ],
    'transport as a map': [
      { transport: { type: 'stdio', command: 'x', args: ['y'] } },
      { kind: 'stdio', command: 'x', args: ['y'] },
    ],
    'transport as a map with an address': [
      { transport: { type: 'sse', url: 'http://a', headers: { A: 'b' } } },
      { kind: 'sse', url: 'http://a', headers: { A: 'b' } },
    ],
    arguments: [{ ...local, arguments: ['y'] }, { args: ['y'] }],
    'environment, envs': [{ ...local, environment: { A: 'b' }, envs: { A: 'b' } }, { env: { A: 'b' } }],
    working_directory: [{ ...local, working_directory: '/a' }, { cwd: '/a' }],
    http_headers: [{ ...remote, http_headers: { A: 'b' } }, { headers: { A: 'b' } }],
    requestInit: [{ ...remote, requestInit: { headers: { A: 'b' } } }, { headers: { A: 'b' } }],
    'requestInit without headers': [{ ...remote, requestInit: {} }, { headers: {} }],
    env_http_headers: [{ ...remote, env_http_headers: { A: 'B' } }, { headers: { A: `\${B}` } }],
    env_headers: [{ ...remote, env_headers: { A: 'B' } }, { headers: { A: `\${B}` } }],
    'bearerToken with a placeholder': [
      { ...remote, bearerToken: `\${B}` },
      { headers: { Authorization: `Bearer \${B}` } },
    ],
    'authorization_token with a placeholder': [
      { ...remote, authorization_token: `\${input:b}` },
      { headers: { Authorization: `Bearer \${input:b}` } },
    ],
    bearer_token_env: [{ ...remote, bearer_token_env: 'B' }, { bearerTokenEnvVar: 'B' }],
    'env for a remote server': [
      { ...remote, env: { A: 'b' } },
      { url: 'http://a', env: { A: 'b' } },
    ],
  };
  for (const [words, [entry, launch]] of Object.entries(launches)) {
    verifies('CFG-06', `${words} is understood`, async () => {
      const { definitions, diagnostics } = await loadEntry(entry);
      expect(diagnostics).toEqual([]);
      expect(definitions[0]?.launch).toMatchObject(launch);
    });
  }

  verifies('CFG-06', 'every key is read in both spellings, and every one of milliseconds in seconds too', async () => {
    const samples: Record<string, unknown> = {
      env: { A: 'b' },
      headers: { A: 'b' },
      args: ['a'],
      envAllow: ['A'],
      inheritEnv: ['A'],
      transport: 'http',
      enabled: false,
      enabledTools: ['a'],
      disabledTools: ['a'],
      command: 'y',
      url: 'https://y',
      proxy: 'off',
      oauth: { clientId: 'a' },
      lifecycle: 'lazy',
      required: true,
      perClient: true,
      share: 'machine',
      trustHints: true,
      reconnect: 'none',
      health: 'all',
      tools: { a: false },
      exposure: 'load',
      alwaysLoad: true,
      instructions: false,
      cacheable: false,
      subscriptions: true,
      logLevel: 'info',
      approval: 'prompt',
      elicitation: 'decline',
      parallel: false,
    };
    const remoteOnly = [
      'url',
      'headers',
      'headersHelper',
      'bearerTokenEnvVar',
      'oauth',
      'transport',
      'proxy',
      'caFile',
    ];
    const pairs: Record<string, object> = {
      certFile: { ...remote, keyFile: 'k' },
      keyFile: { ...remote, certFile: 'c' },
    };
    const definitionOf = async (base: object, key: string, value: unknown) => {
      const text = JSON.stringify({ mcpServers: { it: { ...base, [key]: value } } });
      const { definitions, diagnostics } = await loadFolder({ [USER.replace('.toml', '.json')]: text });
      expect([key, diagnostics]).toEqual([key, []]);
      return definitions[0];
    };
    for (const key of Object.keys(serverSchema.shape)) {
      const base = pairs[key] ?? (remoteOnly.includes(key) ? remote : local);
      const value = samples[key] ?? (/(Ms|Chars|Tokens|Bytes)$/.test(key) ? 7_000 : 'text');
      const said = await definitionOf(base, key, value);
      expect(said).not.toEqual(await definitionOf(pairs[key] ? remote : base, 'enabled', true));
      expect(await definitionOf(base, snakeCase(key), value)).toEqual(said);
      if (!key.endsWith('Ms')) continue;
      expect(await definitionOf(base, key.replace(/Ms$/, 'Sec'), 7)).toEqual(said);
      expect(await definitionOf(base, snakeCase(key.replace(/Ms$/, 'Sec')), 7)).toEqual(said);
    }
  });

  const settings: Record<string, [entry: object, setting: object]> = {
    include_tools: [{ includeTools: ['a'] }, { enabledTools: ['a'] }],
    'tools, as a list': [{ tools: ['a'] }, { enabledTools: ['a'] }],
    'tools, as a map': [{ tools: { a: { enabled: false } } }, { tools: { a: { enabled: false } } }],
    'tools, as a map of switches': [{ tools: { a: true } }, { tools: { a: { enabled: true } } }],
    'disabled, of a tool': [{ tools: { a: { disabled: true } } }, { tools: { a: { enabled: false } } }],
    'the settings of a tool in snake_case': [
      { tools: { a: { always_load: true, tool_timeout_sec: 1 } } },
      { tools: { a: { alwaysLoad: true, toolTimeoutMs: 1_000 } } },
    ],
    exclude_tools: [{ exclude_tools: ['a'] }, { disabledTools: ['a'] }],
    'timeout in seconds': [{ timeout: 9_999 }, { toolTimeoutMs: 9_999_000 }],
    'timeout in milliseconds': [{ timeout: 10_000 }, { toolTimeoutMs: 10_000 }],
    disabled: [{ disabled: true }, { enabled: false }],
    isActive: [{ isActive: false }, { enabled: false }],
  };
  for (const [words, [entry, setting]] of Object.entries(settings)) {
    verifies('CFG-06', `${words} is understood`, async () => {
      const { definitions, diagnostics } = await loadEntry({ ...local, ...entry });
      expect(diagnostics).toEqual([]);
      expect(definitions[0]?.settings).toMatchObject(setting);
    });
  }

  verifies('CFG-14', 'title, name and description are shown to people and change nothing else', async () => {
    const { definitions } = await loadEntry({ ...local, title: 'A', description: 'B' });
    expect(definitions[0]?.settings).toMatchObject({ title: 'A', description: 'B' });
    expect((await loadEntry({ ...local, name: 'A' })).definitions).toMatchObject([
      { name: 'it', settings: { title: 'A' } },
    ]);
    expect(await said({ ...local, title: 5 })).toEqual(['error: "title" must be a string, but is the number 5']);
  });

  test('what is wrong inside of the settings of a tool is told with its place', async () => {
    const text = JSON.stringify({
      mcpServers: {
        it: {
          command: 'x',
          tools: { a: { always_load: 1 }, 'b.c': { exposre: 'load' }, d: 5, constructor: { exposure: 'none' } },
        },
      },
    });
    const { definitions, diagnostics } = await loadFolder({ [USER.replace('.toml', '.json')]: text });
    expect(definitions).toEqual([]);
    expect(diagnostics.map(({ message, remedy }) => [message, remedy])).toEqual([
      ['"exposre" is not a setting of a tool and without effect', 'Did you mean "exposure"?'],
      ['"tools.a.always_load" must be true or false, but is the number 1', 'Write true or false there.'],
      [
        '"tools.d" must be true, false or a map of settings, but is the number 5',
        'Write true, false or a map of settings there.',
      ],
      [
        '"tools.constructor.exposure" must be "load", "defer" or "use_tool", but is the string "none"',
        'Write "load", "defer" or "use_tool" there.',
      ],
    ]);
  });

  test('a tool may be called like a part of every object, except for the one name that is no key', async () => {
    const text = '{"mcpServers":{"it":{"command":"x","tools":{"constructor":false,"__proto__":{"enabled":false}}}}}';
    const { definitions, diagnostics } = await loadFolder({ [USER.replace('.toml', '.json')]: text });
    expect(Object.entries(definitions[0]?.settings.tools ?? {})).toEqual([['constructor', { enabled: false }]]);
    expect(diagnostics.map(({ message }) => message)).toEqual(['"tools.__proto__" is not a name and was left out']);
  });

  test('tools with a star mean all of them', async () => {
    expect((await loadEntry({ ...local, tools: ['*'] })).definitions[0]?.settings).not.toHaveProperty('enabledTools');
  });

  test('env_vars of the person’s own file are given to the server', async () => {
    const { definitions } = await loadFolder({ [USER]: '[mcp_servers.a]\ncommand = "x"\nenv_vars = ["DISPLAY"]' });
    expect(definitions[0]?.launch).toMatchObject({ inheritEnv: ['DISPLAY'] });
  });

  test('a mistake inside of a nested map is told as well', async () => {
    expect(await said({ transport: { type: 'stdio', command: 'x', comand: 'y' } })).toEqual([
      'warning: "comand" is not a setting of a server and without effect',
    ]);
    expect(await said({ transport: { type: 'stdio' }, command: 'x', type: 'sse' })).toHaveLength(1);
  });
});

describe('a bearer token', () => {
  verifies('TRN-15', 'that stands in the file itself is refused, with what to write instead', async () => {
    const secret = 's3cret-token';
    for (const [key, named] of [
      ['bearer_token', 'bearer_token_env_var'],
      ['bearerToken', 'bearerTokenEnvVar'],
    ]) {
      const { definitions, diagnostics } = await loadEntry({ url: 'https://a', [key ?? '']: secret });
      expect(definitions).toEqual([]);
      expect(diagnostics.map(({ severity, message, remedy }) => [severity, message, remedy])).toEqual([
        [
          'error',
          `"${key}" is the token itself, which does not belong in a file`,
          `Put the token into an environment variable, and its name under "${named}".`,
        ],
      ]);
      expect(JSON.stringify(diagnostics)).not.toContain(secret);
    }
  });

  verifies('TRN-15', 'and other headers may come from variables that the entry names', async () => {
    const { definitions, diagnostics } = await loadEntry({
      url: 'https://a',
      bearer_token_env_var: 'TOKEN',
      env_headers: { 'X-Key': 'KEY' },
    });
    expect(diagnostics).toEqual([]);
    expect(definitions[0]?.launch).toMatchObject({
      bearerTokenEnvVar: 'TOKEN',
      headers: { 'X-Key': `\${KEY}` },
    });
  });
});

describe('the way to a remote server', () => {
  const own = (entry: object) =>
    loadFolder({
      [USER.replace('.toml', '.json')]: JSON.stringify({ mcpServers: { it: { url: 'https://a', ...entry } } }),
    });

  test('may lead through a proxy, or expressly through none', async () => {
    for (const proxy of ['http://proxy.example:8080', 'HTTPS://u:p@proxy.example', 'off', `\${PROXY}`]) {
      const { definitions, diagnostics } = await own({ proxy });
      expect([definitions[0]?.launch, diagnostics]).toMatchObject([{ proxy }, []]);
    }
  });

  test('cannot lead through what is no proxy, and nothing of it is shown', async () => {
    for (const proxy of ['proxy.example:8080', 'socks5://user:s3cret@proxy', 'none', 'http://']) {
      expect(messagesOf(await own({ proxy }))).toEqual([
        'error: "proxy" must be "off" or an address that begins with http:// or https://',
      ]);
    }
    expect(messagesOf(await own({ proxy: 5 }))).toEqual(['error: "proxy" must be a string, but is a number']);
  });

  test('needs a certificate and its key together', async () => {
    expect(messagesOf(await own({ certFile: 'a' }))).toEqual(['error: "certFile" needs "keyFile", which is not set']);
    expect(messagesOf(await own({ key_file: 'a' }))).toEqual(['error: "keyFile" needs "certFile", which is not set']);
  });
});

describe('how many servers are opened at once', () => {
  test('is a whole number above 0, for local ones and for remote ones', async () => {
    const file = (text: string) => loadFolder({ [USER]: `[plexus.connect_concurrency]\n${text}` });
    expect((await file('stdio = 9')).settings.connectConcurrency).toEqual({ stdio: 9, remote: 20 });
    const wrong = await file('stdio = 0\nremote = 1.5');
    expect(wrong.settings.connectConcurrency).toEqual({ stdio: 3, remote: 20 });
    expect(messagesOf(wrong)).toEqual([
      'error: "stdio" must be a whole number above 0, but is the number 0',
      'error: "remote" must be a whole number above 0, but is the number 1.5',
    ]);
    expect(messagesOf(await loadFolder({ [USER]: '[plexus]\ngateway = "yes"' }))).toEqual([
      'error: "gateway" must be "auto", "on" or "off", but is the string "yes"',
    ]);
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

  verifies('VAL-06', 'however short in seconds, it is not 0, which would mean no limit', async () => {
    const { definitions } = await loadEntry({ command: 'x', toolTimeoutSec: 0.0001, startupTimeoutSec: 0 });
    expect(definitions[0]?.settings).toMatchObject({ toolTimeoutMs: 1, startupTimeoutMs: 0 });
  });

  verifies('VAL-06', 'a wrong one is quoted as it is written', async () => {
    expect(await said({ command: 'x', startup_timeout_sec: -1 })).toEqual([
      'error: "startup_timeout_sec" must be a number, 0 or more, but is the number -1',
    ]);
    expect(await said({ command: 'x', timeout: -1 })).toHaveLength(1);
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

verifies(
  'VAL-01',
  'the JSON Schema names every key with its meaning in both spellings, and allows $schema',
  async () => {
    type Schema = { properties: Record<string, Schema>; additionalProperties: Schema; description: string };
    const schema = jsonSchema() as unknown as Schema;
    expect(Object.keys(schema.properties).sort()).toEqual(
      ['$schema', 'inputs', 'mcpServers', 'mcp_servers', 'mode', 'permissions', 'plexus', 'security', 'servers'].sort(),
    );
    const described = (part: Schema): boolean =>
      Object.values(part.properties).every((each) => each.description.length > 10);
    const server = schema.properties['mcpServers']?.additionalProperties;
    expect([server, schema, schema.properties['plexus']].every((each) => each !== undefined && described(each))).toBe(
      true,
    );
    expect(server?.properties).toMatchObject({
      startupTimeoutMs: {},
      startup_timeout_ms: {},
      command: { anyOf: [{ type: 'string' }, { type: 'array' }] },
    });
    const { diagnostics } = await loadFolder({
      '.mcp.json': '{"$schema":"https://plexus.example/schema.json","mcpServers":{}}',
    });
    expect(diagnostics).toEqual([]);
  },
);

test('two files whose numbers differ only beyond what a number can hold are two', async () => {
  const folder = await createFolder({ a: '', b: 'x' });
  const { fstatSync } = fs;
  const counted = (opened: number, options: { bigint: true }): BigIntStats => {
    const found = fstatSync(opened, options);
    return Object.assign(found, { dev: 1n, ino: 2n ** 53n + BigInt(found.size) });
  };
  const spy = vi.spyOn(fs, 'fstatSync').mockImplementation(counted as unknown as typeof fstatSync);
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  expect(await Promise.all(['a', 'b'].map((name) => readText(join(folder, name))))).toEqual([
    { kind: 'text', text: '', identity: '1:9007199254740992' },
    { kind: 'text', text: 'x', identity: '1:9007199254740993' },
  ]);
});
