// Owns finding many short keywords in a text at once, near the speed of memory: case-insensitive, skipping most characters, and
// calling the visitor only where a whole keyword stands.

import { commonPairs } from '../../model/letter-pairs.ts';

/**
 * Called for each keyword, roughly from left to right: a longer keyword may come late. Returns where the scan goes on; returning
 * `at` says that nothing was found there.
 */
export type OnKeyword = (word: number, at: number, end: number) => number;

interface Keyword {
  readonly id: number;
  readonly codes: readonly number[];
  /** How many of the codes belong to the character before the keyword. */
  readonly lead: number;
  /** Where its rarest three characters begin: the scan looks for those. */
  readonly anchor: number;
}

const CHUNK = 32 * 1024;
/** No keyword is longer. Chunks overlap by this much, so that none is missed at their border. */
const MARGIN = 64;
const BITS = 5;
const classes = classesOf();
/** Shared by all scans: a scan is synchronous, and no visitor starts another. The margins hold bytes that are in no keyword. */
const bytes = Buffer.alloc(MARGIN + CHUNK + MARGIN);

const nothing = new Uint8Array(MARGIN);
/** Copying so few characters in a loop is faster than calling `Buffer.write`. */
const SHORT_CHARS = 48;

export class KeywordScan {
  /** By the last two of three characters: how far to skip. */
  readonly #shifts = new Uint8Array(1 << 16);
  /** By all three characters: the index in `#words` of the keywords that hold them. */
  readonly #buckets = new Uint16Array(1 << (3 * BITS));
  readonly #words: (readonly Keyword[])[] = [[]];

  /** A keyword of two characters counts only behind a character that is neither letter nor digit nor one of `_-.:/`. */
  constructor(words: readonly string[]) {
    /** By the classes of two characters. */
    const shifts = new Uint8Array(1 << (2 * BITS)).fill(2);
    const shorten = (pair: number, most: number) => {
      shifts[pair] = Math.min(shifts[pair] ?? 0, most);
    };
    const commonness = commonnessOfPairs();
    const coded = words.map((word, id) => codedWord(word, id, commonness));
    // Of two keywords with the same anchor the longer one is visited first.
    for (const word of coded.sort((a, b) => b.codes.length - a.codes.length)) {
      const [first = 0, second = 0, third = 0] = word.codes.slice(word.anchor);
      shorten((first << BITS) | second, 1);
      shorten((second << BITS) | third, 0);
      const key = (first << (2 * BITS)) | (second << BITS) | third;
      const bucket = this.#buckets[key] || this.#words.push([]) - 1;
      this.#buckets[key] = bucket;
      this.#words[bucket] = [...(this.#words[bucket] ?? []), word];
    }
    this.#spread(shifts);
  }

