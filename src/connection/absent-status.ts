// Owns the status of configured servers that have no connection: entries that cannot be read, and suppressed ones.

import type { Diagnostic } from '../model/diagnostic.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import { labelOf, type Provenance } from '../model/server.ts';
import type { ServerStatus } from './status.ts';
import { failureReason } from './status-reason.ts';

export interface InvalidEntry {
  readonly name: ServerName;
  readonly provenance: Provenance;
  readonly diagnostic: Diagnostic;
}

export interface SuppressedEntry {
  readonly name: ServerName;
  readonly provenance: Provenance;
  readonly because: string;
}

/** An entry that could not be read is listed as well, so that a person sees why the server is missing. */
export function invalidStatus({ name, provenance, diagnostic }: InvalidEntry): ServerStatus {
  const error = new RuntimeError('CONFIG_INVALID', {
    problem: diagnostic.message,
    ...(diagnostic.file !== undefined && { file: diagnostic.file }),
    ...(diagnostic.line !== undefined && { line: diagnostic.line }),
  });
  const reason = failureReason(error);
  return { name, status: 'failed', state: 'invalid', ...commonFields({ name, provenance }), reason, error };
}

export function suppressedStatus({ name, provenance, because }: SuppressedEntry): ServerStatus {
  const error = new RuntimeError('SERVER_DENIED', { server: name, because });
  const reason = failureReason(error);
  return { name, status: 'disconnected', state: 'disabled', ...commonFields({ name, provenance }), reason, error };
}

function commonFields({ name, provenance }: Pick<InvalidEntry, 'name' | 'provenance'>) {
  return {
    transport: 'unknown',
    toolCount: 0,
    scope: provenance.scope,
    label: labelOf({ name, provenance }),
    ...(provenance.file && { source: provenance.file }),
  } as const;
}
