// Owns the proof that the quick yes is given to plain values of plain schemas, and never to a value that the whole check refuses.

import { expect, test } from 'vitest';
import { findProblems } from '../../../src/kernel/json-schema.ts';
import { surelyFits } from '../../../src/kernel/schema-fit.ts';
import { limits } from '../../../src/model/limits.ts';

const person = {
  type: 'object',
  properties: {
    name: { type: 'string', description: 'Any.', minLength: 1, maxLength: 5 },
    age: { type: 'integer', minimum: 0, exclusiveMaximum: 150 },
    kind: { enum: ['a', 1, true] },
    tags: { type: 'array', items: { type: 'string' } },
    nested: { type: 'object', properties: { deep: { type: 'null' } }, additionalProperties: false },
  },
  required: ['name'],
};

const fitting: readonly unknown[] = [
  { name: 'Ada' },
  { name: 'Ada', age: 36, kind: 1, tags: ['x'], nested: { deep: null }, other: 'unknown keys are free' },
];

const refused: readonly unknown[] = [
  {},
  [],
  'Ada',
  { name: 7 },
  { name: '' },
  { name: 'Augusta' },
  { name: 'Ada', age: 36.5 },
  { name: 'Ada', age: -1 },
  { name: 'Ada', age: 150 },
  { name: 'Ada', kind: 'b' },
  { name: 'Ada', tags: ['x', 2] },
  { name: 'Ada', nested: { deep: 0 } },
  { name: 'Ada', nested: { other: null } },
];

test('a plain value of a plain schema certainly fits, and no refused one does', () => {
  for (const value of fitting) expect(surelyFits(value, person), JSON.stringify(value)).toBe(true);
  for (const value of refused) {
    expect(findProblems(value, person, limits.schemaCheck), JSON.stringify(value)).not.toEqual([]);
    expect(surelyFits(value, person), JSON.stringify(value)).toBe(false);
  }
});

test('a schema with any other keyword, also deep within, is left to the whole check', () => {
  const others: readonly unknown[] = [
    { pattern: '^a' },
    { $ref: '#/definitions/a' },
    { type: ['string', 'null'] },
    { type: 'text' },
    { properties: { a: { not: {} } } },
    { items: { oneOf: [] } },
    { additionalProperties: { type: 'string' } },
    { required: true },
    { enum: [[1]] },
    { format: 'date' },
    true,
    null,
  ];
  for (const schema of others) expect(surelyFits({}, schema), JSON.stringify(schema)).toBe(false);
});

test('a text whose characters take two units each is counted by the whole check', () => {
  const schema = { type: 'string', minLength: 3 };
  expect([surelyFits('🎈🎈', schema), surelyFits('abcdef', schema)]).toEqual([false, true]);
});
