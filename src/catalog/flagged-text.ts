// Owns finding text that looks as if it gave a model orders, in a server's tool definitions and in its instructions. Such text
// is reported; no tool is left out because of it.

import { isObject, type JsonObject } from '../kernel/json.ts';
import { visible } from '../kernel/shell-word.ts';
import { limits } from '../model/limits.ts';
import type { Signal, ToolDefinition } from '../model/tool.ts';
import { findSignals, type Surface } from '../shaping/injection.ts';

export interface FlaggedText {
  readonly surface: Surface;
  /** Absent where the server's instructions are meant. */
  readonly tool?: string;
  readonly signals: readonly Signal[];
}

export function flaggedTextsOf(
  tools: readonly ToolDefinition[],
  instructions: string | undefined,
): readonly FlaggedText[] {
  const own = instructions === undefined ? [] : findSignals(instructions, 'instructions');
  return [
    ...(own.length > 0 ? [{ surface: 'instructions' as const, signals: own }] : []),
    ...tools.flatMap((tool) => {
      const signals = signalsOf(tool);
      return signals.length > 0 ? [{ surface: 'tool_description' as const, tool: tool.name, signals }] : [];
    }),
  ];
}

/** The first few flagged texts, as sentences for a person. */
export function flaggedTextSentences(flaggedTexts: readonly FlaggedText[]): readonly string[] {
  const { told } = limits.flaggedTexts;
  const texts = flaggedTexts.slice(0, told).map(({ tool, signals }) => {
    const names = namesOf(signals).join(', ');
    if (tool === undefined) return `its instructions look as if they gave a model orders (${names})`;
    return `the description of the tool "${visible(tool)}" looks as if it gave a model orders (${names})`;
  });
  const more = flaggedTexts.length - texts.length;
  return more > 0 ? [...texts, `and ${more} more descriptions like these`] : texts;
}

const SENTENCE =
  /^(?:its instructions look|the description of the tool ".*" looks) as if (?:it|they) gave a model orders \(/s;
const FURTHER = /^and (\d+) more descriptions like these$/;

/** Separates the sentences above from others, and counts the texts that they tell of: an overview says only how many there are. */
export function countFlaggedTexts(sentences: readonly string[]): {
  readonly count: number;
  readonly others: readonly string[];
} {
  const counts = sentences.map((each) => (SENTENCE.test(each) ? 1 : Number(FURTHER.exec(each)?.[1] ?? 0)));
  const count = counts.reduce((sum, each) => sum + each, 0);
  return { count, others: sentences.filter((_, at) => counts[at] === 0) };
}

export const namesOf = (signals: readonly Signal[]): readonly string[] => [...new Set(signals.map(({ name }) => name))];

/** Reads all text that a model reads of the tool: a parameter's description can hide an order too. */
export function signalsOf(tool: ToolDefinition): readonly Signal[] {
  const parts: string[] = [];
  for (const text of [tool.title, tool.annotations?.title, tool.description])
    if (typeof text === 'string') parts.push(text);
  gather(tool.inputSchema, parts, { left: limits.flaggedTexts.schemaParts });
  return findSignals(parts.join('\n'), 'tool_description');
}

/** Collects every text of a schema, at any depth; `checkDefinition` has bounded the depth. */
function gather(schema: JsonObject, parts: string[], budget: { left: number }): void {
  for (const key of Object.keys(schema)) {
    if (budget.left-- <= 0) return;
    const value = schema[key];
    if (typeof value === 'string') parts.push(value);
    else if (isObject(value)) gather(value, parts, budget);
    else if (Array.isArray(value)) gatherAll(value, parts, budget);
  }
}

function gatherAll(items: readonly unknown[], parts: string[], budget: { left: number }): void {
  for (const item of items) {
    if (budget.left-- <= 0) return;
    if (typeof item === 'string') parts.push(item);
    else if (isObject(item)) gather(item, parts, budget);
  }
}
