// Owns matching phrases: words of certain kinds in a certain order, close together and in one sentence. What the phrases are is
// compiled beforehand (`compile-phrases.ts`).

import { numbersOf } from './letters.ts';
import { WordTable, type WordTrie } from './word-table.ts';

/** Called with the index of the phrase in the list, and where it stands. */
export type OnPhrase = (phrase: number, start: number, end: number) => void;

/** Lists of numbers, as `numbersOf` reads them. */
export interface PhraseTables {
  readonly trie: WordTrie;
  /** The steps that each word can be, word after word; `firstStep` says where those of a word begin. */
  readonly steps: string;
  readonly firstStep: string;
  /** For each step how many characters may stand between the previous step and this one. */
  readonly reach: string;
  /** For each step: the phrase it completes. */
  readonly completes: string;
}

/** The reach of a phrase's first step, and the phrase that a step completes which is not the last. */
export const NONE = 0xffff;
const NOWHERE = -0x40000000;

export class Phrases {
  readonly #table: WordTable;
  readonly #steps: Uint16Array;
  readonly #firstStep: Uint16Array;
  readonly #reach: Uint16Array;
  readonly #completes: Uint16Array;
  /** For each step: where its phrase began, and where the step itself ended. */
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;

  constructor({ trie, steps, firstStep, reach, completes }: PhraseTables) {
    this.#table = new WordTable(trie);
    this.#steps = numbersOf(steps);
    this.#firstStep = numbersOf(firstStep);
    this.#reach = numbersOf(reach);
    this.#completes = numbersOf(completes);
    this.#starts = new Int32Array(this.#reach.length);
    this.#ends = new Int32Array(this.#reach.length);
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
      if (reach === NONE) {
        starts[step] = start;
      } else {
        const before = ends[step - 1] as number;
        if (start - before > reach || isBroken(text, before, start)) continue;
        starts[step] = starts[step - 1] as number;
      }
      ends[step] = end;
      const phrase = this.#completes[step] as number;
      if (phrase !== NONE) onPhrase(phrase, starts[step] as number, end);
    }
  }
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
