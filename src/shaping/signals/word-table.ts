// Owns finding the words of a list in a text with a state table: one step per character, whatever the text and however long the
// list.

import { ESCAPE, KIND_BITS, letters, numbersOf, OTHER, PAIR, SPACE, UNSEEN } from './letters.ts';

/** Called with the index of the word in the list, and where it stands: from its first letter to behind its last. */
export type OnWord = (word: number, start: number, end: number) => void;

const BETWEEN = 0;
const ELSEWHERE = 1;
const AFTER_BACKSLASH = 2;
const AFTER_HALF = 3;
const CODE_POINT: readonly number[] = [4, 5, 6, 7];
export const FIRST_OF_WORDS = 8;
/** A state from this number on says which word has just ended. */
const ENDED = 0x8000;

const CHUNK = 0x4000;
const bytes = Buffer.alloc(2 * CHUNK);
const codes = new Uint16Array(bytes.buffer, bytes.byteOffset, CHUNK);
/** The words that ended in a chunk: the index and the position of each. */
const ended = new Int32Array(2 * CHUNK);

/** The words letter by letter, as lists of numbers that `numbersOf` reads; `compile-words.ts` makes them. */
export interface WordTrie {
  /** For each state within a word, in order: the state before it, and the kind of the letter between them. */
  readonly parents: string;
  readonly kinds: string;
  /** For each word: its last state, and its length. */
  readonly ends: string;
  readonly lengths: string;
}

export class WordTable {
  readonly #next: Uint16Array;
  readonly #lengths: Uint16Array;

  constructor({ parents, kinds, ends, lengths }: WordTrie) {
    const [parentOf, kindOf, endOf] = [numbersOf(parents), numbersOf(kinds), numbersOf(ends)];
    const next = new Uint16Array((FIRST_OF_WORDS + parentOf.length) << KIND_BITS);
    for (let state = 0; state < FIRST_OF_WORDS; state++) fillRow(next, state);
    // The rows of all states within words are alike, but for the state itself.
    const inWord = FIRST_OF_WORDS << KIND_BITS;
    fillRow(next, FIRST_OF_WORDS);
    for (let filled = 1; filled < parentOf.length; filled *= 2)
      next.copyWithin(inWord + (filled << KIND_BITS), inWord, inWord + (filled << KIND_BITS));
    for (let at = 0; at < parentOf.length; at++) {
      const state = FIRST_OF_WORDS + at;
      next[(state << KIND_BITS) | UNSEEN] = state;
      next[((parentOf[at] as number) << KIND_BITS) | (kindOf[at] as number)] = state;
    }
    for (const kind of [SPACE, ESCAPE, PAIR])
      for (let word = 0; word < endOf.length; word++)
        next[((endOf[word] as number) << KIND_BITS) | kind] = ENDED + word;
    this.#next = next;
    this.#lengths = numbersOf(lengths);
  }

  /** Returns whether any character of the text is wider than a byte. */
  scan(text: string, onWord: OnWord): boolean {
    const scan: ScanState = { state: BETWEEN, bits: 0 };
    for (let from = 0; from < text.length; from += CHUNK) {
      const chunk = text.length <= CHUNK ? text : text.slice(from, from + CHUNK);
      bytes.write(chunk, 'utf16le');
      const count = readChunk(this.#next, letters(), chunk.length, scan);
      for (let at = 0; at < count; at += 2)
        this.#report(text, ended[at] as number, from + (ended[at + 1] as number), onWord);
    }
    const last = this.#next[scan.state << KIND_BITS] as number;
    if (last >= ENDED) this.#report(text, last - ENDED, text.length, onWord);
    return scan.bits > 0xff;
  }

  #report(text: string, word: number, end: number, onWord: OnWord): void {
    onWord(word, this.#startOf(text, word, end), end);
  }

  #startOf(text: string, word: number, end: number): number {
    const kinds = letters();
    const length = this.#lengths[word] as number;
    if (end === length || kinds[text.charCodeAt(end - length - 1)] === SPACE) return end - length;
    // Invisible characters between its letters make the word longer than its spelling.
    let start = end;
    for (let left = length; left > 0 && start > 0; ) {
      start--;
      if (kinds[text.charCodeAt(start)] !== UNSEEN) left--;
    }
    return (text.charCodeAt(start) & 0xfc00) === 0xdc00 ? start - 1 : start;
  }
}

interface ScanState {
  state: number;
  /** All code units so far, combined with OR. */
  bits: number;
}

/** The only loop over every character. It calls nothing and only notes the words, which keeps it fast. */
function readChunk(next: Uint16Array, kinds: Uint8Array, length: number, scan: ScanState): number {
  let { state, bits } = scan;
  let count = 0;
  for (let at = 0; at < length; at++) {
    const code = codes[at] as number;
    const kind = kinds[code] as number;
    bits |= code;
    state = next[(state << KIND_BITS) | kind] as number;
    if (state < ENDED) continue;
    ended[count++] = state - ENDED;
    ended[count++] = at;
    state = next[kind] as number;
  }
  scan.state = state;
  scan.bits = bits;
  return count;
}

/** Fills the row of a state for all characters that continue no word of the list. */
function fillRow(next: Uint16Array, state: number): void {
  const row = next.subarray(state << KIND_BITS, (state + 1) << KIND_BITS);
  if (state === AFTER_HALF) return;
  row.fill(ELSEWHERE);
  row[SPACE] = BETWEEN;
  row[UNSEEN] = state;
  row[ESCAPE] = AFTER_BACKSLASH;
  row[PAIR] = AFTER_HALF;
  if (state === AFTER_BACKSLASH) {
    for (const letter of 'nrtbfv') row[kindOfLetter(letter)] = BETWEEN;
    row[kindOfLetter('u')] = CODE_POINT[0] as number;
  }
  const digit = CODE_POINT.indexOf(state);
  // An escaped code point (`\u0020`) counts as a space: in practice letters are not escaped.
  if (digit >= 0) row.fill(CODE_POINT[digit + 1] ?? BETWEEN, SPACE + 1, OTHER + 1);
}

/** Of a plain letter; the table of all characters need not be read for it. */
const kindOfLetter = (letter: string) => letter.charCodeAt(0) - 0x60;
