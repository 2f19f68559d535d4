// Owns the decision about a call: the verdict, its reason and the rule behind it. Also how the decisions of a runtime and of a
// view become one.

import type { Verdict } from '../model/rule.ts';
import type { Scope } from '../model/server.ts';

export interface Decision {
  readonly verdict: Verdict;
  /** Text a person can act on: the rule and its place, or why there is none. */
  readonly because: string;
  /** Whether a rule, a setting, the lock, the host or what the agent has read decided; false where only the default is left. */
  readonly byRule: boolean;
  /** A rule or setting asks before every call: earlier grants do not answer it. */
  readonly isEveryTime?: true;
  readonly rule?: DecidingRule;
}

export interface DecidingRule {
  /** As written. */
  readonly text: string;
  readonly action: Verdict;
  readonly scope: Scope;
  readonly file?: string;
  readonly line?: number;
}

export const strictestFirst: readonly Verdict[] = ['deny', 'ask', 'allow'];

/**
 * The decision when a view's own rules (`inner`) are added to those around it (`outer`): they only tighten. An allow of a view
 * that the host opened counts where no outer rule matched (`mayAnswer`). An allow of a child answers nothing: a child is made
 * for an agent by another agent, and must ask whatever its parent must ask.
 */
export function tightenDecision(outer: Decision, inner: Decision, mayAnswer: boolean): Decision {
  if (!inner.byRule) return outer;
  if (inner.verdict === 'allow') return outer.byRule || !mayAnswer ? outer : inner;
  if (rank(inner) < rank(outer)) return inner;
  if (rank(inner) > rank(outer)) return outer;
  // An ask by rule is stronger than the default ask, and `isEveryTime` stays once either of them has it.
  if (inner.isEveryTime || !outer.byRule) return outer.isEveryTime ? { ...inner, isEveryTime: true } : inner;
  return outer;
}

const rank = ({ verdict }: Decision) => strictestFirst.indexOf(verdict);
