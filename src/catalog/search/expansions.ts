// Owns which other words may answer a word of a query, and how far to trust each. The words stand in three data files, as
// lines, since an array of lines loads fastest. They hold general words only: no line is written for one tool, one server or
// one row of a benchmark.

import nearWords from './near-words.json' with { type: 'json' };
import { stem } from './stem.ts';
import topics from './topics.json' with { type: 'json' };
import translations from './translations.json' with { type: 'json' };
import { wordsOf } from './words.ts';

/** A stem to look for instead, and what finding it is worth compared with the word itself. */
export type Expansion = readonly [stem: string, worth: number];

/** A match that is worth as much is of the same meaning. */
export const NEAR = 0.55;
const TOPIC = 0.4;
const TRANSLATION = 0.9;

/** By stem; the likeliest first. */
export type Expansions = ReadonlyMap<string, readonly Expansion[]>;

let built: Expansions | undefined;

/** Built at the first search: a process that never searches does not pay for it. */
export function expansions(): Expansions {
  built ??= buildExpansions();
  return built;
}

function buildExpansions(): Expansions {
  const worths = new Map<string, Map<string, number>>();
  const lead = (from: string, to: string, worth: number): void => {
    if (from === to) return;
    const targets = worths.get(from) ?? new Map<string, number>();
    targets.set(to, Math.max(worth, targets.get(to) ?? 0));
    worths.set(from, targets);
  };
  // Each line is a group of words that stand for each other, in English and in the vocabulary of software.
  for (const line of nearWords) {
    const group = stemsOf(line);
    for (const from of group) for (const to of group) lead(from, to, NEAR);
  }
  // A query about rain wants the weather: the words behind the colon lead to those before it, and never back.
  for (const line of topics) {
    const [heads = '', related = ''] = line.split(':');
    for (const from of stemsOf(related)) for (const to of stemsOf(heads)) lead(from, to, TOPIC);
  }
  // Chinese, Japanese and Korean for common words: a query and a description need not share a language.
  for (const line of translations) {
    const [word = '', ...others] = line.split(' ').map(firstStem);
    for (const other of others) {
      lead(word, other, TRANSLATION);
      lead(other, word, TRANSLATION);
    }
  }
  return new Map([...worths].map(([from, to]) => [from, [...to].sort(([, a], [, b]) => b - a)]));
}

/** The first pair of characters tells a longer word apart; its later pairs also end other words. */
const firstStem = (text: string) => stem(wordsOf(text)[0] ?? '');
const stemsOf = (line: string) => [...new Set(wordsOf(line).map(stem))];
