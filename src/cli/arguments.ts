// Owns parsing a tool's arguments from the command line: `key=value` is converted by the tool's schema, `key:=JSON` is taken as it is.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isObject, type JsonObject, parseJson } from '../kernel/json.ts';
import { type Context, UsageError } from './command.ts';

export function parseArguments(words: readonly string[], schema: JsonObject): JsonObject {
  const entries = words.map((word): [string, unknown] => {
    const [, key, json, text = ''] = /^([^=:]+)(:?)=(.*)$/s.exec(word) ?? [];
    if (key === undefined) throw new UsageError(`"${word}" is not an argument; write key=value, or key:=JSON`);
    return [key, json === ':' ? parseValue(key, text) : coerce(text, typeOf(schema, key))];
  });
  return Object.fromEntries(entries);
}

/** Reads a text that a command takes as itself, as `@FILE`, or as `-` for standard input. Errors call the text itself `name`. */
export async function readText(
  word: string,
  name: string,
  { cwd, readStdin }: Context,
): Promise<{ readonly text: string; readonly source: string }> {
  if (word === '-') return { text: await readStdin(), source: 'standard input' };
  if (!word.startsWith('@')) return { text: word, source: name };
  const file = resolve(cwd, word.slice(1));
  try {
    return { text: await readFile(file, 'utf8'), source: file };
  } catch (error) {
    throw new UsageError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`);
  }
}

/** `source` names in errors where the text came from: `--args`, a file or standard input. */
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

/** Text that does not fit the schema's type stays text: the validation of the call then names the mistake. */
function coerce(text: string, types: readonly unknown[]): unknown {
  if (types.includes('string')) return text;
  const parsed = parseJson(text);
  const wanted = types.some((type) =>
    ['number', 'integer', 'boolean', 'array', 'object', 'null'].includes(String(type)),
  );
  return wanted && parsed.ok ? parsed.value : text;
}
