// Owns checking fields against the schema: which of them fit, and a message for each that does not.

import type { Issue } from './checker.ts';
import type { KeyPath } from './config-map.ts';
import { type ConfigProblem, wrongType } from './problem.ts';
import type { Complete, SectionName } from './schema.ts';
import { parseField } from './sections.ts';
import type { NormalizedSection } from './vocabulary.ts';

/** The schema's message completes the sentence; the path has the keys as the file spells them. */
export function explain(
  { path, message }: Pick<Issue, 'path' | 'message'>,
  read: Pick<NormalizedSection, 'fields' | 'writtenAs'>,
): ConfigProblem {
  const found = path.reduce<unknown>((value, part) => Object(value)[part], read.fields);
  return wrongType(asWritten(path, read), message, found);
}

export function asWritten(path: KeyPath, { writtenAs }: Pick<NormalizedSection, 'writtenAs'>): KeyPath {
  return path.map((part, at) => writtenAs.get(path.slice(0, at + 1).join('.')) ?? part);
}

export interface Checked<Name extends SectionName> {
  /** Only fields that are written and fit; no defaults. */
  readonly fields: Partial<Complete<Name>>;
  readonly problems: readonly ConfigProblem[];
}

/** Checks field by field: a wrong field is left out and the others count. Fields that are not written cost nothing. */
export function checkEach<Name extends SectionName>(
  read: Pick<NormalizedSection, 'fields' | 'writtenAs'>,
  section: Name,
): Checked<Name> {
  const fields: Record<string, unknown> = {};
  const problems: ConfigProblem[] = [];
  for (const key of Object.keys(read.fields)) {
    const parsed = parseField(section, key, read.fields[key]);
    if (parsed === undefined) continue;
    if (!parsed.issues) fields[key] = parsed.value;
    for (const { path, message } of parsed.issues?.flatMap(closestIssues) ?? [])
      problems.push(explain({ path: [key, ...path], message }, read));
  }
  return { fields: fields as Partial<Complete<Name>>, problems };
}

/** Where a value may have one of several shapes, reports the shape it has the outline of, and what is wrong inside. */
function closestIssues(issue: Issue): readonly Pick<Issue, 'path' | 'message'>[] {
  const begun = issue.options?.find((each) => each.length > 0 && each.every(({ path }) => path.length > 0));
  return (
    begun?.flatMap(closestIssues).map(({ path, message }) => ({ path: [...issue.path, ...path], message })) ?? [issue]
  );
}
