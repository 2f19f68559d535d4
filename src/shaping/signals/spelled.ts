// Owns finding words whose letters stand apart (`i g n o r e`). Like `encoded.ts`, it checks only every n-th character of ordinary
// text.

import type { SignalMatches } from './signal-matches.ts';

const NAME = 'spelled-out';
const FEWEST_LETTERS = 10;
const WIDEST_GAP = 3;
/** Short enough that no run with the fewest letters is stepped over. */
const STRIDE = 2 * FEWEST_LETTERS - 1 - WIDEST_GAP;

const words = [
  'ignore',
  'instruct',
  'system',
  'override',
  'directive',
  'previous',
  'bypass',
  'prompt',
  'admin',
  'secret',
];
const spelledWord = new RegExp(words.map((word) => [...word].join(`[ ._*-]{1,${WIDEST_GAP}}`)).join('|'), 'i');

/** `bytes` holds the text as Latin-1, one byte per character, because bytes are read faster. */
export function findSpelled(text: string, bytes: Uint8Array, matches: SignalMatches): void {
  for (let probe = 0; probe < bytes.length; probe += STRIDE) {
    const letter = loneLetterFrom(bytes, probe);
    if (letter < 0) continue;
    const [start, end] = [edge(bytes, letter, -1), edge(bytes, letter, 1) + 1];
    if (end - start > STRIDE && spelledWord.test(text.slice(start, end))) matches.add(NAME, start, end);
    if (matches.isFull(NAME)) return;
    probe = Math.max(probe, end - STRIDE);
  }
}

/** The next letter that stands alone, no farther away than a gap within a run. */
function loneLetterFrom(bytes: Uint8Array, from: number): number {
  const to = Math.min(from + WIDEST_GAP, bytes.length - 1);
  for (let at = from; at <= to; at++) if (isLetter(bytes[at] as number)) return isAlone(bytes, at) ? at : -1;
  return -1;
}

/** The last letter of the run in one direction. */
function edge(bytes: Uint8Array, from: number, direction: 1 | -1): number {
  let last = from;
  for (let at = from + direction; at >= 0 && at < bytes.length; at += direction) {
    const code = bytes[at] as number;
    if (Math.abs(at - last) > WIDEST_GAP + 1 || !(isGap(code) || isLetter(code))) break;
    if (isGap(code)) continue;
    if (!isAlone(bytes, at)) break;
    last = at;
  }
  return last;
}

function isAlone(bytes: Uint8Array, at: number): boolean {
  return (
    (at === 0 || !isWord(bytes[at - 1] as number)) && (at + 1 === bytes.length || !isWord(bytes[at + 1] as number))
  );
}

function isLetter(code: number): boolean {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

/** Space, dot, underscore, star or dash. */
const isGap = (code: number) => code === 0x20 || code === 0x2e || code === 0x5f || code === 0x2a || code === 0x2d;
const isWord = (code: number) => isLetter(code) || (code >= 0x30 && code <= 0x39);
