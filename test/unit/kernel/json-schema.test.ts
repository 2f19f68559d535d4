// Owns the proof that a value is judged as the standard judges it, and that no schema can stall or break the judge.

import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { problemsWith } from '../../../src/kernel/json-schema.ts';
import { limits } from '../../../src/model/limits.ts';
import { runs } from '../../effort.ts';

const check = (schema: unknown, value: unknown) => problemsWith(value, schema, limits.schemaCheck);

/** Small enough that schemas and values often meet. */
const anyKey = fc.constantFrom('a', 'b', 'c');
const anyValue = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>(null, true, false, 0, 1, 2, 1.5, -1, '', 'a', 'ab', 'abc', '🎈'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(anyKey, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;

const anyNumber = fc.constantFrom(-1, 0, 1, 2, 1.5);
const anyCount = fc.nat(3);
const anyType = fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object');

const schemas = (dialect: 'draft7' | '2020') =>
  fc.letrec<{ schema: unknown }>((tie) => {
    const schema = tie('schema');
    const list = fc.array(schema, { minLength: 1, maxLength: 3 });
    const map = fc.dictionary(anyKey, schema, { maxKeys: 3, noNullPrototype: true });
    const keys = fc.uniqueArray(anyKey, { maxLength: 2 });
    const common = {
      type: fc.oneof(anyType, fc.uniqueArray(anyType, { minLength: 1, maxLength: 3 })),
      enum: fc.array(anyValue, { minLength: 1, maxLength: 3 }),
      const: anyValue,
      properties: map,
      required: keys,
      additionalProperties: schema,
      patternProperties: fc.dictionary(fc.constantFrom('^a', 'b$', '[ac]'), schema, {
        maxKeys: 2,
        noNullPrototype: true,
      }),
      propertyNames: schema,
      minProperties: anyCount,
      maxProperties: anyCount,
      contains: schema,
      uniqueItems: fc.boolean(),
      minItems: anyCount,
      maxItems: anyCount,
      minimum: anyNumber,
      maximum: anyNumber,
      exclusiveMinimum: anyNumber,
      exclusiveMaximum: anyNumber,
      multipleOf: fc.constantFrom(0.5, 1, 2),
      minLength: anyCount,
      maxLength: anyCount,
      pattern: fc.constantFrom('^a', 'b', 'c$', '^.{2}$'),
      allOf: list,
      anyOf: list,
      oneOf: list,
      not: schema,
      if: schema,
      // biome-ignore lint/suspicious/noThenProperty: it is a keyword
      then: schema,
      else: schema,
      title: fc.constant('ignored'),
    };
    const own =
      dialect === 'draft7'
        ? {
            items: fc.oneof(schema, list),
            additionalItems: schema,
            dependencies: fc.dictionary(anyKey, fc.oneof(schema, keys), { maxKeys: 2, noNullPrototype: true }),
          }
        : {
            items: schema,
            prefixItems: list,
            minContains: anyCount,
            maxContains: anyCount,
            dependentRequired: fc.dictionary(anyKey, keys, { maxKeys: 2, noNullPrototype: true }),
            dependentSchemas: map,
          };
    const someKeywords = fc
      .uniqueArray(fc.constantFrom(...Object.keys({ ...common, ...own })), { minLength: 1, maxLength: 4 })
      .chain((names) => {
        const all: Record<string, fc.Arbitrary<unknown>> = { ...common, ...own };
        return fc.record(Object.fromEntries(names.map((name) => [name, all[name] ?? fc.constant(true)])), {
          noNullPrototype: true,
        });
      });
    return {
      schema: fc.oneof({ depthSize: 'small', maxDepth: 3 }, fc.boolean(), someKeywords),
    };
  }).schema;

const oracles = {
  draft7: () => new Ajv({ strict: false, logger: false, validateFormats: false, validateSchema: false }),
  '2020': () => new Ajv2020({ strict: false, logger: false, validateFormats: false, validateSchema: false }),
};

/** The code that Ajv generates from a schema does not always run; then Ajv has no opinion. */
function verdictOf(oracle: Ajv, schema: JsonObject, value: unknown): boolean | 'none' {
  try {
    return oracle.validate(schema, value) === true;
  } catch (error) {
    if ([SyntaxError, ReferenceError, TypeError].some((kind) => error instanceof kind)) return 'none';
    throw error;
  }
}

for (const dialect of ['draft7', '2020'] as const) {
  test(`it agrees with another judge on every small schema and value of ${dialect}`, () => {
    const oracle = oracles[dialect]();
    fc.assert(
      fc.property(schemas(dialect), anyValue, (schema, value) => {
        // Ajv ignores `contains` on an empty list beside a list of items; the standard does not.
        const text = JSON.stringify(schema);
        fc.pre(!(text.includes('"contains"') && /"prefixItems"|"items":\[/.test(text)));
        const theirs = verdictOf(oracle, schema as JsonObject, value);
        fc.pre(theirs !== 'none');
        expect(check(schema, value).length === 0).toBe(theirs);
      }),
      { numRuns: runs(2_000) },
    );
  });
}

describe('what may be left out', () => {
  test('a key whose value is undefined is a key that is not there, as it is on the wire', () => {
    const schema = { properties: { a: { type: 'string' }, b: { type: 'number' } }, additionalProperties: false };
    expect(check(schema, { a: 'x', b: undefined, c: undefined })).toEqual([]);
    expect(check({ ...schema, required: ['b'] }, { a: 'x', b: undefined })).toEqual(['"b" is missing']);
  });
});

describe('what cannot be decided is not rejected', () => {
  const odd: Record<string, unknown> = {
    'a schema that is no schema': 42,
    'a reference that is no address': { $ref: '#/%E0%A4%A/x' },
    'a reference that is no text': { $ref: 7 },
    'a reference through a list': { allOf: [{ $ref: '#/allOf/1' }, { $ref: '#/allOf/9' }] },
    'a reference to itself': { $ref: '#' },
    'two references to each other': {
      $ref: '#/$defs/a',
      $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } },
    },
    'a keyword of the wrong kind': { minLength: 'x', enum: 5, required: [1], properties: 'none' },
    'a schema of a hundred thousand levels': Array.from({ length: 100_000 }).reduce<unknown>(
      (inner) => ({ not: inner }),
      true,
    ),
  };

  test.each(Object.entries(odd))('%s', (_, schema) => expect(check(schema, 'value')).toEqual([]));

  test('any value whatever as a schema', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (schema, value) => {
        expect(Array.isArray(check(schema, value))).toBe(true);
      }),
    );
  });

  test('a reference below another address means something else there', () => {
    const item = {
      $id: 'https://a.example/item',
      properties: { a: { $ref: '#/$defs/y' } },
      $defs: { y: { type: 'string' } },
    };
    const schema = { properties: { item: { $ref: 'https://a.example/item' } }, $defs: { item, y: { type: 'number' } } };
    expect(check(schema, { item: { a: 'x' } })).toEqual([]);
  });
});

