// Owns orders in scripts other than Latin: Chinese, Japanese, Korean, Russian and Ukrainian, Arabic. The words are data in
// `other-scripts.json`: an order consists of `parts`, each a list of alternatives written as patterns, with at most so many
// characters of one sentence between them. The gaps are bounded, so that no text makes the search slow.

import { once } from '../../kernel/once.ts';
import rows from './other-scripts.json' with { type: 'json' };
import type { SignalMatches } from './signal-matches.ts';

interface ScriptPattern {
  readonly name: string;
  /** Letters of the script: a text without any is not searched for the pattern. */
  readonly script: RegExp;
  readonly pattern: RegExp;
}

const patterns = once(() =>
  rows.map(({ name, letters, sentenceEnds, parts, gaps }): ScriptPattern => {
    const gapBefore = (part: number) => (part === 0 ? '' : `[^${sentenceEnds}]{0,${gaps[part - 1]}}`);
    const source = parts.map((words, part) => `${gapBefore(part)}(?:${words.join('|')})`).join('');
    return { name, script: new RegExp(`[${letters}]`), pattern: new RegExp(source, 'g') };
  }),
);

export function findOtherScripts(text: string, matches: SignalMatches): void {
  if (!/[\u0400-\u06ff\u3040-\ud7af]/.test(text)) return;
  for (const { name, script, pattern } of patterns()) {
    if (!script.test(text)) continue;
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match !== null && !matches.isFull(name); match = pattern.exec(text))
      matches.add(name, match.index, pattern.lastIndex);
  }
}
