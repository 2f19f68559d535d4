// Owns the proof that a server can be used by its address or command alone, that nothing of it is remembered, and that rules count
// for it all the same.

import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { everything } from '../servers/everything.ts';
import { verifies } from '../verifies.ts';
import { Sandbox } from './plexus.ts';
import { hasTerminal, openTerminal } from './terminal.ts';
import { serveMcp } from './web.ts';

const changing = fileURLToPath(new URL('../servers/changing.mjs', import.meta.url));
const faulty = fileURLToPath(new URL('../servers/faulty.mjs', import.meta.url));
const quoted = (word: string) => `'${word}'`;
const commandOf = (...words: readonly string[]) => [process.execPath, ...words].map(quoted).join(' ');
const stdio = (...args: readonly string[]) => ['--stdio', commandOf(faulty, ...args)];

let box: Sandbox;

beforeEach(() => {
  box = new Sandbox();
});
afterEach(() => box.remove());

const filesIn = (folder: string) => readdirSync(folder, { recursive: true }).toSorted();

verifies(
  'CAL-03',
  'a server that is not configured is listed, explained and called, and leaves nothing behind',
  async () => {
    const before = filesIn(box.folder);
    const listed = await box.plexus('tools', ...stdio());
    expect([listed.code, listed.err]).toEqual([0, '']);
    expect(listed.out).toMatch(/^NAME +DESCRIPTION\nadd/);
    const page = await box.plexus('tools', ...stdio(), 'add');
    expect(page.out).toContain('add(a: number, b: number)\n');
    const help = await box.plexus('call', ...stdio(), 'add', '--help');
    expect(help.out).toBe(page.out);
    const called = await box.plexus('call', ...stdio(), 'add', 'a=1', 'b=2');
    expect(called).toEqual({ code: 0, out: '3\n', err: '' });
    const document = await box.json('call', ...stdio(), 'add', 'a=1', 'b=2');
    expect(document).toMatchObject({ content: [{ text: '3' }], meta: { tool: 'add' } });
    expect((await box.json('tools', ...stdio())).tools[0]).toMatchObject({ tool: 'add' });
    expect(filesIn(box.folder)).toEqual(before);
  },
);

test('the line to copy on the page of its tool works in a shell', async () => {
  const { out } = await box.plexus('tools', ...stdio(), 'echo');
  const [, stdioWord = '', tool = '', argument = ''] = /plexus call --stdio (.+) (\S+) (\S+)$/m.exec(out) ?? [];
  expect([tool, argument]).toEqual(['echo', 'text=TEXT']);
  const unquoted = stdioWord.replace(/^'|'$/g, '').replaceAll(`'\\''`, "'");
  expect((await box.plexus('call', '--stdio', unquoted, tool, argument)).out).toBe('TEXT\n');
});

test('a remote server is reached with the headers that are given, over each transport', async () => {
  const web = await serveMcp();
  const words = ['--url', web.url, '--header', 'Authorization=Bearer s3cr3t', '-H', 'X-Team: red'];
  const called = await box.plexus('call', ...words, 'echo', 'q=a');
  expect([called.code, called.out]).toEqual([0, 'done\n']);
  const call = web.received.find(({ message }) => message['method'] === 'tools/call');
  expect(call?.headers).toMatchObject({ authorization: 'Bearer s3cr3t', 'x-team': 'red' });
  const { out } = await box.plexus('tools', ...words, 'echo');
  expect(out).toContain("--header 'Authorization=…' --header 'X-Team=…' echo");
  expect(out).not.toContain('s3cr3t');
  for (const transport of ['http', 'sse'] as const) {
    const { url = '' } = (await everything(transport)) as { url?: string };
    const sum = await box.plexus('call', '--url', url, 'get-sum', 'a=1', 'b=2');
    expect(sum, transport).toEqual({ code: 0, out: 'The sum of 1 and 2 is 3.\n', err: '' });
  }
});

test('a secret in its command or address is shown in no line and no message', async () => {
  const token = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
  const file = box.write('tools.json', { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] });
  const command = commandOf(changing, file, '--token', token);
  const page = await box.plexus('tools', '--stdio', command, 'echo');
  expect(page.out).toContain('plexus call --stdio ');
  const wrong = await box.plexus('call', '--stdio', command, 'ech', '--json');
  const gone = await box.plexus('tools', '--url', `http://127.0.0.1:1/mcp?token=${token}`);
  expect([page.code, wrong.code, gone.code]).toEqual([0, 2, 4]);
  for (const { out, err } of [page, wrong, gone]) expect(out + err).not.toContain(token.slice(0, 20));
});

