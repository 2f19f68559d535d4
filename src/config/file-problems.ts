// Owns the problems of one file: how readers report them, and how each becomes a diagnostic with its line once the file is read.

import type { Diagnostic } from '../model/diagnostic.ts';
import type { ServerName } from '../model/names.ts';
import { isMap, type KeyPath } from './config-map.ts';
import { type ConfigProblem, within, wrongType } from './problem.ts';
import type { Document } from './sources/document.ts';
import { type NormalizedSection, readKeys, type Vocabulary } from './vocabulary.ts';

/** A problem whose path begins at the top of the file. */
export interface FileProblem extends ConfigProblem {
  readonly server?: ServerName;
}

export type ReportProblem = (...problems: readonly FileProblem[]) => void;

/** Reads a section key by key. A value that is no map is reported and counts as empty. */
export function readSection(
  value: unknown,
  path: KeyPath,
  vocabulary: Vocabulary,
  report: ReportProblem,
): NormalizedSection {
  if (value !== undefined && !isMap(value)) report(wrongType(path, 'a map of settings', value));
  const read = readKeys(isMap(value) ? value : {}, vocabulary);
  report(...read.problems.map((problem) => within(path, problem)));
  return read;
}

const MOST_DIAGNOSTICS = 100;

/**
 * Looks up lines for the first hundred problems, and for all that the user may approve; looking up is slow, and only those are
 * shown.
 */
export async function diagnose(
  problems: readonly FileProblem[],
  document: Document,
  file: string | undefined,
  provider?: string,
): Promise<ReadonlyMap<FileProblem, Diagnostic>> {
  const isWithoutFile = file === undefined && provider !== undefined;
  const diagnostics = new Map<FileProblem, Diagnostic>();
  for (const problem of problems) {
    const { path, code = 'CONFIG_INVALID', message, ...rest } = problem;
    const isLocated = diagnostics.size < MOST_DIAGNOSTICS || problem.loosens !== undefined;
    const position = isLocated ? await document.locate(path) : undefined;
    diagnostics.set(problem, {
      ...rest,
      message: isWithoutFile ? `${message} (in ${provider})` : message,
      code,
      ...(file !== undefined && { file, ...position }),
    });
  }
  return diagnostics;
}

/** Keeps the first hundred diagnostics of a file and counts the others in one more. */
export function shorten(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const more = diagnostics.length - MOST_DIAGNOSTICS;
  const [first] = diagnostics;
  if (more <= 0 || first === undefined) return diagnostics;
  const rest: Diagnostic = {
    severity: 'warning',
    code: 'CONFIG_INVALID',
    message: `${more} more problems in this file are not listed`,
    remedy: 'Fix the listed problems first.',
    ...(first.file !== undefined && { file: first.file }),
  };
  return [...diagnostics.slice(0, MOST_DIAGNOSTICS), rest];
}
