// Owns the event that reports a change of what people's approvals are stored as.

import type { ServerName } from '../model/names.ts';

export type TrustEvent = {
  /** Approvals that an earlier version stored were rewritten, without the secrets that it kept. */
  readonly type: 'approval.rewritten';
  readonly server: ServerName;
  /** The approvals of the server itself, or of its tools. */
  readonly of: 'server' | 'tools';
  readonly count: number;
};
