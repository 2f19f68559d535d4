// Owns the proof that a person who knows only a tool's name learns its parameters, types them as they come, and is told the spelling
// that works; with real servers and the whole command line.

import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { everything } from '../servers/everything.ts';
import { verifies } from '../verifies.ts';
import { Sandbox } from './plexus.ts';
import { hasTerminal, openTerminal } from './terminal.ts';

const changing = fileURLToPath(new URL('../servers/changing.mjs', import.meta.url));

const inputSchema = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'Where the file lies.\nRelative to the workspace.' },
    names: { type: 'array', items: { type: 'string' } },
    count: { type: 'integer', default: 10, description: `How many lines. ${'Words that go on. '.repeat(12)}` },
    deep: { type: 'boolean' },
    level: { enum: ['auto', 1, 2] },
    id: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
    size: { $ref: '#/$defs/size' },
    where: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
  required: ['path'],
  $defs: { size: { type: 'number' } },
};

let box: Sandbox;

beforeEach(() => {
  box = new Sandbox();
  const tools = [
    { name: 'take_note', title: 'Take a note', description: 'Keeps a note.', inputSchema },
    { name: 'open_nodes', inputSchema: { type: 'object', properties: { names: inputSchema.properties.names } } },
    { name: 'rest', inputSchema: { type: 'object', properties: {} } },
  ];
  const file = box.write('tools.json', { echoes: true, tools });
  box.write('fleet.json', { mcpServers: { notes: { command: process.execPath, args: [changing, file] } } });
});
afterEach(() => box.remove());

const plexus = (...args: readonly string[]) => box.run([...args, '--config', 'fleet.json']);
const sent = async (...words: readonly string[]) => {
  const { out, err } = await plexus('call', 'notes', 'take_note', 'path=a', ...words);
  expect(err).toBe('');
  const { path: _, ...args } = JSON.parse(out);
  return args;
};

test('plexus tools --full shows the pages of all tools', async () => {
  const pages = await Promise.all(
    ['open_nodes', 'rest', 'take_note'].map(async (tool) => (await plexus('tools', 'notes', tool)).out),
  );
  expect((await plexus('tools', 'notes', '--full')).out).toBe(pages.join(`\n${'–'.repeat(20)}\n\n`));
  const { tools } = JSON.parse((await plexus('tools', 'notes', '--full', '--json')).out);
  expect(tools.map(({ tool, example }: { tool: string; example: string }) => [tool, example])[1]).toEqual([
    'rest',
    'plexus call notes rest --config fleet.json',
  ]);
});

