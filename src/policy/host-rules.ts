// Owns the rules that a host passes in code. A rule that cannot be read is refused at once: only the author of the host can fix
// it.

import { isObject } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import { faultsIn, type RuleText } from '../model/rule.ts';
import { strictestFirst } from './decision.ts';

/** One rule as a host writes it. */
export type HostRule = Omit<RuleText, 'provenance' | 'misread'>;

export function hostRules(rules: readonly HostRule[]): readonly RuleText[] {
  if (!Array.isArray(rules)) throw invalid('permissions must be a list of rules');
  return rules.map((rule: HostRule, at): RuleText => {
    const problem = problemOf(rule);
    if (problem !== undefined) throw invalid(`permissions[${at}] ${problem}`);
    return { ...rule, provenance: { scope: 'host', key: [] } };
  });
}

function problemOf(rule: unknown): string | undefined {
  if (!isObject(rule)) return 'must be a map with "tool" and "action"';
  const { tool, action, args } = rule;
  if (typeof tool !== 'string' || tool === '') return '"tool" must be a text that is not empty';
  if (!strictestFirst.some((verdict) => verdict === action)) return '"action" must be "allow", "ask" or "deny"';
  const unknown = Object.keys(rule).find((key) => !ruleKeys.includes(key));
  // A condition under another name would be no condition: the rule would hold for every call.
  if (unknown !== undefined) return `has no "${unknown}"; a rule has ${ruleKeys.map((key) => `"${key}"`).join(', ')}`;
  const [fault] = args === undefined ? [] : faultsIn(args);
  return fault && `"${['args', ...fault.path].join('.')}" must be ${fault.expected}`;
}

const ruleKeys: readonly string[] = ['tool', 'action', 'args'] satisfies (keyof HostRule)[];

const invalid = (problem: string) => new RuntimeError('CONFIG_INVALID', { problem });
