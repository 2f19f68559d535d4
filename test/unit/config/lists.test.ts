// Owns the proof that the lists of servers refuse exactly the servers they should, by name, command or address: allowing is
// strict, denying is broad, and renaming a server changes nothing.

import { describe, expect, test } from 'vitest';
import { type ListedServers, refusalOf } from '../../../src/config/lists.ts';
import type { Launch } from '../../../src/model/server.ts';
import { verifies } from '../../verifies.ts';
import { loadFolder, servers, USER } from './folder.ts';

type Listed = ListedServers['allowlist'][number];

const stdio = (command: string, ...args: string[]): Launch => ({
  kind: 'stdio',
  command,
  args,
  env: {},
  inheritEnv: 'safe',
});
const remote = (url: string): Launch => ({ kind: 'auto', url, headers: {} });
const isAllowed = (listed: Listed, launch: Launch, name = 'it') =>
  refusalOf([{ allowlist: [listed], denylist: [] }], { name, launch }) === undefined;
const isDenied = (listed: Listed, launch: Launch, name = 'it') =>
  refusalOf([{ allowlist: [], denylist: [listed] }], { name, launch }) !== undefined;

describe('the lists of the files', () => {
  const three = servers('a', 'b', 'c');
  const enabled = async (files: Record<string, string>, options = {}) => {
    const { definitions, diagnostics, refused } = await loadFolder(files, options);
    return {
      enabled: definitions.filter(({ settings }) => settings.enabled).map(({ name }) => name),
      denied: diagnostics
        .filter(({ code }) => code === 'SERVER_DENIED')
        .map(({ server, message }) => [server, message]),
      refused: [...refused.keys()],
    };
  };

  verifies('TRU-03', 'when one allows by name, the others are switched off and told so', async () => {
    expect(await enabled({ '.mcp.toml': `${three}[security]\nmcp_server_allowlist = ["a"]` })).toEqual({
      enabled: ['a'],
      denied: [
        ['b', 'server "b" is not used, because mcp_server_allowlist does not name it'],
        ['c', 'server "c" is not used, because mcp_server_allowlist does not name it'],
      ],
      refused: ['b', 'c'],
    });
  });

  verifies(['TRU-03', 'TRU-04'], 'a deny wins over every allow, and no file loosens the list of another', async () => {
    expect(
      await enabled({
        '.mcp.toml': `${three}[security]\nmcp_server_allowlist = ["a", "b", "c"]`,
        [USER]: '[security]\nmcp_server_allowlist = ["a", "b"]\nmcp_server_denylist = ["b"]',
      }),
    ).toEqual({
      enabled: ['a'],
      denied: [
        ['b', 'server "b" is not used, because mcp_server_denylist names it'],
        ['c', 'server "c" is not used, because mcp_server_allowlist does not name it'],
      ],
      refused: ['b', 'c'],
    });
  });

  verifies(
    ['TRU-03', 'TRU-04'],
    'count for servers of every scope, given in code and switched on by a list',
    async () => {
      const files = {
        [USER]: `${servers('b')}[plexus]\nenabled_servers = ["b", "code"]\n[security]\nmcp_server_denylist = ["code", "plugin:*", "b"]`,
        'home/.config/plexus/plugins/p/plugin.json': '{"mcpServers":{"s":{"command":"y"}}}',
      };
      expect(await enabled(files, { servers: { code: { command: 'x' }, inside: { serve: () => undefined } } })).toEqual(
        {
          enabled: ['inside'],
          denied: expect.anything(),
          refused: ['b', 'code', 'plugin:p:s'],
        },
      );
    },
  );

  verifies('TRU-04', 'the denial names what was denied, not the secret in it', async () => {
    const loaded = await loadFolder({
      '.mcp.toml': `${servers('a')}[mcp_servers.b]\nurl = "https://b.example/mcp?key=sk-1"\n`,
      [USER]: '[security]\nmcp_server_denylist = [{ command = ["a"] }, { url = "https://b.example" }]',
    });
    expect([...loaded.refused]).toEqual([
      ['a', expect.stringMatching(/^mcp_server_denylist names the command a \(in .*mcp\.toml\)$/)],
      ['b', expect.stringMatching(/^mcp_server_denylist names the address https:\/\/b\.example \(in .*mcp\.toml\)$/)],
    ]);
  });

  test('the words of other agents mean the same', async () => {
    const lists =
      'mcp_server_denylist = [{ serverName = "a" }, { serverCommand = ["b"] }, { serverUrl = "https://c" }]';
    const { enabled: left } = await enabled({
      '.mcp.toml': `${servers('a', 'b', 'd')}[mcp_servers.c]\nurl = "https://c/mcp"\n[security]\n${lists}`,
    });
    expect(left).toEqual(['d']);
  });

  test('what can be read of a wrong list counts, and the rest is told', async () => {
    const { definitions, diagnostics } = await loadFolder({
      '.mcp.toml': `${three}[security]\nmcp_server_allowlist = "a"\nmcp_server_denylist = ["b", 5]`,
    });
    expect(definitions.map(({ settings }) => settings.enabled)).toEqual([true, false, false]);
    expect(diagnostics.slice(0, 1).map(({ severity, line, message }) => [severity, line, message])).toEqual([
      [
        'error',
        9,
        '"security.mcp_server_denylist[1]" must be a name, an address, or a map with "name", "command" or "url", but is the number 5',
      ],
    ]);
  });

  for (const line of [
    '5',
    '[5]',
    '[""]',
    '[{}]',
    '[{ command = [] }]',
    '[{ name = "a", host = "x" }]',
    '[["a", 5], ""]',
  ]) {
    verifies(
      'TRU-03',
      `an allow list of ${line} that cannot be read allows nothing, instead of everything`,
      async () => {
        const { definitions, diagnostics } = await loadFolder({
          '.mcp.toml': `${servers('b')}[security]\nmcp_server_allowlist = ${line}`,
        });
        expect(definitions.map(({ settings }) => settings.enabled)).toEqual([false]);
        expect(diagnostics[0]).toMatchObject({ severity: 'error', line: 4 });
      },
    );
  }

  test('an empty allow list allows everything', async () => {
    expect((await enabled({ '.mcp.toml': `${three}[security]\nmcp_server_allowlist = []` })).enabled).toHaveLength(3);
  });

  for (const [lines, left, said] of [
    [10_000, ['a', 'toString'], []],
    [10_001, [], ['"security.mcpServerDenylist" has 10001 lines, of which 10000 can be read, so no server is used']],
  ] as const) {
    test(`a deny list of ${lines} lines, with names that objects inherit, denies no less than it says`, async () => {
      const names = Array.from({ length: lines - 2 }, (_, at) => `n${at}`);
      const { definitions, diagnostics } = await loadFolder({
        '.mcp.json': JSON.stringify({
          servers: { a: { command: 'x' }, toString: { command: 'y' } },
          security: { mcpServerDenylist: ['__proto__', 'constructor', ...names] },
        }),
      });
      expect(definitions.filter(({ settings }) => settings.enabled).map(({ name }) => name)).toEqual(left);
      expect(diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message)).toEqual(said);
    });
  }

  test('an allow list that is too long allows what could be read of it, and nothing else', async () => {
    const { definitions, diagnostics } = await loadFolder({
      '.mcp.json': JSON.stringify({
        servers: { a: { command: 'x' }, b: { command: 'y' } },
        security: { mcpServerAllowlist: ['a', ...Array.from({ length: 10_000 }, (_, at) => `n${at}`), 'b'] },
      }),
    });
    expect(definitions.map(({ settings }) => settings.enabled)).toEqual([true, false]);
    expect(diagnostics[0]?.message).toMatch(/so the rest allows nothing$/);
  });
});

