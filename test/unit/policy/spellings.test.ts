// Owns the proof of what a rule in the spelling of another agent matches: an allow exactly one thing, a deny or ask everything
// that its text may mean.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAliases } from '../../../src/catalog/aliases.ts';
import { assignNames, canonicalName, namingStyles } from '../../../src/catalog/naming.ts';
import { hashOfKey, type ToolId, toolKey } from '../../../src/model/names.ts';
import type { Verdict } from '../../../src/model/rule.ts';
import { bodiesOf, fold, lossySpellings, sanitize } from '../../../src/model/spellings.ts';
import { parseRules } from '../../../src/policy/rule.ts';
import { runs } from '../../effort.ts';
import { verifies } from '../../verifies.ts';
import { decide } from './decide.ts';

const servers = ['files', 'My Web', 'a', 'a_b', 'puppeteer', 'fetch'];

function matches(
  text: string,
  action: Verdict,
  server: string,
  tool: string,
  known: readonly string[] = servers,
): boolean {
  const rules = parseRules([{ tool: text, action, provenance: { scope: 'user', key: [] } }], known);
  const { byRule, verdict } = decide(rules, { server, tool }, canonicalName({ server, tool }));
  return byRule && verdict === action;
}

describe('a rule that allows', () => {
  const spellings: Record<string, [text: string, server: string, tool: string]> = {
    'one underscore before the tool': ['mcp__files_read', 'files', 'read'],
    'single underscores': ['mcp_files_read', 'files', 'read'],
    'a dot': ['files.read', 'files', 'read'],
    'a slash': ['files/read', 'files', 'read'],
    'a colon': ['files:read', 'files', 'read'],
    'an at sign': ['@files/read', 'files', 'read'],
    'double hyphens': ['mcp--files--read', 'files', 'read'],
    'odd characters of the server as underscores': ['mcp__My_Web__read', 'My Web', 'read'],
    'the server in lower case': ['mcp__my_web_read', 'My Web', 'read'],
    'a star behind the server': ['mcp__files_re*', 'files', 'read'],
  };
  for (const [how, [text, server, tool]] of Object.entries(spellings)) {
    verifies(['NAM-02', 'NAM-03'], `is understood with ${how}, and allows nothing else`, () => {
      expect(matches(text, 'allow', server, tool)).toBe(true);
      for (const other of servers.filter((each) => each !== server))
        expect(matches(text, 'allow', other, tool)).toBe(false);
      expect(matches(text, 'allow', server, 'write')).toBe(false);
      expect(matches(text, 'allow', server, tool.toUpperCase())).toBe(false);
    });
  }

  verifies(['NAM-02', 'NAM-05'], 'allows nothing where two configured servers may be meant, running or not', () => {
    for (const text of ['mcp__a_b_c', 'mcp_a_b_c', 'a_b_c']) {
      expect([matches(text, 'allow', 'a', 'b_c'), matches(text, 'allow', 'a_b', 'c')]).toEqual([false, false]);
      expect(matches(text, 'allow', 'a', 'b_c', ['a'])).toBe(true);
    }
    expect(matches('my-web.read', 'allow', 'My Web', 'read', ['My Web', 'my_web'])).toBe(false);
  });

  verifies('NAM-02', 'is read in our own spelling first', () => {
    expect(matches('mcp__a_b', 'allow', 'a_b', 'anything')).toBe(true);
    expect(matches('mcp__a_b', 'allow', 'a', 'b')).toBe(false);
    expect(matches('mcp__files__read', 'allow', 'files', 'read')).toBe(true);
  });

  verifies(
    'NAM-02',
    'never allows a tool by its name alone, because another server may have such a tool tomorrow',
    () => {
      expect(matches('read', 'allow', 'files', 'read')).toBe(false);
    },
  );

  test('allows no other tool than the one whose server and name it contains', () => {
    const part = fc.string({ unit: fc.constantFrom('a', 'b', '_', '.', 'A'), minLength: 1, maxLength: 4 });
    const separator = fc.constantFrom('_', '__', '.', '/');
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 5 }),
        part,
        part,
        part,
        part,
        separator,
        (known, server, tool, other, named, by) => {
          const body = `${other}${by}${named}`;
          // A rule that names only a server is about all of its tools.
          if (body === server || !matches(`mcp__${body}`, 'allow', server, tool, [...known, server, other])) return;
          const plain = (text: string) => text.toLowerCase().replace(/[^a-z]/g, '');
          expect(plain(server + tool)).toBe(plain(other + named));
          expect(named.endsWith(tool) || tool.endsWith(named)).toBe(true);
        },
      ),
      { numRuns: runs(3_000) },
    );
  });
});