describe('what is not checked is never why something is refused', () => {
  const date = { type: 'string', format: 'date' };
  const only = (key: string) => ({ properties: { [key]: { type: 'number' } }, unevaluatedProperties: false });
  const fitting: Record<string, [schema: unknown, value: unknown]> = {
    'two formats of which one must fit': [{ oneOf: [date, { ...date, format: 'date-time' }] }, '2026-01-01'],
    'a format that must not fit': [{ not: { format: 'email' } }, 'x'],
    'forms told apart by what else they hold': [{ oneOf: [only('a'), only('b')] }, { a: 1 }],
    // biome-ignore lint/suspicious/noThenProperty: it is a keyword
    'a format that decides on the rest': [{ if: date, then: { maxLength: 1 } }, 'abc'],
    'at most one item of a format': [{ contains: date, maxContains: 1 }, ['a', 'b']],
    'a format deep inside of what must not fit': [{ not: { anyOf: [{ properties: { a: date } }] } }, { a: 'x' }],
    'words beside a reference, in a draft that overlooks them': [
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        properties: { a: { $ref: '#/definitions/n', type: 'string' } },
        definitions: { n: { type: 'number' } },
      },
      { a: 1 },
    ],
  };
  test.each(Object.entries(fitting))('%s', (_, [schema, value]) => expect(check(schema, value)).toEqual([]));

  test('what is wrong all the same is said', () => {
    expect(check({ oneOf: [date, { type: 'integer' }] }, true)).toEqual([
      'they must be of type string or of type integer, not boolean true',
    ]);
    expect(check({ oneOf: [{ type: 'string' }, { minLength: 1 }, date] }, 'x')).toEqual([
      'they must fit exactly one of 3 alternatives, not 2',
    ]);
    expect(check({ properties: { a: { not: date }, b: { type: 'string' } } }, { a: 'x', b: 1 })).toEqual([
      '"b" must be of type string, not number 1',
    ]);
    expect(check({ contains: date }, [])).toEqual(['they must hold the items that are asked for']);
  });
});

