// Owns what a decision is: whether a call may be made, and who says so. How two of them become one is here too.

import type { Verdict } from '../model/rule.ts';
import type { Scope } from '../model/server.ts';

export interface Decision {
  readonly verdict: Verdict;
  /** Text a person can act on: the rule and its place, or why there is none. */
  readonly because: string;
  /** False when nobody said anything about this tool: the default speaks. */
  readonly byRule: boolean;
  /** Somebody wants to be asked each time: what was granted before does not answer it. */
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
 * What a view's own rules make of what holds around it: they tighten. An allow only answers where nobody has ruled, so that a
 * child is never allowed what its parent must ask for.
 */
export function narrow(outer: Decision, inner: Decision): Decision {
  if (!inner.byRule) return outer;
  if (inner.verdict === 'allow') return outer.byRule ? outer : inner;
  if (rank(inner) < rank(outer)) return inner;
  if (rank(inner) > rank(outer)) return outer;
  // Somebody's ask is more than that nobody has said anything; and once somebody wants to be asked each time, so it stays.
  if (inner.isEveryTime || !outer.byRule) return outer.isEveryTime ? { ...inner, isEveryTime: true } : inner;
  return outer;
}

const rank = ({ verdict }: Decision) => strictestFirst.indexOf(verdict);
