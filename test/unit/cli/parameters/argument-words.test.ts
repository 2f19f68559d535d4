// Owns the proof that the words of a call become its arguments, and that each mistake is told with the spelling that works.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { insteadText, readArguments } from '../../../../src/cli/parameters/argument-words.ts';
import { readParameters } from '../../../../src/cli/parameters/parameters.ts';
import { argumentWord, corrections, spell } from '../../../../src/cli/parameters/spell.ts';
import { splitCommand } from '../../../../src/cli/split-command.ts';
import type { JsonObject } from '../../../../src/kernel/json.ts';
import { runs } from '../../../effort.ts';
import { verifies } from '../../../verifies.ts';

const schema = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    count: { type: 'integer', minimum: 1 },
    names: { type: 'array', items: { type: 'string' } },
    ids: { type: 'array', items: { type: 'integer' } },
    deep: { type: 'boolean' },
    where: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    'xml:lang': { type: 'string' },
    'odd:': { type: 'string' },
    target: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
  },
  required: ['path'],
};

const files: Readonly<Record<string, string>> = { 'a.md': '# Title\n', 'n.json': '[1, 2]', five: '5\n' };

async function readFile(file: string): Promise<string> {
  const text = files[file];
  if (text === undefined) throw new Error(`${file} cannot be read (ENOENT)`);
  return text;
}

const read = (words: readonly string[], of: JsonObject = schema) => readArguments(words, readParameters(of), readFile);

verifies('CAL-02', 'words are read as arguments by the schema, in every spelling', async () => {
  const cases: readonly (readonly [readonly string[], JsonObject])[] = [
    [['path=a=b'], { path: 'a=b' }],
    [['path='], { path: '' }],
    [['count=4', 'deep=yes'], { count: 4, deep: true }],
    [['names=Ada', 'names=Bob'], { names: ['Ada', 'Bob'] }],
    [['ids=1', 'ids:=2'], { ids: [1, 2] }],
    [['names:=["Ada"]'], { names: ['Ada'] }],
    [['names=["Ada"]'], { names: ['Ada'] }],
    [['target=a'], { target: 'a' }],
    [['target=a', 'target=b'], { target: ['a', 'b'] }],
    [['where:={"city":"Rome"}'], { where: { city: 'Rome' } }],
    [['path=@a.md'], { path: '# Title\n' }],
    [['path=@@a.md'], { path: '@a.md' }],
    [['path=@'], { path: '@' }],
    [['ids=@n.json', 'count=@five'], { ids: [1, 2], count: 5 }],
    [['ids:=@n.json'], { ids: [1, 2] }],
    [['names=@a.md', 'names=b'], { names: ['# Title\n', 'b'] }],
    [['xml:lang=en'], { 'xml:lang': 'en' }],
    [['odd:=4'], { 'odd:': '4' }],
  ];
  for (const [words, args] of cases) expect({ words, ...(await read(words)) }).toEqual({ words, args, problems: [] });
});

verifies('CAL-11', 'a wrong word is named with what is known and the spelling that works', async () => {
  const cases: readonly (readonly [readonly string[], RegExp, string | undefined])[] = [
    [['pth=a'], /^there is no parameter "pth"; the tool takes path, count, names, .*target$/, 'path=a'],
    [['name=Ada'], /there is no parameter "name"/, `names:='["Ada"]'`],
    [['zzzzzz=1'], /there is no parameter "zzzzzz"; the tool takes path, /, undefined],
    [['path=a', 'path=b'], /^"path" is given 2 times, but takes one value \(string\)$/, undefined],
    [['where=a', 'where=b'], /^"where" is given 2 times, but takes one value \(\{ city: string \}\)$/, undefined],
    [['count=9007199254740993'], /^"count": 9007199254740993 is beyond ±9007199254740991/, undefined],
    [['count:=9007199254740993'], /^"count": 9007199254740993 is beyond/, undefined],
    [['path:=9007199254740993'], /^"path": 9007199254740993 is beyond/, 'path=9007199254740993'],
    [['names:=[Ada'], /^the value of "names" is not valid JSON/, `names:='["Ada"]'`],
    [['path:=hello there'], /not valid JSON/, `path='hello there'`],
    [['path=@none'], /begins with @, which reads a file: none cannot be read \(ENOENT\)/, 'path=@@none'],
    [['notes.txt'], /^"notes.txt" is not an argument$/, 'path=notes.txt'],
    [['path=a', '5'], /^"5" is not an argument$/, 'count=5'],
    [['count:5'], /^"count:5" is not an argument$/, 'count=5'],
    [['count', '5'], /^"count 5" is not an argument$/, 'count=5'],
    [['deep'], /^"deep" is not an argument$/, 'deep=true'],
    [['{"path":"a"}'], /is not an argument$/, `--args '{"path":"a"}'`],
    [['=a'], /^"=a" is not an argument$/, 'path==a'],
  ];
  for (const [words, text, instead] of cases) {
    const { problems } = await read(words);
    expect(problems, words.join(' ')).toEqual([{ text: expect.stringMatching(text), ...(instead && { instead }) }]);
  }
});

