// Owns the verdict of the rules on one call: which of the matching rules decides. Pure, except that it follows symbolic links.
// Asking the user is `call/authorize`'s work.

import type { JsonObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { QualifiedName, ServerName, ToolId } from '../model/names.ts';
import { scopeOrder } from '../model/server.ts';
import { conditionsHold } from './conditions.ts';
import { type Decision, strictestFirst } from './decision.ts';
import type { PermissionRule } from './rule.ts';
import { ruleMatches } from './rule-match.ts';
import { spellTool } from './tool-spellings.ts';

export interface Judge {
  /**
   * `name` is the canonical name, whatever naming style is in force: in other styles a name may pass to another server's tool.
   * Without `args`, the verdict is "ask" where it depends on the arguments.
   */
  judge(id: ToolId, name: QualifiedName, args: JsonObject | undefined): Decision;
  /** Every rule that matches the tool, the strongest first, with whether it decides and why not. */
  explain(id: ToolId, name: QualifiedName, args: JsonObject | undefined): readonly ExplainedRule[];
}

export interface ExplainedRule {
  readonly rule: PermissionRule;
  /** `otherwise`: the rule decides if, depending on the arguments, none of the rules before it does. */
  readonly fate: 'decides' | 'depends' | 'otherwise' | 'unmet' | 'beaten';
  /** In words that complete "it …"; absent for the rule that decides. */
  readonly why?: string;
}

export interface JudgeDeps {
  /** The folder that a server's relative paths are resolved from; `undefined` for a server on another machine. */
  readonly folderOf: (server: ServerName) => string | undefined;
  /** Follows all links; a path that does not exist is returned as it is. `undefined`: the links cannot be read. */
  readonly realPath: (path: string) => string | undefined;
}

const NO_RULE: Decision = Object.freeze({ verdict: 'ask', because: 'no rule matches', byRule: false });
const NO_RULE_FOR_ARGUMENTS: Decision = Object.freeze({ ...NO_RULE, because: 'no rule matches these arguments' });

/** Rules are frozen values, so the rules that match a tool are looked up once and cached. */
export function createJudge(rules: readonly PermissionRule[], { folderOf, realPath }: JudgeDeps): Judge {
  let cache = new Map<ServerName, Map<string, readonly PermissionRule[]>>();
  let count = 0;
  const rankedRules = (id: ToolId, name: QualifiedName): readonly PermissionRule[] => {
    const cached = cache.get(id.server)?.get(id.tool);
    if (cached) return cached;
    if (count++ >= limits.judgedTools) [cache, count] = [new Map(), 1];
    const ranked = rank(rules, id, name);
    const ofServer = cache.get(id.server) ?? new Map<string, readonly PermissionRule[]>();
    cache.set(id.server, ofServer.set(id.tool, ranked));
    return ranked;
  };
  const applies = ({ conditions, verdict }: PermissionRule, { server }: ToolId, args: JsonObject) =>
    conditions.length === 0 ||
    conditionsHold(conditions, args, verdict === 'allow' ? 'allow' : 'restrict', {
      folder: folderOf(server),
      realPath,
    });
  return {
    judge(id, name, args) {
      const ranked = rankedRules(id, name);
      const [first] = ranked;
      if (first === undefined) return NO_RULE;
      if (first.conditions.length === 0 && (first.verdict !== 'ask' || args === undefined || areUnconditional(ranked)))
        return first.decision;
      if (args === undefined) return dependsOnArguments(first);
      const decides = ranked.find((rule) => applies(rule, id, args));
      if (decides?.verdict !== 'ask' || decides.decision.isEveryTime) return decides?.decision ?? NO_RULE_FOR_ARGUMENTS;
      // If any rule asks because of the arguments, a grant does not answer the question, whichever rule decides.
      const isEveryTime = ranked.some((rule) => rule.decision.isEveryTime && applies(rule, id, args));
      return isEveryTime ? { ...decides.decision, isEveryTime } : decides.decision;
    },
    explain(id, name, args) {
      const ranked = rankedRules(id, name);
      const doesApply = ranked.map((rule) =>
        args === undefined ? rule.conditions.length === 0 : applies(rule, id, args),
      );
      const decides = ranked[doesApply.indexOf(true)];
      return ranked.map((rule, at): ExplainedRule => {
        if (rule === decides && (at === 0 || args !== undefined)) return { rule, fate: 'decides' };
        if (rule === decides) return { rule, fate: 'otherwise', why: 'decides if none of the rules before it does' };
        if (doesApply[at]) return { rule, fate: 'beaten', why: whyOverruled(rule, decides) };
        return args === undefined
          ? { rule, fate: 'depends', why: 'depends on the arguments' }
          : { rule, fate: 'unmet', why: 'is not about these arguments' };
      });
    },
  };
}

/**
 * A deny always wins, so no file can loosen what another forbids; otherwise the strongest scope, then the most specific
 * pattern. Of two equally specific rules the one with more conditions comes first, then ask before allow.
 */
function rank(rules: readonly PermissionRule[], id: ToolId, name: QualifiedName): readonly PermissionRule[] {
  const tool = spellTool(id, name);
  const matching = rules.filter((rule) => ruleMatches(rule, tool));
  const denying = matching.filter(({ verdict }) => verdict === 'deny');
  return [
    ...denying.filter(({ conditions }) => conditions.length === 0),
    ...denying.filter(({ conditions }) => conditions.length > 0),
    ...matching.filter(({ verdict }) => verdict !== 'deny').sort(byStrength),
  ];
}

const areUnconditional = (ranked: readonly PermissionRule[]) =>
  ranked.every(({ conditions }) => conditions.length === 0);

const scopeRank = ({ scope }: PermissionRule) => scopeOrder.indexOf(scope);

function byStrength(a: PermissionRule, b: PermissionRule): number {
  return (
    scopeRank(a) - scopeRank(b) ||
    b.specificity - a.specificity ||
    b.conditions.length - a.conditions.length ||
    strictestFirst.indexOf(a.verdict) - strictestFirst.indexOf(b.verdict)
  );
}

function dependsOnArguments({ origin, decision }: PermissionRule): Decision {
  return { ...decision, verdict: 'ask', because: `it depends on the arguments, by ${origin}` };
}

function whyOverruled(rule: PermissionRule, winner: PermissionRule | undefined): string {
  if (winner === undefined) return 'is weaker';
  if (winner.verdict === 'deny')
    return rule.verdict === 'deny' ? 'says the same' : 'loses to a deny, which always wins';
  if (scopeRank(rule) !== scopeRank(winner))
    return `is of scope "${rule.scope}", which is weaker than "${winner.scope}"`;
  if (rule.specificity !== winner.specificity) return 'is less specific';
  if (rule.conditions.length !== winner.conditions.length) return 'has fewer conditions on arguments';
  return rule.verdict === winner.verdict ? 'says the same' : 'allows, and ask comes before allow';
}