describe('a name', () => {
  verifies('TRU-03', 'may hold wildcards, and capital letters count', () => {
    for (const [listed, name, expected] of [
      ['it', 'it', true],
      ['it', 'It', false],
      ['git*', 'github', true],
      ['git*', 'a-github', false],
      ['a?c', 'abc', true],
      ['*', 'anything', true],
    ] as const) {
      expect([listed, name, isAllowed(listed, stdio('x'), name)]).toEqual([listed, name, expected]);
      expect([listed, name, isAllowed({ name: listed }, remote('https://x'), name)]).toEqual([listed, name, expected]);
      expect([listed, name, isDenied(listed, stdio('x'), name)]).toEqual([listed, name, expected]);
    }
  });

  verifies('TRU-03', 'and what else a line says must all fit', () => {
    const listed = { name: 'it', command: 'npx' };
    expect(isAllowed(listed, stdio('npx'))).toBe(true);
    expect(isAllowed(listed, stdio('npx'), 'other')).toBe(false);
    expect(isAllowed(listed, stdio('node'))).toBe(false);
    expect(isAllowed({ command: 'npx', url: 'https://x' }, stdio('npx'))).toBe(false);
  });
});

describe('a list that is too long for every server', () => {
  const lines = (count: number, line: (at: number) => Listed) => Array.from({ length: count }, (_, at) => line(at));
  const hard: Record<string, (at: number) => Listed> = {
    'names with wildcards': (at) => `*a*${at}*b`,
    'addresses with wildcards': (at) => `https://*.a*${at}.example/*/x`,
    'paths of one host': (at) => `https://a.example/${'a/'.repeat(200)}${at}`,
    'exact commands': (at) => ({ command: ['npx', ...'abcdefgh', `${at}`] }),
    names: (at) => `n${at}`,
  };
  for (const [what, line] of Object.entries(hard)) {
    verifies('TRU-04', `does not hold up the start: ${what}`, () => {
      const all = lines(10_000, line);
      const lists = [all, all.slice(0, 2_000)].map((denylist) => ({ allowlist: ['nobody'], denylist }));
      const before = process.cpuUsage();
      for (let at = 0; at < 1_000; at++) {
        const name = `${'a'.repeat(40)}${at}`;
        for (const launch of [stdio('npx', ...'abcdefgh', 'x'), remote(`https://x.a.example/${'a/'.repeat(200)}`)])
          expect(lists.map((list) => typeof refusalOf([list], { name, launch }))).toEqual(['string', 'string']);
      }
      expect(process.cpuUsage(before).user / 1_000, 'milliseconds').toBeLessThan(20_000);
    });
  }

  verifies('TRU-04', 'denies, and says why; what it names exactly is still told apart', () => {
    const denylist = [...lines(9_999, (at) => `*x${at}*`), 'it'];
    expect(
      ['it', 'other'].map((name) => refusalOf([{ allowlist: [], denylist }], { name, launch: stdio('y') })),
    ).toEqual(['mcp_server_denylist names it', 'mcp_server_denylist is too long to be held against every server']);
  });

  verifies('TRU-03', 'allows what it names exactly, and nothing else', () => {
    const allowlist = [...lines(9_998, (at) => `*x${at}*`), 'it', 'oth*'];
    expect(
      ['it', 'other'].map((name) => refusalOf([{ allowlist, denylist: [] }], { name, launch: stdio('y') })),
    ).toEqual([undefined, 'mcp_server_allowlist is too long to be held against every server']);
  });

  test('may have ten thousand plain lines and a thousand with wildcards', () => {
    const plain = lines(9_000, (at) => ({ command: ['npx', '-y', `p${at}`] }));
    const list = { allowlist: [], denylist: [...plain, ...lines(1_000, (at) => `https://*.bad${at}.example`)] };
    expect(refusalOf([list], { name: 'plugin:p:it', launch: stdio('npx', '-y', 'good') })).toBeUndefined();
    expect(refusalOf([list], { name: 'it', launch: stdio('npx', '-y', 'p8999') })).toMatch(/names the command/);
    expect(refusalOf([list], { name: 'it', launch: remote('https://x.bad999.example') })).toMatch(/names the address/);
    const open = { name: 'it', launch: stdio('npx', '-y', `\${X}`) };
    expect(refusalOf([{ allowlist: plain, denylist: [] }], open)).toBeUndefined();
  });
});

