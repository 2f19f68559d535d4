// Owns matching phrases: words of certain kinds in a certain order, close together and in one sentence. A phrase is written as
// its words: `@kind` is any word of a kind, `a|b` either word, and dots are the distance (no dots: side by side, `....`: far).

import { WordTable } from './word-table.ts';

/** The words of each kind, as lines of words. `stem/s` is the word without and with that ending; accents are left out. */
export type WordKinds = Readonly<Record<string, readonly string[]>>;

/** Called with the index of the phrase in the list, and where it stands. */
export type OnPhrase = (phrase: number, start: number, end: number) => void;

const distances: Readonly<Record<string, number>> = { '': 3, '.': 9, '..': 18, '...': 42, '....': 90 };
/** The reach of a phrase's first step. */
const FIRST = -1;
const NOWHERE = -0x40000000;

interface PhraseStep {
  readonly words: readonly string[];
  /** How many characters may stand between the previous step and this one. */
  readonly reach: number;
}

export class Phrases {
  readonly #table: WordTable;
  /** The steps that each word can be, word after word; `#firstStep` says where those of a word begin. */
  readonly #steps: Int32Array;
  readonly #firstStep: Int32Array;
  readonly #reach: Int32Array;
  /** For each step: the phrase it completes, or -1. */
  readonly #completes: Int32Array;
  /** For each step: where its phrase began, and where the step itself ended. */
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;

  constructor(phrases: readonly string[], kinds: WordKinds) {
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
        reach.push(at === 0 ? FIRST : step.reach);
        completes.push(at === steps.length - 1 ? phrase : -1);
      }
    }
    // Later steps of a phrase come first, so that one word is never counted as two steps.
    for (const steps of stepsOf.values()) steps.reverse();
    this.#table = new WordTable([...stepsOf.keys()]);
    this.#steps = Int32Array.from([...stepsOf.values()].flat());
    let first = 0;
    this.#firstStep = Int32Array.from([0, ...[...stepsOf.values()].map(({ length }) => (first += length))]);
    this.#reach = Int32Array.from(reach);
    this.#completes = Int32Array.from(completes);
    this.#starts = new Int32Array(reach.length);
    this.#ends = new Int32Array(reach.length);
  }

  /** Returns whether any character of the text is wider than a byte. */
  find(text: string, onPhrase: OnPhrase): boolean {
    this.#ends.fill(NOWHERE);
    return this.#table.scan(text, (word, start, end) => this.#onWord(text, word, start, end, onPhrase));
  }

  #onWord(text: string, word: number, start: number, end: number, onPhrase: OnPhrase): void {
    const steps = this.#steps;
    const reaches = this.#reach;
    const starts = this.#starts;
    const ends = this.#ends;
    const last = this.#firstStep[word + 1] as number;
    for (let at = this.#firstStep[word] as number; at < last; at++) {
      const step = steps[at] as number;
      const reach = reaches[step] as number;
      if (reach === FIRST) {
        starts[step] = start;
      } else {
        const before = ends[step - 1] as number;
        if (start - before > reach || isBroken(text, before, start)) continue;
        starts[step] = starts[step - 1] as number;
      }
      ends[step] = end;
      const phrase = this.#completes[step] as number;
      if (phrase >= 0) onPhrase(phrase, starts[step] as number, end);
    }
  }
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

/** The end of a sentence, the punctuation of a table or a program, or a blank line. */
function isBroken(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x2e || code === 0x21 || code === 0x3f || code === 0x3b) {
      const next = text.charCodeAt(at + 1);
      if (next <= 0x20 || next === 0x22 || next === 0x5c) return true;
    } else if (code === 0x7b || code === 0x7d || code === 0x3d || code === 0x7c || code === 0x3c || code === 0x3e) {
      return true;
    } else if (code === 0x0a && text.charCodeAt(at + 1) === 0x0a) {
      return true;
    }
  }
  return false;
}
