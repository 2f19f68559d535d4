// Owns the type for a problem in a configuration.

import type { FailureCode } from './errors.ts';
import type { ServerName } from './names.ts';

export interface Diagnostic {
  readonly severity: 'error' | 'warning';
  readonly code: FailureCode;
  /** The problem in one sentence, without file and line. */
  readonly message: string;
  /** The remedy for the user, in one sentence. */
  readonly remedy: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly server?: ServerName;
  /** In a few words, what is ignored because it would loosen a rule; it applies once the user approved the file. */
  readonly loosens?: string;
}

/** `file:line:column`, as editors and terminals understand it. */
export function placeOf(diagnostic: Pick<Diagnostic, 'file' | 'line' | 'column'>): string {
  return [diagnostic.file, diagnostic.line, diagnostic.line === undefined ? undefined : diagnostic.column]
    .filter((part) => part !== undefined)
    .join(':');
}
