// Owns finding text that a person cannot see and a model reads: zero-width characters inside words, tag characters, variation
// selectors, and overrides of the writing direction. Joined emoji, flags, Arabic marks and a byte order mark are ordinary.

import { isPlainLetter } from './letters.ts';
import type { SignalMatches } from './signal-matches.ts';

const NAME = 'hidden-text';
const FEWEST_TAGS = 2;
const FEWEST_SELECTORS = 4;

/** The first character of any run: one pass over the text rules out nearly every text. */
const begins = /[\u200b-\u200d\u202d\u202e\u2060-\u2064\ufeff\udb40]|[\ufe00-\ufe0f]{4}/g;
const zeroWidth = /[\u200b-\u200d\u2060-\u2064\ufeff]{1,64}/y;
const turn = /[\u202d\u202e]/y;
const tags = /(?:\udb40[\udc20-\udc7e]){1,64}/y;
const selectors = /(?:[\ufe00-\ufe0f]|\udb40[\udd00-\uddef]){1,64}/y;
const flag = '\u{1f3f4}';

export function findUnseen(text: string, matches: SignalMatches): void {
  for (let at = next(text, 0); at >= 0 && !matches.isFull(NAME); ) {
    const end =
      endOf(turn, text, at) ?? endOf(zeroWidth, text, at) ?? endOf(tags, text, at) ?? endOf(selectors, text, at);
    if (end !== undefined && isHidden(text, at, end)) matches.add(NAME, at, end);
    at = next(text, end ?? at + 1);
  }
}

function next(text: string, from: number): number {
  begins.lastIndex = from;
  return begins.exec(text)?.index ?? -1;
}

function endOf(run: RegExp, text: string, at: number): number | undefined {
  run.lastIndex = at;
  return run.test(text) ? run.lastIndex : undefined;
}

function isHidden(text: string, start: number, end: number): boolean {
  const first = text.charCodeAt(start);
  if (first === 0x202d || first === 0x202e) return true;
  if (isZeroWidth(first)) return isPlainLetter(text.charCodeAt(start - 1)) && isPlainLetter(text.charCodeAt(end));
  if (isTag(text, start)) return end - start >= 2 * FEWEST_TAGS && text.slice(Math.max(0, start - 2), start) !== flag;
  return [...text.slice(start, end)].length >= FEWEST_SELECTORS;
}

const isZeroWidth = (code: number) => (code >= 0x200b && code <= 0x2064) || code === 0xfeff;
const isTag = (text: string, at: number) => text.charCodeAt(at) === 0xdb40 && text.charCodeAt(at + 1) < 0xdc80;
