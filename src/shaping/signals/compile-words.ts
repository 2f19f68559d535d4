// Owns compiling a list of words to the trie that `word-table.ts` scans with.

import { buildLetters } from './build-letters.ts';
import { OTHER } from './letters.ts';
import { FIRST_OF_WORDS, type WordTrie } from './word-table.ts';

export function compileWords(words: readonly string[]): WordTrie {
  const letters = buildLetters();
  const parents: number[] = [];
  const kinds: number[] = [];
  const stateAt = new Map<string, number>();
  const ends = words.map((word) => {
    let state = 0;
    for (const char of word) {
      const kind = letters[char.charCodeAt(0)] ?? OTHER;
      const place = `${state} ${kind}`;
      const known = stateAt.get(place);
      if (known === undefined) {
        parents.push(state);
        kinds.push(kind);
      }
      state = known ?? FIRST_OF_WORDS + parents.length - 1;
      stateAt.set(place, state);
    }
    return state;
  });
  const lengths = words.map(({ length }) => length);
  return { parents: textOf(parents), kinds: textOf(kinds), ends: textOf(ends), lengths: textOf(lengths) };
}

/** Two bytes each, in Base64. */
export const textOf = (numbers: readonly number[]): string =>
  Buffer.from(Uint16Array.from(numbers).buffer).toString('base64');
