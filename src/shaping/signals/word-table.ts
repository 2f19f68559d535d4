// Owns finding the words of a list in a text with a state table: one step per character, whatever the text and however long the
// list. A step needs the result of the step before it, so four parts of a text are read in turn: that takes half the time.

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
/** V8 answers this without work for one-byte strings. */
const WIDE = /[\u0100-\uffff]/;

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
    let state = BETWEEN;
    for (let from = 0; from < text.length; from += CHUNK) {
      const chunk = text.length <= CHUNK ? text : text.slice(from, from + CHUNK);
      bytes.write(chunk, 'utf16le');
      state = readChunk(this.#next, letters(), chunk.length, state);
      for (const { ended, count } of lanesFor(chunk.length))
        for (let at = 0; at < count; at += 2)
          this.#report(text, ended[at] as number, from + (ended[at + 1] as number), onWord);
    }
    const last = this.#next[state << KIND_BITS] as number;
    if (last >= ENDED) this.#report(text, last - ENDED, text.length, onWord);
    return WIDE.test(text);
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

/** A part of the chunk, and how far it has been read. */
class Lane {
  at = 0;
  to = 0;
  state = BETWEEN;
  /** The words that ended in it: the index and the position of each. No two end at neighbouring characters. */
  readonly ended = new Int32Array(CHUNK + 2);
  count = 0;
}

const [first, second, third, fourth] = [new Lane(), new Lane(), new Lane(), new Lane()];
const lanes: readonly Lane[] = [first, second, third, fourth];
const onlyLane: readonly Lane[] = [first];
/** A shorter chunk is not worth being divided. */
const SHORTEST_DIVIDED = 256;
const lanesFor = (length: number) => (length < SHORTEST_DIVIDED ? onlyLane : lanes);

/** Returns the state behind the chunk. */
function readChunk(next: Uint16Array, kinds: Uint8Array, length: number, state: number): number {
  const used = lanesFor(length);
  const most = Math.ceil(length / used.length);
  let [from, shortest, last] = [0, length, first];
  for (const lane of used) {
    lane.at = from;
    lane.to = afterSpace(kinds, Math.min(from + most, length), length);
    // Whatever stands before a space, the state behind it is the same.
    lane.state = from === 0 ? state : BETWEEN;
    lane.count = 0;
    shortest = Math.min(shortest, lane.to - from);
    if (from < lane.to) last = lane;
    from = lane.to;
  }
  if (used === lanes) readTogether(next, kinds, shortest);
  for (const lane of used) readRest(next, kinds, lane);
  return last.state;
}

function afterSpace(kinds: Uint8Array, from: number, length: number): number {
  let at = from;
  while (at < length && kinds[codes[at - 1] as number] !== SPACE) at++;
  return at;
}

/** As many characters of each lane. It calls nothing and only notes the words, which keeps it fast. */
function readTogether(next: Uint16Array, kinds: Uint8Array, length: number): void {
  const [fromA, fromB, fromC, fromD] = [first.at, second.at, third.at, fourth.at];
  const [endedA, endedB, endedC, endedD] = [first.ended, second.ended, third.ended, fourth.ended];
  let [a, b, c, d] = [first.state, second.state, third.state, fourth.state];
  let [countA, countB, countC, countD] = [0, 0, 0, 0];
  for (let step = 0; step < length; step++) {
    const kindA = kinds[codes[fromA + step] as number] as number;
    const kindB = kinds[codes[fromB + step] as number] as number;
    const kindC = kinds[codes[fromC + step] as number] as number;
    const kindD = kinds[codes[fromD + step] as number] as number;
    a = next[(a << KIND_BITS) | kindA] as number;
    b = next[(b << KIND_BITS) | kindB] as number;
    c = next[(c << KIND_BITS) | kindC] as number;
    d = next[(d << KIND_BITS) | kindD] as number;
    if ((a | b | c | d) < ENDED) continue;
    if (a >= ENDED) {
      endedA[countA++] = a - ENDED;
      endedA[countA++] = fromA + step;
      a = next[kindA] as number;
    }
    if (b >= ENDED) {
      endedB[countB++] = b - ENDED;
      endedB[countB++] = fromB + step;
      b = next[kindB] as number;
    }
    if (c >= ENDED) {
      endedC[countC++] = c - ENDED;
      endedC[countC++] = fromC + step;
      c = next[kindC] as number;
    }
    if (d >= ENDED) {
      endedD[countD++] = d - ENDED;
      endedD[countD++] = fromD + step;
      d = next[kindD] as number;
    }
  }
  leave(first, a, countA, length);
  leave(second, b, countB, length);
  leave(third, c, countC, length);
  leave(fourth, d, countD, length);
}

function leave(lane: Lane, state: number, count: number, length: number): void {
  lane.state = state;
  lane.count = count;
  lane.at += length;
}

/** The characters by which the lane is longer than the shortest one. */
function readRest(next: Uint16Array, kinds: Uint8Array, lane: Lane): void {
  const { ended, to } = lane;
  let { at, state, count } = lane;
  for (; at < to; at++) {
    const kind = kinds[codes[at] as number] as number;
    state = next[(state << KIND_BITS) | kind] as number;
    if (state < ENDED) continue;
    ended[count++] = state - ENDED;
    ended[count++] = at;
    state = next[kind] as number;
  }
  leave(lane, state, count, to - lane.at);
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