describe('the name of a plugin', () => {
  verifies('TRU-04', 'with colons hides no server from a deny', () => {
    for (const [listed, name, denied] of [
      ['x', 'plugin:a:x', true],
      ['x', 'plugin:a:b:x', true],
      ['b:x', 'plugin:a:b:x', true],
      ['c:x', 'plugin:a:b:c:x', true],
      ['x*', 'plugin:a:b:x1', true],
      ['a', 'plugin:a:x', false],
      ['x', 'a:x', false],
    ] as const) {
      expect([listed, name, isDenied(listed, stdio('y'), name)]).toEqual([listed, name, denied]);
      expect([listed, name, isAllowed(listed, stdio('y'), name)]).toEqual([listed, name, false]);
    }
  });
});

describe('a command inside another', () => {
  const wrapped: Record<string, Launch> = {
    'of env': stdio('env', 'npx', '-y', 'x'),
    'of env with variables and options': stdio('/usr/bin/env', '-i', '-u', 'B', 'A=b', 'npx', '-y', 'x'),
    'of env that divides a line': stdio('env', '-S', 'A=b npx -y', 'x'),
    'of env in one word': stdio('env', '-Snpx -y x'),
    'of env in env': stdio('env', 'env', 'env', 'npx', '-y', 'x'),
    'of cmd': stdio('cmd', '/c', 'npx', '-y', 'x'),
    'of cmd with more options': stdio('C:\\Windows\\System32\\CMD.EXE', '/d', '/s', '/C', 'npx.cmd -y x'),
    'of cmd, with escapes': stdio('cmd', '/c', 'n^px -y x'),
    'of sh': stdio('sh', '-c', 'npx -y x'),
    'of bash at login': stdio('/bin/bash', '-lc', 'cd /tmp && exec npx -y "x"'),
    'of a shell, with quotes and escapes': stdio('bash', '-o', 'pipefail', '-c', "A='b c' n\\p'x' -y x; echo"),
    'of a shell in env': stdio('env', 'sh', '-c', 'npx -y x'),
    'of a shell in a shell': stdio('sh', '-c', 'sh -c "npx -y x"'),
  };
  for (const [what, launch] of Object.entries(wrapped)) {
    verifies(['TRU-03', 'TRU-04'], `is denied and not allowed: ${what}`, () => {
      for (const command of ['npx', ['npx', '-y', 'x'], 'npx -y x'])
        expect([isDenied({ command }, launch), isAllowed({ command }, launch)]).toEqual([true, false]);
      expect(isDenied({ command: 'node' }, launch)).toBe(false);
    });
  }

  test('is not one that is only spoken of', () => {
    for (const launch of [
      stdio('sh', '-c', "echo 'a; npx x'"),
      stdio('sh', 'npx'),
      stdio('env', 'A=npx', 'x'),
      stdio('env'),
      stdio('cmd', 'npx'),
      stdio('sh', '-c'),
    ])
      expect(isDenied({ command: 'npx' }, launch)).toBe(false);
  });

  test('costs no time, however deep it hides', () => {
    const before = process.cpuUsage();
    for (const launch of [
      stdio('env', ...Array.from({ length: 100_000 }, () => '-S')),
      stdio('env', ...Array.from({ length: 100_000 }, () => 'env')),
      stdio('sh', '-c', 'a;'.repeat(1_000_000)),
      stdio('sh', '-c', `"${'\\"'.repeat(1_000_000)}`),
    ])
      expect(isDenied({ command: 'npx' }, launch)).toBe(false);
    expect(process.cpuUsage(before).user / 1_000, 'milliseconds').toBeLessThan(8_000);
  });
});

