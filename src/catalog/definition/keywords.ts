// Owns the keywords of JSON Schema: the kind of value that each takes, which of them hold schemas, and whether a value is
// well-formed.

import { isObject, type JsonObject } from '../../kernel/json.ts';

export type KeywordKind =
  | 'reference'
  | 'address'
  | 'text'
  | 'pattern'
  | 'number'
  | 'step'
  | 'bound'
  | 'count'
  | 'flag'
  | 'type'
  | 'names'
  | 'values'
  | 'value'
  | 'schema'
  | 'schema or flag'
  | 'items'
  | 'schemas'
  | 'named schemas'
  | 'patterned schemas'
  | 'dependencies'
  | 'needed names';

const byKind: Readonly<Record<KeywordKind, readonly string[]>> = {
  reference: ['$ref', '$dynamicRef', '$recursiveRef'],
  // Useless once references are inlined.
  address: ['$id', '$anchor', '$dynamicAnchor', '$recursiveAnchor', '$vocabulary', '$defs', 'definitions'],
  text: ['$schema', '$comment', 'title', 'description', 'format', 'contentEncoding', 'contentMediaType'],
  pattern: ['pattern'],
  number: ['minimum', 'maximum'],
  step: ['multipleOf'],
  bound: ['exclusiveMinimum', 'exclusiveMaximum'],
  count: [
    'minLength',
    'maxLength',
    'minItems',
    'maxItems',
    'minProperties',
    'maxProperties',
    'minContains',
    'maxContains',
  ],
  flag: ['uniqueItems', 'deprecated', 'readOnly', 'writeOnly', 'nullable'],
  type: ['type'],
  names: ['required', 'propertyOrdering'],
  values: ['enum', 'examples'],
  value: ['const', 'default', 'example'],
  schema: ['contains', 'propertyNames', 'not', 'if', 'then', 'else', 'contentSchema'],
  'schema or flag': ['additionalItems', 'additionalProperties', 'unevaluatedItems', 'unevaluatedProperties'],
  items: ['items'],
  schemas: ['allOf', 'anyOf', 'oneOf', 'prefixItems'],
  'named schemas': ['properties', 'dependentSchemas'],
  'patterned schemas': ['patternProperties'],
  dependencies: ['dependencies'],
  'needed names': ['dependentRequired'],
};

export const kindOf: ReadonlyMap<string, KeywordKind> = new Map(
  (Object.keys(byKind) as KeywordKind[]).flatMap((kind) => byKind[kind].map((keyword) => [keyword, kind] as const)),
);

/** Keywords that describe a value and forbid none. */
export const annotations: ReadonlySet<string> = new Set([
  '$schema',
  '$comment',
  'title',
  'description',
  'deprecated',
  'readOnly',
  'writeOnly',
  'default',
  'example',
  'examples',
  'contentEncoding',
  'contentMediaType',
  'contentSchema',
  'propertyOrdering',
]);

const typeNames = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object'] as const;
type TypeName = (typeof typeNames)[number];

/** Type names of programming languages, which authors write by mistake. */
const otherTypeNames: Readonly<Record<string, TypeName>> = {
  str: 'string',
  text: 'string',
  int: 'integer',
  long: 'integer',
  float: 'number',
  double: 'number',
  decimal: 'number',
  bool: 'boolean',
  list: 'array',
  dict: 'object',
  map: 'object',
  none: 'null',
};

export function typeNameOf(word: unknown): TypeName | undefined {
  if (typeof word !== 'string') return undefined;
  const lower = word.toLowerCase();
  return (
    typeNames.find((each) => each === lower) ??
    (Object.hasOwn(otherTypeNames, lower) ? otherTypeNames[lower] : undefined)
  );
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
const isSchema = (value: unknown) => isObject(value) || typeof value === 'boolean';
const isText = (value: unknown) => typeof value === 'string';
const areTexts = (value: unknown) => Array.isArray(value) && value.every(isText);
const isMap = (value: unknown, fits: (each: unknown) => boolean) => isObject(value) && Object.values(value).every(fits);

const wellFormed: Readonly<Record<KeywordKind, (value: unknown) => boolean>> = {
  reference: isText,
  address: () => true,
  text: isText,
  pattern: isText,
  number: Number.isFinite,
  step: (value) => Number.isFinite(value) && (value as number) > 0,
  bound: (value) => Number.isFinite(value) || typeof value === 'boolean',
  count: isCount,
  flag: (value) => typeof value === 'boolean',
  type: () => true,
  names: Array.isArray,
  values: (value) => Array.isArray(value) && value.length > 0,
  value: () => true,
  schema: isSchema,
  'schema or flag': isSchema,
  items: (value) => isSchema(value) || (Array.isArray(value) && value.every(isSchema)),
  schemas: (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema),
  'named schemas': isObject,
  'patterned schemas': isObject,
  dependencies: (value) => isMap(value, (each) => isSchema(each) || areTexts(each)),
  'needed names': (value) => isMap(value, areTexts),
};

export function isWellFormed(kind: KeywordKind, value: unknown): boolean {
  return wellFormed[kind](value);
}

/** A schema that is being written. */
export type SchemaDraft = Record<string, unknown>;

export function draftOf(from?: JsonObject): SchemaDraft {
  return { ...from };
}

/** For names that a server chose: assigning `__proto__` on a plain object would set its prototype. */
export function putNamed(named: SchemaDraft, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(named, name, { value, enumerable: true, writable: true, configurable: true });
  else named[name] = value;
}

/** Maps every schema directly within a schema that `readSchema` has normalized. */
export function mapParts(schema: JsonObject, map: (part: JsonObject, keyword: string) => unknown): SchemaDraft {
  const mapped = draftOf();
  for (const keyword of Object.keys(schema)) mapped[keyword] = mapKeyword(keyword, schema[keyword], map);
  return mapped;
}

function mapKeyword(keyword: string, value: unknown, map: (part: JsonObject, keyword: string) => unknown): unknown {
  const each = (part: unknown) => (isObject(part) ? map(part, keyword) : part);
  switch (kindOf.get(keyword)) {
    case 'schema':
    case 'schema or flag':
    case 'items':
      return each(value);
    case 'schemas':
      return Array.isArray(value) ? value.map(each) : value;
    case 'named schemas':
    case 'patterned schemas':
    case 'dependencies': {
      const mapped = draftOf();
      for (const [name, part] of Object.entries(value as JsonObject)) putNamed(mapped, name, each(part));
      return mapped;
    }
    default:
      return value;
  }
}
