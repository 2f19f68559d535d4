// Owns the proof that arguments are repaired by the schema alone, only where one reading is possible, and never where they fit.

import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { repairArguments } from '../../../src/call/repair.ts';
import { validate } from '../../../src/call/validate.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { problemsWith } from '../../../src/kernel/json-schema.ts';
import { limits } from '../../../src/model/limits.ts';
import type { ArgumentRepair } from '../../../src/model/tool.ts';
import { processorMs, runs } from '../../effort.ts';
import { verifies } from '../../verifies.ts';
import { callOf, outcomeOf, toolOf } from './stages.ts';

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more });
const list = (items: unknown = {}): JsonObject => ({ type: 'array', items });
const text = { type: 'string' };
const integer = { type: 'integer' };
const number = { type: 'number' };
const boolean = { type: 'boolean' };
const orNull = (schema: JsonObject): JsonObject => ({ anyOf: [schema, { type: 'null' }] });

type Given = readonly [schema: JsonObject, value: unknown];
type Step = readonly [kind: ArgumentRepair['kind'], ...path: (string | number)[]];

/** The value of the one argument `a`, and the repairs; `as it was` where the call would be refused. */
function repaired([schema, value]: Given, more: JsonObject = {}) {
  const found = repairArguments({ a: value }, object({ a: schema }, more));
  if (found === undefined) return 'as it was';
  return { value: found.arguments['a'], steps: found.repairs.map(({ kind, path }): Step => [kind, ...path]) };
}

const repairs: Record<string, [...Given, becomes: unknown, ...steps: Step[]]> = {
  'a list as JSON text': [list(text), '["x","y"]', ['x', 'y'], ['json-text', 'a']],
  'an object as JSON text': [object({ n: integer }), ' {"n": 1} ', { n: 1 }, ['json-text', 'a']],
  'a number as text': [number, '-1.5e2', -150, ['number-text', 'a']],
  'an integer as text': [integer, '5', 5, ['number-text', 'a']],
  'a boolean as text': [boolean, 'true', true, ['boolean-text', 'a']],
  'a boolean as Python spells it': [boolean, 'False', false, ['boolean-text', 'a']],
  'a single text for a list': [list(text), 'x', ['x'], ['single-item', 'a']],
  'a single number for a list': [list(integer), 5, [5], ['single-item', 'a']],
  'a single object for a list': [list(object({ n: integer })), { n: 1 }, [{ n: 1 }], ['single-item', 'a']],
  'a single number as text': [list(integer), '5', [5], ['single-item', 'a'], ['number-text', 'a', 0]],
  'a single object as text': [list(object({})), '{"n":1}', [{ n: 1 }], ['single-item', 'a'], ['json-text', 'a', 0]],
  'an optional list as text': [orNull(list(integer)), '[1]', [1], ['json-text', 'a']],
  'one of a few numbers': [{ enum: [1, 2] }, '2', 2, ['number-text', 'a']],
  'the one value there is': [{ const: true }, 'true', true, ['boolean-text', 'a']],
  'behind a reference': [
    { $ref: '#/$defs/tree' },
    '{"of":["7"]}',
    { of: [7] },
    ['json-text', 'a'],
    ['number-text', 'a', 'of', 0],
  ],
  'in a list': [
    list(object({ n: integer })),
    [{ n: '1' }, { n: 2 }],
    [{ n: 1 }, { n: 2 }],
    ['number-text', 'a', 0, 'n'],
  ],
  'in a list of fixed places': [
    { type: 'array', prefixItems: [integer, boolean] },
    ['1', 'true'],
    [1, true],
    ['number-text', 'a', 0],
    ['boolean-text', 'a', 1],
  ],
  'in further keys': [
    { type: 'object', additionalProperties: integer },
    { x: '1' },
    { x: 1 },
    ['number-text', 'a', 'x'],
  ],
  'in all of several schemas': [
    { allOf: [object({ n: integer }), object({ b: boolean })] },
    { n: '1', b: 'true' },
    { n: 1, b: true },
    ['number-text', 'a', 'n'],
    ['boolean-text', 'a', 'b'],
  ],
  'in the one alternative that it can fit': [
    { anyOf: [object({ kind: { const: 'x' }, n: integer }), object({ kind: { const: 'y' }, n: list() })] },
    { kind: 'x', n: '1' },
    { kind: 'x', n: 1 },
    ['number-text', 'a', 'n'],
  ],
  'in an object, where a list would be taken too': [
    { anyOf: [object({ n: integer }), list()] },
    { n: '5' },
    { n: 5 },
    ['number-text', 'a', 'n'],
  ],
  'a null inside of a text': [
    object({ n: integer, m: integer }),
    '{"n":null,"m":"1"}',
    { m: 1 },
    ['json-text', 'a'],
    ['left-out', 'a', 'n'],
    ['number-text', 'a', 'm'],
  ],
};

