// Owns merging several schemas into one: schemas that all hold (`allOf`, a reference and the keywords beside it), and schemas
// of which one holds. What one schema cannot express is left out, so the result may allow more and never less.

import { showHidden } from '../../kernel/clean-text.ts';
import { canonicalJson, isObject, type JsonObject } from '../../kernel/json.ts';
import { limits } from '../../model/limits.ts';
import { draftOf, putNamed, type SchemaDraft } from './keywords.ts';
import { noteList } from './note.ts';

export interface MergedSchema {
  readonly schema: JsonObject;
  /** Whether it allows exactly what the merged schemas allow together. */
  readonly isExact: boolean;
}

/** For two schemas that both hold. The title and the description of the first one win. */
export function merge(first: JsonObject, second: JsonObject): MergedSchema {
  const merged = draftOf(first);
  let isExact = true;
  const ownArrays = arrayKeywords.some((keyword) => Object.hasOwn(first, keyword));
  const ownCondition = Object.hasOwn(first, 'if');
  for (const keyword of Object.keys(second)) {
    const [a, b] = [first[keyword], second[keyword]];
    if (
      (ownArrays && arrayKeywords.includes(keyword) && !sameKeyword(a, b)) ||
      (ownCondition && conditional.includes(keyword) && !sameKeyword(a, b))
    )
      isExact = false;
    else if (!Object.hasOwn(first, keyword)) merged[keyword] = b;
    else if (!sameKeyword(a, b)) isExact = mergeKeyword(merged, keyword, a, b) && isExact;
  }
  const isNullable = acceptsNull(first) && acceptsNull(second);
  if (Object.hasOwn(merged, 'nullable') && !isNullable) delete merged['nullable'];
  for (const keyword of unevaluated) {
    if (!Object.hasOwn(merged, keyword)) continue;
    delete merged[keyword];
    isExact = false;
  }
  if (Object.hasOwn(merged, 'additionalProperties') && knowsMore(first, second)) isExact = false;
  return { schema: merged, isExact };
}

/** For schemas that all hold. Merges halves, so that many small schemas are not copied into a growing one again and again. */
export function mergeAll(parts: readonly JsonObject[]): MergedSchema {
  const [first = {}, second] = parts;
  if (second === undefined) return { schema: first, isExact: true };
  const half = Math.ceil(parts.length / 2);
  const [left, right] = [mergeAll(parts.slice(0, half)), mergeAll(parts.slice(half))];
  const { schema, isExact } = merge(left.schema, right.schema);
  return { schema, isExact: isExact && left.isExact && right.isExact };
}

/** Keywords that have a meaning only together: those of two schemas are never mixed. */
const arrayKeywords = ['prefixItems', 'items', 'additionalItems', 'contains', 'minContains', 'maxContains'];
const conditional = ['if', 'then', 'else'];
const unevaluated = ['unevaluatedProperties', 'unevaluatedItems'];

const acceptsNull = ({ type, nullable }: JsonObject) => type === undefined || nullable === true;

/** Stops at the first difference: most compared values are large and different. */
function sameKeyword(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((each, at) => sameKeyword(each, b[at]));
  if (a === b || !isObject(a) || !isObject(b)) return a === b;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && sameKeyword(a[key], b[key]));
}

/** `additionalProperties` forbids less once the properties of another schema stand beside it. */
function knowsMore(first: JsonObject, second: JsonObject): boolean {
  const lacks = (one: JsonObject, other: JsonObject) => {
    const [own, more] = [one['properties'] ?? {}, other['properties'] ?? {}];
    return Object.hasOwn(one, 'additionalProperties') && Object.keys(more).some((name) => !Object.hasOwn(own, name));
  };
  return lacks(first, second) || lacks(second, first);
}

const greater = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
const lesser = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];
const descriptive = [
  'title',
  'description',
  'default',
  'example',
  'examples',
  'format',
  '$schema',
  '$comment',
  'deprecated',
];

/** Gives whether the merged keyword is exact. */
function mergeKeyword(merged: SchemaDraft, keyword: string, a: unknown, b: unknown): boolean {
  if (greater.includes(keyword)) return put(merged, keyword, Math.max(a as number, b as number));
  if (lesser.includes(keyword)) return put(merged, keyword, Math.min(a as number, b as number));
  switch (keyword) {
    case 'type':
      return mergeTypes(merged, a, b);
    case 'properties':
    case 'patternProperties':
      return mergeNamed(merged, keyword, a as JsonObject, b as JsonObject);
    case 'required':
      return mergeNeeded(merged, a as string[], b as string[]);
    case 'enum':
      return mergeValues(merged, a as unknown[], b as unknown[]);
    case 'additionalProperties':
      return mergeAdditional(merged, a, b);
    case 'uniqueItems':
      return put(merged, keyword, true);
    default:
      return descriptive.includes(keyword);
  }
}

function put(merged: SchemaDraft, keyword: string, value: unknown): true {
  merged[keyword] = value;
  return true;
}

/** Keeps no more names than can be shown. */
function mergeNeeded(merged: SchemaDraft, a: readonly string[], b: readonly string[]): boolean {
  const both = [...new Set([...a, ...b])];
  put(merged, 'required', both.slice(0, limits.shownSchema.names));
  return both.length <= limits.shownSchema.names;
}

