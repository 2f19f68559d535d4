// Owns the proof of which rule decides where rules have conditions on arguments, and that matching agrees with a reference.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalName } from '../../../src/catalog/naming.ts';
import type { ToolId } from '../../../src/model/names.ts';
import type { ArgumentConditions, Verdict } from '../../../src/model/rule.ts';
import type { Scope } from '../../../src/model/server.ts';
import { createJudge } from '../../../src/policy/judge.ts';
import { type PermissionRule, parseRule, parseRules } from '../../../src/policy/rule.ts';
import { runs } from '../../effort.ts';
import { verifies } from '../../verifies.ts';

const id: ToolId = { server: 'files', tool: 'write' };
const name = canonicalName(id);
const environment = { folderOf: () => '/work', realPath: (path: string) => path };

const rule = (tool: string, action: Verdict, args?: ArgumentConditions, scope: Scope = 'user'): PermissionRule =>
  parseRule({ tool, action, ...(args && { args }), provenance: { scope, file: `/${scope}.toml`, key: [], line: 3 } });

const judged = (rules: readonly PermissionRule[], args: Record<string, unknown> | undefined) =>
  createJudge(rules, environment).judge(id, name, args);

const a = { mode: 'a' };

verifies('PER-02', 'of two equally specific rules the one with a condition on arguments decides', () => {
  const rules = [rule('mcp__files__*', 'ask'), rule('mcp__files__*', 'allow', a)];
  expect([judged(rules, a).verdict, judged(rules, { mode: 'b' }).verdict]).toEqual(['allow', 'ask']);
  expect([judged(rules.toReversed(), a).verdict, judged(rules.toReversed(), {}).verdict]).toEqual(['allow', 'ask']);
});

verifies('PER-02', 'a deny for some arguments wins for these, and leaves the others alone', () => {
  const rules = [rule('mcp__files__write', 'allow', undefined, 'enterprise'), rule('mcp__*', 'deny', a, 'imported')];
  expect(judged(rules, a)).toEqual({
    verdict: 'deny',
    because: 'the rule "mcp__*" = deny for mode is "a" in /imported.toml:3',
    byRule: true,
    rule: { text: 'mcp__*', action: 'deny', scope: 'imported', file: '/imported.toml', line: 3 },
  });
  expect(judged(rules, { mode: 'b' }).verdict).toBe('allow');
});

verifies('PER-02', 'the strongest scope whose conditions hold decides, and only that', () => {
  const rules = [rule('mcp__files__write', 'ask', a, 'host'), rule('mcp__files__write', 'allow', undefined, 'user')];
  expect([judged(rules, a).verdict, judged(rules, { mode: 'b' }).verdict]).toEqual(['ask', 'allow']);
});

verifies('PER-02', 'where rules match the tool but no condition holds, the verdict is ask', () => {
  expect(judged([rule('mcp__files__write', 'allow', a)], { mode: 'b' })).toEqual({
    verdict: 'ask',
    because: 'no rule matches these arguments',
    byRule: false,
  });
});

test('without arguments, a verdict that depends on them is ask, also for a tool that is denied for some of them', () => {
  expect(judged([rule('mcp__files__write', 'allow', a)], undefined)).toMatchObject({ verdict: 'ask', byRule: true });
  expect(judged([rule('mcp__files__write', 'deny', a), rule('*', 'allow')], undefined)).toMatchObject({
    verdict: 'ask',
    because: 'it depends on the arguments, by the rule "mcp__files__write" = deny for mode is "a" in /user.toml:3',
  });
  expect(judged([rule('mcp__files__write', 'deny', a), rule('*', 'deny')], undefined).verdict).toBe('deny');
  expect(judged([rule('*', 'allow', a), rule('mcp__files__write', 'allow')], undefined).verdict).toBe('allow');
});

test('a rule that asks because of the arguments asks each time: a grant is for a tool', () => {
  expect(judged([rule('mcp__files__write', 'ask', a)], a).isEveryTime).toBe(true);
  expect(judged([rule('mcp__files__write', 'ask')], a).isEveryTime).toBe(undefined);
  const beaten = [rule('mcp__files__write', 'ask', undefined, 'project'), rule('mcp__files__write', 'ask', a, 'user')];
  expect([judged(beaten, a).isEveryTime, judged(beaten, { mode: 'b' }).isEveryTime]).toEqual([true, undefined]);
});

test('every rule that matches a tool is explained, the strongest first', () => {
  const rules = [
    rule('mcp__files__*', 'allow'),
    rule('mcp__files__write', 'ask', undefined, 'project'),
    rule('mcp__files__write', 'ask'),
    rule('mcp__files__write', 'allow'),
    rule('mcp__files__write', 'deny', a),
    rule('mcp__other', 'deny'),
  ];
  const explained = createJudge(rules, environment).explain(id, name, { mode: 'b' });
  expect(explained.map((each) => [rules.indexOf(each.rule), each.fate, each.why])).toEqual([
    [4, 'unmet', 'is not about these arguments'],
    [1, 'decides', undefined],
    [2, 'beaten', 'is of scope "user", which is weaker than "project"'],
    [3, 'beaten', 'is of scope "user", which is weaker than "project"'],
    [0, 'beaten', 'is of scope "user", which is weaker than "project"'],
  ]);
  const denied = createJudge(rules, environment).explain(id, name, a);
  expect(denied.map(({ fate }) => fate)).toEqual(['decides', 'beaten', 'beaten', 'beaten', 'beaten']);
  expect(denied[1]?.why).toBe('loses to a deny, which always wins');
  const open = createJudge(rules, environment).explain(id, name, undefined);
  expect(open.map(({ fate }) => fate)).toEqual(['depends', 'otherwise', 'beaten', 'beaten', 'beaten']);
});