  /** Expands the table from character classes to bytes. */
  #spread(shifts: Uint8Array): void {
    const row = new Uint8Array(classes.length);
    for (let left = 0; left < 1 << BITS; left++) {
      for (let byte = 0; byte < row.length; byte++) row[byte] = shifts[(left << BITS) | (classes[byte] ?? 0)] ?? 0;
      for (let byte = 0; byte < row.length; byte++) if (classes[byte] === left) this.#shifts.set(row, byte << 8);
    }
  }

  scan(text: string, visit: OnKeyword): void {
    for (let from = 0; from < text.length; ) from = this.scanPart(text, from, visit);
  }

  /** Scans some more of the text. Returns where to go on; the text's length at its end. Nothing is kept between two parts. */
  scanPart(text: string, from: number, visit: OnKeyword): number {
    const begin = Math.max(0, from - MARGIN);
    if (begin >= text.length) return text.length;
    const part = text.length <= CHUNK ? text : text.slice(begin, begin + CHUNK);
    // One byte per code unit. Characters beyond Latin-1 become some other letter: visitors check the text itself.
    const end = MARGIN + (part.length < SHORT_CHARS ? copy(part) : bytes.write(part, MARGIN, 'latin1'));
    bytes.set(nothing, end);
    const isLast = begin + part.length === text.length;
    const next = this.#scanChunk(begin - MARGIN, from, isLast ? end : end - MARGIN, visit);
    return isLast ? text.length : next;
  }

  /** `shift` converts a position in the bytes to one in the text. Returns the first position that was not scanned. */
  #scanChunk(shift: number, from: number, end: number, visit: OnKeyword): number {
    const shifts = this.#shifts;
    const buckets = this.#buckets;
    let at = from - shift + 1;
    while (at < end) {
      const step = shifts[((bytes[at - 1] ?? 0) << 8) | (bytes[at] ?? 0)] ?? 0;
      if (step !== 0) {
        at += step;
        continue;
      }
      const bucket = buckets[(code(at - 2) << (2 * BITS)) | (code(at - 1) << BITS) | code(at)] ?? 0;
      const next = bucket === 0 ? 0 : this.#visitAll(bucket, at - 2, shift, visit);
      at = next === 0 ? at + 1 : Math.max(at + 1, next - shift + 1);
    }
    return at + shift - 1;
  }

  #visitAll(bucket: number, anchor: number, shift: number, visit: OnKeyword): number {
    for (const word of this.#words[bucket] ?? []) {
      const at = anchor - word.anchor;
      if (!fits(word.codes, at)) continue;
      const place = at + word.lead + shift;
      const next = visit(word.id, place, at + word.codes.length + shift);
      if (next > place) return next;
    }
    return 0;
  }
}

function copy(part: string): number {
  for (let at = 0; at < part.length; at++) bytes[MARGIN + at] = part.charCodeAt(at);
  return part.length;
}

const code = (at: number) => classes[bytes[at] ?? 0] ?? 0;

function fits(codes: readonly number[], at: number): boolean {
  for (let index = 0; index < codes.length; index++) if (codes[index] !== code(at + index)) return false;
  return true;
}

function codedWord(word: string, id: number, commonness: Uint8Array): Keyword {
  const lead = word.length < 3 ? 1 : 0;
  const text = lead === 0 ? word : ` ${word}`;
  const codes: number[] = [];
  let [anchor, least, before] = [0, Number.POSITIVE_INFINITY, 0];
  for (let at = 0; at < text.length; at++) {
    codes.push(classOf(text, at));
    if (at === 0) continue;
    const pair = commonness[((codes[at - 1] ?? 0) << BITS) | (codes[at] ?? 0)] ?? 0;
    // The last two of the three decide how often the scan stops to compare.
    const sum = 3 * pair + before;
    if (at >= 2 && sum < least) {
      anchor = at - 2;
      least = sum;
    }
    before = pair;
  }
  return { id, codes, lead, anchor };
}

const classOf = (text: string, at: number) => classes[text.charCodeAt(at)] ?? 0;

/** A class per letter in either case, one for all digits, one each for `_`, `-`, `.`, `:` and `/`; everything else is 0. */
function classesOf(): Uint8Array {
  const table = new Uint8Array(256);
  for (let letter = 0; letter < 26; letter++) table[65 + letter] = table[97 + letter] = 1 + letter;
  for (let digit = 0; digit < 10; digit++) table[48 + digit] = 27;
  for (const [index, sign] of ['_', '-', '.', ':'].entries()) table[sign.charCodeAt(0)] = 28 + index;
  table['/'.charCodeAt(0)] = 31;
  return table;
}

/** By the classes of two characters. Digits, dashes and dots often come in rows. */
function commonnessOfPairs(): Uint8Array {
  const table = new Uint8Array(1 << (2 * BITS)).fill(40);
  const [digit, binding] = [classOf('0', 0), classOf('_', 0)];
  for (const left of [0, digit, ...[1, 2, 3].map((next) => binding + next)])
    table.fill(70, left << BITS, (left + 1) << BITS);
  table[(digit << BITS) | digit] = 150;
  for (const [rank, pair] of commonPairs.entries()) table[(classOf(pair, 0) << BITS) | classOf(pair, 1)] = 200 - rank;
  return table;
}
