// Owns the proof of the verdicts: which rules match a tool, and which of them decides.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assignNames } from '../../../src/catalog/naming.ts';
import type { ToolId } from '../../../src/model/names.ts';
import type { Verdict } from '../../../src/model/rule.ts';
import type { Scope } from '../../../src/model/server.ts';
import { type PermissionRule, parseRule } from '../../../src/policy/rule.ts';
import { runs } from '../../effort.ts';
import { verifies } from '../../verifies.ts';
import { decide } from './decide.ts';

const rule = (tool: string, action: Verdict, scope: Scope = 'user'): PermissionRule =>
  parseRule({ tool, action, provenance: { scope, file: `/${scope}.toml`, key: [], line: 7 } });

function verdict(rules: readonly PermissionRule[], server: string, tool: string): Verdict {
  return decide(rules, { server, tool }, nameOf({ server, tool })).verdict;
}

function nameOf(id: ToolId): string {
  const [name = ''] = assignNames([id]).values();
  return name;
}

const read: ToolId = { server: 'files', tool: 'read' };
const scopes: readonly Scope[] = ['enterprise', 'host', 'local', 'project', 'user', 'plugin', 'imported'];

verifies('PER-02', 'where no rule matches, the verdict is ask', () => {
  expect(decide([], read, 'mcp__files__read')).toEqual({ verdict: 'ask', because: 'no rule matches', byRule: false });
  expect(decide([rule('mcp__other', 'allow')], read, 'mcp__files__read')).toEqual({
    verdict: 'ask',
    because: 'no rule matches',
    byRule: false,
  });
});

verifies('PER-02', 'the verdict names the rule and its place', () => {
  expect(decide([rule('mcp__files__*', 'allow')], read, 'mcp__files__read')).toEqual({
    verdict: 'allow',
    because: 'the rule "mcp__files__*" = allow in /user.toml:7',
    byRule: true,
    rule: { text: 'mcp__files__*', action: 'allow', scope: 'user', file: '/user.toml', line: 7 },
  });
  const fromCode = parseRule({ tool: 'mcp__files', action: 'ask', provenance: { scope: 'host', key: [] } });
  expect(decide([fromCode], read, 'mcp__files__read').because).toBe('the rule "mcp__files" = ask in the host program');
});

verifies('PER-02', 'a deny wins over every other rule, whatever their scopes, specificity and order', () => {
  const anyRule = fc.record({
    tool: fc.constantFrom('mcp__files__read', 'mcp__files__*', 'mcp__files', 'mcp__*', '*', 'mcp__f*__r?ad'),
    action: fc.constantFrom<Verdict>('allow', 'ask'),
    scope: fc.constantFrom(...scopes),
  });
  const anyDeny = fc.record({
    tool: fc.constantFrom('mcp__files__read', 'mcp__files__*', 'mcp__*', '*'),
    scope: fc.constantFrom(...scopes),
  });
  fc.assert(
    fc.property(fc.array(anyRule), anyDeny, fc.nat(), (others, deny, at) => {
      const rules = others.map((each) => rule(each.tool, each.action, each.scope));
      rules.splice(at % (rules.length + 1), 0, rule(deny.tool, 'deny', deny.scope));
      expect(verdict(rules, 'files', 'read')).toBe('deny');
    }),
  );
});

verifies('PER-02', 'without a deny the strongest scope decides, however unspecific its pattern is', () => {
  for (const [index, strong] of scopes.entries()) {
    for (const weak of scopes.slice(index + 1)) {
      const rules = [rule('mcp__files__read', 'allow', weak), rule('*', 'ask', strong)];
      expect(verdict(rules, 'files', 'read'), `${strong} over ${weak}`).toBe('ask');
      expect(verdict(rules.toReversed(), 'files', 'read'), `${strong} over ${weak}`).toBe('ask');
    }
  }
});

verifies(
  'PER-02',
  'in one scope the most specific pattern decides, and of two equally specific ones the stricter',
  () => {
    expect(verdict([rule('mcp__files__*', 'ask'), rule('mcp__files__read', 'allow')], 'files', 'read')).toBe('allow');
    expect(verdict([rule('mcp__files__read', 'ask'), rule('mcp__files__*', 'allow')], 'files', 'read')).toBe('ask');
    expect(verdict([rule('mcp__files__r*', 'allow'), rule('mcp__files__*d', 'ask')], 'files', 'read')).toBe('ask');
    expect(verdict([rule('mcp__files__*d', 'ask'), rule('mcp__files__r*', 'allow')], 'files', 'read')).toBe('ask');
  },
);

verifies('PER-02', 'the order of the rules never decides', () => {
  const anyRule = fc.record({
    tool: fc.constantFrom('mcp__files__read', 'mcp__files__*', 'mcp__files__r*', 'mcp__files__*d', 'mcp__files', '*'),
    action: fc.constantFrom<Verdict>('allow', 'ask', 'deny'),
    scope: fc.constantFrom(...scopes),
  });
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 6 }), (texts) => {
      const rules = texts.map((each) => rule(each.tool, each.action, each.scope));
      expect(verdict(rules.toReversed(), 'files', 'read')).toBe(verdict(rules, 'files', 'read'));
    }),
  );
});

