// Owns whether tools have the arguments that a rule speaks of, by what they state of themselves. Silent where a schema leaves
// that open: it is for people who mistype, and decides nothing.

import { isObject, type JsonObject } from '../kernel/json.ts';
import { nearest } from '../kernel/nearest.ts';
import { limits } from '../model/limits.ts';
import type { ToolId } from '../model/names.ts';
import { conditionWords } from '../model/rule.ts';
import type { Need } from './conditions.ts';

interface Stating {
  readonly id: ToolId;
  readonly definition?: { readonly inputSchema: JsonObject };
}

/** In words that complete "it …"; `undefined` where one of the tools may have all that is needed. */
export function whyUnstated(needs: readonly Need[], tools: readonly Stating[]): string | undefined {
  const missing = tools.map(({ definition }) => firstMissing(needs, definition?.inputSchema));
  const [first] = missing;
  if (first === undefined || missing.includes(undefined)) return undefined;
  const [name = ''] = tools.map(({ id }) => id.tool);
  const nobody = tools.length > 1 ? `none of its ${tools.length} tools states an` : `"${name}" states no`;
  const guess = first.near.length > 0 ? `; perhaps ${first.near.map((each) => `"${each}"`).join(' or ')} is meant` : '';
  return `means nothing now, because ${nobody} argument "${first.path}"${guess}`;
}

interface Missing {
  /** As far as the schema can be followed, and what is not there. */
  readonly path: string;
  readonly near: readonly string[];
}

function firstMissing(needs: readonly Need[], schema: unknown): Missing | undefined {
  for (const { keys } of needs) {
    const missing = missingIn(schema, keys, []);
    if (missing) return missing;
  }
  return undefined;
}

/** What may let in more than the properties say. */
const OPEN = ['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'if', 'patternProperties', 'dependentSchemas'];
const SCALARS: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'null'];

function missingIn(
  schema: unknown,
  keys: readonly string[],
  before: readonly string[],
  depth = 0,
): Missing | undefined {
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
  // A word that nobody knows looks like what lies within.
  const isScalar = [type].flat().every((each) => SCALARS.includes(each));
  return isScalar ? { path, near: nearest(key, conditionWords, limits.suggestions) } : undefined;
}
