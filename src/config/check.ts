// Owns holding what was read against the schema: what fits, and in words what does not.

import type { core, output, ZodObject } from 'zod';
import type { KeyPath } from './config-map.ts';
import { type ConfigProblem, wrongType } from './problem.ts';
import type { NormalizedSection } from './vocabulary.ts';

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** The schema's own words complete the sentence; the path leads to the key as the file spells it. */
export function explain(issue: Issue, read: Pick<NormalizedSection, 'fields' | 'writtenAs'>): ConfigProblem {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  const found = path.reduce<unknown>((value, part) => Object(value)[part], read.fields);
  return wrongType(asWritten(path, read), issue.message, found);
}

export function asWritten(path: KeyPath, { writtenAs }: Pick<NormalizedSection, 'writtenAs'>): KeyPath {
  return path.map((part, at) => writtenAs.get(path.slice(0, at + 1).join('.')) ?? part);
}

export interface Checked<Schema extends ZodObject> {
  /** Only what is written and fits; no defaults. */
  readonly fields: Partial<output<Schema>>;
  readonly problems: readonly ConfigProblem[];
}

/** Field by field: a wrong one is left out and the others count. What is not written costs nothing. */
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
    for (const { path, message } of parsed.error?.issues.flatMap(meantBy) ?? [])
      problems.push(explain({ path: [key, ...path], message }, read));
  }
  return { fields: fields as Partial<output<Schema>>, problems };
}

/** Of the shapes that a value may have, the one it has, but for something inside, is the one that was meant. */
function meantBy(issue: core.$ZodIssue): readonly Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const begun = issue.errors.find((each) => each.length > 0 && each.every(({ path }) => path.length > 0));
  return begun?.flatMap(meantBy).map(({ path, message }) => ({ path: [...issue.path, ...path], message })) ?? [issue];
}
