// Owns collecting what is wrong in one file, and giving it a line once all is read.

import type { Diagnostic } from '../model/diagnostic.ts';
import type { ServerName } from '../model/names.ts';
import { isMap, type KeyPath } from './config-map.ts';
import { type ConfigProblem, within, wrongType } from './problem.ts';
import type { Document } from './sources/document.ts';
import { type NormalizedSection, readKeys, type Vocabulary } from './vocabulary.ts';

export interface FileProblem extends ConfigProblem {
  readonly server?: ServerName;
}

export type ReportProblem = (...problems_: readonly FileProblem[]) => void;

/** Nothing can be read of what is no map, but that it is none. */
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

/** Whoever has more than that to mend begins with the first. */
export async function diagnose(
  problems_: readonly FileProblem[],
  document: Document,
  file: string | undefined,
  provider?: string,
): Promise<ReadonlyMap<FileProblem, Diagnostic>> {
  const isElsewhere = file === undefined && provider !== undefined;
  const diagnostics = new Map<FileProblem, Diagnostic>();
  for (const finding of problems_) {
    const { path, code = 'CONFIG_INVALID', ...found } = finding;
    const said = isElsewhere ? { ...found, message: `${found.message} (in ${provider})` } : found;
    const isTold = diagnostics.size < MOST_DIAGNOSTICS || finding.loosens !== undefined;
    const position = isTold ? await document.locate(path) : undefined;
    diagnostics.set(finding, { ...said, code, ...(file !== undefined && { file, ...position }) });
  }
  return diagnostics;
}

export function shorten(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const more = diagnostics.length - MOST_DIAGNOSTICS;
  const [first] = diagnostics;
  if (more <= 0 || first === undefined) return diagnostics;
  const rest: Diagnostic = {
    severity: 'warning',
    code: 'CONFIG_INVALID',
    message: `${more} more problems in this file are not listed`,
    remedy: 'Mend the listed ones first.',
    ...(first.file !== undefined && { file: first.file }),
  };
  return [...diagnostics.slice(0, MOST_DIAGNOSTICS), rest];
}