describe('a command', () => {
  const cases: Record<string, [listed: string | string[], launch: Launch, allowed: boolean, denied: boolean]> = {
    'is the program with any arguments': ['npx', stdio('npx', '-y', 'x'), true, true],
    'is another program': ['npx', stdio('node', 'npx'), false, false],
    'is known by its bare name only to a deny': ['npx', stdio('/tmp/npx', 'x'), false, true],
    'is known without its ending and in any case only to a deny': ['npx', stdio('C:\\x\\NPX.CMD'), false, true],
    'is the exact line as a list': [['npx', '-y', 'x'], stdio('npx', '-y', 'x'), true, true],
    'is the exact line as a text': ['npx -y x', stdio('npx', '-y', 'x'), true, true],
    'is a line with one more argument': [['npx', '-y', 'x'], stdio('npx', '-y', 'x', 'y'), false, false],
    'is a line with one argument less': [['npx', '-y', 'x'], stdio('npx', '-y'), false, false],
    'is a line with another argument': ['npx -y x', stdio('npx', '-y', 'y'), false, false],
    'is a list of the program alone, so without arguments': [['npx'], stdio('npx', 'x'), false, false],
    'has an argument that only looks like two': ['npx a b', stdio('npx', 'a b'), false, false],
    'is a path with spaces': ['/opt/my tools/x', stdio('/opt/my tools/x', 'y'), true, true],
    'is not an address': ['npx', remote('https://npx'), false, false],
    'is not code of the host': ['npx', { kind: 'in-process', serve: () => undefined }, false, false],
  };
  for (const [sentence, [command, launch, allowed, denied]] of Object.entries(cases)) {
    verifies(['TRU-03', 'TRU-04'], `${sentence}`, () => {
      expect([isAllowed({ command }, launch), isDenied({ command }, launch)]).toEqual([allowed, denied]);
    });
  }

  verifies('TRU-04', 'is denied whatever its server is called', () => {
    for (const name of ['it', 'other', 'npx', 'plugin:p:it'])
      expect(isDenied({ command: 'npx' }, stdio('npx', 'x'), name)).toBe(true);
  });

  verifies('TRU-04', 'written as one line is the same as one with arguments', async () => {
    const { refused } = await loadFolder({
      '.mcp.json': '{"servers":{"a":{"command":"npx -y x"}},"security":{"mcpServerDenylist":[{"command":"npx"}]}}',
    });
    expect([...refused.keys()]).toEqual(['a']);
  });

  test('with placeholders is undecided where they stand, and decided when it is opened', () => {
    const open = `\${X}`;
    expect(isAllowed({ command: 'npx' }, stdio(open))).toBe(true);
    expect(isDenied({ command: 'npx' }, stdio(open))).toBe(false);
    expect(isAllowed({ command: ['npx', 'x'] }, stdio('npx', open))).toBe(true);
    expect(isAllowed({ command: ['npx', 'x'] }, stdio('npx', `\${input:x}`))).toBe(true);
    expect(isAllowed({ command: 'npx' }, stdio('node', open))).toBe(false);
    expect(isDenied({ command: 'npx' }, stdio('npx', open))).toBe(true);
  });
});