verifies(
  'CAL-02',
  'the page of a tool shows its signature, its parameters and a line that works when it is copied',
  async () => {
    const [shown, helped, spelled] = [
      await plexus('tools', 'notes', 'take_note'),
      await plexus('call', 'notes', 'take_note', '--help'),
      await plexus('call', 'mcp__notes__take_note', '--help'),
    ];
    expect([shown.code, shown.err, helped.out]).toEqual([0, '', shown.out]);
    expect(shown.out).toContain('take_note (Take a note) of server notes\n\nKeeps a note.\n');
    expect(shown.out).toContain('take_note(path: string, count?: integer, deep?: boolean, id?: integer | string');
    expect(shown.out).toContain('level?: "auto"\n');
    expect(shown.out).toContain(
      '  path  string, required\n      Where the file lies.\n      Relative to the workspace.\n',
    );
    expect(shown.out).toContain('  count  integer, default 10\n      How many lines. ');
    expect(shown.out).toContain('  where  { city: string }\n');
    expect(Math.max(...shown.out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
    expect(spelled.out).toContain('plexus call mcp__notes__take_note path=PATH --config fleet.json\n');
    const [, line = ''] = /^ {2}plexus (call .*)$/m.exec(shown.out) ?? [];
    expect(line).toBe('call notes take_note path=PATH --config fleet.json');
    expect((await box.run(line.split(' '))).out).toBe('{"path":"PATH"}\n');
    expect((await plexus('tools', 'notes', 'rest')).out).toContain('Parameters\n  none\n');
  },
);

test('the page of a tool is one document with --json, and names what is missing with its exit code', async () => {
  const page = JSON.parse((await plexus('call', 'notes', 'take_note', '--help', '--json')).out);
  expect(page).toMatchObject({
    name: 'mcp__notes__take_note',
    server: 'notes',
    tool: 'take_note',
    signature: expect.stringContaining('take_note(path: string'),
    example: 'plexus call notes take_note path=PATH --config fleet.json',
    inputSchema,
  });
  expect(page.parameters[0]).toEqual({
    name: 'path',
    type: 'string',
    required: true,
    description: inputSchema.properties.path.description,
    example: 'path=PATH',
  });
  expect(page.parameters).toContainEqual(expect.objectContaining({ name: 'count', default: 10, required: false }));
  const unknown = await plexus('tools', 'notes', 'take_nots');
  expect([unknown.code, unknown.err]).toEqual([
    2,
    'plexus: There is no tool "take_nots": server "notes" does not offer it. Did you mean take_note? See all tools with: plexus tools notes --config fleet.json\n',
  ]);
  expect((await plexus('call', 'notes', '--help')).err).toContain(
    'also name a tool of server "notes"; see them with: plexus tools notes',
  );
  expect((await plexus('call', '--help')).out).toContain('plexus call SERVER TOOL --help');
});

test('--signatures shows the parameters of all tools', async () => {
  const { out } = await plexus('tools', 'notes', '--signatures');
  expect(out).toContain('open_nodes(names?: string[])\n');
  expect(out).toContain('rest()\n');
  expect(out).toMatch(/^take_note\(path: string, [\s\S]*\)\n {4}Keeps a note\.$/m);
  const { tools } = JSON.parse((await plexus('tools', 'notes', '--signatures', '--json')).out);
  expect(tools[0]).toMatchObject({ tool: 'open_nodes', signature: 'open_nodes(names?: string[])' });
});

verifies(['CAL-02', 'CAL-04'], 'arguments reach the server with the types of its schema', async () => {
  box.write('draft.md', '# Draft\n');
  box.write('sizes.json', '4.5');
  expect(await sent('names=Ada', 'names=Bob', 'count=4', 'deep=no')).toEqual({
    names: ['Ada', 'Bob'],
    count: 4,
    deep: false,
  });
  expect(await sent('names=Ada'), 'a list of one').toEqual({ names: ['Ada'] });
  expect(await sent('level=1', 'id=7', 'size=@sizes.json')).toEqual({ level: 1, id: 7, size: 4.5 });
  expect(await sent('level=auto', 'id=9007199254740993')).toEqual({ level: 'auto', id: '9007199254740993' });
  expect(await sent('names=@draft.md', 'names=@@ada')).toEqual({ names: ['# Draft\n', '@ada'] });
  expect(await sent('where:={"city":"Rome"}', '--args', '{"count":1}')).toEqual({ where: { city: 'Rome' }, count: 1 });
  const spelled = await plexus('call', 'notes', 'take-note', 'path=a', 'count=4');
  expect([spelled.code, spelled.out], 'a spelling of the name that means the same tool').toEqual([
    0,
    '{"path":"a","count":4}\n',
  ]);
});

verifies(
  'CAL-11',
  'an argument that does not fit is answered with the spelling that works, and nothing is called',
  async () => {
    const cases: readonly (readonly [readonly string[], string])[] = [
      [
        ['open_nodes', 'names=Ada,Bob'],
        `"names" must be of type array, not string "Ada,Bob". Write: names:='["Ada","Bob"]'. `,
      ],
      [['open_nodes', 'names=[Ada]'], `"names" must be of type array, not string "[Ada]". Write: names:='["Ada"]'. `],
      [['open_nodes', 'name=Ada'], `there is no parameter "name"; the tool takes names. Write: names:='["Ada"]'. `],
      [['take_note'], '"path" is missing. Write: path=PATH. '],
      [['take_note', 'path=a', 'path=b'], '"path" is given 2 times, but takes one value (string). All parameters'],
      [['take_note', 'path=a', 'count=9007199254740993'], '"count": 9007199254740993 is beyond ±9007199254740991'],
      [['take_note', 'path=a', 'where:={"city":90071992547409931}'], '"where": 90071992547409931 is beyond'],
      [['take_note', 'path=a', 'deep=maybe'], 'Write: deep=true. '],
      [['take_note', 'notes.txt'], '"notes.txt" is not an argument. Write: path=notes.txt. '],
      [
        ['take_note', 'path=@none'],
        'none cannot be read (ENOENT); if you mean the text itself, double the @. Write: path=@@none. ',
      ],
      [['take_note', '--path', 'a'], "a tool's arguments are written without dashes: path=a. See: plexus call --help"],
      [['take_note', '--args', '{"count":9007199254740993}'], '--args: 9007199254740993 is beyond'],
    ];
    for (const [words, sentence] of cases) {
      const { code, out, err } = await plexus('call', 'notes', ...words);
      expect({ words, code, out }).toEqual({ words, code: 1, out: '' });
      expect(err, words.join(' ')).toContain(sentence);
    }
    const { err } = await plexus('call', 'notes', 'open_nodes', 'names=Ada,Bob');
    expect(err).toContain('All parameters: plexus call notes open_nodes --help --config fleet.json\n');
    const json = await plexus('call', 'notes', 'open_nodes', 'names=Ada,Bob', '--json');
    expect(JSON.parse(json.out)).toMatchObject({ error: { code: 'ARGUMENTS_BAD', remedy: 'fix-call' } });
  },
);

test('the reference server is explained and called by what it says of itself', async () => {
  box.write('fleet.json', { mcpServers: { all: await everything('stdio') } });
  const { out } = await plexus('tools', 'all', 'get-annotated-message');
  expect(out).toContain('get-annotated-message(messageType: "error" | "success" | "debug", includeImage?: boolean)');
  expect((await plexus('call', 'all', 'get_sum', 'a=1', 'b=2')).out).toBe('The sum of 1 and 2 is 3.\n');
});

describe.skipIf(!hasTerminal)('on a terminal', () => {
  test('the page is wrapped to its width, and the line to copy is not broken', async () => {
    const terminal = openTerminal(box, ['tools', 'notes', 'take_note', '--config', 'fleet.json'], 50);
    terminal.start();
    expect(await terminal.done).toBe(0);
    const lines = terminal
      .screen()
      .replaceAll(/\p{Cc}\[\d+m/gu, '')
      .split(/\r?\n/);
    expect(lines).toContain('  plexus call notes take_note path=PATH --config fleet.json');
    const prose = lines.filter((line) => !line.includes('plexus call'));
    expect(Math.max(...prose.map((line) => line.length))).toBeLessThanOrEqual(50);
    expect(prose.filter((line) => line.includes('Words that go on'))).not.toHaveLength(1);
  });
});
