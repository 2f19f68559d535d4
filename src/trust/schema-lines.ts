// Owns a schema as lines of text, one for each place a value may have: a person reads them in a lock, and they are compared with
// a later version. Schemas come from untrusted servers: however large or odd one is, the lines are few and short.

import { isObject, type JsonObject, stringifyBounded } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';

/** By path: `path`, `options.depth`, `files[].name`. `(all)` has the keywords of the schema itself; `…` marks a list that was cut. */
export function schemaLines(schema: JsonObject): Readonly<Record<string, string>> {
  const lines = new Map<string, string>();
  const ownLine = lineOf(schema, false, true);
  if (ownLine !== 'object') lines.set('(all)', ownLine);
  walk(schema, '', 1, lines);
  return Object.fromEntries(lines);
}

/** Stops at the limit, because a hostile schema may have any number of properties. */
function walk(schema: JsonObject, path: string, level: number, lines: Map<string, string>): void {
  const required = new Set<unknown>(Array.isArray(schema['required']) ? schema['required'] : []);
  for (const [name, part] of childrenOf(schema)) {
    if (lines.size >= limits.pin.lines) {
      lines.set('…', 'and more');
      return;
    }
    const at = name === undefined ? `${path}[]` : joined(path, name);
    const isOpen = level < limits.pin.levels;
    lines.set(at, lineOf(part, required.has(name), isOpen));
    if (isOpen && isObject(part)) walk(part, at, level + 1, lines);
  }
}

function* childrenOf(schema: JsonObject): Iterable<[name: string | undefined, part: unknown]> {
  const { properties, items } = schema;
  if (isObject(properties)) for (const name of Object.keys(properties).sort()) yield [name, properties[name]];
  if (isObject(items)) yield [undefined, items];
}

/** Quotes a name that could be taken for a path, so that no two places share a line. */
function joined(path: string, name: string): string {
  const word = /^[\w$-]{1,60}$/.test(name) ? name : stringifyBounded(name, 60);
  return path === '' ? word : `${path}.${word}`;
}

/** `string, required, maxLength 5 – Where to read.` Keywords whose content has lines of its own are left out. */
function lineOf(part: unknown, isRequired: boolean, hasOwnLines: boolean): string {
  if (!isObject(part)) return `${stringifyBounded(part, 100)}${isRequired ? ', required' : ''}`;
  const { type, description } = part;
  const words = [
    ...(typeof type === 'string' ? [type] : type === undefined ? [] : [`type ${stringifyBounded(type, 100)}`]),
    ...(isRequired ? ['required'] : []),
    ...Object.keys(part)
      .filter((keyword) => !isShownElsewhere(keyword, part[keyword], hasOwnLines))
      .sort()
      .map((keyword) => `${keyword.slice(0, 100)} ${stringifyBounded(part[keyword], 150)}`),
  ];
  const about = typeof description === 'string' ? ` – ${description}` : '';
  const line = `${words.length > 0 ? words.join(', ') : 'anything'}${about}`;
  const most = limits.pin.lineChars;
  return line.length <= most ? line : `${line.slice(0, most)}… (${line.length} characters)`;
}

function isShownElsewhere(keyword: string, value: unknown, hasOwnLines: boolean): boolean {
  if (keyword === 'type') return true;
  if (keyword === 'description') return typeof value === 'string';
  if (!hasOwnLines) return false;
  if (keyword === 'properties' || keyword === 'items') return isObject(value);
  return keyword === 'required' && Array.isArray(value);
}
