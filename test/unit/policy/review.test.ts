// Owns the proof of the remarks on rules that can match nothing: every remark is true.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assignNames, canonicalName, namingStyles } from '../../../src/catalog/naming.ts';
import { type ToolId, toolKey } from '../../../src/model/names.ts';
import type { ArgumentConditions, Verdict } from '../../../src/model/rule.ts';
import { fold, lossySpellings, sanitize } from '../../../src/model/spellings.ts';
import { reviewRules } from '../../../src/policy/review.ts';
import { parseRules } from '../../../src/policy/rule.ts';
import { runs } from '../../effort.ts';
import { verifies } from '../../verifies.ts';
import { decide } from './decide.ts';

const servers = ['github', 'files', 'My Web', 'broken'];
const named = (server: string, tools: readonly string[]) =>
  tools.map((tool) => ({ id: { server, tool }, name: canonicalName({ server, tool }) }));
const lists = new Map([
  ['github', named('github', ['create_issue', 'list_issues'])],
  [
    'files',
    named('files', ['read', 'edit']).map((tool) => ({
      ...tool,
      definition: {
        inputSchema: {
          type: 'object',
          properties: {
            path: { type: 'string' },
            edits: { type: 'array', items: { type: 'object', properties: { old: { type: 'string' } } } },
            'a.b': { type: ['string', 'null'] },
            options: { type: 'object' },
            either: { anyOf: [{ type: 'string' }, { type: 'object' }] },
            open: { type: 'object', properties: {}, additionalProperties: { type: 'string' } },
          },
        },
      },
    })),
  ],
]);

function remark(tool: string, action: Verdict, args?: unknown) {
  const text = { tool, action, ...(args !== undefined && { args: args as ArgumentConditions }) };
  const rules = parseRules([{ ...text, provenance: { scope: 'user', key: [] } }], servers);
  const [found] = reviewRules(rules, servers, { tools: lists, invalid: new Set(['broken']) });
  return found && [found.kind, found.why];
}

test('a rule for a server that is not configured is reported, with similar names', () => {
  expect(remark('mcp__jira__*', 'allow')).toEqual([
    'stranger',
    'matches nothing, because no server "jira" is configured',
  ]);
  for (const action of ['allow', 'deny'] as const)
    expect(remark('mcp__githb__*', action)).toEqual([
      'typo',
      'matches nothing, because no server "githb" is configured; did you mean "github"?',
    ]);
});

test('a rule for a tool that its server does not have is reported, where the tool list is known', () => {
  expect(remark('mcp__github__delete_*', 'deny')).toEqual([
    'missing',
    'matches nothing now, because "github" has no such tool',
  ]);
  expect(remark('mcp__github__creat_issue', 'deny')).toEqual([
    'missing',
    'matches nothing now, because "github" has no such tool; did you mean "create_issue"?',
  ]);
  expect(remark('mcp__github__create_*', 'deny')).toBe(undefined);
  expect(remark('mcp__My Web__anything', 'deny')).toBe(undefined);
});

test('an allow rule that can be read in two ways is reported', () => {
  expect(remark('mcp__a__b__*', 'allow')).toEqual([
    'never',
    'allows nothing, because it can be read as "b__*" of "a" or "*" of "a__b"; use the name that plexus tools shows',
  ]);
  expect(remark('mcp__github', 'allow', { x: { undr: 1 } })?.[0]).toBe(undefined);
  expect(remark('mcp__files', 'allow', { x: {} })).toEqual([
    'never',
    'allows nothing, because its conditions on arguments cannot be read',
  ]);
});

test('a rule for a server whose entry is not valid is reported', () => {
  expect(remark('mcp__broken__x', 'allow')).toEqual([
    'unusable',
    'matches nothing now, because the entry of "broken" is not valid',
  ]);
});

test('a condition on an argument that a tool does not declare is reported', () => {
  const about = (args: unknown, tool = 'mcp__files__edit') => remark(tool, 'deny', args);
  expect(about({ pth: { under: '/x' } })).toEqual([
    'argument',
    'never applies now, because the tool "edit" has no argument "pth"; did you mean "path"?',
  ]);
  expect(about({ path: { undr: '/x' } })?.[1]).toBe(
    'never applies now, because the tool "edit" has no argument "path.undr"; did you mean "under"?',
  );
  expect(about({ 'edits.odl': 'x' })?.[1]).toContain('no argument "edits.odl"; did you mean "old"?');
  expect(about({ path: 'x', zzz: 'x' }, 'mcp__files')?.[1]).toContain('none of its 2 tools has an argument "zzz"');
});

test('arguments are not reported where a schema leaves open which there are', () => {
  const all = { path: '1', edits: { old: '1' }, 'a.b': '1', 'options.x': '1', 'either.x': '1', 'open.y': '1' };
  for (const [name, is] of Object.entries(all))
    expect(remark('mcp__files__edit', 'deny', { [name]: is })).toBe(undefined);
  // The schema of one tool, or the tool list of one server, is not known.
  expect(remark('mcp__github__create_issue', 'deny', { x: 1 })).toBe(undefined);
  expect(remark('mcp__*__edit', 'deny', { x: 1 })).toBe(undefined);
});

test('a condition that cannot be read is reported, where the rule applies without it', () => {
  expect(remark('mcp__files__read', 'deny', { path: {} })).toEqual([
    'misread',
    'applies whatever the arguments are, because its conditions on arguments cannot be read',
  ]);
});

verifies('PER-06', 'a rule that allows everything applies, and is reported', () => {
  for (const text of ['*', 'mcp__*', 'mcp__*__*'])
    expect(remark(text, 'allow')).toEqual([
      'broad',
      'allows every tool of every server, also of servers you add later',
    ]);
  expect(remark('mcp__*', 'deny')).toBe(undefined);
  expect(remark('mcp__*', 'allow', { path: { under: '/x' } })).toBe(undefined);
});

test('no rule that matches a tool is reported to match nothing', () => {
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
      const isMatching = ids.some((id) => decide(rules, id, canonicalName(id)).byRule);
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
        const kinds = reviewRules(rules, names, { tools: lists }).map(({ kind }) => kind);
        if (isMatching)
          expect(
            kinds.filter((kind) => kind !== 'broad'),
            tool,
          ).toEqual([]);
        else if (count === all.length) expect(kinds.length, tool).toBe(1);
      }
    }),
    { numRuns: runs(1_500) },
  );
});
