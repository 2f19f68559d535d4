// Owns the proof that the words of a list are found where they stand, whole, in any spelling that looks the same.

import { expect, test } from 'vitest';
import { compileWords } from '../../../../src/shaping/signals/compile-words.ts';
import { WordTable } from '../../../../src/shaping/signals/word-table.ts';

const words = ['rule', 'rules', 'ignore', 'all'];

function foundIn(text: string): readonly string[] {
  const found: string[] = [];
  new WordTable(compileWords(words)).scan(text, (word, start, end) =>
    found.push(`${words[word]} ${start}-${end} ${text.slice(start, end)}`),
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
