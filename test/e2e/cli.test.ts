// Owns the proof that the command line answers, explains and exits as product.md says. Signals, pipes and warnings of the process
// are checked with the built program, the rest in this process.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { printable } from '../../src/cli/render/text.ts';
import { faulty } from '../servers/faulty.ts';
import { eventually, isRunning, pidsIn } from '../servers/processes.ts';
import { verifies } from '../verifies.ts';
import { Sandbox } from './plexus.ts';

let box: Sandbox;

beforeEach(() => {
  box = new Sandbox();
  // A new machine: Plexus has never written anything there.
  rmSync(box.home, { recursive: true });
});
afterEach(() => box.remove());

const plexus = (...args: readonly string[]) => box.run(args);
const fleet = (servers: unknown) => ['--config', box.write('fleet.json', { mcpServers: servers })];

test('help and version answer without a configuration, and an unknown word is a usage error with a suggestion', async () => {
  const [help, none, version, typo, option] = await Promise.all([
    plexus('--help'),
    plexus(),
    plexus('--version'),
    plexus('lst'),
    plexus('list', '--nope'),
  ]);
  expect([help.code, none.code, version.code, typo.code, option.code]).toEqual([0, 1, 0, 1, 1]);
  expect(help.out).toContain('plexus <command>');
  expect(version.out).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(typo.err).toContain('did you mean "list"');
  expect(option.err).toContain('--nope');
});

test('list says in words why each server is not ready, and exits with 0 because it could list', async () => {
  const flags = fleet({
    well: faulty(),
    missing: { command: 'plexus-no-such' },
    dies: faulty('--fault=exit', '--at=open'),
    off: { ...faulty(), enabled: false },
  });
  const { code, out, err } = await plexus('list', ...flags);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(/^well +connected +stdio +host +9 +now$/m);
  expect(out).toMatch(/^off +disabled/m);
  expect(out).toContain('the command was not found');
  expect(out).toContain('exited with code 3');
  expect(out).toMatch(/SPAWN_FAILED/);
});

test('with --json there is one document on stdout and nothing else', async () => {
  const flags = fleet({ well: faulty() });
  const [listed, tools, called] = await Promise.all([
    plexus('list', '--json', ...flags),
    plexus('tools', 'well', '--json', ...flags),
    plexus('call', 'well', 'add', 'a=1', 'b=2', '--json', ...flags),
  ]);
  expect(JSON.parse(listed.out)).toMatchObject({
    servers: [{ name: 'well', status: 'connected', toolCount: 9 }],
    diagnostics: [],
  });
  expect(JSON.parse(tools.out).tools[0]).toMatchObject({
    name: 'mcp__well__add',
    server: 'well',
    tool: 'add',
    inputSchema: { type: 'object' },
  });
  expect(JSON.parse(called.out)).toMatchObject({
    content: [{ type: 'text', text: '3' }],
    isError: false,
    meta: { server: 'well', tool: 'add' },
  });
});

verifies(
  ['CAL-02', 'CAL-03'],
  'call takes arguments as words, as JSON, from a file and from standard input, and prints the content alone',
  async () => {
    const flags = fleet({ well: faulty() });
    box.write('args.json', { a: 20, b: 22 });
    const results = await Promise.all([
      plexus('call', 'well', 'echo', 'text=4', ...flags),
      plexus('call', 'mcp__well__echo', 'text=qualified', ...flags),
      plexus('call', 'well', 'add', 'a:=1', '--args', '{"b": 2}', ...flags),
      plexus('call', 'well', 'add', '--args', '@args.json', ...flags),
      box.run(['call', 'well', 'add', '--args', '-', ...flags], { input: '{"a":3,"b":4}' }),
    ]);
    expect(results.map(({ code, out }) => [code, out])).toEqual([
      [0, '4\n'],
      [0, 'qualified\n'],
      [0, '3\n'],
      [0, '42\n'],
      [0, '7\n'],
    ]);
  },
);