describe('an address', () => {
  const cases: Record<string, [listed: string, url: string, allowed: boolean, denied: boolean]> = {
    'covers itself': ['https://a.example/mcp', 'https://a.example/mcp', true, true],
    'covers what lies below it': ['https://a.example/mcp', 'https://a.example/mcp/x?y=z', true, true],
    'covers itself with a query': ['https://a.example/mcp', 'https://a.example/mcp?y', true, true],
    'with a slash at its end covers itself without': ['https://a.example/mcp/', 'https://a.example/mcp', true, true],
    'as an origin covers every path': ['https://a.example', 'https://a.example/x/y', true, true],
    'ends at a boundary of the path': ['https://a.example/mcp', 'https://a.example/mcp-evil', false, false],
    'ends at a boundary of the host': ['https://a.example', 'https://a.example.evil', false, false],
    'does not take a path for a host': ['https://*.a.example', 'https://evil/x.a.example', false, false],
    'does not take a name of a user for a host': ['https://a.example', 'https://a.example@evil/', false, false],
    'is found behind the name of a user': ['https://a.example', 'https://me:secret@a.example/', true, true],
    'may have a name of a user itself': ['https://me@a.example', 'https://a.example/', true, true],
    'may have wildcards in its host': ['https://*.a.example', 'https://x.y.a.example/mcp', true, true],
    'with a wildcard before a dot needs that dot': ['https://*.a.example', 'https://a.example/', false, false],
    'may have wildcards in its path': ['https://a.example/*/mcp', 'https://a.example/x/mcp', true, true],
    'with a wildcard is the whole path': ['https://a.example/*/mcp', 'https://a.example/x/mcp/y', false, false],
    'has its host in any case': ['https://A.Example', 'https://a.EXAMPLE/', true, true],
    'has its path in any case only for a deny': ['https://a.example/MCP', 'https://a.example/mcp', false, true],
    'has its host with or without a dot at the end': ['https://a.example', 'https://a.example./', true, true],
    'has its host in any alphabet': ['https://münchen.example', 'https://xn--mnchen-3ya.example/', true, true],
    'has its host in any notation of numbers': ['http://127.0.0.1', 'http://127.1/', true, true],
    'has its host in brackets': ['http://[::1]:80', 'http://[::1]/', true, true],
    'is the same with ordinary characters as numbers': ['https://a.example/mcp', 'https://a.example/%6dcp', true, true],
    'is not the same with a slash as a number': ['https://a.example/a/b', 'https://a.example/a%2Fb', false, false],
    'is another with another port, but for a deny': ['https://a.example', 'https://a.example:8443/', false, true],
    'is another with the port of another scheme': ['https://a.example', 'https://a.example:80/', false, true],
    'has the port it names': ['https://a.example:8443', 'https://a.example:8443/', true, true],
    'has no other port than it names': ['https://a.example:8443', 'https://a.example/', false, false],
    'may name the port that goes without saying': ['https://a.example:443', 'https://a.example/', true, true],
    'may have any port': ['https://a.example:*', 'https://a.example:8443/', true, true],
    'has the scheme it names, but for a deny': ['https://a.example', 'http://a.example/', false, true],
    'of a socket has its own scheme, but for a deny': ['https://a.example', 'wss://a.example/', false, true],
    'may have any scheme': ['*://a.example', 'wss://a.example/', true, true],
    'is not a command': ['https://a.example', 'https://b.example/', false, false],
    'with more slashes is another, but for a deny': ['https://a.example/x/y', 'https://a.example//x///y', false, true],
    'may have more slashes itself': ['https://a.example//x', 'https://a.example/x', false, true],
    'with a wildcard between slashes keeps what it had': ['https://a.example/*/x', 'https://a.example//x', true, true],
    'with dots behind its host is another, but for a deny': ['https://a.example', 'https://a.example../', false, true],
    'may have dots behind its host itself': ['https://a.example...', 'https://a.example/', false, true],
  };
  for (const [sentence, [listed, url, allowed, denied]] of Object.entries(cases)) {
    verifies(['TRU-03', 'TRU-04'], `${sentence}: ${listed} and ${url}`, () => {
      for (const each of [listed, { url: listed }])
        expect([isAllowed(each, remote(url)), isDenied(each, remote(url))]).toEqual([allowed, denied]);
    });
  }

  verifies(['TRU-03', 'TRU-04'], 'without a scheme has any, when it is said to be an address', () => {
    expect(isDenied({ url: 'a.example' }, remote('https://a.example/mcp'))).toBe(true);
    expect(isDenied({ url: 'a.example/x' }, remote('https://a.example/mcp'))).toBe(false);
    expect(isAllowed({ url: 'a.example' }, remote('https://a.example/mcp'))).toBe(true);
    expect(isDenied({ url: '*' }, remote('http://anything:1/'))).toBe(true);
    expect(isDenied('a.example', remote('https://a.example/mcp'))).toBe(false);
  });

  verifies('TRU-04', 'is denied whatever its server is called', () => {
    for (const name of ['it', 'a.example', 'plugin:p:it'])
      expect(isDenied('https://a.example', remote('https://a.example'), name)).toBe(true);
  });

  test('that is filled in is decided, also when what was filled in looks like a placeholder', () => {
    const lists = [{ allowlist: ['https://a.example', { command: 'npx' }], denylist: [] }];
    for (const launch of [remote(`https://b.example/\${X}`), stdio('node', `\${X}`), stdio(`\${X}`)]) {
      expect(refusalOf(lists, { name: 'it', launch, isFilled: true })).toBe('mcp_server_allowlist does not name it');
    }
  });

  test('with placeholders is undecided until it is opened', () => {
    for (const url of [`https://\${HOST}/mcp`, `https://\${input:host}/mcp`, `\${URL}`]) {
      expect(isAllowed('https://a.example', remote(url))).toBe(true);
      expect(isDenied('https://a.example', remote(url))).toBe(false);
    }
  });

  test('covers no local server, and no code of the host', () => {
    for (const launch of [stdio('https://a.example'), { kind: 'in-process', serve: () => undefined } as const]) {
      expect(isAllowed('https://a.example', launch)).toBe(false);
      expect(isDenied('https://a.example', launch)).toBe(false);
    }
  });
});
