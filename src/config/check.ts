// Owns holding what was read against the schema: what fits, and in words what does not.

import type { output, ZodObject } from 'zod';
import type { $ZodType } from 'zod/v4/core';
import { isMap, type Path, type Problem, wrongType } from './problem.ts';
import type { Reading } from './vocabulary.ts';

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** The schema's own words complete the sentence; the path leads to the key as the file spells it. */
export function explain(issue: Issue, read: Pick<Reading, 'fields' | 'writtenAs'>): Problem {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  const found = path.reduce<unknown>((value, part) => Object(value)[part], read.fields);
  return wrongType(asWritten(path, read), issue.message, found);
}

export function asWritten([key = '', ...rest]: Path, { writtenAs }: Pick<Reading, 'writtenAs'>): Path {
  return [writtenAs.get(String(key)) ?? key, ...rest];
}

export interface Checked<Schema extends ZodObject> {
  /** Only what is written and fits; no defaults. */
  readonly fields: Partial<output<Schema>>;
  readonly problems: readonly Problem[];
}

/** Field by field: a wrong one is left out and the others count. What is not written costs nothing. */
export function checkEach<Schema extends ZodObject>(
  read: Pick<Reading, 'fields' | 'writtenAs'>,
  schema: Schema,
): Checked<Schema> {
  const fields: Record<string, unknown> = {};
  const problems: Problem[] = [];
  for (const key of Object.keys(read.fields)) {
    const value = read.fields[key];
    const field = schema.shape[key];
    if (field === undefined) continue;
    if (isObviously(field, value)) {
      fields[key] = value;
      continue;
    }
    const parsed = field.safeParse(value);
    if (parsed.success) fields[key] = parsed.data;
    for (const { path, message } of parsed.error?.issues ?? [])
      problems.push(explain({ path: [key, ...path], message }, read));
  }
  return { fields: fields as Partial<output<Schema>>, problems };
}

type Test = (value: unknown) => boolean;
const tests = new WeakMap<$ZodType, Test>();

/** The plainest types are told without the library's help, which takes ten times as long; it still has the word on all else. */
function isObviously(schema: $ZodType, value: unknown): boolean {
  const known = tests.get(schema) ?? testFor(schema);
  tests.set(schema, known);
  return known(value);
}

/** As far as it is read here. */
interface Def {
  readonly type: string;
  readonly checks?: readonly {
    readonly _zod: { readonly def: { readonly check: string; readonly minimum?: number } };
  }[];
  readonly [part: string]: unknown;
}

const isText = (value: unknown) => typeof value === 'string';
const isSomeText = (value: unknown) => typeof value === 'string' && value !== '';
const never = () => false;

function testFor(schema: $ZodType): Test {
  const { def } = schema._zod as unknown as { def: Def };
  const isPlain = (def.checks ?? []).length === 0;
  const isAnyText = (def.checks ?? []).every(
    ({ _zod: { def: check } }) => check.check === 'min_length' && check.minimum === 1,
  );
  const inner = (part: string) => testFor(def[part] as $ZodType);
  switch (def.type) {
    case 'optional':
    case 'default':
      return inner('innerType');
    case 'string':
      return isPlain ? isText : isAnyText ? isSomeText : never;
    case 'boolean':
      return (value) => typeof value === 'boolean';
    case 'array': {
      const isElement = inner('element');
      return isPlain ? (value) => Array.isArray(value) && value.every(isElement) : never;
    }
    case 'record': {
      const isValue = inner('valueType');
      return (value) => isMap(value) && Object.values(value).every(isValue);
    }
    default:
      return never;
  }
}