describe('a rule that denies or asks', () => {
  const meant: Record<string, [text: string, all: [server: string, tool: string][]]> = {
    'all readings of an ambiguous text': [
      'mcp__a_b_c',
      [
        ['a', 'b_c'],
        ['a_b', 'c'],
      ],
    ],
    'the tool of every server, by its name alone': [
      'delete_all',
      [
        ['files', 'delete_all'],
        ['My Web', 'delete_all'],
        ['a', 'Delete-All'],
      ],
    ],
    'tools that differ in odd characters and capitals': [
      'mcp__my_web_read_it',
      [
        ['My Web', 'read_it'],
        ['My Web', 'Read-It'],
        ['My Web', 'read.it'],
      ],
    ],
    'a tool that repeats its server': [
      'mcp__puppeteer_screenshot',
      [
        ['puppeteer', 'puppeteer_screenshot'],
        ['puppeteer', 'screenshot'],
      ],
    ],
    'a canonical text with odd characters as underscores': ['mcp__My_Web__Fetch_It', [['My Web', 'Fetch It']]],
    'a star': ['files/de*', [['files', 'delete']]],
  };
  for (const [what, [text, all]] of Object.entries(meant)) {
    verifies('NAM-02', `matches all that it may mean: ${what}`, () => {
      for (const action of ['deny', 'ask'] as const)
        expect(all.map(([server, tool]) => matches(text, action, server, tool))).toEqual(all.map(() => true));
      expect(matches(text, 'deny', 'fetch', 'other')).toBe(false);
    });
  }

  const closed: Record<string, [text: string, server: string, tool: string]> = {
    'a server alone, as its tools are read': ['mcp__my_web', 'My Web', 'read'],
    'a server alone, without the prefix': ['my_web', 'My Web', 'read'],
    'a server alone, in other capitals': ['mcp__MY-WEB', 'My Web', 'read'],
    'a server of odd characters, as its tools are read': ['mcp__x', '日本', 'read'],
    'a server that is called like a tool': ['fetch', 'fetch', 'x'],
    'a tool that is called like a server': ['fetch', 'files', 'fetch'],
    'a tool behind the prefix': ['mcp__delete_repo', 'files', 'delete_repo'],
    'the tool first': ['delete_repo_mcp_My Web', 'My Web', 'delete_repo'],
    'the tool first, in other capitals': ['delete_repo_mcp_my_web', 'My Web', 'delete_repo'],
    'a name without digits': ['mcp__s_put', 's3', 'put2'],
    'a star in the tool alone': ['delete_*', 'files', 'delete_repo'],
    'a star in the tool alone, in other capitals': ['delete_*', 'files', 'Delete-Repo'],
    'a star in the tool behind the prefix': ['mcp__delete_*', 'files', 'delete_repo'],
    'a star in the server': ['mcp__my*__read', 'My Web', 'read'],
    'a star in the server, with one underscore': ['mcp__my*_read', 'My Web', 'read'],
    'a star in the server, with a slash': ['my*/re*', 'My Web', 'read'],
    'a star in the server alone': ['mcp__my_*', 'My Web', 'read'],
    'a star in the server, the tool first': ['re*_mcp_my*', 'My Web', 'read'],
    'a star for whatever stands before the word': ['mcp__*delete*', 'files', 'delete_repo'],
    'a star over both parts': ['mcp__fi*repo', 'files', 'delete_repo'],
    'a question mark': ['mcp__my?web__read', 'My Web', 'read'],
    'a star for every name': ['mcp_*', 'My Web', 'read'],
  };
  for (const [what, [text, server, tool]] of Object.entries(closed)) {
    verifies('NAM-02', `matches all that it may mean: ${what}`, () => {
      for (const action of ['deny', 'ask'] as const)
        expect(matches(text, action, server, tool, [...servers, server])).toBe(true);
    });
  }

  verifies('NAM-02', 'does not match tools that its text cannot mean', () => {
    const neighbors = ['files', 'files-old', 'files_new', 'xfiles'];
    for (const text of ['mcp__files__*', 'files__*', 'files/*', 'files.*', '@files/*', 'mcp__files', 'files'])
      expect(
        neighbors.map((server) => matches(text, 'deny', server, 'read', neighbors)),
        text,
      ).toEqual([true, false, false, false]);
    for (const text of ['_*', '-*', '.*', 'mcp__files__x*', 'mcp__xx*', '*delete*', 'write_*'])
      expect(matches(text, 'deny', 'files', 'read'), text).toBe(false);
  });

  verifies(['NAM-02', 'NAM-09'], 'recognizes a hashed name by its hash, whatever the tool is called now', () => {
    const odd = { server: 'My Web', tool: 'read it' };
    const hash = canonicalName(odd).slice(-10);
    expect(matches(`read_it_${hash}`, 'deny', odd.server, odd.tool)).toBe(true);
    expect(matches(`read_it_${hash}`, 'allow', odd.server, odd.tool)).toBe(false);
    expect(matches(canonicalName(odd), 'allow', odd.server, odd.tool)).toBe(true);
  });
});