/** Asks the same about one value, again and again. */
const often = (count: number, schema: unknown): JsonObject => ({
  $defs: { it: schema },
  allOf: Array.from({ length: count }, () => ({ $ref: '#/$defs/it' })),
});
const words = (count: number, length: number) =>
  Array.from({ length: count }, (_, index) => `${index}`.padEnd(length, 'abcdefghij'));
const keysOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 1]));

const stalling: Record<string, [schema: unknown, value: unknown]> = {
  'a long list of values, asked often': [often(3_000, { enum: words(3_000, 8) }), 'none of them'],
  'many missing keys beside many unknown ones': [{ required: words(500, 190) }, keysOf(words(10, 180))],
  'many unknown keys': [{ properties: keysOf(words(500, 190)), additionalProperties: false }, keysOf(words(10, 180))],
  'a long text, measured often': [often(2_000, { minLength: 1 }), 'x'.repeat(100_000)],
  'many keys, looked at often': [often(5_000, { properties: keysOf(words(5_000, 8)) }), { other: 1 }],
  'a long list, compared often': [often(5_000, { uniqueItems: true }), words(1_000, 8)],
  'choices that double at each step': [
    {
      $ref: '#/$defs/0',
      $defs: Object.fromEntries(
        Array.from({ length: 40 }, (_, level) => {
          const next = { $ref: `#/$defs/${level + 1}` };
          return [String(level), level === 39 ? { type: 'string' } : { anyOf: [next, next] }];
        }),
      ),
    },
    1,
  ],
  'patterns in great number, against keys in great number': [
    { patternProperties: keysOf(words(1_000, 100).map((word) => `^${word}`)) },
    keysOf(words(1_000, 100)),
  ],
  'keys that need others, looked for often': [
    often(3_000, { dependentRequired: Object.fromEntries(words(3_000, 8).map((word) => [word, []])) }),
    { a: 1 },
  ],
  'words nobody knows, in great number': [often(3_000, keysOf(words(3_000, 8))), 1],
  'types in great number': [often(3_000, { type: [...Array(3_000).fill('string'), 'object'] }), {}],
  'patterns for keys that are not there': [often(3_000, { patternProperties: keysOf(words(3_000, 8)) }), {}],
  'a long reference, followed often': [often(500, { $ref: `#/$defs/${'y'.repeat(300_000)}` }), {}],
  'a pattern that searches, asked often': [often(1_000, { not: { pattern: '.*Z' } }), 'a'.repeat(2_000)],
  'two runs that search, asked often': [often(1_000, { not: { pattern: '.*.*Z' } }), 'a'.repeat(300)],
  'a long pattern, compared everywhere': [
    often(1_000, { not: { pattern: `${'a'.repeat(1_500)}Z` } }),
    'a'.repeat(2_000),
  ],
  'patterns nobody has seen yet': [
    { patternProperties: keysOf(words(30_000, 12).map((word) => `${word}.*Z`)) },
    { a: 1 },
  ],
  'a large value, compared often': [often(3_000, { not: { const: keysOf(words(3_000, 8)) } }), keysOf(words(3_001, 8))],
  'a large value, told often': [often(3_000, { const: words(3_000, 30) }), 1],
  'keys, counted often': [often(3_000, { minProperties: 1 }), keysOf(words(3_000, 8))],
  'forms that do not fit, explained often': [
    often(3_000, { anyOf: words(300, 3).map((word) => ({ const: word })) }),
    'x',
  ],
  'a choice that is repeated': [{ pattern: '^(?:a|a){24}b' }, 'a'.repeat(25)],
  'a maybe that is repeated': [{ pattern: '^(?:a?){24}b$' }, 'a'.repeat(25)],
  'a run that is repeated': [{ pattern: '^(?:a*){4}b$' }, 'a'.repeat(180)],
  'a run of a run': [{ pattern: '^(?:a+)+$' }, `${'a'.repeat(40)}b`],
  'a run between braces': [{ pattern: '^a{0,}a{0,}a{0,}a{0,}b$' }, 'a'.repeat(1_000)],
  'a run hidden behind an escape': [{ pattern: '^(?:\\)a+)+$' }, ')a'.repeat(30)],
  'a run hidden in a class': [{ pattern: '^(?:[\\])]+)+$' }, `${')'.repeat(30)}b`],
};

for (const [what, [schema, value]] of Object.entries(stalling)) {
  test(`no schema stalls the judge: ${what}`, () => {
    const before = process.cpuUsage();
    check(schema, value);
    expect(process.cpuUsage(before).user / 1_000, 'milliseconds').toBeLessThan(3_000);
  });
}
