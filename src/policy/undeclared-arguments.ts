// Owns whether tools declare the arguments that a rule has conditions on, by their input schemas. Reports nothing where a schema
// leaves that open. It helps a person who mistyped a name, and decides no call.

import { isObject, type JsonObject } from '../kernel/json.ts';
import { nearest } from '../kernel/nearest.ts';
import { limits } from '../model/limits.ts';
import type { ToolId } from '../model/names.ts';
import { conditionWords } from '../model/rule.ts';
import type { ArgumentCondition } from './conditions.ts';

interface DeclaringTool {
  readonly id: ToolId;
  readonly definition?: { readonly inputSchema: JsonObject };
}

/** In words that complete "it …"; `undefined` where one of the tools may have all of the arguments. */
export function whyUndeclared(
  conditions: readonly ArgumentCondition[],
  tools: readonly DeclaringTool[],
): string | undefined {
  const missing = tools.map(({ definition }) => firstMissing(conditions, definition?.inputSchema));
  const [first] = missing;
  if (first === undefined || missing.includes(undefined)) return undefined;
  const [name = ''] = tools.map(({ id }) => id.tool);
  const subject = tools.length > 1 ? `none of its ${tools.length} tools has an` : `the tool "${name}" has no`;
  return `never applies now, because ${subject} argument "${first.path}"${suggestion(first.near)}`;
}

/** The end of a remark that names what a person may have mistyped. */
export function suggestion(near: readonly string[]): string {
  return near.length > 0 ? `; did you mean ${near.map((each) => `"${each}"`).join(' or ')}?` : '';
}

interface MissingArgument {
  /** As far as the schema can be followed, ending with the key that is missing. */
  readonly path: string;
  readonly near: readonly string[];
}

function firstMissing(conditions: readonly ArgumentCondition[], schema: unknown): MissingArgument | undefined {
  for (const { keys } of conditions) {
    const missing = missingIn(schema, keys, []);
    if (missing) return missing;
  }
  return undefined;
}

/** Keywords that may allow more arguments than `properties` lists. */
const OPEN = ['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'if', 'patternProperties', 'dependentSchemas'];
const SCALARS: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'null'];

function missingIn(
  schema: unknown,
  keys: readonly string[],
  before: readonly string[],
  depth = 0,
): MissingArgument | undefined {
  const [key] = keys;
  if (key === undefined || depth > limits.ruleValues.depth || !isObject(schema)) return undefined;
  if (OPEN.some((word) => Object.hasOwn(schema, word))) return undefined;
  const { type, items, properties, additionalProperties = false } = schema;
  if (type === 'array') return missingIn(items, keys, before, depth + 1);
  const path = [...before, key].join('.');
  if (isObject(properties) && additionalProperties === false) {
    const found = keys.map((_, at) => at + 1).filter((end) => Object.hasOwn(properties, keys.slice(0, end).join('.')));
    if (found.length === 0) return { path, near: nearest(key, Object.keys(properties), limits.suggestions) };
    const within = found.map((end) =>
      missingIn(
        properties[keys.slice(0, end).join('.')],
        keys.slice(end),
        [...before, ...keys.slice(0, end)],
        depth + 1,
      ),
    );
    return within.includes(undefined) ? undefined : within[0];
  }
  // An unknown condition word, such as `path.undr`, looks like an argument nested in `path`.
  const isScalar = [type].flat().every((each) => SCALARS.includes(each));
  return isScalar ? { path, near: nearest(key, conditionWords, limits.suggestions) } : undefined;
}
