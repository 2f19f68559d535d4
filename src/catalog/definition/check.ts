// Owns checking a tool's definition. A broken definition is left out and reported; the server's other tools stay.

import { isObject, type JsonObject } from '../../kernel/json.ts';
import { limits } from '../../model/limits.ts';
import { faultOfParamHeaders } from '../../model/param-headers.ts';
import type { ToolDefinition } from '../../model/tool.ts';
import { canonicalCopy } from './canonical.ts';
import { faultOfRoot } from './root-fault.ts';

const emptySchema: JsonObject = Object.freeze({ type: 'object' });

/** The definition, frozen and with sorted keys, or why it is left out, as a sentence for a person. */
export function checkDefinition(item: unknown, { mirrorsArguments = false } = {}): ToolDefinition | string {
  if (!isObject(item) || typeof item['name'] !== 'string' || item['name'] === '')
    return 'a tool without a name was left out';
  const { name, description, inputSchema = emptySchema, ...rest } = item;
  if (name.length > limits.nameChars)
    return `a tool was left out: its name is longer than ${limits.nameChars} characters`;
  if (!isObject(inputSchema)) return `the tool "${name}" was left out: its inputSchema is not an object`;
  const definition = canonicalCopy<ToolDefinition>({
    ...rest,
    ...(typeof description === 'string' && { description }),
    inputSchema,
    name,
  });
  if (definition === undefined) return `the tool "${name}" was left out: its definition is too deep or too large`;
  const fault =
    faultOfRoot(definition.inputSchema) ?? (mirrorsArguments ? faultOfParamHeaders(definition.inputSchema) : undefined);
  return fault === undefined ? definition : `the tool "${name}" was left out: ${fault}`;
}
