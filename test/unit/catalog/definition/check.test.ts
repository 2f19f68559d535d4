// Owns the proof that a broken definition is left out with a reason, and that a healthy one has one canonical form.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkDefinition } from '../../../../src/catalog/definition/check.ts';
import type { JsonObject } from '../../../../src/kernel/json.ts';
import { verifies } from '../../../verifies.ts';

const reasonOf = (inputSchema: unknown) => {
  const checked = checkDefinition({ name: 'tool', inputSchema });
  return typeof checked === 'string' ? checked.replace('the tool "tool" was left out: ', '') : undefined;
};

describe('a schema that can be nobody’s arguments is set apart', () => {
  const noObject = 'its inputSchema is not an object';
  const elsewhere = 'its inputSchema lies elsewhere, and references that lead out of a schema are not followed';
  const cases: Record<string, [inputSchema: unknown, reason: string]> = {
    null: [null, noObject],
    'a flag': [true, noObject],
    'a text': ['string', noObject],
    'an array': [[], noObject],
    'of another type': [{ type: 'string' }, 'its inputSchema is of type string, and arguments are an object'],
    'of other types': [
      { type: ['array', 'null'] },
      'its inputSchema is of type array or null, and arguments are an object',
    ],
    'of values': [{ enum: ['a', 1] }, 'its inputSchema allows no object, and arguments are one'],
    'of another type, behind a reference': [
      { $ref: '#/$defs/a', $defs: { a: { type: 'integer' } } },
      'its inputSchema is of type integer, and arguments are an object',
    ],
    'in each of its forms': [
      { anyOf: [{ type: 'string' }, { type: 'null' }] },
      'its inputSchema is of type string, and arguments are an object',
    ],
    'in one of its parts': [
      { allOf: [{ type: 'object' }, { type: 'array' }] },
      'its inputSchema is of type array, and arguments are an object',
    ],
    'that is not there': [{ $ref: '#/$defs/gone' }, 'its inputSchema refers to a part that is not there'],
    'that is elsewhere': [{ $ref: 'https://example.com/args.json' }, elsewhere],
    'that is only itself': [{ $ref: '#' }, 'its inputSchema refers only to itself'],
    'that allows nothing': [{ allOf: [false] }, 'its inputSchema allows nothing'],
  };
  for (const [what, [inputSchema, reason]] of Object.entries(cases))
    verifies(['NAM-15', 'EXT-11'], what, () => expect(reasonOf(inputSchema)).toBe(reason));
});

describe('a schema that can be understood is not', () => {
  const cases: Record<string, unknown> = {
    'left out': undefined,
    empty: {},
    'of a type in capitals': { type: 'Object' },
    'of a type nobody knows': { type: 'any' },
    'of several types': { type: ['object', 'null'] },
    'with one form that fits': { oneOf: [{ type: 'string' }, { type: 'object' }] },
    'behind references': { $ref: '#/$defs/a', $defs: { a: { $ref: '#b' }, b: { $anchor: 'b', type: 'object' } } },
  };
  for (const [what, inputSchema] of Object.entries(cases))
    verifies('EXT-11', what, () => expect(reasonOf(inputSchema)).toBeUndefined());
});

test('forms within forms are looked through within bounds', () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 15 }, (_, at) => [`l${at}`, { anyOf: Array(60).fill({ $ref: `#/$defs/l${at + 1}` }) }]),
  );
  const before = process.cpuUsage();
  expect(reasonOf({ $ref: '#/$defs/l0', $defs: { ...$defs, l15: { type: 'object' } } })).toBeUndefined();
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(5_000);
});

const shuffled = (value: unknown, turn: number): unknown => {
  if (Array.isArray(value)) return value.map((each) => shuffled(each, turn));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, part]) => [key, shuffled(part, turn)] as const);
  return Object.fromEntries(turn === 0 ? entries.reverse() : [...entries.slice(turn), ...entries.slice(0, turn)]);
};

verifies('NAM-15', 'equal definitions are equal to the byte, whatever order their keys came in', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(3), (extra, turn) => {
      const item = {
        ...extra,
        name: 'tool',
        description: 'Does it.',
        inputSchema: { type: 'object', ...extra, enum: [{}], $ref: '#/x', x: {}, allOf: [] },
      };
      const [one, two] = [checkDefinition(shuffled(item, turn)), checkDefinition(item)];
      expect(JSON.stringify(one)).toBe(JSON.stringify(two));
    }),
  );
});

test('arrays keep their order, and keys of any name stay keys', () => {
  const item = JSON.parse(
    '{"name":"t","inputSchema":{"type":"object","required":["b","a"],"properties":{"b":{},"__proto__":{"type":"string"},"a":{}}}}',
  ) as unknown;
  const checked = checkDefinition(item) as unknown as { inputSchema: { properties: JsonObject } };
  expect(JSON.stringify(checked)).toBe(
    '{"inputSchema":{"properties":{"__proto__":{"type":"string"},"a":{},"b":{}},"required":["b","a"],"type":"object"},"name":"t"}',
  );
  expect(Object.getPrototypeOf(checked.inputSchema.properties)).toBe(Object.prototype);
});

test('a definition is frozen to its depth', () => {
  const checked = checkDefinition({ name: 't', inputSchema: { type: 'object', properties: { a: { enum: ['x'] } } } });
  const { inputSchema } = checked as unknown as { inputSchema: { properties: { a: { enum: string[] } } } };
  expect(() => inputSchema.properties.a.enum.push('y')).toThrow(TypeError);
});

test('what holds itself, or is too deep or too large, is set apart', () => {
  const loop: Record<string, unknown> = { type: 'object' };
  loop['properties'] = { a: loop, b: loop };
  let deep: unknown = {};
  for (let level = 0; level < 2_000; level++) deep = { items: deep };
  const large = { type: 'object', enum: Array.from({ length: 200_000 }, () => ({})) };
  for (const inputSchema of [loop, deep, large])
    expect(reasonOf(inputSchema)).toBe('its definition is too deep or too large');
});