verifies('PER-02', 'the rule that is explained as deciding is the one that decides', () => {
  const anyRule = fc.record({
    tool: fc.constantFrom('mcp__files__write', 'mcp__files__*', 'mcp__files__w*', '*', 'mcp__other'),
    action: fc.constantFrom<Verdict>('allow', 'ask', 'deny'),
    args: fc.constantFrom(undefined, { mode: 'a' }, { mode: 'b' }, { mode: ['a', 'b'], x: 1 }),
    scope: fc.constantFrom<Scope>('enterprise', 'host', 'project', 'user'),
  });
  const args = fc.constantFrom(undefined, {}, { mode: 'a' }, { mode: 'b', x: 1 });
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 6 }), args, (texts, given) => {
      const rules = texts.map((each) => rule(each.tool, each.action, each.args, each.scope));
      const judge = createJudge(rules, environment);
      const decision = judge.judge(id, name, given);
      const [first] = judge.explain(id, name, given);
      const decides = judge.explain(id, name, given).find(({ fate }) => fate === 'decides');
      if (given !== undefined) expect(decision).toMatchObject(decides?.rule.decision ?? { byRule: false });
      else expect(decision.verdict).toBe(first?.fate === 'depends' ? 'ask' : (first?.rule.verdict ?? 'ask'));
      // The order of the rules does not matter.
      expect(createJudge(rules.toReversed(), environment).judge(id, name, given).verdict).toBe(decision.verdict);
    }),
    { numRuns: runs(1_000) },
  );
});

test('verdicts are cached up to a limit, and stay the same beyond it', () => {
  const judge = createJudge([rule('mcp__s1__*', 'allow')], environment);
  const verdictOf = (server: string, tool: string) => {
    const each = { server, tool };
    return judge.judge(each, canonicalName(each), {}).verdict;
  };
  for (let at = 0; at < 25_000; at++) verdictOf('s1', `t${at}`);
  expect([verdictOf('s1', 't1'), verdictOf('s1', 't24999'), verdictOf('s2', 't1')]).toEqual(['allow', 'allow', 'ask']);
});

describe('matching is what a regular expression for server and tool says', () => {
  const part = fc.string({ unit: fc.constantFrom('a', 'b', '_', '-'), minLength: 1, maxLength: 5 });
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '_', '*', '?'), minLength: 1, maxLength: 5 });
  const expression = (text: string) =>
    new RegExp(`^${text.replaceAll('-', '\\-').replaceAll('*', '[^]*').replaceAll('?', '[^]')}$`);
  // Without configured servers no text is read in the spelling of another agent.
  const matches = (text: string, action: Verdict, each: ToolId) =>
    createJudge([rule(text, action)], environment).judge(each, canonicalName(each), {}).byRule;
  /** Every way to take the text apart. */
  const readings = (text: string) =>
    [...text.matchAll(/(?=__)/g)]
      .map(({ index }) => [text.slice(0, index), text.slice(index + 2)] as const)
      .filter(([server, tool]) => server !== '' && tool !== '');

  verifies(['PER-04', 'PER-05', 'PER-06'], 'an allow never matches more than the one way to read it', () => {
    fc.assert(
      fc.property(part, part, pattern, pattern, (server, tool, serverPattern, toolPattern) => {
        const text = `mcp__${serverPattern}__${toolPattern}`;
        const each = { server, tool };
        const all = readings(text.slice('mcp__'.length));
        const matching = all.filter(
          ([first, second]) => expression(first).test(server) && expression(second).test(tool),
        );
        const isOne = all.length === 1;
        if (isOne) expect(matches(text, 'allow', each), text).toBe(matching.length > 0 || text === canonicalName(each));
        else expect(matches(text, 'allow', each), text).toBe(text === canonicalName(each));
      }),
      { numRuns: runs(3_000) },
    );
  });

  verifies(['PER-04', 'PER-05', 'PER-06'], 'a deny or ask never matches less than all ways to read it', () => {
    fc.assert(
      fc.property(part, part, pattern, pattern, (server, tool, serverPattern, toolPattern) => {
        const text = `mcp__${serverPattern}__${toolPattern}`;
        const isMeant = readings(text.slice('mcp__'.length)).some(
          ([first, second]) => expression(first).test(server) && expression(second).test(tool),
        );
        if (isMeant)
          for (const action of ['deny', 'ask'] as const)
            expect(matches(text, action, { server, tool }), text).toBe(true);
      }),
      { numRuns: runs(3_000) },
    );
  });
});

describe('the patterns of the table', () => {
  const cases: readonly [text: string, server: string, tool: string][] = [
    ['mcp__github__*', 'github', 'create_issue'],
    ['mcp__github', 'github', 'create_issue'],
    ['mcp__github__create_*', 'github', 'create_issue'],
    ['mcp__github__create_issue', 'github', 'create_issue'],
    ['mcp__weather__*', 'weather', 'get_forecast'],
    ['mcp__*', 'anything', 'at_all'],
  ];
  for (const [text, server, tool] of cases)
    verifies(['PER-03', 'PER-04', 'PER-05', 'PER-06'], `${text} matches ${tool} of ${server} as it is written`, () => {
      for (const action of ['allow', 'ask', 'deny'] as const) {
        const rules = parseRules([{ tool: text, action, provenance: { scope: 'user', key: [] } }], [server]);
        const each = { server, tool };
        expect(createJudge(rules, environment).judge(each, canonicalName(each), {})).toMatchObject({
          verdict: action,
          byRule: true,
        });
      }
    });
});