describe('in any fleet', () => {
  const odd = fc.string({
    unit: fc.constantFrom('a', 'b', 'B', '1', '_', '-', '.', '/', ' ', '*', '?', '日', '\u212a'),
    minLength: 1,
    maxLength: 5,
  });
  const word = fc.constantFrom(
    'git',
    'Git',
    'git hub',
    'GitHub',
    'mcp',
    's3',
    'put2',
    'git_put',
    'a_mcp_git',
    'x',
    '日本',
  );
  const long = fc.tuple(word, fc.nat(70)).map(([each, length]) => `${each}_${'long '.repeat(14).slice(0, length)}end`);
  const part = fc.oneof(odd, word, long);
  const fleet = fc.record({
    ids: fc.uniqueArray(fc.record({ server: part, tool: part }), { minLength: 1, maxLength: 6, selector: toolKey }),
    style: fc.constantFrom(...namingStyles),
  });
  type Fleet = typeof fleet extends fc.Arbitrary<infer Value> ? Value : never;

  function named({ ids, style }: Fleet) {
    const names = assignNames(ids, { style });
    return ids.map((id) => ({ id, name: names.get(toolKey(id)) ?? '' }));
  }

  /** Every spelling of one tool that agents use, and some that none uses. */
  function spellingsOf({ server, tool }: ToolId, style: Fleet['style']): readonly string[] {
    const parts = [
      [server, tool],
      [sanitize(server), sanitize(tool)],
      [fold(server), fold(tool)],
      [server.toUpperCase(), tool.toLowerCase()],
    ] as const;
    const pairs = parts.flatMap(([first, second]) => [
      ...['_', '__', '.', '/', ':', '-', '--', '::', '___'].map((by) => `${first}${by}${second}`),
      `${second}_mcp_${first}`,
      second,
    ]);
    const prefixed = ['', 'mcp__', 'mcp_', 'mcp-', 'mcp--', 'mcp.', 'MCP:', '@', '@_'].flatMap((prefix) =>
      pairs.map((pair) => prefix + pair),
    );
    const names = [...assignNames([{ server, tool }], { style }).values()];
    const hash = hashOfKey(toolKey({ server, tool }));
    return [
      ...prefixed,
      ...names,
      canonicalName({ server, tool }),
      `${sanitize(tool)}_${hash}`,
      ...lossySpellings({ server, tool }),
    ];
  }

  const rulesFor = (text: string, action: Verdict, ids: readonly ToolId[]) =>
    parseRules(
      [{ tool: text, action, provenance: { scope: 'user', key: [] } }],
      ids.map(({ server }) => server),
    );
  const matchedIn = (text: string, action: Verdict, ids: readonly ToolId[]) => {
    const rules = rulesFor(text, action, ids);
    return ids.filter((id) => decide(rules, id, canonicalName(id)).byRule);
  };

  /** A text that may mean one of the tools. */
  const textFor = fc.record({ of: fc.nat(), how: fc.nat(), other: odd, isOther: fc.boolean() });
  type TextFor = typeof textFor extends fc.Arbitrary<infer Value> ? Value : never;
  function textIn({ ids, style }: Fleet, { of, how, other, isOther }: TextFor): string {
    const spellings = ids.slice(of % ids.length).flatMap((id, at) => (at === 0 ? spellingsOf(id, style) : []));
    return (how % 8 === 0 && isOther ? undefined : spellings[how % spellings.length]) ?? other;
  }

  verifies('NAM-02', 'every text that resolves to a tool denies it when used as a deny rule', () => {
    fc.assert(
      fc.property(fleet, textFor, (each, which) => {
        const text = textIn(each, which);
        const found = createAliases(named(each)).find(text);
        if (found !== undefined && found !== 'ambiguous')
          expect(matchedIn(text, 'deny', each.ids), text).toContain(found);
      }),
      { numRuns: runs(1_500) },
    );
  });

  verifies('NAM-02', 'stars in a row are also read as part of a name', () => {
    const id = { server: '**?', tool: 'a' };
    expect(matchedIn('MCP:**?-a', 'deny', [id, { server: 'git', tool: 'put' }])).toContainEqual(id);
  });

  verifies('NAM-02', 'a server name alone, in any spelling, denies all of its tools', () => {
    fc.assert(
      fc.property(fleet, ({ ids }) => {
        for (const id of ids) {
          const spelled = sanitize(id.server);
          for (const text of [
            `mcp__${spelled}`,
            `mcp__${spelled}__*`,
            `mcp__${spelled}_*`,
            spelled,
            fold(spelled),
            id.server,
          ])
            if (text !== '') expect(matchedIn(text, 'deny', ids), text).toContain(id);
        }
      }),
      { numRuns: runs(150) },
    );
  });

  verifies(
    ['NAM-02', 'NAM-05'],
    'an allow matches tools of at most one server: the one that the text resolves to',
    () => {
      fc.assert(
        fc.property(fleet, textFor, ({ ids, style }, which) => {
          const text = textIn({ ids, style }, which);
          if (/[*?]/.test(text)) return;
          // Other servers whose tools have the hashed names of these.
          const rivals = ids.map((id) => ({
            server: sanitize(id.server),
            tool: canonicalName(id).replace(`mcp__${sanitize(id.server)}__`, ''),
          }));
          const all = [...new Map([...ids, ...rivals].map((id) => [toolKey(id), id])).values()];
          const opened = [...new Set(matchedIn(text, 'allow', all).map(({ server }) => server))];
          expect(opened.length, text).toBeLessThanOrEqual(1);
          const found = createAliases(named({ ids: all, style: 'canonical' })).find(text);
          if (found === undefined || found === 'ambiguous') return;
          // In an allow rule a name alone means a server, never a tool.
          if (bodiesOf(text).some((body) => opened.includes(body)) || found.tool === text) return;
          expect([[], [found.server]], text).toContainEqual(opened);
        }),
        { numRuns: runs(1_500) },
      );
    },
  );
});

test('a hostile text costs nothing', () => {
  expect(matches('_'.repeat(100_000), 'deny', 'files', 'read')).toBe(false);
  expect(matches('a_'.repeat(1_000), 'allow', 'a', 'read')).toBe(false);
  expect(matches(`${'*.'.repeat(1_000)}a`, 'deny', 'b.'.repeat(500), 'a.'.repeat(500))).toBe(false);
});

test('names of nothing but odd characters match only themselves', () => {
  const known = ['日本', '中国'];
  expect([
    matches('日本.読む', 'allow', '日本', '読む', known),
    matches('日本.読む', 'deny', '中国', '読む', known),
  ]).toEqual([true, false]);
});