function mergeTypes(merged: SchemaDraft, a: unknown, b: unknown): boolean {
  const wanted = listOf(b);
  const shared = listOf(a).flatMap((each) => {
    if (wanted.includes(each)) return [each];
    if (each === 'number' && wanted.includes('integer')) return ['integer'];
    return each === 'integer' && wanted.includes('number') ? ['integer'] : [];
  });
  if (shared.length === 0) return false;
  return put(merged, 'type', shared.length === 1 ? shared[0] : shared);
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

function mergeNamed(merged: SchemaDraft, keyword: string, a: JsonObject, b: JsonObject): boolean {
  const named = draftOf(a);
  let isExact = true;
  for (const [name, part] of Object.entries(b)) {
    const own = Object.hasOwn(a, name) ? a[name] : undefined;
    if (!isObject(own) || !isObject(part)) {
      if (own === undefined) putNamed(named, name, part);
      continue;
    }
    const both = merge(own, part);
    putNamed(named, name, both.schema);
    isExact &&= both.isExact;
  }
  merged[keyword] = named;
  return isExact;
}

function mergeValues(merged: SchemaDraft, a: readonly unknown[], b: readonly unknown[]): boolean {
  const wanted = new Set(b.map(canonicalJson));
  const shared = a.filter((each) => wanted.has(canonicalJson(each)));
  return shared.length > 0 && put(merged, 'enum', shared);
}

function mergeAdditional(merged: SchemaDraft, a: unknown, b: unknown): boolean {
  if (a === false || b === false) return put(merged, 'additionalProperties', false);
  if (a === true) return put(merged, 'additionalProperties', b);
  if (b === true || !isObject(a) || !isObject(b)) return b === true;
  const both = merge(a, b);
  merged['additionalProperties'] = both.schema;
  return both.isExact;
}

/** For objects of which one holds: every parameter that any of them has, required if all require it. */
export function unite(branches: readonly JsonObject[]): JsonObject {
  const united = draftOf();
  const variants = new Map<string, Map<string, JsonObject>>();
  for (const { properties } of branches) collectParts(isObject(properties) ? properties : {}, variants);
  const properties = draftOf();
  for (const [name, parts] of variants) putNamed(properties, name, unitePart([...parts.values()]));
  if (variants.size > 0) united['properties'] = properties;
  const [first = [], ...others] = branches.map(({ required }) =>
    Array.isArray(required) ? (required as string[]) : [],
  );
  const required = others.reduce((shared, each) => shared.filter(isIn(each)), first);
  if (required.length > 0) united['required'] = required;
  const closed = branches.every(
    (each) => each['additionalProperties'] === false && !Object.hasOwn(each, 'patternProperties'),
  );
  if (closed) united['additionalProperties'] = false;
  return united;
}

function isIn(names: readonly string[]): (name: string) => boolean {
  const all = new Set(names);
  return (name) => all.has(name);
}

function collectParts(properties: JsonObject, variants: Map<string, Map<string, JsonObject>>): void {
  for (const [name, part] of Object.entries(properties)) {
    if (!isObject(part)) continue;
    const variantsOfName = variants.get(name) ?? new Map<string, JsonObject>();
    variants.set(name, variantsOfName.set(canonicalJson(part), part));
  }
}

function unitePart(parts: readonly JsonObject[]): unknown {
  return parts.length === 1 ? parts[0] : (uniteValues(parts) ?? { anyOf: parts.flatMap(formsOf) });
}

const formsOf = (part: JsonObject): readonly unknown[] =>
  Object.keys(part).length === 1 && Array.isArray(part['anyOf']) ? part['anyOf'] : [part];

/** Forms usually differ in one `const` each: together these become an enum. */
function uniteValues(parts: readonly JsonObject[]): JsonObject | undefined {
  const values: unknown[] = [];
  for (const part of parts) {
    const own = Object.hasOwn(part, 'const') ? [part['const']] : part['enum'];
    const isPlain = Object.keys(part).every((each) => ['const', 'enum', 'type', 'title', 'description'].includes(each));
    if (!Array.isArray(own) || !isPlain || part['type'] !== parts[0]?.['type']) return undefined;
    values.push(...own);
  }
  const { type, title } = parts[0] ?? {};
  const united = draftOf(type === undefined ? {} : { type });
  united['enum'] = [...new Map(values.map((each) => [canonicalJson(each), each])).values()];
  if (title !== undefined && parts.every((part) => part['title'] === title)) united['title'] = title;
  describeValues(united, parts);
  return united;
}

/** A description of one value is repeated together with that value: for the others it would be wrong. */
function describeValues(united: SchemaDraft, parts: readonly JsonObject[]): void {
  const description = parts[0]?.['description'];
  if (parts.every((part) => part['description'] === description)) {
    if (description !== undefined) united['description'] = description;
    return;
  }
  const descriptions = parts.flatMap(({ const: value, enum: values = [value], description: words }) => {
    const names = (values as readonly unknown[]).map((each) => showHidden(JSON.stringify(each)));
    return typeof words === 'string' ? [`${names.join(', ')}: ${words}`] : [];
  });
  noteList(united, '', descriptions, '; ');
}
