// Owns the proof that the vocabulary is well formed: what cannot be found by a search must not be written into it.

import { expect, test } from 'vitest';
import { expansions } from '../../../../src/catalog/search/expansions.ts';
import { faintWords, fillers } from '../../../../src/catalog/search/fillers.ts';
import { nearWords } from '../../../../src/catalog/search/near-words.ts';
import { topics } from '../../../../src/catalog/search/topics.ts';
import { translations } from '../../../../src/catalog/search/translations.ts';

const linesOf = (text: string) => text.trim().split('\n');

test('each line has its form', () => {
  for (const line of linesOf(nearWords)) expect(line).toMatch(/^[a-z]+( [a-z]+)+$/);
  for (const line of linesOf(topics)) expect(line).toMatch(/^[a-z]+( [a-z]+)*:( [a-z]+)+$/);
  for (const line of linesOf(translations)) expect(line).toMatch(/^[a-z]+( [^\s\p{ASCII}]{2,})+$/u);
});

test('no line stands twice, and no word of a question both counts little and not at all', () => {
  for (const text of [nearWords, topics, translations]) {
    const lines = linesOf(text);
    expect(lines.filter((line, at) => lines.indexOf(line) !== at)).toEqual([]);
  }
  expect([...faintWords].filter((word) => fillers.has(word))).toEqual([]);
});

test('what a word may also mean is worth less than the word, the likeliest first', () => {
  for (const [from, meanings] of expansions()) {
    const worths = meanings.map(([, worth]) => worth);
    expect(worths.every((worth) => worth > 0 && worth < 1)).toBe(true);
    expect(
      [...worths].sort((a, b) => b - a),
      from,
    ).toEqual(worths);
    expect(meanings.map(([to]) => to)).not.toContain(from);
  }
});
