// Owns the verdict on one tool: rules in, decision out. Pure; asking somebody is `call/authorize`'s work.

import { matchesWildcard } from '../kernel/wildcard.ts';
import type { QualifiedName, ToolId } from '../model/names.ts';
import type { Verdict } from '../model/rule.ts';
import { scopeOrder } from '../model/server.ts';
import type { Rule } from './rule.ts';

export interface Decision {
  readonly verdict: Verdict;
  /** Text a person can act on: the rule and its place, or why there is none. */
  readonly because: string;
  /** False when nobody said anything about this tool: the default speaks. */
  readonly byRule: boolean;
}

const strictestFirst: readonly Verdict[] = ['deny', 'ask', 'allow'];

/** A deny always wins, so no file can loosen what another forbids; otherwise the strongest scope, then the closest pattern. */
export function decide(rules: readonly Rule[], id: ToolId, name: QualifiedName): Decision {
  const matching = rules.filter((rule) => matches(rule, id, name));
  const rule = matching.find((each) => each.verdict === 'deny') ?? matching.sort(byStrength)[0];
  return rule
    ? { verdict: rule.verdict, because: rule.origin, byRule: true }
    : { verdict: 'ask', because: 'no rule matches', byRule: false };
}

/** A text with two readings forbids and asks for both, but allows neither: what it opens must be beyond doubt. */
function matches(rule: Rule, id: ToolId, name: QualifiedName): boolean {
  if (rule.text === name) return true;
  if (rule.verdict === 'allow' && rule.readings.length > 1) return false;
  return rule.readings.some(
    (reading) => matchesWildcard(reading.server, id.server) && matchesWildcard(reading.tool, id.tool),
  );
}

function byStrength(a: Rule, b: Rule): number {
  return (
    scopeOrder.indexOf(a.scope) - scopeOrder.indexOf(b.scope) ||
    b.specificity - a.specificity ||
    strictestFirst.indexOf(a.verdict) - strictestFirst.indexOf(b.verdict)
  );
}
