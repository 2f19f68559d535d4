// Owns the proof that JSON and JSONC are parsed with the position of every part, and that broken text gives a problem.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson } from '../../../../src/config/sources/json.ts';
import { runs } from '../../../effort.ts';

const parse = async (text: string) => {
  const parsed = await parseJson(text);
  if (!parsed.ok) throw new Error(parsed.problem.message);
  return parsed.document;
};

describe('JSON', () => {
  test('is read with comments and trailing commas', async () => {
    expect((await parse('{ /* a */ "a": [1, 2,], // b\n "b": "//", }')).value).toEqual({ a: [1, 2], b: '//' });
  });

  test('knows where each key and each item begins, and else the closest thing around', async () => {
    const document = await parse('{\r\n  "a": {\r\n    "b": [1,\r\n      { "c": 2 }]\r\n  }\r\n}');
    const places = { 'a.b': [3, 5], 'a.b.0': [3, 11], 'a.b.1': [4, 7], 'a.b.1.c': [4, 9], 'a.x.y': [2, 3], x: [1, 1] };
    for (const [path, [line, column]] of Object.entries(places)) {
      const parts = path.split('.').map((part) => (/^\d$/.test(part) ? Number(part) : part));
      expect(await document.locate(parts)).toEqual({ line, column });
    }
  });

  test('says which keys one map holds twice, and not what lies in them', async () => {
    const twice = '{"a":1,"b":{"a":1,"c":{"d":1},"c":{"d":2}},"a":2,"x":"\\"a\\":", "y":["a","a"]}';
    expect(await (await parse(twice)).repeated()).toEqual([['b', 'c'], ['a']]);
    expect(await (await parse(`${twice}//`)).repeated()).toEqual([['b', 'c'], ['a']]);
  });

  test('without repetition there is none to tell, whatever the strings hold', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), async (text) => {
        const parsed = await parseJson(text);
        if (parsed.ok) expect(await parsed.document.repeated()).toEqual([]);
      }),
    );
  });

  test.each([
    ['{ "a": 1', { line: 1, column: 9, message: 'a closing } is missing' }],
    ['{\n  "a" 1 }', { line: 2, column: 7, message: 'a colon is missing' }],
    ['{\n  "a": }', { line: 2, column: 8, message: 'a value is missing' }],
    ['{\n  "a": 1\n  "b": 2 }', { line: 3, column: 3, message: 'a comma is missing before this' }],
    ['{\n  ...more }', { line: 2, column: 3, message: 'three dots stand here for something that was left out' }],
    ['{\n  "a": [\u2026] }', { line: 2, column: 9, message: 'three dots stand here for something that was left out' }],
    ['{ "a": "b\n }', { line: 1, column: 8, message: 'a string is not closed' }],
    ['{ "p": "C:\\dir" }', { line: 1, column: 8, message: expect.stringMatching(/^a backslash/) }],
    ["{ 'a': 1 }", { line: 1, column: 3, message: `a ' stands here instead of "` }],
    ['{ "a": [true, \'b\'] }', { line: 1, column: 15, message: `a ' stands here instead of "` }],
    ['{\n  a_b: 1 }', { line: 2, column: 3, message: 'a key must stand in double quotes' }],
    ['{ "a": b }', { line: 1, column: 8, message: expect.stringMatching(/^this is neither a string/) }],
    ['{ \u201ca\u201d: 1 }', { line: 1, column: 3, message: 'a typographic quote stands here instead of "' }],
    ['{\n\u00a0"a": 1 }', { line: 2, column: 1, message: 'a special space stands here instead of an ordinary one' }],
    ['"servers": {}', { line: 1, column: 10, excerpt: '"servers": {}' }],
    [
      `{ "a": ${'1'.repeat(500)} "b": 2 }`,
      { line: 1, column: 509, excerpt: expect.stringMatching(/^1{40} "b": 2 \}$|^1+ "b": 2 \}$/) },
    ],
  ])('%.30s is told with its place', async (text, expected) => {
    expect(await parseJson(text)).toMatchObject({ ok: false, problem: expected });
  });

  test.each([
    ['{ "API_KEY": "sk-1" "b": 2 }', '{ "API_KEY": "…" "b": 2 }'],
    ['{ "Authorization": "Bearer abc" "b": 2 }', '{ "Authorization": "Bearer abc" "b": 2 }'.replace('Bearer abc', '…')],
    ['{ "args": ["--x", "ghp_0123456789abcdefghij" 5] }', 'gs": ["--x", "…" 5] }'],
    [`{ "a": "${'x1'.repeat(300)}" "b": 2 }`, '…" "b": 2 }'],
    ['{ "token": "sk-0', '{ "token": "…'],
    ['{ "command": "npx" "b": 2 }', '{ "command": "npx" "b": 2 }'],
  ])('what is shown of %.40s holds no secret', async (text, excerpt) => {
    expect(await parseJson(text)).toMatchObject({ ok: false, problem: { excerpt } });
  });

  test('any text gives a value or a problem, never an exception', async () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      ':',
      ',',
      '\\',
      '//',
      '/*',
      '*/',
      '\n',
      'a',
      '1',
      'null',
      ' ',
      '\0',
      '\ud800',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(pieces, { maxLength: 60 }), async (each) => {
        const parsed = await parseJson(each.join(''));
        if (parsed.ok) await parsed.document.locate(['a']);
        else expect(parsed.problem.line).toBeGreaterThan(0);
      }),
      { numRuns: runs(1_000) },
    );
  });
});
