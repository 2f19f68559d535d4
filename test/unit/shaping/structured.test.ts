// Owns the proof that structured content is shown once: beside a text with other content, and never beside its own JSON.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isInTexts, jsonText } from '../../../src/shaping/structured.ts';
import { extractText } from '../../../src/shaping/text.ts';
import { runs } from '../../effort.ts';
import { verifies } from '../../verifies.ts';

const blocks = (...texts: string[]) => texts.map((text) => ({ type: 'text', text }));
const shown = (texts: string[], structured: unknown) => extractText(blocks(...texts), structured).text;

const value = { name: 'river', size: [1, 2.5, { deep: null }], 'with "quotes"': 'ü\n' };

verifies('OUT-03', 'a text that is the same JSON, however it is written, is not repeated', () => {
  const reordered = '{"size":[1,2.50,{"deep":null}],"with \\"quotes\\"":"\\u00fc\\n","name":"river"}';
  for (const text of [JSON.stringify(value), JSON.stringify(value, undefined, 2), ` \n${reordered}\n`])
    expect(shown([text], value)).toBe(text);
  expect(shown(['first', JSON.stringify(value), 'last'], value)).toBe(`first\n${JSON.stringify(value)}\nlast`);
});

verifies('OUT-03', 'beside any other text it is shown', () => {
  for (const text of ['found a river', '{}', '{"name":"river"}', JSON.stringify({ ...value, more: 1 }), '{"name":', ''])
    expect(shown([text], value)).toBe(`${text}\n${JSON.stringify(value)}`);
  expect(shown([], value)).toBe(JSON.stringify(value));
});

verifies(
  'OUT-03',
  'a value that was put into an object only to be sent is said by its own text, and a list by its items',
  () => {
    expect(shown(['done'], { result: 'done' })).toBe('done');
    expect(shown(['42'], { result: 42 })).toBe('42');
    expect(shown(['[1, 2]'], { result: [1, 2] })).toBe('[1, 2]');
    expect(shown(['{"a": 1}', '{"a": 2}'], { result: [{ a: 1 }, { a: 2 }] })).toBe('{"a": 1}\n{"a": 2}');
    expect(shown(['one', 'two'], { result: ['one', 'two'] })).toBe('one\ntwo');
    expect(shown(['one', 'three'], { result: ['one', 'two'] })).toBe('one\nthree\n{"result":["one","two"]}');
    expect(shown(['done'], { result: 'done', more: 1 })).toBe('done\n{"result":"done","more":1}');
  },
);

test('structured content may be any JSON', () => {
  for (const odd of [null, 0, false, '', 'text', [], [[]], {}]) {
    expect(shown(['x'], odd)).toBe(`x\n${JSON.stringify(odd)}`);
    expect(shown([JSON.stringify(odd)], odd)).toBe(JSON.stringify(odd));
  }
});

test('what a value says is what its JSON says', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      const [a, b] = [JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other))];
      expect(isInTexts(a, [JSON.stringify(a)])).toBe(true);
      expect(isInTexts(a, [JSON.stringify(a, undefined, '\t')])).toBe(true);
      expect(JSON.parse(jsonText(a))).toEqual(a);
      // An object with a single key may only wrap the value of the text.
      const mayWrap = typeof a === 'string' || Array.isArray(a) || Object.keys(a ?? {}).length === 1;
      if (JSON.stringify(sorted(a)) !== JSON.stringify(sorted(b)) && !mayWrap)
        expect(isInTexts(a, [JSON.stringify(b)])).toBe(false);
    }),
    { numRuns: runs(500) },
  );
});

function sorted(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(sorted);
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(
    Object.entries(json)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, part]) => [key, sorted(part)]),
  );
}

verifies('OUT-03', 'base64 is named by its size in place of its letters; words and numbers, however long, stay', () => {
  const data = Buffer.from(Array.from({ length: 400 }, (_, at) => (at * 7) % 256)).toString('base64');
  const lines = data.replace(/(.{76})/g, '$1\n');
  const mark = '[base64, 400 bytes]';
  expect(JSON.parse(jsonText({ data, list: [lines], url: `data:a/b;base64,${data}`, zeros: 'A'.repeat(400) }))).toEqual(
    {
      data: mark,
      list: [mark],
      url: `data:a/b;${mark}`,
      zeros: '[base64, 300 bytes]',
    },
  );
  const kept = {
    hex: 'deadbeef'.repeat(100),
    word: 'x'.repeat(900),
    path: `/Users/Somebody/${'folder.d/'.repeat(60)}`,
    prose: 'Some Words and 12 Numbers. '.repeat(40),
    short: { mimeType: 'text/plain', data: 'plainwords00' },
    small: { mimeType: 'image/png', note: 'aGVsbG8gd29ybGQ=' },
  };
  expect(JSON.parse(jsonText(kept))).toEqual(kept);
  expect(jsonText({ mimeType: 'image/png', data: 'aGVsbG8gd29ybGQ=' })).toBe(
    '{"mimeType":"image/png","data":"[base64, 11 bytes]"}',
  );
  expect(jsonText({ same: 'QUJD' }, new Set(['QUJD']))).toBe('{"same":"[base64, 3 bytes]"}');
});

test('a value of any depth and size is shown as far as it can be, and compared within reason', () => {
  const deep = JSON.parse(`${'{"a":['.repeat(100_000)}${']}'.repeat(100_000)}`);
  const text = jsonText({ deep, beside: 1 });
  expect(text.endsWith('"beside":1}')).toBe(true);
  expect(text).toContain('[too deep to be shown]');
  expect(isInTexts(deep, [`${'{"a":['.repeat(100_000)}${']}'.repeat(100_000)}`])).toBe(true);
  const itself: Record<string, unknown> = {};
  itself['itself'] = [itself, itself, itself];
  expect(jsonText(itself)).toBe('[structured content with too many parts to be shown]');
  expect(jsonText({ big: 1n })).toMatch(/^\[structured content that is no JSON: .{0,600}\]$/);
  expect(jsonText(undefined)).toBe('null');
});

test('looking for the same in many long texts ends soon', () => {
  const long = { text: 'x'.repeat(1_000_000) };
  const texts = Array.from({ length: 50 }, (_, at) => JSON.stringify({ ...long, at }));
  const before = process.cpuUsage();
  expect(isInTexts(long, texts)).toBe(false);
  expect(
    isInTexts(
      long,
      Array.from({ length: 100_000 }, () => '{'),
    ),
  ).toBe(false);
  jsonText(Array.from({ length: 20_000 }, () => 'aB'.repeat(127)));
  jsonText(`${'aB'.repeat(2_000_000)}!`);
  jsonText({ url: 'data:a/b;'.repeat(200_000) });
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000, 'milliseconds').toBeLessThan(8_000);
});