verifies(['CAL-01', 'CAL-11'], 'each way to fail has its exit code, its sentence and its next step', async () => {
  const flags = fleet({
    well: faulty(),
    missing: { command: 'plexus-no-such' },
    dies: faulty('--fault=exit', '--at=open', '--fault=stderr', '--bytes=30'),
    slow: { ...faulty('--fault=hang', '--at=initialize', '--after=1'), startupTimeoutMs: 300 },
  });
  const cases: Record<string, [readonly string[], number, RegExp]> = {
    'unknown server': [['call', 'wel', 'echo'], 2, /no server "wel".*Did you mean well.*plexus list/s],
    'unknown tool': [['call', 'well', 'ecko'], 2, /no tool "ecko".*Did you mean echo/s],
    'unknown qualified name': [['call', 'mcp__well__ecko'], 2, /Did you mean mcp__well__echo/],
    'wrong arguments': [['call', 'well', 'add', 'a=x', 'b=1'], 1, /"a" must be of type number/],
    'missing argument': [['call', 'well', 'echo'], 1, /"text" is missing/],
    'not an argument': [
      ['call', 'well', 'echo', 'text', 'oops'],
      1,
      /"text oops" is not an argument. Write: text=oops/,
    ],
    'nothing to write': [['call', 'well', 'fail', 'oops'], 1, /"oops" is not an argument; write key=value/],
    'broken --args': [['call', 'well', 'echo', '--args', '{'], 1, /--args is not valid JSON/],
    'missing command': [['call', 'missing', 'x'], 4, /command was not found.*Install/s],
    'exits at once': [['call', 'dies', 'x'], 4, /exited with code 3.*stderr/s],
    'never answers': [['call', 'slow', 'x'], 4, /did not become ready within 300 ms/],
    'tool error': [['call', 'well', 'fail'], 5, /^$/],
  };
  for (const [name, [words, code, sentence]] of Object.entries(cases)) {
    const ran = await plexus(...words, ...flags);
    expect({ name, code: ran.code }).toEqual({ name, code });
    expect(ran.err, name).toMatch(sentence);
  }
  const json = await plexus('call', 'wel', 'echo', '--json', ...flags);
  expect([json.code, json.err, JSON.parse(json.out)]).toMatchObject([
    2,
    '',
    { error: { code: 'SERVER_UNKNOWN', remedy: 'fix-config' } },
  ]);
});

verifies(
  ['CFG-17', 'VAL-02'],
  'broken files are told with place and remedy, and what is whole still works',
  async () => {
    box.write('.mcp.json', '{ "mcpServers": { "a": { "command": "x" },, } }');
    box.write(
      '.mcp.toml',
      '[mcp_servers.b]\ncommand = 5\n[mcp_servers.c]\nurl = "https://example.com/mcp"\ncomand = "x"\n',
    );
    const { code, out } = await plexus('config', '--json');
    const { servers, invalid, diagnostics } = JSON.parse(out);
    expect(code).toBe(1);
    expect(servers.map(({ name, launch }: { name: string; launch: { kind: string } }) => [name, launch.kind])).toEqual([
      ['c', 'auto'],
    ]);
    expect(invalid.map(({ name }: { name: string }) => name)).toEqual(['b']);
    expect(diagnostics.map(({ severity, line }: { severity: string; line: number }) => [severity, line])).toEqual(
      expect.arrayContaining([
        ['error', 1],
        ['error', 2],
        ['warning', 5],
      ]),
    );
    const text = await plexus('config');
    expect(text.out).toMatch(/\.mcp\.json:1:\d+/);
    expect(text.out).toContain('Did you mean "command"');
  },
);

test('a --config file that is missing ends with 1; an empty one lists nothing', async () => {
  box.write('empty.json', '');
  const [missing, empty] = await Promise.all([
    plexus('list', '--config', 'nope.json'),
    plexus('list', '--config', 'empty.json'),
  ]);
  expect([missing.code, empty.code]).toEqual([1, 0]);
  expect(missing.err).toMatch(/nope\.json cannot be read/);
  expect(empty.out).toMatch(/No servers are configured/);
});

