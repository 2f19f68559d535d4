// Owns the proof of what is said about rules that can mean nothing: all of it is true.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assignNames, canonicalName, namingStyles } from '../../../src/catalog/naming.ts';
import { type ToolId, toolKey } from '../../../src/model/names.ts';
import type { ArgumentConditions, Verdict } from '../../../src/model/rule.ts';
import { fold, lossySpellings, sanitize } from '../../../src/model/spellings.ts';
import { decide } from '../../../src/policy/decide.ts';
import { reviewRules } from '../../../src/policy/review.ts';
import { parseRules } from '../../../src/policy/rule.ts';
import { verifies } from '../../verifies.ts';

const servers = ['github', 'files', 'My Web'];
const named = (server: string, tools: readonly string[]) =>
  tools.map((tool) => ({ id: { server, tool }, name: canonicalName({ server, tool }) }));
const lists = new Map([
  ['github', named('github', ['create_issue', 'list_issues'])],
  ['files', named('files', ['read'])],
]);

function remark(tool: string, action: Verdict, args?: unknown) {
  const text = { tool, action, ...(args !== undefined && { args: args as ArgumentConditions }) };
  const rules = parseRules([{ ...text, provenance: { scope: 'user', key: [] } }], servers);
  const [found] = reviewRules(rules, servers, lists);
  return found && [found.kind, found.why];
}

test('a rule for a server that nobody configured is told, with whom it may have meant', () => {
  expect(remark('mcp__jira__*', 'allow')).toEqual([
    'stranger',
    'can mean nothing here, because no server "jira" is configured',
  ]);
  for (const action of ['allow', 'deny'] as const)
    expect(remark('mcp__githb__*', action)).toEqual([
      'typo',
      'can mean nothing here, because no server "githb" is configured; perhaps "github" is meant',
    ]);
});

test('a rule for a tool that its server does not have is told, where the list is known', () => {
  expect(remark('mcp__github__delete_*', 'deny')).toEqual([
    'missing',
    'means nothing now, because "github" has no such tool',
  ]);
  expect(remark('mcp__github__create_*', 'deny')).toBe(undefined);
  expect(remark('mcp__My Web__anything', 'deny')).toBe(undefined);
});

test('a rule that allows and can be read in two ways is told', () => {
  expect(remark('mcp__a__b__*', 'allow')).toEqual([
    'never',
    'allows nothing, because it can be read as "b__*" of "a" or "*" of "a__b"; use the name that plexus tools shows',
  ]);
  expect(remark('mcp__files', 'allow', { x: { undr: 1 } })?.[0]).toBe(undefined);
  expect(remark('mcp__files', 'allow', { x: {} })).toEqual([
    'never',
    'allows nothing, because what it says about arguments cannot be read',
  ]);
});

verifies('PER-06', 'a rule that allows everything counts, and is told', () => {
  for (const text of ['*', 'mcp__*', 'mcp__*__*'])
    expect(remark(text, 'allow')).toEqual(['broad', 'allows every tool of every server, also of those to come']);
  expect(remark('mcp__*', 'deny')).toBe(undefined);
  expect(remark('mcp__*', 'allow', { path: { under: '/x' } })).toBe(undefined);
});

test('no rule that speaks of a tool is said to mean nothing', () => {
  const odd = fc.string({
    unit: fc.constantFrom('a', 'b', 'B', '1', '_', '-', '.', '/', ' ', '日'),
    minLength: 1,
    maxLength: 5,
  });
  const word = fc.constantFrom(
    'git',
    'Git',
    'git hub',
    'mcp',
    's3',
    'put2',
    'git_put',
    'a_mcp_git',
    '日本',
    'a very long server name',
  );
  const part = fc.oneof(
    odd,
    word,
    word.map((each) => `${each}_${'long '.repeat(12)}end`),
  );
  const fleet = fc.uniqueArray(fc.record({ server: part, tool: part }), {
    minLength: 1,
    maxLength: 5,
    selector: toolKey,
  });
  const spellings = ({ server, tool }: ToolId) => [
    ...['_', '__', '.', '/', ':', '-', '--'].flatMap((by) => [
      `${server}${by}${tool}`,
      `mcp__${sanitize(server)}${by}${sanitize(tool)}`,
      `mcp_${fold(server)}${by}${fold(tool)}`,
      `${sanitize(server)}${by}${tool.slice(0, 2)}*`,
      `mcp__${server.slice(0, 2)}*${by}${tool}`,
      `mcp__*${by}${tool}`,
    ]),
    ...[
      `${tool}_mcp_${server}`,
      tool,
      server,
      `mcp__${server}`,
      `${tool.slice(0, 2)}*`,
      `mcp__${sanitize(server).slice(0, 3)}?*`,
    ],
    ...lossySpellings({ server, tool }),
    ...namingStyles.flatMap((style) => [...assignNames([{ server, tool }], { style }).values()]),
  ];
  fc.assert(
    fc.property(fleet, fc.nat(), fc.nat(), fc.constantFrom<Verdict>('allow', 'ask', 'deny'), (ids, of, how, action) => {
      const about = ids[of % ids.length];
      const ways = about ? spellings(about) : [];
      const tool = ways[how % ways.length] ?? '';
      const rules = parseRules(
        [{ tool, action, provenance: { scope: 'user', key: [] } }],
        ids.map(({ server }) => server),
      );
      const isSpeaking = ids.some((id) => decide(rules, id, canonicalName(id)).byRule);
      const names = new Set(ids.map(({ server }) => server));
      const all = [...names].map((server) =>
        named(
          server,
          ids.flatMap((id) => (id.server === server ? id.tool : [])),
        ),
      );
      const isOdd = ids.some(({ tool }) => tool.includes('mcp__') || tool.includes('__'));
      // Some lists are known, or all of them.
      for (const count of isOdd ? [all.length] : [0, 1, all.length]) {
        const lists = new Map([...names].map((server, at) => [server, all[at] ?? []] as const).slice(0, count));
        const kinds = reviewRules(rules, names, lists).map(({ kind }) => kind);
        if (isSpeaking)
          expect(
            kinds.filter((kind) => kind !== 'broad'),
            tool,
          ).toEqual([]);
        else if (count === all.length) expect(kinds.length, tool).toBe(1);
      }
    }),
    { numRuns: 1_500 },
  );
});
