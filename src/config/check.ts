// Owns checking fields against the schema: which of them fit, and a message for each that does not.

import type { core, output, ZodObject } from 'zod';
import type { KeyPath } from './config-map.ts';
import { type ConfigProblem, wrongType } from './problem.ts';
import type { NormalizedSection } from './vocabulary.ts';

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** The schema's message completes the sentence; the path has the keys as the file spells them. */
export function explain(issue: Issue, read: Pick<NormalizedSection, 'fields' | 'writtenAs'>): ConfigProblem {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  const found = path.reduce<unknown>((value, part) => Object(value)[part], read.fields);
  return wrongType(asWritten(path, read), issue.message, found);
}

export function asWritten(path: KeyPath, { writtenAs }: Pick<NormalizedSection, 'writtenAs'>): KeyPath {
  return path.map((part, at) => writtenAs.get(path.slice(0, at + 1).join('.')) ?? part);
}

export interface Checked<Schema extends ZodObject> {
  /** Only fields that are written and fit; no defaults. */
  readonly fields: Partial<output<Schema>>;
  readonly problems: readonly ConfigProblem[];
}

/** Checks field by field: a wrong field is left out and the others count. Fields that are not written cost nothing. */
export function checkEach<Schema extends ZodObject>(
  read: Pick<NormalizedSection, 'fields' | 'writtenAs'>,
  schema: Schema,
): Checked<Schema> {
  const fields: Record<string, unknown> = {};
  const problems: ConfigProblem[] = [];
  for (const key of Object.keys(read.fields)) {
    const value = read.fields[key];
    const field = schema.shape[key];
    if (field === undefined) continue;
    const parsed = field.safeParse(value);
    if (parsed.success) fields[key] = parsed.data;
    for (const { path, message } of parsed.error?.issues.flatMap(closestIssues) ?? [])
      problems.push(explain({ path: [key, ...path], message }, read));
  }
  return { fields: fields as Partial<output<Schema>>, problems };
}

/** Where a value may have one of several shapes, reports the shape it has the outline of, and what is wrong inside. */
function closestIssues(issue: core.$ZodIssue): readonly Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const begun = issue.errors.find((each) => each.length > 0 && each.every(({ path }) => path.length > 0));
  return (
    begun?.flatMap(closestIssues).map(({ path, message }) => ({ path: [...issue.path, ...path], message })) ?? [issue]
  );
}
