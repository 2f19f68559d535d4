// Owns the proof that JSON never throws, never grows without limit, and has one canonical spelling.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, isObject, parseJson, stringifyBounded } from '../../../src/kernel/json.ts';

test('a text that is JSON gives its value, any other a problem', () => {
  expect(parseJson('{"a":[1]}')).toEqual({ ok: true, value: { a: [1] } });
  expect(parseJson('{')).toEqual({ ok: false, problem: expect.stringContaining('JSON') });
});

test('parsing takes any text whatever', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect([true, false]).toContain(parseJson(text).ok);
    }),
  );
});

test('an object is neither null nor a list', () => {
  expect([{}, Object.create(null), new Map(), null, [], 'x', 1, undefined].map(isObject)).toEqual([
    ...[true, true, true],
    ...[false, false, false, false, false],
  ]);
});

/** The same value with the keys of every object the other way round. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, each]) => [key, reversed(each)]),
  );
}

test('equal values have one spelling, whatever order their keys were written in', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('lists keep their order and keys are sorted at every depth', () => {
  expect(canonicalJson({ b: [2, 1], a: { d: 1, c: [{ z: 1, y: 2 }] } })).toBe(
    '{"a":{"c":[{"y":2,"z":1}],"d":1},"b":[2,1]}',
  );
});

const cycle: Record<string, unknown> = {};
cycle['self'] = cycle;
const nameless = Object.create(null);

const bounded: Record<string, [value: unknown, text: string | RegExp]> = {
  'a short value is spelled in full': [{ a: 1 }, '{"a":1}'],
  'a value of exactly the limit is spelled in full': ['x'.repeat(18), `"${'x'.repeat(18)}"`],
  'a longer one is cut, and its length is told': ['x'.repeat(50), `"${'x'.repeat(19)}… (52 characters)`],
  'what JSON does not know is named': [undefined, 'undefined'],
  'a cycle is told, not thrown': [cycle, /^\[not JSON: /],
  'a number too big for JSON is told, not thrown': [1n, /^\[not JSON: /],
};

test.each(Object.entries(bounded))('%s', (_, [value, text]) => {
  if (typeof text === 'string') expect(stringifyBounded(value, 20)).toBe(text);
  else expect(stringifyBounded(value, 20)).toMatch(text);
});

test('a value that fails to be written stays within the limit too', () => {
  const throwing = (error: unknown) => ({
    toJSON() {
      throw error;
    },
  });
  for (const error of [new Error('x'.repeat(10_000)), 'x'.repeat(10_000)]) {
    expect(stringifyBounded(throwing(error), 20).length).toBeLessThan(100);
  }
  expect(stringifyBounded(throwing(nameless), 20)).toMatch(/^\[not JSON/);
});
