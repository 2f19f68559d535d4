// Owns what is told about a configuration that could not be taken as it stands.

import type { FailureCode } from './errors.ts';
import type { ServerName } from './names.ts';

export interface Diagnostic {
  readonly severity: 'error' | 'warning';
  readonly code: FailureCode;
  /** What is wrong, in one sentence, without the place. */
  readonly message: string;
  /** What a person does about it, in one sentence. */
  readonly remedy: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly server?: ServerName;
  /** What is ignored, in a few words: it would widen something, and counts once a person approved that file. */
  readonly loosens?: string;
}

/** `file:line:column`, as editors and terminals understand it. */
export function placeOf(diagnostic: Pick<Diagnostic, 'file' | 'line' | 'column'>): string {
  return [diagnostic.file, diagnostic.line, diagnostic.line === undefined ? undefined : diagnostic.column]
    .filter((part) => part !== undefined)
    .join(':');
}
