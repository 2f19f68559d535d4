// Owns the sentences in which a person reads of texts that look as if they gave a model orders, and counting them again. Finding
// such texts is left to `flagged-text.ts`, which loads the signals.

import { visible } from '../kernel/shell-word.ts';
import { limits } from '../model/limits.ts';
import type { Signal } from '../model/tool.ts';
import type { Surface } from '../shaping/injection.ts';

export interface FlaggedText {
  readonly surface: Surface;
  /** Absent where the server's instructions are meant. */
  readonly tool?: string;
  readonly signals: readonly Signal[];
}

/** The first few flagged texts, as sentences for a person. */
export function flaggedTextSentences(flaggedTexts: readonly FlaggedText[]): readonly string[] {
  const { told } = limits.flaggedTexts;
  const texts = flaggedTexts.slice(0, told).map(({ tool, signals }) => {
    const names = namesOf(signals).join(', ');
    if (tool === undefined) return `its instructions look as if they gave a model orders (${names})`;
    return `the description of the tool "${visible(tool)}" looks as if it gave a model orders (${names})`;
  });
  const more = flaggedTexts.length - texts.length;
  return more > 0 ? [...texts, `and ${more} more descriptions like these`] : texts;
}

const SENTENCE =
  /^(?:its instructions look|the description of the tool ".*" looks) as if (?:it|they) gave a model orders \(/s;
const FURTHER = /^and (\d+) more descriptions like these$/;

/** Separates the sentences above from others, and counts the texts that they tell of: an overview says only how many there are. */
export function countFlaggedTexts(sentences: readonly string[]): {
  readonly count: number;
  readonly others: readonly string[];
} {
  const counts = sentences.map((each) => (SENTENCE.test(each) ? 1 : Number(FURTHER.exec(each)?.[1] ?? 0)));
  const count = counts.reduce((sum, each) => sum + each, 0);
  return { count, others: sentences.filter((_, at) => counts[at] === 0) };
}

export const namesOf = (signals: readonly Signal[]): readonly string[] => [...new Set(signals.map(({ name }) => name))];
