// Owns the proof that words of the command line become the arguments that a tool's schema asks for.

import { expect, test } from 'vitest';
import { parseArguments, parseArgumentsJson } from '../../../src/cli/arguments.ts';

const schema = {
  properties: { count: { type: 'integer' }, text: { type: ['string', 'null'] }, list: { type: 'array' } },
};

test.each([
  ['a number where the schema wants one', 'count=4', { count: 4 }],
  ['text where the schema wants text', 'text=4', { text: '4' }],
  ['a list', 'list=[1,2]', { list: [1, 2] }],
  ['text that does not fit, which validation rejects', 'count=many', { count: 'many' }],
  ['JSON as it is', 'other:={"a":null}', { other: { a: null } }],
  ['text for an unknown argument', 'other=4', { other: '4' }],
  ['everything after the first equals sign', 'text=a=b', { text: 'a=b' }],
])('%s', (_, word, expected) => {
  expect(parseArguments([word], schema)).toEqual(expected);
});

test('a word without a value, broken JSON and anything but an object are refused', () => {
  expect(() => parseArguments(['oops'], schema)).toThrow('"oops" is not an argument; write key=value, or key:=JSON');
  expect(() => parseArguments(['a:={'], schema)).toThrow('the value of "a" is not valid JSON');
  expect(() => parseArgumentsJson('{', '--args')).toThrow('--args is not valid JSON');
  expect(() => parseArgumentsJson('[1]', '--args')).toThrow('--args must be a JSON object');
});
