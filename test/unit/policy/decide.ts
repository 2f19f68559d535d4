// Owns the helper with which rule tests get a verdict without a call: a verdict that depends on arguments is "ask".

import type { QualifiedName, ToolId } from '../../../src/model/names.ts';
import type { Decision } from '../../../src/policy/decision.ts';
import { createJudge } from '../../../src/policy/judge.ts';
import type { PermissionRule } from '../../../src/policy/rule.ts';

export function decide(rules: readonly PermissionRule[], id: ToolId, name: QualifiedName): Decision {
  return createJudge(rules, { folderOf: () => undefined, realPath: () => undefined }).judge(id, name, undefined);
}
