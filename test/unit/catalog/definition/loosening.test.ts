// Owns the proof that showing a schema never forbids what the schema as sent allows: random schemas, random arguments,
// and an independent validator.

import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkDefinition } from '../../../../src/catalog/definition/check.ts';
import { present } from '../../../../src/catalog/definition/present.ts';
import { dialects, type Provider } from '../../../../src/catalog/definition/providers.ts';
import { reduceSchema } from '../../../../src/catalog/definition/reduce.ts';
import { Remarks } from '../../../../src/catalog/definition/remarks.ts';
import { isObject, type JsonObject } from '../../../../src/kernel/json.ts';
import { problemsWith } from '../../../../src/kernel/json-schema.ts';
import { limits } from '../../../../src/model/limits.ts';
import { runs } from '../../../effort.ts';
import { verifies } from '../../../verifies.ts';

const providers = Object.keys(dialects) as Provider[];
/** Set it to run other cases after a change to how schemas are shown; PLEXUS_LONG=1 runs more of them. */
const SEED = Number(process.env['SCHEMA_SEED'] ?? 5);

const name = fc.constantFrom('a', 'b', 'c', '__proto__');
const word = fc.constantFrom('x', 'y', '', 'long enough');
const scalar = fc.oneof(word, fc.integer({ min: -2, max: 5 }), fc.boolean(), fc.constant(null), fc.constant(1.5));
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }),
  ),
})).value;
const args = fc.dictionary(name, value, { maxKeys: 4 });

const described = fc.constantFrom({}, { description: 'Says something.' }, { title: 'A title', default: 'x' });
const reference = fc.constantFrom('#/$defs/p', '#/$defs/q', '#q', '#', '#/$defs/gone', 'https://example.com/s.json');

/** A few keywords at once: with all of them no value would ever fit. */
function fewOf(keywords: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<JsonObject> {
  return fc
    .uniqueArray(fc.constantFrom(...Object.keys(keywords)), { maxLength: 3 })
    .chain((few) => fc.record(Object.fromEntries(few.map((each) => [each, keywords[each] as fc.Arbitrary<unknown>]))));
}

/** Every keyword stands beside the type that it applies to: a schema without a type is read as having that type. */
const { schema, object } = fc.letrec<{ schema: unknown; object: JsonObject; list: readonly unknown[] }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>(true, {}, { type: 'string' }, { type: 'integer' }, { type: ['string', 'null'] }),
    fc.record({ type: fc.constant('string'), minLength: fc.nat(2), maxLength: fc.nat(12) }, { requiredKeys: ['type'] }),
    fc.record(
      {
        type: fc.constantFrom<unknown>('integer', 'number', ['integer', 'string'], ['null', 'number']),
        minimum: fc.integer({ min: -2, max: 2 }),
        exclusiveMaximum: fc.integer({ min: 0, max: 6 }),
        multipleOf: fc.constantFrom(1, 2),
      },
      { requiredKeys: ['type'] },
    ),
    fc.record({ enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 4 }) }),
    fc.record({ const: scalar }),
    fc.record(
      {
        type: fc.constantFrom<unknown>('array', ['array', 'null'], ['array', 'string']),
        items: fc.oneof(tie('schema'), fc.constant(false)),
        prefixItems: tie('list'),
        contains: tie('schema'),
        maxContains: fc.nat(2),
        maxItems: fc.nat(3),
        uniqueItems: fc.boolean(),
        unevaluatedItems: fc.boolean(),
      },
      { requiredKeys: ['type'] },
    ),
    tie('object'),
    fc.record({ anyOf: tie('list') }),
    fc.record({ oneOf: tie('list') }),
    fc.record({ allOf: tie('list') }),
    fc.record({ not: tie('schema') }),
    fc.tuple(tie('schema'), tie('schema'), tie('schema')).map(([when, yes, no]) =>
      Object.fromEntries([
        ['if', when],
        ['then', yes],
        ['else', no],
      ]),
    ),
    fc
      .tuple(described, tie('schema'), tie('list'))
      .map(([words, each, anyOf]) => ({ ...words, ...(each as object), anyOf })),
    fc.tuple(described, reference).map(([words, $ref]) => ({ ...words, $ref })),
    fc.tuple(tie('object'), reference).map(([each, $ref]) => ({ ...each, $ref })),
  ),
  list: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
  object: fewOf({
    properties: fc.dictionary(name, tie('schema'), { maxKeys: 3 }),
    required: fc.uniqueArray(name, { maxLength: 2 }),
    additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
    patternProperties: fc.dictionary(fc.constantFrom('^a', 'b$', '\\p{L}'), tie('schema'), { maxKeys: 2 }),
    propertyNames: fc.constantFrom({ enum: ['a', 'b', '__proto__'] }, { maxLength: 1 }, { pattern: '^\\p{L}$' }),
    dependentRequired: fc.constant({ a: ['b'] }),
    unevaluatedProperties: fc.oneof(fc.boolean(), tie('schema')),
    maxProperties: fc.nat(3),
    allOf: tie('list'),
    not: tie('schema'),
  }).chain((few) => fc.constantFrom<unknown>('object', ['object', 'null']).map((type) => ({ ...few, type }))),
})) as { schema: fc.Arbitrary<unknown>; object: fc.Arbitrary<JsonObject> };

