// Owns compiling phrases to the tables that `phrases.ts` matches with. A phrase is written as its words: `@kind` is any word of a
// kind, `a|b` either word, and dots are the distance (no dots: side by side, `....`: far).

import { compileWords, textOf } from './compile-words.ts';
import { NONE, type PhraseTables } from './phrases.ts';

/** The words of each kind, as lines of words. `stem/s` is the word without and with that ending; accents are left out. */
export type WordKinds = Readonly<Record<string, readonly string[]>>;

const distances: Readonly<Record<string, number>> = { '': 3, '.': 9, '..': 18, '...': 42, '....': 90 };

interface PhraseStep {
  readonly words: readonly string[];
  /** How many characters may stand between the previous step and this one. */
  readonly reach: number;
}

export function compilePhrases(phrases: readonly string[], kinds: WordKinds): PhraseTables {
  const stepsOf = new Map<string, number[]>();
  const reach: number[] = [];
  const completes: number[] = [];
  const wordsOf = createWordsOf(kinds);
  for (const [phrase, text] of phrases.entries()) {
    const steps = parse(text, wordsOf);
    for (const [at, step] of steps.entries()) {
      for (const word of step.words) {
        const ofWord = stepsOf.get(word);
        if (ofWord) ofWord.push(reach.length);
        else stepsOf.set(word, [reach.length]);
      }
      reach.push(at === 0 ? NONE : step.reach);
      completes.push(at === steps.length - 1 ? phrase : NONE);
    }
  }
  // Later steps of a phrase come first, so that one word is never counted as two steps.
  for (const steps of stepsOf.values()) steps.reverse();
  let first = 0;
  return {
    trie: compileWords([...stepsOf.keys()]),
    steps: textOf([...stepsOf.values()].flat()),
    firstStep: textOf([0, ...[...stepsOf.values()].map(({ length }) => (first += length))]),
    reach: textOf(reach),
    completes: textOf(completes),
  };
}

type WordsOf = (part: string) => readonly string[];

function parse(phrase: string, wordsOf: WordsOf): readonly PhraseStep[] {
  const steps: PhraseStep[] = [];
  let dots = '';
  for (const part of phrase.split(' ')) {
    if (/^\.+$/.test(part)) {
      dots = part;
      continue;
    }
    steps.push({ words: part.split('|').flatMap(wordsOf), reach: distances[dots] ?? 0 });
    dots = '';
  }
  return steps;
}

/** Most kinds occur in many phrases; each is expanded once. */
function createWordsOf(kinds: WordKinds): WordsOf {
  const expanded = new Map<string, readonly string[]>();
  return (part) => {
    if (!part.startsWith('@')) return [part];
    const words = expanded.get(part) ?? expandKind(part, kinds);
    expanded.set(part, words);
    return words;
  };
}

function expandKind(part: string, kinds: WordKinds): readonly string[] {
  const lines = kinds[part.slice(1)];
  if (lines === undefined) throw new Error(`no kind of words is called ${part}`);
  return lines
    .flatMap((line) => line.split(' '))
    .flatMap((word) => {
      const [stem = '', ...endings] = word.split('/');
      return [stem, ...endings.map((ending) => stem + ending)];
    });
}
