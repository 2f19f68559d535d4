// Owns telling a healthy definition of a tool from a broken one. One broken definition costs itself and never its neighbors.

import { faultOfParamHeaders } from '../connection/param-headers.ts';
import { deepFreeze, isObject, isWithin, type JsonObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { ToolDefinition } from '../model/tool.ts';

const emptySchema: JsonObject = { type: 'object' };

/** The definition, frozen, or why it is left out, in words for a person. */
export function checkDefinition(item: unknown, { mirrorsArguments = false } = {}): ToolDefinition | string {
  if (!isObject(item) || typeof item['name'] !== 'string' || item['name'] === '')
    return 'a tool without a name was left out';
  const { name, description, inputSchema = emptySchema, ...rest } = item;
  if (name.length > limits.nameChars)
    return `a tool was left out: its name is longer than ${limits.nameChars} characters`;
  if (!isObject(inputSchema)) return `the tool "${name}" was left out: its inputSchema is not an object`;
  if (!isWithin(item, limits.definition))
    return `the tool "${name}" was left out: its definition is too deep or too large`;
  const fault = mirrorsArguments ? faultOfParamHeaders(inputSchema) : undefined;
  if (fault !== undefined) return `the tool "${name}" was left out: ${fault}`;
  return deepFreeze({ ...rest, name, inputSchema, ...(typeof description === 'string' && { description }) });
}