/** Forms at the root are shown as one: a form without a parameter is read as not wanting it. */
const form = fc.record({
  type: fc.constant('object'),
  properties: fc.dictionary(name, schema, { maxKeys: 3 }),
  required: fc.uniqueArray(name, { maxLength: 2 }),
  additionalProperties: fc.constant(false),
});
const forms = fc.array(form, { minLength: 1, maxLength: 3 });
const root = fc
  .tuple(
    object,
    fc.constantFrom('anyOf', 'oneOf', 'none', 'none'),
    forms,
    fc.record({ p: schema, q: schema.map((each) => ({ $anchor: 'q', ...(each as object) })) }),
  )
  .map(([own, keyword, some, $defs]) => ({
    ...own,
    ...(keyword !== 'none' && { [keyword]: some }),
    type: 'object',
    $defs,
  }));

/** In most cases the limit is large enough, as for most real schemas. */
const room = fc.oneof(fc.constant(limits.schemaBytes), fc.integer({ min: 40, max: 600 }));

/** `nullable` is a keyword of OpenAPI only. */
function asJsonSchema(shown: unknown): unknown {
  if (Array.isArray(shown)) return shown.map(asJsonSchema);
  if (!isObject(shown)) return shown;
  const { nullable, ...rest } = Object.fromEntries(
    Object.entries(shown).map(([key, part]) => [key, asJsonSchema(part)]),
  );
  return nullable === true ? { anyOf: [rest, { type: 'null' }] } : rest;
}

const lenient = { strict: false, logger: false, validateFormats: false, code: { optimize: false } } as const;
const ajv = new Ajv2020({ ...lenient, validateSchema: false, addUsedSchema: false });

/** A quick check whether a comparison is worthwhile. */
const quick = { steps: 10_000, problems: 1 };

function validatorOf(each: unknown): ((instance: unknown) => boolean) | undefined {
  try {
    return ajv.compile(each as object) as (instance: unknown) => boolean;
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

/** The validator fetches nothing either: a reference that leads out of the schema, or nowhere, allows everything. */
function resolvable(each: unknown): unknown {
  if (Array.isArray(each)) return each.map(resolvable);
  if (!isObject(each)) return each;
  const { $ref, ...rest } = Object.fromEntries(Object.entries(each).map(([key, part]) => [key, resolvable(part)]));
  return typeof $ref === 'string' && ['#', '#q', '#/$defs/p', '#/$defs/q'].includes($ref) ? { ...rest, $ref } : rest;
}

describe('what the schema as sent allows, the shown one allows', () => {
  for (const provider of providers)
    verifies(['NAM-15', 'EXT-11'], `for ${provider}`, () => {
      let compared = 0;
      fc.assert(
        fc.property(root, fc.array(args, { minLength: 12, maxLength: 12 }), room, (inputSchema, instances, bytes) => {
          const definition = checkDefinition({ name: 'tool', inputSchema });
          if (typeof definition === 'string') return;
          const allowed = instances.filter((each) => problemsWith(each, resolvable(inputSchema), quick).length === 0);
          const original = allowed.length === 0 ? undefined : validatorOf(resolvable(inputSchema));
          if (original === undefined) return;
          const shown = present(definition, provider).inputSchema;
          const { needsItems } = dialects[provider];
          const reduced = reduceSchema(shown, { bytes, needsItems }, new Remarks());
          const loose = validatorOf(asJsonSchema(reduced));
          expect(loose, JSON.stringify(reduced)).toBeDefined();
          for (const instance of allowed) {
            if (!safely(original, instance)) continue;
            compared++;
            if (loose?.(instance) !== true)
              throw new Error(`refuses ${JSON.stringify(instance)}: ${JSON.stringify(reduced)}`);
          }
        }),
        { numRuns: runs(300), seed: SEED },
      );
      expect(compared).toBeGreaterThan(runs(300) / 4);
    });
});

/** Ajv overflows the stack on a schema that refers only to itself; such a case counts as invalid and is skipped. */
function safely(validate: ((instance: unknown) => boolean) | undefined, instance: unknown): boolean {
  try {
    return validate?.(instance) ?? false;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

test('a schema that every provider reads is shown as it is', () => {
  const inputSchema = {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Where to look.', minLength: 1 },
      mode: { type: 'string', enum: ['fast', 'exact'], default: 'fast' },
      limit: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
      tags: { type: 'array', items: { type: 'string' }, maxItems: 5 },
      options: { type: 'object', properties: { deep: { type: 'boolean' } }, required: ['deep'] },
      when: { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'integer' }] },
    },
    required: ['path'],
  };
  const definition = checkDefinition({ name: 'tool', description: 'Looks.', inputSchema });
  if (typeof definition === 'string') throw new Error(definition);
  for (const provider of providers) {
    const shown = present(definition, provider);
    expect(shown).toEqual({ description: 'Looks.', inputSchema, changes: [] });
    expect(shown.inputSchema).toBe(definition.inputSchema);
    expect(present(definition, provider)).toBe(shown);
  }
});
