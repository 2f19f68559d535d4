// Owns the rules in effect: those of the configuration, and those that views add. Parsed once per list, since a rule's meaning
// depends on which servers are configured.

import { realPath } from '../kernel/real-path.ts';
import type { QualifiedName, ServerName, ToolId } from '../model/names.ts';
import type { RuleText } from '../model/rule.ts';
import { createJudge, type Judge } from './judge.ts';
import { parseRules } from './rule.ts';

export interface RuleBookDeps {
  readonly rules: readonly RuleText[];
  /** Every configured server, also those whose entry is not valid. */
  readonly servers: readonly ServerName[];
  /** Relative paths in rules count from here. */
  readonly environment: { readonly cwd: string; readonly home: string };
  /** The folder that a server's relative paths count from; `undefined` where it is unknown. */
  readonly folderOf: (server: ServerName) => string | undefined;
}

export interface RuleBook {
  /** Judges calls by the rules of the configuration. */
  readonly judge: Judge;
  /** Judges calls by the rules of one view. */
  judgeOf(rules: readonly RuleText[]): Judge;
  /** Whether the tool is denied whatever its arguments are, by the configuration or by one of the views' rules. */
  isDenied(id: ToolId, name: QualifiedName, viewRules?: readonly (readonly RuleText[])[]): boolean;
}

export function createRuleBook({ rules, servers, environment, folderOf }: RuleBookDeps): RuleBook {
  const judges = new WeakMap<readonly RuleText[], Judge>();
  const judgeOf = (texts: readonly RuleText[]): Judge => {
    const known = judges.get(texts);
    if (known) return known;
    const judge = createJudge(parseRules(texts, servers, environment), { folderOf, realPath });
    judges.set(texts, judge);
    return judge;
  };
  const judge = judgeOf(rules);
  return {
    judge,
    judgeOf,
    isDenied: (id, name, viewRules = []) =>
      [judge, ...viewRules.map(judgeOf)].some((each) => each.judge(id, name, undefined).verdict === 'deny'),
  };
}
