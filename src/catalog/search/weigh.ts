// Owns what each word of a tool is worth: more in an important field, more in a short text; repeating a word adds little.

import { limits } from '../../model/limits.ts';
import { type FieldName, type Findable, fields, textsOf } from './fields.ts';
import { fillers } from './fillers.ts';
import type { Posting, Postings } from './postings.ts';
import { eachWord } from './words.ts';

/** How soon further occurrences of a word stop counting. */
const SATURATION = 1.2;

const fieldNames = Object.keys(fields) as readonly FieldName[];

/** Sums up the words of a tool in their postings, and gives these postings. `Postings.add` must follow before the next tool. */
export function weigh(tool: Findable, postings: Postings): readonly Posting[] {
  const held: Posting[] = [];
  const texts = textsOf(tool);
  for (const name of fieldNames) {
    const met = wordsIn(texts[name], postings, isProse(name));
    const { weight, usual, lessening } = fields[name];
    const each = weight / (1 - lessening + (lessening * met.length) / usual);
    for (const posting of met) {
      if (posting.sum.worth === 0) held.push(posting);
      posting.sum.worth += each;
      if (name === 'name') posting.sum.share = 1 / met.length;
    }
  }
  for (const { sum } of held) sum.worth = (sum.worth * (SATURATION + 1)) / (SATURATION + sum.worth);
  return held;
}

/** Fields in which small words are only grammar. In a name they may be all there is. */
const isProse = (name: FieldName) => name === 'description' || name === 'parameterTexts';

/** One posting per occurrence, up to the limit of a field. */
function wordsIn(texts: readonly string[], postings: Postings, prose: boolean): readonly Posting[] {
  const met: Posting[] = [];
  let left: number = limits.ranking.fieldChars;
  for (const text of texts) {
    if (left <= 0) break;
    eachWord(text, left, (word) => {
      if (!(prose && fillers.has(word))) met.push(postings.of(word));
    });
    left -= text.length;
  }
  return met;
}
