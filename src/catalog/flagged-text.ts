// Owns finding text that looks as if it gave a model orders, in a server's tool definitions and in its instructions. Such text
// is reported, in the words of `flagged-sentences.ts`; no tool is left out because of it.

import { isObject, type JsonObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { Signal, ToolDefinition } from '../model/tool.ts';
import { findSignals } from '../shaping/injection.ts';
import type { FlaggedText } from './flagged-sentences.ts';

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