const $defs = { tree: object({ of: list(integer) }) };

for (const [what, [schema, value, becomes, ...steps]] of Object.entries(repairs)) {
  verifies('EXT-29', `is repaired: ${what}`, () => {
    expect(repaired([schema, value], { $defs })).toEqual({ value: becomes, steps });
  });
}

const kept: Record<string, Given> = {
  'a number or a list of texts': [{ anyOf: [integer, list(text)] }, '5'],
  'a list of texts or of numbers': [{ anyOf: [list(text), list(integer)] }, '5'],
  'a text that is too short, where a list would be taken': [{ type: ['string', 'array'], minLength: 3 }, 'ab'],
  'a text that is too short, where another alternative is a list': [
    { anyOf: [{ ...text, minLength: 3 }, list()] },
    'ab',
  ],
  'a text that is no word of the tool': [{ enum: ['1', 2] }, '2 '],
  'a number beyond those that stay exact': [integer, '12345678901234567890'],
  'a JSON text with such a number': [list(integer), '[12345678901234567890]'],
  'a number that is none for JSON': [integer, '05'],
  'a half of a JSON text': [list(text), '["x","y'],
  'a text that may be several items': [list(text), 'x, y'],
  'several lines': [list(text), 'x\ny'],
  'a list whose items do not fit': [list(text), '[1,2]'],
  'a JSON text with a key that changes prototypes': [object({}), '{"__proto__":{"x":1}}'],
  'what is beyond the limits of the number': [{ ...integer, maximum: 3 }, '5'],
  'a word for not given, where a list is asked for': [{ ...list(text), minItems: 1 }, 'none'],
  'a number where a text is wanted': [text, 5],
  'a list where one value is wanted': [text, ['x']],
  'no schema at all': [{ not: {} }, '5'],
  'a schema with an id of its own': [
    { $id: 'https://example.com/a', type: 'object', properties: { n: integer } },
    { n: '1' },
  ],
};

for (const [what, given] of Object.entries(kept)) {
  verifies('EXT-29', `is refused as it came: ${what}`, () => {
    expect(repaired(given, { required: ['a'] })).toBe('as it was');
  });
}

verifies('EXT-29', 'one problem that no repair solves leaves the whole call as it came', () => {
  const schema = object({ a: integer, b: integer });
  expect(repairArguments({ a: '1', b: 'x' }, schema)).toBeUndefined();
});

verifies(['EXT-29', 'EXT-21'], 'what is left out and what is read differently go together, and are both told', () => {
  const schema = object({ a: integer, b: integer, c: list(text), d: text }, { required: ['a'] });
  expect(repairArguments({ a: '1', b: 'none', c: '', d: 'null' }, schema)).toEqual({
    arguments: { a: 1, d: 'null' },
    repairs: [
      { path: ['a'], kind: 'number-text' },
      { path: ['b'], kind: 'left-out' },
      { path: ['c'], kind: 'left-out' },
    ],
  });
  expect(repairArguments({ a: 1, b: null }, schema)?.repairs).toEqual([{ path: ['b'], kind: 'left-out' }]);
});

