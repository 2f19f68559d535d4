// Owns the proof that `checks.json`, which runs, is what `schema.ts` compiles to; `npm run docs` has it write the file.

import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { predicates } from '../../../src/config/checker.ts';
import { checksText, compileSchema } from '../../../src/config/compile-schema.ts';
import { verifies } from '../../verifies.ts';

const file = new URL('../../../src/config/checks.json', import.meta.url);

verifies('EXT-44', 'what checks a configuration is generated from the schema', () => {
  if (process.env['UPDATE_DOCS']) writeFileSync(file, checksText());
  expect(readFileSync(file, 'utf8'), 'run: npm run docs').toBe(checksText());
});

describe('a schema that the checker would not follow in full is refused', () => {
  const text = () => z.string('a string');
  const number = () => z.number('a number');
  const section = (shape: z.ZodRawShape) => z.object(shape, 'a map');

  test.each<[reason: string, schema: z.ZodType]>([
    ['a string without a message', z.string()],
    ['a message that depends on the value', z.string({ error: ({ input }) => String(input) })],
    ['a string with the option coerce', z.coerce.string('a string')],
    ['a date', z.date('a date')],
    ['a pipe', text().transform(Number)],
    ['a nullable', text().nullable()],
    ['a default', z.array(text().default('x'), 'a list')],
    ['a shortest length other than 1', text().min(2)],
    ['a max_length', text().max(2)],
    ['a text as email', z.email('an address')],
    ['a text as regex', text().regex(/x/i)],
    ['the rule overwrite', text().trim()],
    ['the rule multiple_of', number().multipleOf(2)],
    ['a bound that is left out', number().lt(2)],
    ['a number that is int32', z.int32('a number')],
    ['a refinement without a name', text().refine((value) => value !== 'x')],
    ['a greater_than that may not run', number().min(1, { abort: true })],
    ['a record with rules', z.record(z.string(), text(), 'a map').refine(predicates.hasValue)],
    ['a union with the option discriminator', z.discriminatedUnion('a', [section({ a: z.literal(1) })], 'a map')],
    ['a union with the option inclusive', z.xor([text(), number()], 'one of them')],
    ['a map with rules for its keys', z.record(text().min(1), text(), 'a map')],
    ['a type for all other keys', section({}).catchall(text())],
    [
      'a default that the schema itself would change',
      section({ a: section({ b: text().default('x') }).default({} as never) }),
    ],
    ['a rule for a key that is optional', section({ a: section({}).optional().refine(Boolean) })],
    ['a key that may be left out but not be undefined', section({ a: text().exactOptional() })],
  ])('%s', (reason, schema) => {
    expect(() => compileSchema(schema)).toThrow(reason);
  });
});