test('several mistakes are told at once, and what works of each', async () => {
  const { problems } = await read(['pth=a', 'count:5', 'deep=yes']);
  expect(problems).toHaveLength(2);
  expect(insteadText(problems)).toBe('Write: count=5 path=a');
  expect(insteadText([{ text: 'x' }])).toBeUndefined();
});

describe('keys that the schema does not name', () => {
  test.each([
    ['are taken where it asks for others', { properties: { a: {} }, additionalProperties: true }, { b: 4 }],
    ['have the type of the others', { additionalProperties: { type: 'string' } }, { b: '4' }],
    ['are taken where it names none at all', { type: 'object' }, { b: 4 }],
    ['are taken where a pattern may fit', { properties: {}, patternProperties: { '^b': {} } }, { b: 4 }],
  ])('%s', async (_, open, args) => {
    expect(await read(['b=4'], open)).toEqual({ args, problems: [] });
  });

  test.each([
    ['a tool without parameters', { type: 'object', properties: {} }, 'there is no parameter "b": the tool takes none'],
    ['a closed schema', { additionalProperties: false }, 'there is no parameter "b": the tool takes none'],
    ['names of other parts', { allOf: [{ properties: { a: {} } }] }, 'there is no parameter "b"; the tool takes a'],
  ])('%s refuses them', async (_, closed, text) => {
    expect((await read(['b=4'], closed)).problems).toMatchObject([{ text }]);
  });

  test('stay keys, whatever they are called', async () => {
    const { args } = await read(['__proto__=4', 'constructor=5'], { type: 'object' });
    expect(Object.entries(args)).toEqual([
      ['__proto__', 4],
      ['constructor', 5],
    ]);
  });
});

test('what a schema refuses is spelled as the person meant it, or as an example that fits', () => {
  const cases: readonly (readonly [JsonObject, string | undefined])[] = [
    [{ path: 'a', names: 'Ada' }, `names:='["Ada"]'`],
    [{ path: 'a', names: 'Ada, Bob' }, `names:='["Ada","Bob"]'`],
    [{ path: 'a', ids: '1,2' }, `ids:='[1,2]'`],
    [{ path: 'a', ids: 7 }, `ids:='[7]'`],
    [{ path: 'a', count: 'many' }, 'count=1'],
    [{ path: 'a', deep: 'maybe' }, 'deep=true'],
    [{ path: 'a', where: {} }, `where:='{"city":"CITY"}'`],
    [{}, 'path=PATH'],
    [{ path: 'a' }, undefined],
  ];
  for (const [args, expected] of cases)
    expect({ args, text: corrections(args, schema) }).toEqual({ args, text: expected });
});

describe('a spelling', () => {
  const types = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object'];
  const anySchema = fc.oneof(
    fc.constant({}),
    fc.constantFrom(...types).map((type) => ({ type })),
    fc.subarray(types, { minLength: 1 }).map((type) => ({ type })),
    fc.array(fc.constantFrom('a', '1', 1, true, null, 'true'), { minLength: 1 }).map((values) => ({ enum: values })),
  );
  // As JSON writes them: it has no sign for a negative zero.
  const value = fc
    .jsonValue()
    .map((each) => JSON.parse(JSON.stringify(each)))
    .filter((each) => !/e[+-]|\d{16}/.test(JSON.stringify(each)));
  const key = fc.oneof(
    fc.stringMatching(/^[a-z][\w.-]*$/),
    fc.string({ minLength: 1 }).filter((each) => !each.includes('=')),
  );

  test('is read back as the same value, whatever the schema, the key and the value', async () => {
    await fc.assert(
      fc.asyncProperty(anySchema, value, key, async (property, wanted, name) => {
        const of = { properties: Object.fromEntries([[name, property]]) };
        const forms = readParameters(of).known[0]?.forms ?? [];
        const { args, problems } = await read([argumentWord(name, wanted, forms)], of);
        expect(problems).toEqual([]);
        expect(args[name]).toEqual(wanted);
      }),
      { numRuns: runs(2_000) },
    );
  });

  test('is one word for a shell', () => {
    const printable = fc.string({ unit: 'grapheme-ascii' });
    fc.assert(
      fc.property(printable, fc.stringMatching(/^[a-z]\w*$/), (text, name) => {
        const spelled = spell(name, text, [{ type: 'string', schema: {} }]);
        const split = splitCommand(`x ${spelled}`, { platform: 'linux', home: '/home/ada' });
        expect(split).toEqual({ ok: true, words: ['x', `${name}=${text.startsWith('@') ? '@' : ''}${text}`] });
      }),
      { numRuns: runs(1_000) },
    );
  });
});