verifies(
  'TRU-01',
  'a workspace’s server starts only after approve, and not any more after its entry changed or revoke',
  async () => {
    const pids = box.path('pids');
    box.write('.mcp.json', { mcpServers: { theirs: faulty('--pid-file', pids) } });
    const before = await plexus('call', 'theirs', 'echo', 'text=x');
    expect([before.code, pidsIn(pids)]).toEqual([3, []]);
    expect(before.err).toMatch(/plexus approve theirs/);
    expect((await plexus('approve', 'theirs')).code).toBe(0);
    expect((await plexus('call', 'theirs', 'echo', 'text=x')).out).toBe('x\n');
    box.write('.mcp.json', { mcpServers: { theirs: faulty('--pid-file', pids, '--tools', '1') } });
    expect((await plexus('call', 'theirs', 'echo', 'text=x')).code).toBe(3);
    await plexus('approve', 'theirs');
    expect((await plexus('call', 'theirs', 'echo', 'text=x')).code).toBe(0);
    await plexus('revoke', 'theirs');
    expect((await plexus('call', 'theirs', 'echo', 'text=x')).code).toBe(3);
  },
);

test('config schema is a JSON Schema, and config path names the places', async () => {
  const [schema, places] = await Promise.all([plexus('config', 'schema'), plexus('config', 'path', '--json')]);
  expect(JSON.parse(schema.out)).toMatchObject({ type: 'object', properties: { mcpServers: {} } });
  expect(JSON.parse(places.out).places).toContainEqual({
    scope: 'project',
    file: box.path('.mcp.json'),
    present: false,
  });
});

test('Ctrl-C during a call ends with 130, says that nobody knows its outcome, and leaves no process', async () => {
  const pids = box.path('pids');
  const journal = box.path('journal');
  const well = faulty('--pid-file', pids, '--journal', journal);
  const { child, done } = box.spawn(['call', 'well', 'sleep', 'ms=60000', ...fleet({ well })]);
  await eventually(() => existsSync(journal) && readFileSync(journal, 'utf8').includes('tools/call sleep'));
  child.kill('SIGINT');
  const { code, err } = await done;
  expect([code, err]).toEqual([
    130,
    expect.stringContaining('of "sleep" on server "well" was cancelled; if it had been'),
  ]);
  expect(pidsIn(pids).map(isRunning)).toEqual([false]);
});

test('what goes to a file or a pipe is what the server wrote; what goes to a screen cannot drive it', async () => {
  const text = '\u001b[2Jgone\u0007\r\nnext\u202e';
  const { out } = await plexus('call', 'well', 'echo', `text=${text}`, ...fleet({ well: faulty() }));
  expect(out).toBe(`${text}\n`);
  expect(printable(text)).toBe('\\u001b[2Jgone\\u0007\r\nnext\\u202e');
});

test('Ctrl-C ends a call that still reads its arguments', async () => {
  const { child, done } = box.spawn(['call', 'well', 'echo', '--args', '-', ...fleet({ well: faulty() })], {
    keepsStdinOpen: true,
  });
  // More than a pipe holds: it is written only when somebody reads.
  await new Promise((resolve) => child.stdin.write(' '.repeat(500_000), resolve));
  child.kill('SIGINT');
  expect((await done).code).toBe(130);
});

test('a server that floods its output costs itself, and nobody waits for it', async () => {
  const flags = fleet({ flood: { command: 'yes' }, well: faulty() });
  const { code, out } = await plexus('list', ...flags);
  expect(code).toBe(0);
  expect(out).toMatch(/^well +connected/m);
  expect(out).toContain('floods its output');
});

test('Ctrl-C while servers are still starting ends at once with 130 and leaves no process', async () => {
  const pids = box.path('pids');
  // Without an interruption it would be waited for longer than this test may take.
  const stalled = { ...faulty('--fault=hang', '--at=any', '--pid-file', pids), startupTimeoutMs: 0 };
  const plexus = { startup: { waitMs: 3_600_000 } };
  const { child, done } = box.spawn([
    'list',
    ...['--config', box.write('fleet.json', { mcpServers: { stalled }, plexus })],
  ]);
  await eventually(() => pidsIn(pids).length === 1);
  child.kill('SIGINT');
  expect((await done).code).toBe(130);
  expect(pidsIn(pids).map(isRunning)).toEqual([false]);
});

test('words nobody knows, inherited names and stray words are usage errors, also as JSON', async () => {
  const ran = await Promise.all([
    plexus('constructor'),
    plexus('read', 'a', 'b://c', 'stray'),
    plexus('tools', 'a', 'b', 'c'),
    plexus('--json'),
  ]);
  expect(ran.map(({ code }) => code)).toEqual([1, 1, 1, 1]);
  expect(JSON.parse(ran[3]?.out ?? '')).toMatchObject({ error: { code: 'USAGE' } });
});

