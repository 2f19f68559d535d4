// Owns the proof of what is said about rules that can mean nothing: all of it is true.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assignNames, canonicalName, namingStyles } from '../../../src/catalog/naming.ts';
import { type ToolId, toolKey } from '../../../src/model/names.ts';
import type { ArgumentConditions, Verdict } from '../../../src/model/rule.ts';
import { fold, lossySpellings, sanitize } from '../../../src/model/spellings.ts';
import { reviewRules } from '../../../src/policy/review.ts';
import { parseRules } from '../../../src/policy/rule.ts';
import { verifies } from '../../verifies.ts';
import { decide } from './deciding.ts';

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
  expect(remark('mcp__github__creat_issue', 'deny')).toEqual([
    'missing',
    'means nothing now, because "github" has no such tool; perhaps "create_issue" is meant',
  ]);
  expect(remark('mcp__github__create_*', 'deny')).toBe(undefined);
  expect(remark('mcp__My Web__anything', 'deny')).toBe(undefined);
});

test('a rule that allows and can be read in two ways is told', () => {
  expect(remark('mcp__a__b__*', 'allow')).toEqual([
    'never',
    'allows nothing, because it can be read as "b__*" of "a" or "*" of "a__b"; use the name that plexus tools shows',
  ]);
  expect(remark('mcp__github', 'allow', { x: { undr: 1 } })?.[0]).toBe(undefined);
  expect(remark('mcp__files', 'allow', { x: {} })).toEqual([
    'never',
    'allows nothing, because what it says about arguments cannot be read',
  ]);
});

test('a rule for a server whose entry is not valid is told', () => {
  expect(remark('mcp__broken__x', 'allow')).toEqual([
    'unusable',
    'means nothing now, because the entry of "broken" is not valid',
  ]);
});

test('a condition on an argument that a tool does not state is told', () => {
  const about = (args: unknown, tool = 'mcp__files__edit') => remark(tool, 'deny', args);
  expect(about({ pth: { under: '/x' } })).toEqual([
    'argument',
    'means nothing now, because "edit" states no argument "pth"; perhaps "path" is meant',
  ]);
  expect(about({ path: { undr: '/x' } })?.[1]).toBe(
    'means nothing now, because "edit" states no argument "path.undr"; perhaps "under" is meant',
  );
  expect(about({ 'edits.odl': 'x' })?.[1]).toContain('no argument "edits.odl"; perhaps "old" is meant');
  expect(about({ path: 'x', zzz: 'x' }, 'mcp__files')?.[1]).toContain('none of its 2 tools states an argument "zzz"');
});

test('nothing is said of arguments where a schema leaves open what there is', () => {
  const all = { path: '1', edits: { old: '1' }, 'a.b': '1', 'options.x': '1', 'either.x': '1', 'open.y': '1' };
  for (const [name, is] of Object.entries(all))
    expect(remark('mcp__files__edit', 'deny', { [name]: is })).toBe(undefined);
  // Of one tool, or of one server, nobody knows what it states.
  expect(remark('mcp__github__create_issue', 'deny', { x: 1 })).toBe(undefined);
  expect(remark('mcp__*__edit', 'deny', { x: 1 })).toBe(undefined);
});

test('what of a rule has no effect is told, where it counts without it', () => {
  expect(remark('mcp__files__read', 'deny', { path: {} })).toEqual([
    'misread',
    'counts without what it says about arguments, because that cannot be read',
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
        const kinds = reviewRules(rules, names, { tools: lists }).map(({ kind }) => kind);
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
