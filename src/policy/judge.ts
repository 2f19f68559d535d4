// Owns the verdict of the rules on one call: which of those that speak of it decides. Pure but for where links lead; asking
// somebody is `call/authorize`'s work.

import type { JsonObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { QualifiedName, ServerName, ToolId } from '../model/names.ts';
import { scopeOrder } from '../model/server.ts';
import { areMet } from './conditions.ts';
import { type Decision, strictestFirst } from './decision.ts';
import { speaksOf } from './matching.ts';
import type { Rule } from './rule.ts';
import { ask } from './tool-spellings.ts';

export interface Judge {
  /**
   * `name` is the canonical one, whatever style is in force: in the others a name may pass to another server's tool. Without
   * arguments it is the verdict for some or other: what depends on them asks.
   */
  judge(id: ToolId, name: QualifiedName, args: JsonObject | undefined): Decision;
  /** Every rule that speaks of the tool, the strongest first, and what became of it. */
  explain(id: ToolId, name: QualifiedName, args: JsonObject | undefined): readonly Explained[];
}

export interface Explained {
  readonly rule: Rule;
  /** `otherwise`: it decides where none of those before it does, which depends on the arguments. */
  readonly fate: 'decides' | 'depends' | 'otherwise' | 'unmet' | 'beaten';
  /** In words that complete "it …"; absent where it decides. */
  readonly why?: string;
}

export interface JudgeDeps {
  /** What a server's relative paths count from; `undefined` where it is on another machine. */
  readonly folderOf: (server: ServerName) => string | undefined;
  /** With all links followed; what does not exist stands for itself. `undefined`: it cannot be told. */
  readonly realPath: (path: string) => string | undefined;
}

const NOBODY: Decision = Object.freeze({ verdict: 'ask', because: 'no rule matches', byRule: false });
const NOBODY_HERE: Decision = Object.freeze({ ...NOBODY, because: 'no rule matches these arguments' });

/** Rules are frozen values: which of them speak of a tool is found out once. */
export function createJudge(rules: readonly Rule[], { folderOf, realPath }: JudgeDeps): Judge {
  let known = new Map<ServerName, Map<string, readonly Rule[]>>();
  let count = 0;
  const speaking = (id: ToolId, name: QualifiedName): readonly Rule[] => {
    const remembered = known.get(id.server)?.get(id.tool);
    if (remembered) return remembered;
    if (count++ >= limits.judgedTools) [known, count] = [new Map(), 1];
    const found = rank(rules, id, name);
    const ofServer = known.get(id.server) ?? new Map<string, readonly Rule[]>();
    known.set(id.server, ofServer.set(id.tool, found));
    return found;
  };
  const holds = ({ needs, verdict }: Rule, { server }: ToolId, args: JsonObject) =>
    needs.length === 0 ||
    areMet(needs, args, verdict === 'allow' ? 'allow' : 'close', { folder: folderOf(server), realPath });
  return {
    judge(id, name, args) {
      const ranked = speaking(id, name);
      const [first] = ranked;
      if (first === undefined) return NOBODY;
      if (first.needs.length === 0 && (first.verdict !== 'ask' || args === undefined || isPlain(ranked)))
        return first.decision;
      if (args === undefined) return depending(first);
      const decides = ranked.find((rule) => holds(rule, id, args));
      if (decides?.verdict !== 'ask' || decides.decision.isEveryTime) return decides?.decision ?? NOBODY_HERE;
      // Who asks because of the arguments is not answered by a grant, whoever else asks as well.
      const isEveryTime = ranked.some((rule) => rule.decision.isEveryTime && holds(rule, id, args));
      return isEveryTime ? { ...decides.decision, isEveryTime } : decides.decision;
    },
    explain(id, name, args) {
      const ranked = speaking(id, name);
      const isMet = ranked.map((rule) => (args === undefined ? rule.needs.length === 0 : holds(rule, id, args)));
      const decides = ranked[isMet.indexOf(true)];
      return ranked.map((rule, at): Explained => {
        if (rule === decides && (at === 0 || args !== undefined)) return { rule, fate: 'decides' };
        if (rule === decides) return { rule, fate: 'otherwise', why: 'decides where none of those before it does' };
        if (isMet[at]) return { rule, fate: 'beaten', why: whyBeaten(rule, decides) };
        return args === undefined
          ? { rule, fate: 'depends', why: 'depends on the arguments' }
          : { rule, fate: 'unmet', why: 'is not about these arguments' };
      });
    },
  };
}

/**
 * A deny always wins, so no file can loosen what another forbids; otherwise the strongest scope, then the closest pattern. Of
 * two as close the one that says something about arguments is closer, and then asking comes first.
 */
function rank(rules: readonly Rule[], id: ToolId, name: QualifiedName): readonly Rule[] {
  const asked = ask(id, name);
  const speaking = rules.filter((rule) => speaksOf(rule, asked));
  const denying = speaking.filter(({ verdict }) => verdict === 'deny');
  return [
    ...denying.filter(({ needs }) => needs.length === 0),
    ...denying.filter(({ needs }) => needs.length > 0),
    ...speaking.filter(({ verdict }) => verdict !== 'deny').sort(byStrength),
  ];
}

/** Nothing in it depends on arguments. */
const isPlain = (ranked: readonly Rule[]) => ranked.every(({ needs }) => needs.length === 0);

const scopeRank = ({ scope }: Rule) => scopeOrder.indexOf(scope);

function byStrength(a: Rule, b: Rule): number {
  return (
    scopeRank(a) - scopeRank(b) ||
    b.specificity - a.specificity ||
    b.needs.length - a.needs.length ||
    strictestFirst.indexOf(a.verdict) - strictestFirst.indexOf(b.verdict)
  );
}

function depending({ origin, decision }: Rule): Decision {
  return { ...decision, verdict: 'ask', because: `it depends on the arguments, by ${origin}` };
}

function whyBeaten(rule: Rule, by: Rule | undefined): string {
  if (by === undefined) return 'is weaker';
  if (by.verdict === 'deny') return rule.verdict === 'deny' ? 'says the same' : 'loses to a deny, which always wins';
  if (scopeRank(rule) !== scopeRank(by)) return `is of scope "${rule.scope}", which is weaker than "${by.scope}"`;
  if (rule.specificity !== by.specificity) return 'is less specific';
  if (rule.needs.length !== by.needs.length) return 'says less about the arguments';
  return rule.verdict === by.verdict ? 'says the same' : 'allows, and asking comes first';
}