type MatchCases = Record<string, [text: string, matched: [server: string, tool: string][], other: [string, string][]]>;

const exact: MatchCases = {
  'a full name matches one tool': [
    'mcp__files__read',
    [['files', 'read']],
    [
      ['files', 'read_all'],
      ['files', 'READ'],
      ['file', 'read'],
      ['files2', 'read'],
      ['read', 'files'],
    ],
  ],
};

const wholeServer: MatchCases = {
  'a star after the server matches all its tools': [
    'mcp__files__*',
    [
      ['files', 'read'],
      ['files', 'a__b c.d'],
    ],
    [
      ['files2', 'read'],
      ['my_files', 'read'],
    ],
  ],
  'a server alone matches all its tools': [
    'mcp__files',
    [
      ['files', 'read'],
      ['files', 'a__b c.d'],
    ],
    [
      ['files2', 'read'],
      ['file', 'read'],
    ],
  ],
};

const anywhere: MatchCases = {
  'a star at the end': [
    'mcp__git__create_*',
    [
      ['git', 'create_issue'],
      ['git', 'create_'],
    ],
    [
      ['git', 'create'],
      ['git', 'recreate_issue'],
      ['got', 'create_issue'],
    ],
  ],
  'a star in the middle': ['mcp__git__*_issue', [['git', 'create_issue']], [['git', 'create_issues']]],
  'a question mark': [
    'mcp__git__get_?',
    [['git', 'get_a']],
    [
      ['git', 'get_'],
      ['git', 'get_ab'],
    ],
  ],
  'a star in the server': ['mcp__git*__push', [['git-lab', 'push']], [['my-git', 'push']]],
};

const checkMatches = (cases: MatchCases) => {
  for (const [sentence, [text, matched, other]] of Object.entries(cases)) {
    const rules = [rule(text, 'allow')];
    expect(
      matched.map(([server, tool]) => verdict(rules, server, tool)),
      sentence,
    ).toEqual(matched.map(() => 'allow'));
    expect(
      other.map(([server, tool]) => verdict(rules, server, tool)),
      sentence,
    ).toEqual(other.map(() => 'ask'));
  }
};

verifies('PER-03', 'a rule that names one tool matches exactly that server and tool', () => checkMatches(exact));
verifies('PER-04', 'a rule for a server matches all its tools and of no other server', () => checkMatches(wholeServer));
verifies('PER-05', 'stars and question marks work anywhere', () => checkMatches(anywhere));

verifies('PER-06', 'mcp__* and * match every tool of every server', () => {
  for (const text of ['mcp__*', '*']) {
    expect(verdict([rule(text, 'allow')], 'files', 'read')).toBe('allow');
    expect(verdict([rule(text, 'allow')], 'a__b c', 'd.e')).toBe('allow');
  }
});

verifies('NAM-05', 'a text with two readings forbids and asks for both, but allows neither', () => {
  const readings: [string, string][] = [
    ['a', 'b__c'],
    ['a__b', 'c'],
  ];
  const verdicts = (action: Verdict) =>
    readings.map(([server, tool]) =>
      decide([rule('mcp__a__b__c', action)], { server, tool }, nameOf({ server, tool })),
    );
  expect(verdicts('allow').map((each) => each.byRule)).toEqual([false, false]);
  expect(verdicts('ask').map((each) => each.byRule)).toEqual([true, true]);
  expect(verdicts('deny').map((each) => each.verdict)).toEqual(['deny', 'deny']);
});

verifies(
  'NAM-05',
  'the name a model reads allows its tool, even where the parts of the tool would be ambiguous',
  () => {
    const odd: ToolId = { server: 'a__b', tool: 'c' };
    expect(decide([rule(nameOf(odd), 'allow')], odd, nameOf(odd)).verdict).toBe('allow');
    expect(verdict([rule(nameOf(odd), 'allow')], 'a', 'b__c')).toBe('ask');
  },
);

test('a rule may leave out the prefix', () => {
  expect(verdict([rule('files__read', 'allow')], 'files', 'read')).toBe('allow');
  expect(verdict([rule('files', 'deny')], 'files', 'read')).toBe('deny');
});

test('an allow rule never matches more than it says: only a tool whose server and name it spells', () => {
  const anyPart = fc.string({ unit: fc.constantFrom('a', 'b', '_'), minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(anyPart, anyPart, anyPart, anyPart, (server, tool, ruleServer, ruleTool) => {
      const allowed = verdict([rule(`mcp__${ruleServer}__${ruleTool}`, 'allow')], server, tool) === 'allow';
      if (allowed) expect([server, tool]).toEqual([ruleServer, ruleTool]);
    }),
    { numRuns: runs(2_000) },
  );
});
