// Owns turning words of the command line into a tool's arguments: `key=value` by the schema, `key:=JSON` as it is.

import { isObject, type JsonObject, parseJson } from '../kernel/json.ts';
import { UsageError } from './command.ts';

export function parseArguments(words: readonly string[], schema: JsonObject): JsonObject {
  const entries = words.map((word): [string, unknown] => {
    const [, key, json, text = ''] = /^([^=:]+)(:?)=(.*)$/s.exec(word) ?? [];
    if (key === undefined) throw new UsageError(`"${word}" is not an argument; write key=value, or key:=JSON`);
    return [key, json === ':' ? parseValue(key, text) : coerce(text, typeOf(schema, key))];
  });
  return Object.fromEntries(entries);
}

/** What `--args` holds: a JSON object, wherever it was read from. */
export function parseArgumentsJson(text: string, source: string): JsonObject {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new UsageError(`${source} is not valid JSON: ${parsed.problem}`);
  if (!isObject(parsed.value)) throw new UsageError(`${source} must be a JSON object`);
  return parsed.value;
}

function parseValue(key: string, text: string): unknown {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new UsageError(`the value of "${key}" is not valid JSON: ${parsed.problem}`);
  return parsed.value;
}

function typeOf(schema: JsonObject, key: string): readonly unknown[] {
  const properties = schema['properties'];
  const property = isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
  const type = isObject(property) ? property['type'] : undefined;
  return Array.isArray(type) ? type : [type];
}

/** A text that is not what the schema wants stays a text: the check of the arguments then says what is wrong. */
function coerce(text: string, types: readonly unknown[]): unknown {
  if (types.includes('string')) return text;
  const parsed = parseJson(text);
  const wanted = types.some((type) =>
    ['number', 'integer', 'boolean', 'array', 'object', 'null'].includes(String(type)),
  );
  return wanted && parsed.ok ? parsed.value : text;
}
