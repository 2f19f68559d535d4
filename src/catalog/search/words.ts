// Owns splitting text into words: at case, underscores, digits and signs; Chinese, Japanese and Korean into pairs of characters.

import { latePattern } from '../../kernel/late-pattern.ts';

const OTHER = 0;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
const IDEOGRAPH = 4;
const APOSTROPHE = 5;

/** A longer run is cut: its beginning distinguishes it well enough. */
const WORD_CHARS = 40;

/** Calls `emit` for each word of the first `maxChars` characters, in lower case. */
export function eachWord(text: string, maxChars: number, emit: (word: string) => void): void {
  const plain = plainOf(text.length > maxChars ? text.slice(0, maxChars) : text);
  const lower = plain.toLowerCase();
  // Lower-case the text once if that keeps its length; a few capitals grow, and then positions no longer match.
  const isSame = lower.length === plain.length;
  let start = -1;
  let before = OTHER;
  for (let at = 0; at <= plain.length; at++) {
    const code = plain.charCodeAt(at);
    const kind = code < 128 ? (ascii[code] ?? OTHER) : kindOf(plain, at);
    if (kind === before && kind !== APOSTROPHE) continue;
    if (kind === APOSTROPHE && isLetter(before) && kindOf(plain, at + 1) === LOWER) continue;
    const isLater = before === UPPER && kind === LOWER;
    // In `HTTPServer` the second word began one letter ago; in `Server` and `URLs` no second word begins.
    const end = isLater ? at - 1 : at;
    if (start >= 0 && end > start && !(isLater && isPlural(plain, at))) {
      emitWord(isSame ? lower.slice(start, end) : plain.slice(start, end).toLowerCase(), before === IDEOGRAPH, emit);
      start = end;
    }
    if (kind === OTHER || kind === APOSTROPHE) start = -1;
    else if (start < 0) start = at;
    before = kind;
  }
}

const isLetter = (kind: number) => kind === LOWER || kind === UPPER;

/** One spelling for what can be written in two ways: wide letters, curled apostrophes, `e-mail`. */
function plainOf(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it asks for anything beyond ASCII
  const plain = /[^\u0000-\u007f]/.test(text) ? text.normalize('NFKC').replace(/[\u2018\u2019]/g, "'") : text;
  return plain.includes('-') ? plain.replace(/(?<![\w-])([etx])-(?=[a-z]{3})/gi, '$1') : plain;
}

export function wordsOf(text: string, maxChars = Number.POSITIVE_INFINITY): string[] {
  const words: string[] = [];
  eachWord(text, maxChars, (word) => words.push(word));
  return words;
}

/** `URLs` is a plural; in `HTTPServer` a second word begins. */
function isPlural(text: string, at: number): boolean {
  return text.charAt(at) === 's' && kindOf(text, at + 1) !== LOWER;
}

/** These languages put no spaces between words, so pairs of neighboring characters are the best that works without a dictionary. */
function emitWord(word: string, isIdeographic: boolean, emit: (word: string) => void): void {
  if (isIdeographic && word.length > 1) {
    for (let at = 0; at + 1 < word.length; at++) emit(word.slice(at, at + 2));
    return;
  }
  const short = word.length > WORD_CHARS ? word.slice(0, WORD_CHARS) : word;
  emit(short.includes("'") ? withoutApostrophe(short) : short);
}

/** `server's` is about the server; `don't` is one word. */
function withoutApostrophe(word: string): string {
  return word.endsWith("'s") ? word.slice(0, -2) : word.replaceAll("'", '');
}

const numeral = latePattern(String.raw`\p{N}`, 'u');
const letterOrMark = latePattern(String.raw`[\p{L}\p{M}]`, 'u');

function kindOf(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < 128) return ascii[code] ?? OTHER;
  // NaN: beyond the end. A lone surrogate is no letter to search for.
  if (Number.isNaN(code) || (code >= 0xd800 && code <= 0xdfff)) return OTHER;
  if (isIdeograph(code)) return IDEOGRAPH;
  const character = text.charAt(at);
  if (numeral().test(character)) return DIGIT;
  if (!letterOrMark().test(character)) return OTHER;
  return character.toLowerCase() === character ? LOWER : UPPER;
}

function isIdeograph(code: number): boolean {
  return (
    (code >= 0x3040 && code <= 0x30ff) ||
    (code >= 0x3400 && code <= 0x4dbf) ||
    (code >= 0x4e00 && code <= 0x9fff) ||
    (code >= 0xac00 && code <= 0xd7af) ||
    (code >= 0xf900 && code <= 0xfaff)
  );
}

const ascii = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[a-z]/.test(character)) return LOWER;
  if (/[A-Z]/.test(character)) return UPPER;
  if (/[0-9]/.test(character)) return DIGIT;
  return character === "'" ? APOSTROPHE : OTHER;
});
