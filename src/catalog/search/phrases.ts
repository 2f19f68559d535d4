// Owns phrases that stand for one word: "get rid of" is to delete, "how far" asks for a distance. Each line of `phrases.json` is a
// word and the phrases that mean it; a word with a tilde is only hinted at.

import lines from './phrases.json' with { type: 'json' };

interface Phrase {
  readonly words: readonly string[];
  readonly instead: string;
}

/** By the first word. */
type Phrases = ReadonlyMap<string, readonly Phrase[]>;

/** Particles may stand apart from their verb: "turn the light off". */
const particles = new Set(['off', 'on', 'up', 'down', 'out', 'away', 'back', 'over', 'into', 'in']);
const MOST_BETWEEN = 3;

let built: Phrases | undefined;

/** Whether the phrase only hints at the word: "how many" may want a count, or a list to count. Such words count little. */
export const isHinted = (word: string): boolean => word.startsWith('~');
export const plainOf = (word: string): string => (isHinted(word) ? word.slice(1) : word);

/** The words of a sentence, each phrase among them replaced. */
export function joinPhrases(words: readonly string[]): readonly string[] {
  built ??= readPhrases();
  const joined = [...words];
  for (let at = 0; at < joined.length; at++) {
    for (const phrase of built.get(joined[at] ?? '') ?? []) {
      const between = wordsBetween(joined, at, phrase.words);
      if (between === undefined) continue;
      joined.splice(at + 1 + between, phrase.words.length - 1);
      joined[at] = phrase.instead;
      break;
    }
  }
  return joined;
}

/** How many words stand between the first and the second word of the phrase; `undefined` if the phrase is not there. */
function wordsBetween(words: readonly string[], at: number, phrase: readonly string[]): number | undefined {
  if (phrase.every((word, offset) => words[at + offset] === word)) return 0;
  const [, particle = ''] = phrase;
  if (phrase.length !== 2 || !particles.has(particle)) return undefined;
  const between = words.slice(at + 1, at + 2 + MOST_BETWEEN).indexOf(particle);
  return between > 0 ? between : undefined;
}

function readPhrases(): Phrases {
  const phrases = new Map<string, Phrase[]>();
  for (const line of lines) {
    const [instead = '', list = ''] = line.split(': ');
    for (const text of list.split(', ')) {
      const words = text.split(' ');
      const first = words[0] ?? '';
      phrases.set(first, [...(phrases.get(first) ?? []), { words, instead }]);
    }
  }
  return phrases;
}
