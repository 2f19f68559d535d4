// Owns the proof that the text of `key=text` becomes the value that a schema asks for, and never another one by guessing.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changedBy, coerce } from '../../../../src/cli/parameters/coerce.ts';
import { readParameters } from '../../../../src/cli/parameters/parameters.ts';
import { changedNumberIn } from '../../../../src/kernel/exact-numbers.ts';
import { runs } from '../../../effort.ts';
import { verifies } from '../../../verifies.ts';

const formsOf = (schema: unknown, definitions: object = {}) =>
  readParameters({ properties: { it: schema }, $defs: definitions }).known[0]?.forms ?? [];

const cases: readonly (readonly [string, unknown, readonly (readonly [string, unknown])[]])[] = [
  [
    'text',
    { type: 'string' },
    [
      ['4', '4'],
      ['true', 'true'],
      ['null', 'null'],
      ['[1]', '[1]'],
      ['', ''],
      [' a ', ' a '],
    ],
  ],
  [
    'an integer',
    { type: 'integer' },
    [
      ['4', 4],
      ['-4', -4],
      [' 4 ', 4],
      ['4.0', 4],
      ['many', 'many'],
      ['0x10', '0x10'],
      ['', ''],
      ['007', '007'],
      ['1e3', 1000],
    ],
  ],
  [
    'a number',
    { type: 'number' },
    [
      ['4.5', 4.5],
      ['-1e-3', -0.001],
      ['NaN', 'NaN'],
      ['Infinity', 'Infinity'],
      ['1e999', '1e999'],
    ],
  ],
  [
    'a boolean',
    { type: 'boolean' },
    [
      ['true', true],
      ['false', false],
      ['yes', true],
      ['no', false],
      ['1', true],
      ['0', false],
      ['Yes', true],
      ['TRUE', true],
      ['maybe', 'maybe'],
      ['', ''],
      ['2', '2'],
    ],
  ],
  [
    'null',
    { type: 'null' },
    [
      ['null', null],
      ['nil', 'nil'],
    ],
  ],
  [
    'a list',
    { type: 'array' },
    [
      ['[1,2]', [1, 2]],
      [' ["a"] ', ['a']],
      ['a', 'a'],
      ['[a]', '[a]'],
      ['{"a":1}', '{"a":1}'],
    ],
  ],
  [
    'an object',
    { type: 'object' },
    [
      ['{"a":1}', { a: 1 }],
      ['[1]', '[1]'],
      ['a', 'a'],
    ],
  ],
  [
    'text or null',
    { type: ['string', 'null'] },
    [
      ['null', null],
      ['Null', 'Null'],
      ['a', 'a'],
      ['4', '4'],
      ['true', 'true'],
    ],
  ],
  [
    'text or a number',
    { anyOf: [{ type: 'string' }, { type: 'number' }] },
    [
      ['4', 4],
      ['4.5', 4.5],
      ['04', '04'],
      ['4.50', '4.50'],
      ['+4', '+4'],
      ['1e3', '1e3'],
      [' 4', ' 4'],
      ['9007199254740993', '9007199254740993'],
      ['a', 'a'],
    ],
  ],
  [
    'text or a boolean',
    { oneOf: [{ type: 'boolean' }, { type: 'string' }] },
    [
      ['true', true],
      ['yes', 'yes'],
      ['1', '1'],
      ['True', 'True'],
    ],
  ],
  [
    'a number or a boolean',
    { type: ['number', 'boolean'] },
    [
      ['1', 1],
      ['0', 0],
      ['yes', true],
      ['true', true],
    ],
  ],
  [
    'a number or null',
    { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    [
      ['null', null],
      ['3', 3],
    ],
  ],
  [
    'text or a list of texts',
    { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    [
      ['a', 'a'],
      ['["a"]', ['a']],
      ['[a]', '[a]'],
    ],
  ],
  [
    'a mixed enum',
    { enum: ['auto', 1, '2', 2, true, null] },
    [
      ['auto', 'auto'],
      ['1', 1],
      ['2', '2'],
      ['true', true],
      ['yes', true],
      ['null', null],
      ['x', 'x'],
    ],
  ],
  [
    'an enum in which 1 stands behind true',
    { enum: [true, 1] },
    [
      ['1', 1],
      ['yes', true],
    ],
  ],
  [
    'an enum or a number',
    { anyOf: [{ enum: ['all'] }, { type: 'integer' }] },
    [
      ['all', 'all'],
      ['5', 5],
      ['some', 'some'],
    ],
  ],
  [
    'a constant',
    { const: 5 },
    [
      ['5', 5],
      ['6', '6'],
    ],
  ],
  [
    'anything',
    {},
    [
      ['4', 4],
      ['true', true],
      ['null', null],
      ['{"a":1}', { a: 1 }],
      ['yes', 'yes'],
      ['a', 'a'],
    ],
  ],
  [
    'a nullable of OpenAPI',
    { type: 'integer', nullable: true },
    [
      ['null', null],
      ['4', 4],
    ],
  ],
  ['a reference', { $ref: '#/$defs/count' }, [['4', 4]]],
  [
    'a reference to nowhere',
    { $ref: '#/$defs/none' },
    [
      ['a', 'a'],
      ['4', 4],
    ],
  ],
  ['a reference to itself', { $ref: '#/$defs/loop' }, [['a', 'a']]],
  ['what allOf joins', { allOf: [{ $ref: '#/$defs/count' }, { minimum: 1 }] }, [['4', 4]]],
  [
    'alternatives that only differ in what they require',
    { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] },
    [['{"a":1}', { a: 1 }]],
  ],
];

const definitions = { count: { type: 'integer' }, loop: { $ref: '#/$defs/loop' } };

verifies(
  'CAL-04',
  'the text of an argument becomes what the schema takes, and stays text where it fits nothing',
  () => {
    for (const [name, schema, texts] of cases)
      for (const [text, expected] of texts)
        expect({ name, text, value: coerce(text, formsOf(schema, definitions)) }).toEqual({
          name,
          text,
          value: expected,
        });
  },
);

describe('numbers that JavaScript would change', () => {
  const numeric = formsOf({ type: 'integer' });
  const changed = (text: string, forms = numeric) => changedBy(text, coerce(text, forms), forms);

  test('are found where a number is wanted, alone and within JSON', () => {
    expect(changed('9007199254740993')).toBe('9007199254740993');
    expect(changed('-9007199254740992')).toBe('-9007199254740992');
    expect(changed('9007199254740991')).toBeUndefined();
    expect(changed('1e999', formsOf({ type: 'number' }))).toBe('1e999');
    expect(changed('[1, 9007199254740993]', formsOf({ type: 'array' }))).toBe('9007199254740993');
    expect(changed('["9007199254740993", "\\"9007199254740993"]', formsOf({ type: 'array' }))).toBeUndefined();
  });

  test('are no matter where text is taken', () => {
    expect(changed('9007199254740993', formsOf({ type: 'string' }))).toBeUndefined();
    expect(changed('9007199254740993', formsOf({ type: ['integer', 'string'] }))).toBeUndefined();
  });

  test('are found in any JSON, and nothing else is', () => {
    const safe = fc.json();
    fc.assert(
      fc.property(safe, fc.bigInt({ min: 2n ** 53n, max: 2n ** 80n }), (json, big) => {
        expect(changedNumberIn(`{"a": ${json}, "b": [${big}]}`)).toBeDefined();
        expect(changedNumberIn(JSON.stringify({ text: `${big}`, key: json }))).toBeUndefined();
      }),
      { numRuns: runs(300) },
    );
  });
});

test('a safe number is read as itself, and no other text becomes a number', () => {
  const forms = formsOf({ type: 'number' });
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.string(), (value, text) => {
      const word = JSON.stringify(value);
      if (changedBy(word, coerce(word, forms), forms) === undefined) expect(coerce(word, forms)).toBe(JSON.parse(word));
      const read = coerce(text, forms);
      expect(typeof read === 'number' ? Number(text) : text).toBe(read);
    }),
    { numRuns: runs(500) },
  );
});
