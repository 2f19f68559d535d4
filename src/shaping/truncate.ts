// Owns cutting a text that is too long for the model: head and tail stay, and a notice says how much is missing.

import { latePattern } from '../kernel/late-pattern.ts';
import { charsWithin, isWithinTokens } from '../kernel/tokens.ts';
import type { Truncation } from '../model/tool.ts';

/** Both limits hold. */
export interface ResultLimits {
  readonly chars: number;
  readonly tokens: number;
}

/** The two ends of a text, enough to cut it. For a short text both are the whole text. */
export interface Ends {
  readonly head: string;
  readonly tail: string;
  readonly totalChars: number;
}

/** The two ends that are kept. */
export interface Cut {
  readonly head: string;
  readonly tail: string;
}

/** Most of what the model needs stands at the beginning; errors and totals often stand at the end. */
const HEAD_SHARE = 0.75;

/** How the kept characters (or tokens) are divided between head and tail. */
export function sharesOf(chars: number): { readonly head: number; readonly tail: number } {
  const head = Math.ceil(chars * HEAD_SHARE);
  return { head, tail: chars - head };
}

/** `undefined` when the text is within the limits. */
export function findCut({ head, tail, totalChars }: Ends, { chars, tokens }: ResultLimits): Cut | undefined {
  if (totalChars <= chars && isWithinTokens(head, tokens)) return undefined;
  // A text may be over the limit of tokens and still within that of characters.
  const most = sharesOf(Math.min(chars, totalChars));
  const share = sharesOf(tokens);
  const headChars = charsWithin(head, share.head, most.head, 'start');
  const tailChars = charsWithin(tail, share.tail, most.tail, 'end');
  // Counted in two pieces a text may be a token less, so the two ends can make up the whole text.
  if (headChars + tailChars >= totalChars) return undefined;
  return {
    head: head.slice(0, beforeCharacter(head, headChars)),
    tail: tail.slice(afterCharacter(tail, tail.length - tailChars)),
  };
}

/** Head, notice and tail as one text. The remark tells the model about the missing part. */
export function joinCut({ head, tail }: Cut, totalChars: number, remark?: string): string {
  const missing = totalChars - head.length - tail.length;
  // Plain ASCII: one wider character would make V8 store the whole text in two bytes per character.
  const notice = `[... ${missing} of ${totalChars} characters left out${remark === undefined ? '' : `; ${remark}`} ...]`;
  return `${head}\n${notice}\n${tail}`;
}

export interface Truncated {
  readonly text: string;
  readonly truncated?: Truncation;
}

export function truncate(text: string, maxChars: number): Truncated {
  const totalChars = text.length;
  const cut = findCut({ head: text, tail: text, totalChars }, { chars: maxChars, tokens: Number.POSITIVE_INFINITY });
  if (cut === undefined) return { text };
  return {
    text: joinCut(cut, totalChars),
    truncated: { totalChars, keptChars: cut.head.length + cut.tail.length },
  };
}

/** Code points that belong to the character before them: accents, joiners, emoji modifiers and tags. */
const dependent = latePattern(String.raw`^(?:\p{M}|\u200c|\u200d|[\u{1f3fb}-\u{1f3ff}\u{e0020}-\u{e007f}])`, 'u');
const LONGEST_CHARACTER = 32;

function beforeCharacter(text: string, at: number): number {
  let place = at;
  while (place > 0 && at - place < LONGEST_CHARACTER && isInside(text, place)) place--;
  return isInside(text, place) ? beforePair(text, at) : place;
}

function afterCharacter(text: string, at: number): number {
  let place = at;
  while (place < text.length && place - at < LONGEST_CHARACTER && isInside(text, place)) place++;
  return isInside(text, place) ? beforePair(text, at + 1) : place;
}

/** Even a character longer than the limit is never cut within a surrogate pair. */
const beforePair = (text: string, at: number) => (isPair(text, at) ? at - 1 : at);

function isInside(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  const code = text.charCodeAt(at);
  // Nearly all characters are decided here.
  if (code < 0x300) return code === 0x0a && text.charCodeAt(at - 1) === 0x0d;
  return isPair(text, at) || text.charCodeAt(at - 1) === 0x200d || dependent().test(text.slice(at, at + 2));
}

function isPair(text: string, at: number): boolean {
  return isLow(text.charCodeAt(at)) && isHigh(text.charCodeAt(at - 1));
}

const isHigh = (code: number) => code >= 0xd800 && code < 0xdc00;
const isLow = (code: number) => code >= 0xdc00 && code < 0xe000;
