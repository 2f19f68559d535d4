// Owns holding what was read against the schema: what fits, and in words what does not.

import type { output, ZodObject } from 'zod';
import { type Path, type Problem, wrongType } from './problem.ts';
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

/** Field by field: a wrong one is left out and the others count. */
export function checkEach<Schema extends ZodObject>(read: Reading, schema: Schema): Checked<Schema> {
  const issues = schema.partial().safeParse(read.fields).error?.issues ?? [];
  const wrong = new Set(issues.map(({ path }) => path[0]));
  const fields = Object.fromEntries(Object.entries(read.fields).filter(([key]) => !wrong.has(key)));
  return { fields: fields as Partial<output<Schema>>, problems: issues.map((issue) => explain(issue, read)) };
}
