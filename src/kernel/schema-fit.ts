// Owns the quick yes to most values: a plain schema (types, properties, required keys, numbers within limits, short lists of
// words) is prepared once, and then tells nearly every value that certainly fits without a step of `json-schema.ts`. It never
// says no: a value it does not vouch for, or a schema with any other keyword, is left to the whole check.

import { isObject, type JsonObject } from './json.ts';
import { typeTest } from './schema-types.ts';

/** Whether the value certainly fits. */
type Accepts = (value: unknown) => boolean;

/** By schema, since a server's definition is never changed in place: a new list brings new objects. */
const prepared = new WeakMap<object, Accepts>();

/** For values of plain JSON. */
export function surelyFits(value: unknown, schema: unknown): boolean {
  if (!isObject(schema)) return false;
  let accepts = prepared.get(schema);
  if (accepts === undefined) {
    accepts = prepare(schema, DEEPEST) ?? nothing;
    prepared.set(schema, accepts);
  }
  return accepts(value);
}

/** A schema nested deeper than this is not plain: it may hold itself. */
const DEEPEST = 8;
const MOST_WORDS = 50;

function prepare(schema: unknown, levels: number): Accepts | undefined {
  if (!isObject(schema) || levels === 0) return undefined;
  const all: Accepts[] = [];
  for (const [keyword, wanted] of Object.entries(schema)) {
    if (remarks.has(keyword)) continue;
    const rule = Object.hasOwn(keywords, keyword) ? keywords[keyword] : undefined;
    const accepts = rule?.(wanted, schema, levels - 1);
    if (accepts === undefined) return undefined;
    all.push(accepts);
  }
  const [first = anything, second, ...others] = all;
  if (second === undefined) return first;
  if (others.length === 0) return (value) => first(value) && second(value);
  return (value) => all.every((each) => each(value));
}

/** Keywords that refuse nothing. */
const remarks: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'examples',
  'example',
  '$schema',
  '$comment',
  'deprecated',
  'readOnly',
  'writeOnly',
]);

type Keyword = (wanted: unknown, schema: JsonObject, levels: number) => Accepts | undefined;

const keywords: Readonly<Record<string, Keyword>> = {
  type: (wanted) => (typeof wanted === 'string' ? typeTest(wanted) : undefined),
  properties: propertiesFit,
  required: requiredFit,
  // What it refuses depends on the declared properties; it is read with them.
  additionalProperties: (wanted, schema) =>
    typeof wanted === 'boolean' && (wanted || isObject(schema['properties'])) ? anything : undefined,
  items: itemsFit,
  enum: (wanted) => {
    if (!Array.isArray(wanted) || wanted.length > MOST_WORDS) return undefined;
    return wanted.every(isWord) ? (value) => isWord(value) && wanted.includes(value) : undefined;
  },
  minimum: (wanted) => numberFit(wanted, (value, limit) => value >= limit),
  maximum: (wanted) => numberFit(wanted, (value, limit) => value <= limit),
  exclusiveMinimum: (wanted) => numberFit(wanted, (value, limit) => value > limit),
  exclusiveMaximum: (wanted) => numberFit(wanted, (value, limit) => value < limit),
  // A character may take two units: a text within these limits is long or short enough however its characters are counted.
  minLength: (wanted) => textFit(wanted, (units, limit) => units >= 2 * limit),
  maxLength: (wanted) => textFit(wanted, (units, limit) => units <= limit),
};

const anything: Accepts = () => true;
const nothing: Accepts = () => false;
const isWord = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'boolean' || Number.isInteger(value);

function propertiesFit(wanted: unknown, schema: JsonObject, levels: number): Accepts | undefined {
  if (!isObject(wanted)) return undefined;
  const isClosed = schema['additionalProperties'] === false;
  const fits = new Map<string, Accepts>();
  for (const [key, part] of Object.entries(wanted)) {
    const accepts = prepare(part, levels);
    if (accepts === undefined) return undefined;
    fits.set(key, accepts);
  }
  return (value) => {
    if (!isObject(value)) return true;
    for (const key in value) {
      const accepts = fits.get(key);
      if (accepts === undefined ? isClosed : !accepts(value[key])) return false;
    }
    return true;
  };
}

function requiredFit(wanted: unknown): Accepts | undefined {
  if (!Array.isArray(wanted) || !wanted.every((each) => typeof each === 'string')) return undefined;
  const names: readonly string[] = wanted;
  return (value) => {
    if (!isObject(value)) return true;
    for (const name of names) if (value[name] === undefined || !Object.hasOwn(value, name)) return false;
    return true;
  };
}

function itemsFit(wanted: unknown, schema: JsonObject, levels: number): Accepts | undefined {
  const accepts = schema['prefixItems'] === undefined ? prepare(wanted, levels) : undefined;
  return accepts && ((value) => !Array.isArray(value) || value.every((each) => accepts(each)));
}

function numberFit(wanted: unknown, holds: (value: number, limit: number) => boolean): Accepts | undefined {
  return typeof wanted === 'number' ? (value) => typeof value !== 'number' || holds(value, wanted) : undefined;
}

function textFit(wanted: unknown, holds: (units: number, limit: number) => boolean): Accepts | undefined {
  return typeof wanted === 'number' ? (value) => typeof value !== 'string' || holds(value.length, wanted) : undefined;
}
