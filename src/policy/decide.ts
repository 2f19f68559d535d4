// Owns the verdict of the rules where there is no call yet: whether a tool is shown at all.

import type { QualifiedName, ToolId } from '../model/names.ts';
import type { Decision } from './decision.ts';
import { createJudge } from './judge.ts';
import type { Rule } from './rule.ts';

export type { Decision } from './decision.ts';

/** What depends on the arguments is neither allowed nor denied, but asks. */
export function decide(rules: readonly Rule[], id: ToolId, name: QualifiedName): Decision {
  return createJudge(rules, { folderOf: () => undefined, realPath: () => undefined }).judge(id, name, undefined);
}
