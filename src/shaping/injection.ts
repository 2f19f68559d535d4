// Owns what in a text looks like an instruction to the model that reads it: named signals, never verdicts. Nothing is blocked
// or changed here; who asked for signals decides what they are worth.

import type { Signal } from '../model/tool.ts';
import { findEncoded } from './signals/encoded.ts';
import { type Finding, Findings, type Surface } from './signals/finding.ts';
import { findMarks } from './signals/marks.ts';
import { findOrders } from './signals/orders.ts';
import { findOtherScripts } from './signals/other-scripts.ts';
import { findSpelled } from './signals/spelled.ts';
import { findUnseen } from './signals/unseen.ts';

export { type Surface, surfaces } from './signals/finding.ts';

const LONGEST_EXCERPT = 120;

/** In the order of the text, a few of each name. Pure, and in time linear in the text. */
export function findSignals(text: string, surface: Surface = 'tool_output'): readonly Signal[] {
  const found = new Findings();
  const isWide = findOrders(text, surface, found);
  findMarks(text, found);
  const bytes = Buffer.from(text, 'latin1');
  findSpelled(text, bytes, found);
  findEncoded(text, bytes, (hidden) => hasOrder(hidden, surface), found);
  if (isWide) {
    findUnseen(text, found);
    findOtherScripts(text, found);
  }
  if (found.isEmpty) return [];
  return found.inOrder().map((each) => ({ name: each.name, at: each.start, excerpt: excerptOf(text, each) }));
}

function hasOrder(text: string, surface: Surface): boolean {
  const found = new Findings();
  findOrders(text, surface, found);
  return !found.isEmpty;
}

/** What was found and what follows it, on one line, without anything that a terminal or a reader could not see. */
function excerptOf(text: string, { start }: Finding): string {
  const line = text
    .slice(start, start + 2 * LONGEST_EXCERPT)
    .replace(/\p{Cf}+/gu, '')
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  return line.slice(0, LONGEST_EXCERPT);
}
