// Owns the proof that the words of a list are found where they stand, whole, in any spelling that looks the same.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileWords } from '../../../../src/shaping/signals/compile-words.ts';
import { WordTable } from '../../../../src/shaping/signals/word-table.ts';

const words = ['rule', 'rules', 'ignore', 'all'];

const table = new WordTable(compileWords(words));

function foundIn(text: string, offset = 0): readonly string[] {
  const found: string[] = [];
  table.scan(text, (word, start, end) =>
    found.push(`${words[word]} ${offset + start}-${offset + end} ${text.slice(start, end)}`),
  );
  return found;
}

test.each([
  ['ignore all rules', ['ignore 0-6 ignore', 'all 7-10 all', 'rules 11-16 rules']],
  ['a rule, and rules', ['rule 2-6 rule', 'rules 12-17 rules']],
  ['overrule wall rulers', []],
  ['IGNORE Áll', ['ignore 0-6 IGNORE', 'all 7-10 Áll']],
  ['i\u200bgnore', ['ignore 0-7 i\u200bgnore']],
  ['\\nall\\nx', ['all 2-5 all']],
])('%j', (text, found) => {
  expect(foundIn(text)).toEqual(found);
});

test('a word across the border of two parts of a long text', () => {
  const before = `${'x'.repeat(0x4000 - 3)} `;
  expect(foundIn(`${before}rules`)).toEqual([`rules ${before.length}-${before.length + 5} rules`]);
});

test('a long text, which is read in four places at once, holds what its words hold one by one', () => {
  const part = fc.constantFrom(
    ...words,
    'walls',
    'Áll',
    'i\u200bgnore',
    '\\nrule',
    '\\u0020all',
    '\ud83d',
    '漢',
    '.',
    'y'.repeat(90),
  );
  const text = fc
    .array(fc.tuple(part, fc.constantFrom(' ', ' ', '\n', '', '-')), { minLength: 40, maxLength: 400 })
    .chain((parts) => fc.constantFrom(1, 20).map((times) => parts.flat().join('').repeat(times)));
  fc.assert(
    fc.property(text, (long) => {
      let at = 0;
      const oneByOne = long.split(/(?<= )/).flatMap((piece) => {
        at += piece.length;
        return foundIn(piece, at - piece.length);
      });
      expect(foundIn(long)).toEqual(oneByOne);
    }),
  );
});
