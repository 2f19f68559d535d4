// Owns the proof that an example of a parameter's value fits its schema, for made-up schemas and for those of real servers.

import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readArguments } from '../../../../src/cli/parameters/argument-words.ts';
import { readParameters } from '../../../../src/cli/parameters/parameters.ts';
import { placeholder, sampleOf } from '../../../../src/cli/parameters/sample.ts';
import { argumentWord } from '../../../../src/cli/parameters/spell.ts';
import { isObject, type JsonObject } from '../../../../src/kernel/json.ts';
import { findProblems } from '../../../../src/kernel/json-schema.ts';
import { limits } from '../../../../src/model/limits.ts';

const sample = (schema: JsonObject) => {
  const [parameter] = readParameters({ properties: { filePaths: schema } }).known;
  return parameter && sampleOf(parameter);
};

test.each<readonly [string, JsonObject, unknown]>([
  ['its own example', { type: 'string', examples: ['a.txt', 'b.txt'], default: 'c.txt' }, 'a.txt'],
  ['its default', { type: 'integer', default: 7 }, 7],
  ['the first value', { enum: ['x', 'y'] }, 'x'],
  ['its name', { type: 'string' }, 'FILE_PATHS'],
  ['no longer than allowed', { type: 'string', maxLength: 4 }, 'FILE'],
  ['as long as asked for', { type: 'string', minLength: 12 }, 'FILE_PATHSFI'],
  ['a format', { type: 'string', format: 'date' }, '2026-01-31'],
  ['the least number', { type: 'integer', minimum: 5 }, 5],
  ['above a bound', { type: 'integer', exclusiveMinimum: 5 }, 6],
  ['below the most', { type: 'number', maximum: 0 }, 0],
  ['a multiple', { type: 'integer', multipleOf: 50 }, 50],
  ['a list of one', { type: 'array', items: { type: 'string' } }, ['FILE_PATH']],
  [
    'as many different items as asked for',
    { type: 'array', items: { type: 'string' }, minItems: 2 },
    ['FILE_PATH', 'FILE_PATH2'],
  ],
  ['required fields', { properties: { a: { type: 'integer' }, b: {} }, required: ['a'] }, { a: 1 }],
  ['a value rather than null', { type: ['null', 'boolean'] }, true],
])('%s', (_, schema, expected) => {
  expect(sample(schema)).toEqual(expected);
});

test('a placeholder is the name in capital letters', () => {
  expect(['path', 'filePath', 'file-path', 'größe', '…'].map(placeholder)).toEqual([
    'PATH',
    'FILE_PATH',
    'FILE_PATH',
    'GR_E',
    'VALUE',
  ]);
});

const corpus = new URL('../../../../../shared/data/server-tools/tools.jsonl.gz', import.meta.url);

/** Patterns and the deepest unions are not solved; the page of the tool is shown for those. */
const UNSOLVED = 4;

test.runIf(existsSync(corpus))('the line to copy fits the schema for nearly all tools of real servers', async () => {
  const lines = gunzipSync(readFileSync(corpus)).toString('utf8').trim().split('\n');
  const schemas = lines
    .flatMap((line) => (JSON.parse(line) as { tools: readonly { inputSchema: unknown }[] }).tools)
    .flatMap(({ inputSchema }) => (isObject(inputSchema) ? [inputSchema] : []));
  const unfit: unknown[] = [];
  for (const schema of schemas) {
    const parameters = readParameters(schema);
    const required = parameters.known.filter(({ isRequired }) => isRequired);
    const words = required.map((each) => argumentWord(each.name, sampleOf(each), each.forms));
    const { args, problems } = await readArguments(words, parameters, async () => '');
    expect(problems).toEqual([]);
    const found = findProblems(args, schema, limits.schemaCheck);
    if (found !== 'undecided' && found.length > 0) unfit.push(found);
  }
  expect(schemas.length).toBeGreaterThan(1_900);
  expect(unfit.length, JSON.stringify(unfit, null, 1)).toBeLessThanOrEqual(UNSOLVED);
});
