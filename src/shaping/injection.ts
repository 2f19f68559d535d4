// Owns finding what in a text looks like an instruction to the model that reads it: named signals, never verdicts. Nothing is
// blocked or changed here; the caller decides what a signal is worth.

import { latePattern } from '../kernel/late-pattern.ts';
import { SLICE_UNITS } from '../kernel/slices.ts';
import type { Signal } from '../model/tool.ts';
import { findEncoded } from './signals/encoded.ts';
import { findMarks } from './signals/marks.ts';
import { findOrders } from './signals/orders.ts';
import { findOtherScripts } from './signals/other-scripts.ts';
import { type SignalMatch, SignalMatches, type Surface } from './signals/signal-matches.ts';
import { findSpelled } from './signals/spelled.ts';
import { findUnseen } from './signals/unseen.ts';

export { type Surface, surfaces } from './signals/signal-matches.ts';

const invisible = latePattern(String.raw`\p{Cf}+`, 'gu');
const blank = latePattern(String.raw`[\p{C}\s]+`, 'gu');
const LONGEST_EXCERPT = 120;

/** Returns a few signals of each name, in the order of the text. Pure, and linear in the length of the text. */
export function findSignals(text: string, surface: Surface = 'tool_output'): readonly Signal[] {
  const matches = new SignalMatches();
  const isWide = findOrders(text, surface, matches);
  findMarks(text, matches);
  const bytes = bytesOf(text);
  findSpelled(text, bytes, matches);
  findEncoded(text, bytes, (hidden) => hasOrder(hidden, surface), matches);
  if (isWide) {
    findUnseen(text, matches);
    findOtherScripts(text, matches);
  }
  if (matches.isEmpty) return [];
  return matches.inTextOrder().map((each) => ({ name: each.name, at: each.start, excerpt: excerptOf(text, each) }));
}

/** Of a text that is passed on whole, however long it is: searched at its ends only, where it is long. */
export function findAtEnds(text: string, find: (text: string) => readonly Signal[] = findSignals): readonly Signal[] {
  if (text.length <= 2 * SLICE_UNITS) return find(text);
  return [...find(text.slice(0, SLICE_UNITS)), ...find(text.slice(-SLICE_UNITS))];
}

/** Reused for all texts but very long ones: a new buffer for each costs more than to search it. */
const scratch = Buffer.alloc(64 * 1024);

/** The text as Latin-1, until the next call. */
function bytesOf(text: string): Uint8Array {
  if (text.length > scratch.length) return Buffer.from(text, 'latin1');
  scratch.write(text, 'latin1');
  return scratch.subarray(0, text.length);
}

function hasOrder(text: string, surface: Surface): boolean {
  const matches = new SignalMatches();
  findOrders(text, surface, matches);
  return !matches.isEmpty;
}

/** The match and the text behind it, on one line, without invisible characters. */
function excerptOf(text: string, { start }: SignalMatch): string {
  const line = text
    .slice(start, start + 2 * LONGEST_EXCERPT)
    .replace(invisible(), '')
    .replace(blank(), ' ')
    .trim();
  return line.slice(0, LONGEST_EXCERPT);
}