describe('any schema and any value', () => {
  const schemas = fc.letrec<{ any: JsonObject; leaf: JsonObject }>((tie) => ({
    leaf: fc.oneof(
      fc.constantFrom<JsonObject>(
        text,
        integer,
        number,
        boolean,
        { type: 'null' },
        {},
        { type: ['integer', 'boolean'] },
      ),
      fc.constantFrom<JsonObject>(
        { enum: [1, 'x', true] },
        { const: 5 },
        { ...integer, minimum: 2 },
        { ...text, minLength: 2 },
      ),
    ),
    any: fc.oneof(
      { maxDepth: 3, depthIdentifier: 'schema' },
      tie('leaf'),
      tie('any').map(list),
      tie('any').map((each) => ({ ...list(each), minItems: 1 })),
      fc.dictionary(fc.constantFrom('p', 'q', 'r'), tie('any'), { maxKeys: 3 }).map((each) => object(each)),
      tie('any').map((each) => object({ p: each }, { required: ['p'], additionalProperties: false })),
      fc.array(tie('any'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
      fc.array(tie('any'), { minLength: 1, maxLength: 2 }).map((oneOf) => ({ oneOf })),
      fc.array(tie('any'), { minLength: 1, maxLength: 2 }).map((allOf) => ({ allOf })),
    ),
  })).any;

  const plain = fc.letrec<{ any: unknown }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 3, depthIdentifier: 'value' },
      fc.constantFrom<unknown>(
        null,
        true,
        1,
        2.5,
        '',
        'x',
        'none',
        '5',
        'true',
        '[1]',
        '{"p":"1"}',
        '["5"]',
        '{}',
        '[]',
      ),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('p', 'q', 'r'), tie('any'), { maxKeys: 3 }),
    ),
  })).any;
  const values = fc.oneof(
    plain,
    plain.map((each) => JSON.stringify(each)),
  );

  const ajv = new Ajv2020({ strict: false });
  const drawn = fc.record({ schema: schemas, other: schemas, value: values, beside: values });

  verifies('EXT-29', 'what fits comes back as the same object; what comes back otherwise fits, and says how', () => {
    let changed = 0;
    fc.assert(
      fc.property(drawn, ({ schema, other, value, beside }) => {
        const whole = object({ a: schema, b: other });
        const args = { a: value, b: beside };
        const found = repairArguments(args, whole);
        const fits = ajv.validate(whole, args);
        if (fits) expect(found).toEqual({ arguments: args, repairs: [] });
        if (fits) expect(found?.arguments).toBe(args);
        if (fits || found === undefined) return;
        changed += 1;
        expect(ajv.validate(whole, found.arguments), 'it fits now').toBe(true);
        expect(found.repairs.length).toBeGreaterThan(0);
        for (const [key, part] of [
          ['a', schema],
          ['b', other],
        ] as const)
          if (ajv.validate(part, args[key]))
            expect(found.arguments[key], 'an argument that fits is not touched').toBe(args[key]);
      }),
      { numRuns: runs(2_000) },
    );
    expect(changed, 'or nothing was tried').toBeGreaterThan(0);
  });

  const fits = (schema: JsonObject, value: unknown) => problemsWith(value, schema, limits.schemaCheck).length === 0;

  verifies('EXT-29', 'an argument that is written as JSON text comes back as what it was', () => {
    fc.assert(
      fc.property(schemas, plain, (schema, value) => {
        const isText = typeof value === 'string' || value === null;
        const spelled = JSON.stringify(value);
        fc.pre(!isText && fits(schema, value) && !fits(schema, spelled));
        const found = repairArguments({ a: spelled }, object({ a: schema }, { required: ['a'] }));
        if (found !== undefined) expect(found.arguments).toEqual({ a: value });
      }),
      { numRuns: runs(2_000) },
    );
  });
});

describe('the work', () => {
  const nested = (levels: number, schema: JsonObject): JsonObject =>
    levels === 0 ? schema : { anyOf: [nested(levels - 1, schema), object({ a: nested(levels - 1, list()) })] };

  const hostile: Record<string, [schema: unknown, args: JsonObject]> = {
    'a reference to itself': [{ allOf: [{ $ref: '#' }, object({ a: integer })] }, { a: '1' }],
    'alternatives within alternatives': [object({ a: nested(9, integer) }), { a: { a: { a: ['1'] } } }],
    'a long list of texts': [object({ a: list(integer) }), { a: Array.from({ length: 1_000_000 }, () => '1') }],
    'a long text': [object({ a: list(integer) }), { a: `[${'1,'.repeat(4_000_000)}1]` }],
    'a long text below alternatives': [
      object({ a: nested(9, object({ b: list(integer) })) }),
      { a: { a: { a: { b: `x${'1'.repeat(30_000_000)}` } } } },
    ],
    'a deep text': [object({ a: list() }), { a: '['.repeat(5_000_000) }],
    'many nulls': [
      object({}, { additionalProperties: integer }),
      Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, null])),
    ],
  };

  for (const [what, [schema, args]] of Object.entries(hostile)) {
    test(`is bounded, and nothing is thrown: ${what}`, () => {
      expect(
        processorMs(() => repairArguments(args, schema)),
        'milliseconds',
      ).toBeLessThan(3_000);
    });
  }
});

verifies(
  'EXT-29',
  'the stage hands the repaired arguments on and says so in the outcome; otherwise it says nothing',
  async () => {
    const tool = toolOf('files', 'read', { inputSchema: object({ depth: integer }) });
    const seen: JsonObject[] = [];
    const perform = validate()(async (call) => {
      seen.push(call.arguments);
      return outcomeOf(tool);
    });
    const repairedOutcome = await perform(callOf(tool, { arguments: { depth: '2' } }));
    const plainOutcome = await perform(callOf(tool, { arguments: { depth: 2 } }));
    expect(seen).toEqual([{ depth: 2 }, { depth: 2 }]);
    expect(repairedOutcome.meta.repaired).toEqual([{ path: ['depth'], kind: 'number-text' }]);
    expect(plainOutcome.meta).not.toHaveProperty('repaired');
  },
);
