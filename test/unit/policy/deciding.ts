// Owns how the tests of rules ask for a verdict where there is no call yet: what depends on arguments asks.

import type { QualifiedName, ToolId } from '../../../src/model/names.ts';
import type { Decision } from '../../../src/policy/decision.ts';
import { createJudge } from '../../../src/policy/judge.ts';
import type { Rule } from '../../../src/policy/rule.ts';

export function decide(rules: readonly Rule[], id: ToolId, name: QualifiedName): Decision {
  return createJudge(rules, { folderOf: () => undefined, realPath: () => undefined }).judge(id, name, undefined);
}
