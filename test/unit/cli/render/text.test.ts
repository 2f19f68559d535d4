// Owns the proof that what is shown to a person cannot drive, fool or flood a screen.

import { expect, test } from 'vitest';
import { documentText } from '../../../../src/cli/render/json.ts';
import { plain, printable, table } from '../../../../src/cli/render/text.ts';

test('what cannot be seen is written as its number; what a script or an emoji needs stays', () => {
  expect(printable('a\u001b[31m\u200f\u061c\u200b\u2028\u{e0041}\ud800')).toBe(
    'a\\u001b[31m\\u200f\\u061c\\u200b\\u2028\\u{e0041}\\ud800',
  );
  const fine = 'two\r\nlines\n\t👩\u200d💻 ❤\ufe0f';
  expect(printable(fine)).toBe(fine);
  expect(printable('over\rwritten')).toBe('over\\u000dwritten');
});

test('a document hides nothing either, and means the same', () => {
  const data = { text: 'a\u009b\u200f\u{e0041}é' };
  const written = documentText(data);
  expect(written).toContain('"a\\u009b\\u200f\\udb40\\udc41é"');
  expect(JSON.parse(written)).toEqual(data);
});

test('a cell that is far too wide moves its own row only, and none begins a row of its own', () => {
  const long = 'x'.repeat(8_000);
  const drawn = table(
    ['A', 'B'],
    [
      [{ text: long }, { text: 'one' }],
      [{ text: 'c\nd' }, { text: 'two' }],
    ],
    plain,
  );
  const [head = '', first, second = '', ...more] = drawn.split('\n');
  expect([first, more]).toEqual([`${long}  one`, []]);
  expect([head.indexOf('B'), second.indexOf('two'), second.slice(0, 4)]).toEqual([74, 74, 'c\\nd']);
});
