// Owns the proof that the word tables of search are well formed: a word that no search can find must not stand in them.

import { expect, test } from 'vitest';
import { expansions } from '../../../../src/catalog/search/expansions.ts';
import { faintWords, fillers } from '../../../../src/catalog/search/fillers.ts';
import nearWords from '../../../../src/catalog/search/near-words.json' with { type: 'json' };
import phrases from '../../../../src/catalog/search/phrases.json' with { type: 'json' };
import topics from '../../../../src/catalog/search/topics.json' with { type: 'json' };
import translations from '../../../../src/catalog/search/translations.json' with { type: 'json' };
import verbs from '../../../../src/catalog/search/verbs.json' with { type: 'json' };

test('each line has its form', () => {
  for (const line of nearWords) expect(line).toMatch(/^[a-z]+( [a-z]+)+$/);
  for (const line of topics) expect(line).toMatch(/^[a-z]+( [a-z]+)*:( [a-z]+)+$/);
  for (const line of translations) expect(line).toMatch(/^[a-z]+( [^\s\p{ASCII}]{2,})+$/u);
  for (const line of phrases) expect(line).toMatch(/^~?[a-z]+: [a-z]+( [a-z]+)+(, [a-z]+( [a-z]+)+)*$/);
  for (const line of Object.values(verbs).flat()) expect(line).toMatch(/^[a-z]+( [a-z]+)*$/);
  for (const word of [...fillers, ...faintWords]) expect(word).toMatch(/^[a-z]+$/);
});

test('no line stands twice, and no word of a query both counts little and not at all', () => {
  for (const lines of [nearWords, topics, translations, phrases])
    expect(lines.filter((line, at) => lines.indexOf(line) !== at)).toEqual([]);
  expect([...faintWords].filter((word) => fillers.has(word))).toEqual([]);
  const all = Object.values(verbs).flatMap((lines) => lines.flatMap((line) => line.split(' ')));
  expect(all.filter((verb, at) => all.indexOf(verb) !== at)).toEqual([]);
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
