// Owns leaving out placeholders: models write null, "", "none" or {} for an optional argument that they do not give. A placeholder
// that the schema accepts is never touched.

import { isObject, type JsonObject } from '../kernel/json.ts';
import { findProblems } from '../kernel/json-schema.ts';
import { limits } from '../model/limits.ts';
import type { ArgumentRepair } from '../model/tool.ts';

type Path = ArgumentRepair['path'];

export interface ArgumentsLeft {
  readonly arguments: JsonObject;
  readonly leftOut: readonly Path[];
}

/** The arguments without placeholders, if they fit the schema then; `undefined` if leaving them out does not help. */
export function withoutPlaceholders(args: JsonObject, schema: unknown): ArgumentsLeft | undefined {
  const found = check(args, schema);
  const refused = found.filter(({ kind }) => kind === 'refused').map(({ path }) => path);
  const suspects = placeholdersIn(args).filter((path) => refused.some((each) => isWithin(path, each)));
  if (suspects.length === 0 || suspects.length > limits.placeholders.most) return undefined;
  const isCure = (paths: readonly Path[]) => check(remove(args, paths), schema).length === 0;
  const cure = cureAmong(args, schema, suspects) ?? suspects.map((each) => [each]).find(isCure);
  if (cure === undefined) return undefined;
  // A placeholder that the schema accepts stays, even next to one that is left out.
  const least = cure.reduce((paths, path) => {
    const others = paths.filter((each) => each !== path);
    return isCure(others) ? others : paths;
  }, cure);
  return { arguments: remove(args, least) as JsonObject, leftOut: least };
}

/** All placeholders except those of required arguments. */
function cureAmong(args: JsonObject, schema: unknown, suspects: readonly Path[]): readonly Path[] | undefined {
  let paths = suspects;
  while (paths.length > 0) {
    const left = check(remove(args, paths), schema);
    if (left.length === 0) return paths;
    const isNeeded = (path: Path) => left.some((each) => each.kind === 'missing' && isSame(each.path, path));
    const next = paths.filter((path) => !isNeeded(path));
    if (next.length === paths.length) return undefined;
    paths = next;
  }
  return undefined;
}

const undecided = [{ kind: 'undecided', path: [] }] as const;

/** Where the schema check gives no answer, leaving out is not known to help. */
function check(value: unknown, schema: unknown) {
  const found = findProblems(value, schema, limits.placeholders.check);
  return found === 'undecided' ? undecided : found;
}

const words = new Set(['', 'null', 'undefined', 'none']);
const LONGEST_WORD = 20;

export function isPlaceholder(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= LONGEST_WORD && words.has(value.trim().toLowerCase());
  if (Array.isArray(value)) return value.length === 0;
  return value === null || (isObject(value) && Object.keys(value).length === 0);
}

/** Looks at object values only: leaving an item out of a list would move the others. */
function placeholdersIn(args: JsonObject): readonly Path[] {
  const { parts, depth } = limits.placeholders;
  const found: Path[] = [];
  const open: { readonly value: unknown; readonly path: Path }[] = [{ value: args, path: [] }];
  for (let seen = 0; seen < parts; seen++) {
    const next = open.shift();
    if (next === undefined) break;
    const { value, path } = next;
    if (path.length > 0 && typeof path.at(-1) === 'string' && isPlaceholder(value)) found.push(path);
    if (path.length >= depth || typeof value !== 'object' || value === null) continue;
    const keys = Array.isArray(value) ? value.slice(0, parts).map((_, at) => at) : Object.keys(value);
    for (const key of keys.slice(0, parts))
      open.push({ value: (value as Record<string | number, unknown>)[key], path: [...path, key] });
  }
  return found;
}

const isWithin = (path: Path, other: Path) => other.every((key, at) => path[at] === key);
const isSame = (path: Path, other: Path) => path.length === other.length && isWithin(path, other);

function remove(value: unknown, paths: readonly Path[]): unknown {
  if (paths.length === 0) return value;
  const below = (key: string | number) => paths.filter((path) => path[0] === key).map((path) => path.slice(1));
  if (Array.isArray(value)) return value.map((item, at) => remove(item, below(at)));
  const entries = Object.entries(value as JsonObject).flatMap(([key, each]) => {
    const inside = below(key);
    return inside.some((path) => path.length === 0) ? [] : [[key, remove(each, inside)] as const];
  });
  return Object.fromEntries(entries);
}
