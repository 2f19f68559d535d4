// Owns the proof of which answers to a form are sent to the server, and as what.

import { describe, expect, test } from 'vitest';
import { type FormField, fillForm, optionsOf, problemsInField } from '../../../../src/connection/elicitation/form.ts';
import { verifies } from '../../../verifies.ts';

const properties: Record<string, FormField> = {
  name: { type: 'string', default: 'Ada' },
  age: { type: 'integer', minimum: 0, default: 0 },
  isSure: { type: 'boolean', default: false },
  city: { type: 'string' },
};

describe('an accepted form', () => {
  const forms: Record<string, [answer: unknown, sent: unknown]> = {
    'with fields left out gets the defaults of the server': [{ name: 'Bob' }, { name: 'Bob', age: 0, isSure: false }],
    'as it is consists of them': [undefined, { name: 'Ada', age: 0, isSure: false }],
    'with fields that are nothing has left them out': [
      { name: null, city: undefined },
      { name: 'Ada', age: 0, isSure: false },
    ],
    'with fields that are not in the form loses those': [
      { city: 'Bern', toString: 'x', more: 1 },
      { name: 'Ada', age: 0, isSure: false, city: 'Bern' },
    ],
  };
  for (const [sentence, [answer, content]] of Object.entries(forms))
    verifies('EXT-02', sentence, () =>
      expect(fillForm({ type: 'object', properties }, answer)).toEqual({ ok: true, content }),
    );

  test('that is no object, lacks a required field or does not fit is refused, with the reason', () => {
    const schema = { type: 'object', properties, required: ['city'] } as const;
    const [no, missing, wrong] = [
      fillForm(schema, ['Bern']),
      fillForm(schema, {}),
      fillForm(schema, { city: 'Bern', age: -1 }),
    ];
    expect(no).toEqual({ ok: false, problems: ['the answer must be an object'], fields: [] });
    expect(missing).toEqual({ ok: false, problems: ['"city" is missing'], fields: ['city'] });
    expect(wrong).toEqual({ ok: false, problems: [expect.stringContaining('"age" must be >= 0')], fields: ['age'] });
  });
});

const choice: FormField = { type: 'string', oneOf: [{ const: 'r', title: 'Red' }, { const: 'g' }] };
const choices: FormField = { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 1 };

const fields: Record<string, [field: FormField, right: unknown[], wrong: unknown[]]> = {
  'a text': [{ type: 'string', minLength: 1, maxLength: 3 }, ['a', 'äöü'], ['', 'abcd', 1, true, ['a'], {}]],
  'an e-mail address': [{ type: 'string', format: 'email' }, ['a@b.example'], ['a', '@b', 'a@', 'a b@c', 'a@b@c']],
  'an address': [{ type: 'string', format: 'uri' }, ['https://a.example', 'urn:x'], ['a.example', '/x', '']],
  'a date': [{ type: 'string', format: 'date' }, ['2024-02-29'], ['2023-02-29', '2024-13-01', '2024-1-1', 'today']],
  'a time': [
    { type: 'string', format: 'date-time' },
    ['2024-02-29T10:00:00Z', '2024-02-29T10:00:00.5+02:00'],
    ['2024-02-29', '2024-02-29T25:00:00Z', '2024-02-30T10:00:00Z', '2024-02-29T10:00:00'],
  ],
  'a number': [{ type: 'number', maximum: 2 }, [1.5, -1], [3, '1', Number.NaN, Number.NEGATIVE_INFINITY]],
  'a whole number': [{ type: 'integer', multipleOf: 5 }, [0, 10], [1, 2.5]],
  'yes or no': [{ type: 'boolean' }, [true, false], ['yes', 1]],
  'a choice': [choice, ['r', 'g'], ['Red', 'b', ['r']]],
  choices: [choices, [['a'], ['a', 'b']], [[], ['c'], 'a']],
};

for (const [what, [field, right, wrong]] of Object.entries(fields)) {
  verifies('EXT-02', `where ${what} is asked for, only that is an answer`, () => {
    for (const value of right) expect(problemsInField(field, value), String(value)).toEqual([]);
    for (const value of wrong) expect(problemsInField(field, value), String(value)).not.toEqual([]);
  });
}

test('the options of a field are the same in every spelling of the schema', () => {
  expect(optionsOf(choice)).toEqual([{ const: 'r', title: 'Red' }, { const: 'g' }]);
  expect(optionsOf(choices)).toEqual([{ const: 'a' }, { const: 'b' }]);
  expect(optionsOf({ type: 'array', items: { anyOf: [{ const: 'a' }] } })).toEqual([{ const: 'a' }]);
  expect(optionsOf({ type: 'string', enum: ['a'], enumNames: ['A'] })).toEqual([{ const: 'a', title: 'A' }]);
  expect(optionsOf({ type: 'string' })).toBeUndefined();
});
