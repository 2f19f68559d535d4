// Owns the verdict on one tool: rules in, decision out. Pure; asking somebody is `call/authorize`'s work.

import { matchesWildcard } from '../kernel/wildcard.ts';
import { hashOfKey, type QualifiedName, type ToolId, toolKey } from '../model/names.ts';
import type { Verdict } from '../model/rule.ts';
import { scopeOrder } from '../model/server.ts';
import type { Rule } from './rule.ts';
import { fold, foldedTools } from './spellings.ts';

export interface Decision {
  readonly verdict: Verdict;
  /** Text a person can act on: the rule and its place, or why there is none. */
  readonly because: string;
  /** False when nobody said anything about this tool: the default speaks. */
  readonly byRule: boolean;
}

const strictestFirst: readonly Verdict[] = ['deny', 'ask', 'allow'];

/**
 * A deny always wins, so no file can loosen what another forbids; otherwise the strongest scope, then the closest pattern.
 * `name` is the canonical one, whatever style is in force: in the others a name may pass to another server's tool.
 */
export function decide(rules: readonly Rule[], id: ToolId, name: QualifiedName): Decision {
  const matching = rules.filter((rule) => matches(rule, id, name));
  const rule = matching.find((each) => each.verdict === 'deny') ?? matching.sort(byStrength)[0];
  return rule
    ? { verdict: rule.verdict, because: rule.origin, byRule: true }
    : { verdict: 'ask', because: 'no rule matches', byRule: false };
}

/** A text with two readings forbids and asks for both, but allows neither: what it opens must be beyond doubt. */
function matches(rule: Rule, id: ToolId, name: QualifiedName): boolean {
  if (rule.text === name || matchesSpelling(rule, id)) return true;
  if (rule.verdict === 'allow' && rule.readings.length > 1) return false;
  return rule.readings.some(
    (reading) => matchesWildcard(reading.server, id.server) && matchesWildcard(reading.tool, id.tool),
  );
}

/** A hash alone opens nothing: somebody patient can find a tool's name that has it. */
function matchesSpelling({ verdict, spellings, hash }: Rule, id: ToolId): boolean {
  if (verdict === 'allow')
    return spellings.some(({ server, tool }) => server === id.server && matchesWildcard(tool, id.tool));
  if (hash !== undefined && hash === hashOfKey(toolKey(id))) return true;
  const isWritten = (pattern: string) =>
    matchesWildcard(pattern, id.tool) ||
    foldedTools(id).some((tool) => tool !== '' && matchesWildcard(fold(pattern), tool));
  return spellings.some(({ server = id.server, tool }) => server === id.server && isWritten(tool));
}

function byStrength(a: Rule, b: Rule): number {
  return (
    scopeOrder.indexOf(a.scope) - scopeOrder.indexOf(b.scope) ||
    b.specificity - a.specificity ||
    strictestFirst.indexOf(a.verdict) - strictestFirst.indexOf(b.verdict)
  );
}
