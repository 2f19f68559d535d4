// Owns the rules for signals. A rule describes the form of an order – a verb, what it acts on, whom it addresses – and never the
// wording of one known attack. The phrases are data: `rules/obedience.json` (other instructions, another role, no safeguards),
// `rules/voices.json` (a false role or authority, speaking as the user or to the model) and `rules/deeds.json` (secrecy, sending
// data away, steering tools). `word-kinds.json` holds the kinds of words, `compile-phrases.ts` explains how a phrase is written,
// and `compiled.json` is what is read at run time.

import compiled from './compiled.json' with { type: 'json' };
import * as conditions from './conditions.ts';
import type { Surface } from './signal-matches.ts';

export interface SignalRule {
  readonly name: string;
  readonly phraseCount: number;
  /** The phrase counts only at the beginning of a clause: a report that others ignore instructions is no order. */
  readonly isOrder: boolean;
  readonly before: RegExp | undefined;
  readonly written: RegExp | undefined;
  readonly after: RegExp | undefined;
  /** The surfaces on which the rule applies; `undefined`: all of them. */
  readonly on: readonly Surface[] | undefined;
}

/** A rule as the data files write it, with how many phrases it has. */
interface RuleRow {
  readonly name: string;
  readonly phraseCount: number;
  readonly isOrder?: boolean;
  /** The name of a condition in `conditions.ts`, or of a group of surfaces. */
  readonly before?: string;
  readonly written?: string;
  readonly after?: string;
  readonly on?: string;
}

const surfaceGroups: Readonly<Record<string, readonly Surface[]>> = {
  descriptions: ['tool_description', 'prompt', 'instructions'],
  outputs: ['tool_output'],
};

export function readRules(): readonly SignalRule[] {
  const rows: readonly RuleRow[] = compiled.rules;
  return rows.map(({ name, phraseCount, isOrder = false, before, written, after, on }) => ({
    name,
    phraseCount,
    isOrder,
    before: lookUp(conditions.before, before),
    written: lookUp(conditions.written, written),
    after: lookUp(conditions.after, after),
    on: lookUp(surfaceGroups, on),
  }));
}

function lookUp<Entry>(table: Readonly<Record<string, Entry>>, name: string | undefined): Entry | undefined {
  if (name === undefined) return undefined;
  const entry = table[name];
  if (entry === undefined) throw new Error(`a signal rule refers to "${name}", which does not exist`);
  return entry;
}
