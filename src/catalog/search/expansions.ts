// Owns what else a word of a question may mean: near words, topics and translations, each with how far to trust it.

import { nearWords } from './near-words.ts';
import { stem } from './stem.ts';
import { topics } from './topics.ts';
import { translations } from './translations.ts';
import { wordsOf } from './words.ts';

/** A stem to look for instead, and what finding it is worth against the word itself. */
export type Expansion = readonly [stem: string, worth: number];

const NEAR = 0.55;
const TOPIC = 0.4;
const TRANSLATION = 0.9;

/** By stem; the likeliest first. */
export type Expansions = ReadonlyMap<string, readonly Expansion[]>;

let made: Expansions | undefined;

/** Made once, when somebody searches: who never does need not pay for it. */
export function expansions(): Expansions {
  made ??= makeExpansions();
  return made;
}

function makeExpansions(): Expansions {
  const worths = new Map<string, Map<string, number>>();
  const lead = (from: string, to: string, worth: number): void => {
    if (from === to) return;
    const known = worths.get(from) ?? new Map<string, number>();
    known.set(to, Math.max(worth, known.get(to) ?? 0));
    worths.set(from, known);
  };
  for (const line of linesOf(nearWords)) {
    const group = stemsOf(line);
    for (const from of group) for (const to of group) lead(from, to, NEAR);
  }
  for (const line of linesOf(topics)) {
    const [heads = '', related = ''] = line.split(':');
    for (const from of stemsOf(related)) for (const to of stemsOf(heads)) lead(from, to, TOPIC);
  }
  for (const line of linesOf(translations)) {
    const [word = '', ...others] = line.split(' ').map(firstStem);
    for (const other of others) {
      lead(word, other, TRANSLATION);
      lead(other, word, TRANSLATION);
    }
  }
  return new Map([...worths].map(([from, to]) => [from, [...to].sort(([, a], [, b]) => b - a)]));
}

const linesOf = (text: string) => text.trim().split('\n');
/** The beginning of a longer word tells it apart; its later pairs end other words as well. */
const firstStem = (text: string) => stem(wordsOf(text)[0] ?? '');
const stemsOf = (line: string) => [...new Set(wordsOf(line).map(stem))];
