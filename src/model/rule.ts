// Owns what a file says about permissions, before it means anything: `policy/` gives it a meaning.

import type { Provenance } from './server.ts';

export type Verdict = 'allow' | 'ask' | 'deny';

export interface RuleText {
  /** As written: `mcp__files__*`. */
  readonly tool: string;
  readonly action: Verdict;
  readonly provenance: Provenance;
}
