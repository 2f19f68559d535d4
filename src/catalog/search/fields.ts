// Owns which texts of a tool are indexed for search, how much of each, and the weight of a word by its field.

import { isObject, type JsonObject } from '../../kernel/json.ts';
import { limits } from '../../model/limits.ts';
import type { ToolAnnotations } from '../../model/tool.ts';

export interface Findable {
  /** Identifies the tool in search results; unique. */
  readonly key: string;
  readonly server: string;
  /** The tool's own name. */
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** The server's own claim; it moves a tool's place and decides nothing else. */
  readonly annotations?: ToolAnnotations;
}

interface SearchField {
  readonly weight: number;
  /** The usual number of words. Fixed, so that a tool's score does not depend on the other tools. */
  readonly usual: number;
  /** How much a longer text lowers the worth of each of its words: 0 not at all, 1 in full. */
  readonly lessening: number;
}

export const fields = {
  name: { weight: 3, usual: 3, lessening: 0.3 },
  title: { weight: 2, usual: 3, lessening: 0.3 },
  server: { weight: 1, usual: 2, lessening: 0.2 },
  description: { weight: 1.5, usual: 10, lessening: 0.35 },
  parameters: { weight: 0.8, usual: 5, lessening: 0.5 },
  parameterTexts: { weight: 0.4, usual: 20, lessening: 0.5 },
  values: { weight: 0.3, usual: 5, lessening: 0.7 },
} as const satisfies Record<string, SearchField>;

export type FieldName = keyof typeof fields;

/** Each field's texts; no more than the limits allow, whatever a server sends. */
export function textsOf(tool: Findable): Readonly<Record<FieldName, readonly string[]>> {
  const { parameters, parameterTexts, values } = readSchema(tool.inputSchema);
  return {
    name: [tool.name],
    title: tool.title === undefined ? [] : [tool.title],
    server: [tool.server],
    description: [tool.description],
    parameters,
    parameterTexts,
    values,
  };
}

interface SchemaTexts {
  readonly parameters: string[];
  readonly parameterTexts: string[];
  readonly values: string[];
}

/** The keywords that hold further schemas: one, a list of them, or several by name. */
const one = ['items', 'additionalProperties'];
const lists = ['anyOf', 'oneOf', 'allOf'];
const named = ['properties', '$defs', 'definitions'];

/** Never recurses, and stops after a fixed number of parts: a server may send a schema of any depth and width. */
function readSchema(schema: JsonObject): SchemaTexts {
  const texts: SchemaTexts = { parameters: [], parameterTexts: [], values: [] };
  const open: unknown[] = [schema];
  for (let at = 0; at < open.length && at < limits.ranking.schemaParts; at++) {
    const part = open[at];
    if (!isObject(part)) continue;
    if (at > 0) keepTexts(part, texts);
    const { properties } = part;
    if (isObject(properties)) texts.parameters.push(...few(Object.keys(properties)));
    for (const key of named) if (isObject(part[key])) open.push(...few(Object.values(part[key])));
    for (const key of lists) if (Array.isArray(part[key])) open.push(...few(part[key]));
    for (const key of one) open.push(part[key]);
  }
  return texts;
}

/** Bounded because it is spread into a call's arguments, where a very long list would overflow the stack. */
const few = <Value>(list: readonly Value[]) =>
  list.length > limits.ranking.schemaParts ? list.slice(0, limits.ranking.schemaParts) : list;

function keepTexts({ title, description, enum: values, const: value }: JsonObject, texts: SchemaTexts): void {
  if (typeof description === 'string') texts.parameterTexts.push(description);
  if (typeof title === 'string') texts.parameterTexts.push(title);
  if (typeof value === 'string') texts.values.push(value);
  if (!Array.isArray(values)) return;
  for (const each of few(values)) if (typeof each === 'string') texts.values.push(each);
}
