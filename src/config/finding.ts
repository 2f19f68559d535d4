// Owns collecting what is wrong in one file, and giving it a line once all is read.

import type { Diagnostic } from '../model/diagnostic.ts';
import type { ServerName } from '../model/names.ts';
import { isMap, type Path, type Problem, within, wrongType } from './problem.ts';
import type { Document } from './sources/document.ts';
import { type Reading, readKeys, type Vocabulary } from './vocabulary.ts';

export interface Finding extends Problem {
  readonly server?: ServerName;
}

export type Note = (...findings: readonly Finding[]) => void;

/** Nothing can be read of what is no map, but that it is none. */
export function readSection(value: unknown, path: Path, vocabulary: Vocabulary, note: Note): Reading {
  if (value !== undefined && !isMap(value)) note(wrongType(path, 'a map of settings', value));
  const read = readKeys(isMap(value) ? value : {}, vocabulary);
  note(...read.problems.map((problem) => within(path, problem)));
  return read;
}

const MOST_DIAGNOSTICS = 100;

/** Whoever has more than that to mend begins with the first. */
export async function diagnose(
  findings: readonly Finding[],
  document: Document,
  file: string | undefined,
  provider?: string,
): Promise<ReadonlyMap<Finding, Diagnostic>> {
  const isElsewhere = file === undefined && provider !== undefined;
  const diagnostics = new Map<Finding, Diagnostic>();
  for (const finding of findings) {
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