test('a slow server that was named is waited for as long as its own limit says', async () => {
  box.write(
    'fleet.toml',
    `[mcp_servers.slow]\ncommand = ${JSON.stringify(faulty().command)}\nargs = ${JSON.stringify(faulty('--answer-ms=700').args)}\n[plexus.startup]\nwait_ms = 100\n`,
  );
  const ran = await Promise.all([
    plexus('call', 'slow', 'echo', 'text=a', '--config', 'fleet.toml'),
    plexus('call', 'mcp__slow__echo', 'text=b', '--config', 'fleet.toml'),
  ]);
  expect(ran.map(({ code, out }) => [code, out])).toEqual([
    [0, 'a\n'],
    [0, 'b\n'],
  ]);
});

test('a broken file is mentioned beside an answer that it may explain', async () => {
  box.write('.mcp.json', '{ "mcpServers": ');
  const { code, err } = await plexus('call', 'files', 'x');
  expect(code).toBe(2);
  expect(err).toMatch(/\.mcp\.json:1.*There is no server "files"/s);
});

test('with --json nothing that a terminal would act on is printed raw, and an interruption is a document', async () => {
  const flags = fleet({ well: faulty() });
  const { out } = await plexus('call', 'well', 'echo', 'text=\u009b31m\u202e', '--json', ...flags);
  expect(out).not.toMatch(/[\u009b\u202e]/);
  expect(JSON.parse(out).content[0].text).toBe('\u009b31m\u202e');
  const pids = box.path('pids');
  const stalled = faulty('--fault=hang', '--at=any', '--pid-file', pids);
  const { child, done } = box.spawn(['list', '--json', ...fleet({ stalled })]);
  await eventually(() => pidsIn(pids).length === 1);
  child.kill('SIGINT');
  const interrupted = await done;
  expect([interrupted.code, JSON.parse(interrupted.out)]).toMatchObject([130, { error: { code: 'INTERRUPTED' } }]);
});

test('revoking what was never approved says so', async () => {
  const { out } = await plexus('revoke', 'well', ...fleet({ well: faulty() }));
  expect(out).toContain('"well" was not approved; nothing was changed.');
});

test('a tool that models only find by searching is called like any other, in every spelling, with its own schema', async () => {
  const entry = { ...faulty(), exposure: 'defer', disabledTools: ['sleep'] };
  const flags = fleet({ well: entry });
  const sum = async (...words: readonly string[]) => (await plexus('call', ...words, 'a=1', 'b=2', ...flags)).out;
  for (const words of [['well', 'add'], ['well.add'], ['mcp__well_add'], ['add']])
    expect(await sum(...words)).toBe('3\n');
  const { code, err } = await plexus('call', 'well', 'sleep', ...flags);
  expect([code, err]).toEqual([2, expect.stringContaining('"sleep": the tool filters of server "well" hide it')]);
  expect((await plexus('call', 'well', ...flags)).err).toContain('also name a tool of server "well"');
  expect((await plexus('call', 'well', 'ad', ...flags)).err).toContain('does not offer it. Did you mean add?');
});

test('--live asks a server that is known from before, and a server that is gone is not shown as if it were there', async () => {
  const flags = fleet({ well: faulty() });
  await plexus('list', ...flags);
  expect((await plexus('list', ...flags)).out).toMatch(/^well +idle/m);
  expect((await plexus('list', '--live', ...flags)).out).toMatch(/^well +connected/m);
  const { tools } = JSON.parse((await plexus('tools', '--live', '--json', ...flags)).out);
  expect(tools[0]).toMatchObject({ freshness: 'live' });
});

test('what cannot be remembered is said once, beside the answer, and not with --quiet', async () => {
  const flags = fleet({ well: faulty() });
  box.write('~/.cache/plexus', 'no folder');
  const { code, err } = await box.spawn(['tools', ...flags]).done;
  expect([code, err.split('Plexus cannot store anything').length]).toEqual([0, 2]);
  expect(err).not.toContain('(node:');
  expect((await plexus('tools', '--quiet', ...flags)).err).toBe('');
});