test('its command runs in the folder of the person, with the variables that are given', async () => {
  box.write('here/server.mjs', SHOWS_PLACE);
  const words = ['call', '--stdio', 'node ./server.mjs', '--env', 'TEAM=red', '--env', 'EMPTY=', 'place'];
  const { out, err } = await box.run(words, { cwd: 'here' });
  expect({ err, ...JSON.parse(out) }).toEqual({ err: '', cwd: box.path('here'), team: 'red', empty: '' });
});

test.each([
  ['both', ['tools', '--url', 'http://x', '--stdio', 'x'], 1, 'give --url or --stdio, not both'],
  ['bad quoting', ['tools', '--stdio', "node 'x"], 1, "the ' at character 6 is never closed"],
  ['a pipe', ['tools', '--stdio', 'a | b'], 1, 'no shell is run, so that | has no meaning'],
  ['no address', ['tools', '--url', 'example.com'], 1, 'must be an address that begins with http:// or https://'],
  [
    'a header for a command',
    ['tools', '--stdio', 'x', '--header', 'a=b'],
    1,
    '--header is for a server that you give with --url',
  ],
  [
    'a variable for an address',
    ['tools', '--url', 'http://x', '--env', 'a=b'],
    1,
    '--env is for a server that you give with --stdio',
  ],
  [
    'a header without a value',
    ['tools', '--url', 'http://x', '--header', 'a'],
    1,
    '--header takes NAME=VALUE, not "a"',
  ],
  ['no tool', ['call', '--stdio', 'x y'], 1, "name a tool; see them with: plexus tools --stdio 'x y'"],
  ['no such command', ['tools', '--stdio', 'plexus-no-such'], 4, 'the command was not found'],
  ['nothing there', ['tools', '--url', 'http://127.0.0.1:1/mcp'], 4, 'nothing listens at its address'],
])('%s: exit code and sentence', async (_, words, code, sentence) => {
  const ran = await box.plexus(...words);
  expect([ran.code, ran.err]).toEqual([code, expect.stringContaining(sentence)]);
});

test('an unknown tool is answered with the nearest names and the command that shows all', async () => {
  const { code, err } = await box.plexus('call', ...stdio(), 'ad', 'a=1');
  expect(code).toBe(2);
  expect(err).toContain('Did you mean add? See all tools with: plexus tools --stdio ');
});

verifies('PER-01', 'a rule of the person that denies a tool counts for a server that is not configured', async () => {
  box.write('~/.config/plexus/mcp.json', { permissions: { rules: [{ tool: 'mcp__*__add', action: 'deny' }] } });
  const { code, err } = await box.plexus('call', ...stdio(), 'add', 'a=1', 'b=2');
  expect([code, err]).toEqual([3, expect.stringContaining('mcp__*__add')]);
  expect((await box.plexus('call', ...stdio(), 'echo', 'text=x')).out).toBe('x\n');
});

test('errors in files, and the servers there, are of no concern', async () => {
  box.write('.mcp.json', '{ broken');
  box.write('~/.config/plexus/mcp.json', { mcpServers: { other: { command: 'plexus-no-such' } } });
  const called = await box.plexus('call', ...stdio(), 'echo', 'text=x');
  expect(called).toEqual({ code: 0, out: 'x\n', err: '' });
});

describe.skipIf(!hasTerminal)('on a terminal', () => {
  test('a question offers only once, because nothing is remembered', async () => {
    const tools = [{ name: 'erase', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } }];
    const command = commandOf(changing, box.write('files.json', { tools }));
    const terminal = openTerminal(box, ['call', '--stdio', command, 'erase']);
    terminal.start();
    await terminal.shows('your command line, which runs: ');
    await terminal.shows('[y] yes, this once');
    await terminal.shows('[N] no:');
    await terminal.type('y');
    await terminal.shows('called erase');
    expect(await terminal.done).toBe(0);
    expect(filesIn(box.home)).toEqual([]);
  });
});

const SHOWS_PLACE = `
import { createInterface } from 'node:readline';
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const place = () => JSON.stringify({ cwd: process.cwd(), team: process.env.TEAM, empty: process.env.EMPTY });
const results = {
  initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'p', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'place', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: place() }] }),
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  if (results[method]) send({ id, result: results[method]() });
  else send({ id, error: { code: -32601, message: 'no such method' } });
});
`;
