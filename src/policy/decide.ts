// Owns the verdict on one tool: rules in, decision out. Pure; asking somebody is `call/authorize`'s work.

import { matchesWildcard } from '../kernel/wildcard.ts';
import type { QualifiedName, ToolId } from '../model/names.ts';
import type { Verdict } from '../model/rule.ts';
import { scopeOrder } from '../model/server.ts';
import { type Asked, ask } from './asked.ts';
import { closes, mayClose } from './closing.ts';
import type { Rule } from './rule.ts';

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
  const asked = ask(id, name);
  const matching = rules.filter((rule) => (rule.verdict === 'allow' ? opens(rule, asked) : shuts(rule, asked)));
  const rule = matching.find((each) => each.verdict === 'deny') ?? matching.sort(byStrength)[0];
  return rule
    ? { verdict: rule.verdict, because: rule.origin, byRule: true }
    : { verdict: 'ask', because: 'no rule matches', byRule: false };
}

/** A text with two readings opens neither: what it opens must be beyond doubt. */
function opens(rule: Rule, asked: Asked): boolean {
  const { text, hash, opening, isDoubtful } = rule;
  if (isDoubtful) return text === asked.name && (hash === undefined || hash === asked.hash());
  if (text === asked.name || isRead(rule, asked.id)) return true;
  return opening !== undefined && opening.server === asked.id.server && fits(rule, opening.tool, asked.id.tool);
}

/** A hash alone shuts and never opens: somebody patient can find a tool's name that has it. */
function shuts(rule: Rule, asked: Asked): boolean {
  const { text, hash, closing } = rule;
  if (text === asked.name || (hash !== undefined && hash === asked.hash())) return true;
  if (closing === undefined) return isRead(rule, asked.id);
  return mayClose(closing, asked) && (isRead(rule, asked.id) || closes(closing, asked));
}

function isRead(rule: Rule, { server, tool }: ToolId): boolean {
  return rule.readings.some((reading) => fits(rule, reading.server, server) && fits(rule, reading.tool, tool));
}

/** A server alone stands for all of its tools, so there is a star even where the text has none. */
function fits({ isPattern }: Rule, pattern: string, text: string): boolean {
  return pattern === '*' || (isPattern ? matchesWildcard(pattern, text) : pattern === text);
}

function byStrength(a: Rule, b: Rule): number {
  return (
    scopeOrder.indexOf(a.scope) - scopeOrder.indexOf(b.scope) ||
    b.specificity - a.specificity ||
    strictestFirst.indexOf(a.verdict) - strictestFirst.indexOf(b.verdict)
  );
}
