// Owns the proof that JSON parsed in slices is what `JSON.parse` makes of it, and that no slice is long.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from '../../../src/kernel/json.ts';
import { keysOf, MANY_KEYS } from '../../../src/kernel/many-keys.ts';
import { parseInSlices } from '../../../src/kernel/sliced-json.ts';
import { atOnce, STEP_UNITS } from '../../../src/kernel/slices.ts';
import { runs } from '../../effort.ts';

/** Short enough that every object and list of a small text is put together from stretches. */
const SHORT = 4;

function expectSame(text: string, stretchChars?: number): void {
  const expected = parseJson(text);
  const found = atOnce(parseInSlices(text, stretchChars));
  expect(found.ok, text).toBe(expected.ok);
  if (!expected.ok || !found.ok) return;
  expect(found.value).toEqual(expected.value);
  // The order of keys too, and own keys like `__proto__`.
  expect(JSON.stringify(found.value)).toBe(JSON.stringify(expected.value));
}

test('any value comes out as it went in, however it is spaced and whatever its length', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), fc.integer({ min: 0, max: 40 }), fc.nat(4), (json, stretch, spaces) => {
      expectSame(json, stretch);
      expectSame(JSON.stringify(JSON.parse(json), null, spaces), stretch);
    }),
    { numRuns: runs(2_000) },
  );
});

test('any text that is no JSON is refused, and no other', () => {
  const pieces = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '"a"',
    '"b\\"c"',
    '1',
    '-',
    'null',
    ' ',
    '\n',
    '"\\u00e9"',
    '{"k":',
  ];
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 14 }).map((each) => each.join(''));
  fc.assert(
    fc.property(text, fc.integer({ min: 0, max: 6 }), (each, stretch) => {
      expectSame(each, stretch);
      expectSame(`[${each}]`, stretch);
      expectSame(`{"x":${each}}`, stretch);
    }),
    { numRuns: runs(5_000) },
  );
});

test('a text that was damaged in one place is judged as by JSON.parse', () => {
  const damaged = fc
    .tuple(fc.json({ maxDepth: 5 }), fc.nat(), fc.constantFrom('', ',', ']', '}', '[', '{', '"', '1', '\\', ':', ' '))
    .map(([json, place, sign]) => json.slice(0, place % json.length) + sign + json.slice((place % json.length) + 1));
  fc.assert(
    fc.property(damaged, fc.integer({ min: 0, max: 12 }), (each, stretch) => expectSame(each, stretch)),
    { numRuns: runs(5_000) },
  );
});

test.each([
  '',
  ' ',
  'nul',
  '3',
  ' "text" ',
  '[]',
  '{}',
  '[ ]',
  '[1,2,]',
  '[,1]',
  '[1,,2]',
  '{"a":1,}',
  '[1}',
  '[[1],[2]] 3',
  '[1[2]]',
  '[[1]2]',
  '[[1][2]]',
  '{"a":1{}}',
  '{"a":{}"b":{}}',
  '{"a":[] , "b" : [ 1 , 2 ] , "a" : 3}',
  '{"__proto__":{"x":[1]},"constructor":2}',
  '{"10":1,"9":[1,2,3,4],"a":0,"1":{}}',
  '["\\ud83d\\ude00 and \\\\ and \\" and \\u0000"]',
  '["\\u12"]',
  '["\\"]',
  '["tab\tin it"]',
  '\ufeff[]',
  '\u00a0[]',
])('the odd text %j', (text) => {
  for (const stretch of [0, 1, 2, SHORT, undefined]) expectSame(text, stretch);
});

const MEGABYTES = 16 * 1024 * 1024;
const filled = (piece: string, length = MEGABYTES) => piece.repeat(Math.ceil(length / piece.length));
const listOf = (piece: string) => `[${filled(`${piece},`)}0]`;

/** A stretch, and what was begun when it was full. */
const LONGEST_STEP = 2 * STEP_UNITS;

test.each<[string, () => string]>([
  ['one text', () => `{"text":"${filled('x')}"}`],
  ['two-byte text', () => `{"text":"${filled('Съешь')}"}`],
  ['escaped quotes', () => `{"text":"${filled('\\"')}"}`],
  ['backslashes', () => `{"text":"${filled('\\\\')}"}`],
  ['numbers', () => listOf('1')],
  ['objects', () => listOf('{"id":1,"tags":["a","b"]}')],
  ['texts with quotes', () => listOf('"a \\"b\\" c"')],
  ['nested lists', () => filled('[', MEGABYTES / 2) + filled(']', MEGABYTES / 2)],
  ['nested objects', () => `${'{"a":'.repeat(MEGABYTES / 8)}1${'}'.repeat(MEGABYTES / 8)}`],
  ['keys', () => `{${Array.from({ length: MEGABYTES / 16 }, (_, at) => `"key ${1_000_000 + at}":1`).join()}}`],
])('16 MB of %s in slices of which none is long', (_, make) => {
  const work = parseInSlices(make());
  let longest = 0;
  let step = work.next();
  for (; !step.done; step = work.next()) longest = Math.max(longest, step.value);
  expect(longest).toBeLessThan(LONGEST_STEP);
  expect(step.value.ok).toBe(true);
});

test('of what is nested thousands of levels deep, the deepest levels are left out, and the rest is there', () => {
  const deep = '['.repeat(10_000) + ']'.repeat(10_000);
  const parsed = atOnce(parseInSlices(`{"before":[1],"deep":${deep},"behind":[{"a":"b"}]}`));
  const { deep: found, ...rest } = (parsed.ok ? parsed.value : {}) as Record<string, unknown>;
  expect(rest).toEqual({ before: [1], behind: [{ a: 'b' }] });
  let levels = 0;
  for (let each = found; Array.isArray(each); each = each[0]) levels += 1;
  expect(levels).toBe(2_000);
});

test('the keys of an object that has very many are remembered in the order of the text', () => {
  const names = Array.from({ length: MANY_KEYS }, (_, at) => `key ${at}`);
  const text = `{${names.map((name) => `"${name}":1`).join()},"${names[0]}":2}`;
  const parsed = atOnce(parseInSlices(text));
  expect(parsed.ok && keysOf(parsed.value as object)).toEqual(names);
});
