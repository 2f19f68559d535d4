// Owns the proof that a preview is small whatever it is of, says what is missing, and shares nothing with what it shows.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { preview } from '../../../src/kernel/preview.ts';
import { processorMs } from '../../effort.ts';

const limits = { parts: 10, chars: 5 };

test('what is small is shown whole, as a copy', () => {
  const value = { a: [1, null, true], b: { c: 'text' } };
  const shown = preview(value, limits);
  expect(shown).toEqual(value);
  expect(shown).not.toBe(value);
});

test('what is left out is counted', () => {
  expect(preview('abcdefgh', limits)).toBe('abcde… (8 characters)');
  expect(preview('abcd🎈f', limits)).toBe('abcd… (7 characters)');
  expect(preview(Array(20).fill(1), limits)).toEqual([...Array(9).fill(1), '… (11 more)']);
  const wide = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`k${at}`, at]));
  expect(Object.entries(preview(wide, limits) as object).at(-1)).toEqual(['…', '3 more']);
});

test('a name that means something to the language is a name like any other', () => {
  const shown = preview(JSON.parse('{"__proto__":{"polluted":true}}'), limits) as object;
  expect(Object.keys(shown)).toEqual(['__proto__']);
  expect('polluted' in shown).toBe(false);
});

test('whatever is shown is never much more than the limits', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.stringify(preview(value, limits) ?? null).length).toBeLessThan(2_000);
    }),
  );
});

test('a hundred thousand parts cost no more than a few', () => {
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`key${at}`, at]));
  expect(processorMs(() => preview(many, limits))).toBeLessThan(2_500);
});
