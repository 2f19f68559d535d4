// Owns the proof of what a rule in the spelling of another agent means: exactly one thing where it opens, all it may mean where
// it closes.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalName } from '../../../src/catalog/naming.ts';
import type { Verdict } from '../../../src/model/rule.ts';
import { decide } from '../../../src/policy/decide.ts';
import { parseRules } from '../../../src/policy/rule.ts';
import { verifies } from '../../verifies.ts';

const servers = ['files', 'My Web', 'a', 'a_b', 'puppeteer', 'fetch'];

function speaks(
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
    verifies(['NAM-02', 'NAM-03'], `is understood with ${how}, and opens nothing else`, () => {
      expect(speaks(text, 'allow', server, tool)).toBe(true);
      for (const other of servers.filter((each) => each !== server))
        expect(speaks(text, 'allow', other, tool)).toBe(false);
      expect(speaks(text, 'allow', server, 'write')).toBe(false);
      expect(speaks(text, 'allow', server, tool.toUpperCase())).toBe(false);
    });
  }

  verifies(
    ['NAM-02', 'NAM-05'],
    'opens nothing where two servers that are configured may be meant, running or not',
    () => {
      for (const text of ['mcp__a_b_c', 'mcp_a_b_c', 'a_b_c']) {
        expect([speaks(text, 'allow', 'a', 'b_c'), speaks(text, 'allow', 'a_b', 'c')]).toEqual([false, false]);
        expect(speaks(text, 'allow', 'a', 'b_c', ['a'])).toBe(true);
      }
      expect(speaks('my-web.read', 'allow', 'My Web', 'read', ['My Web', 'my_web'])).toBe(false);
    },
  );

  verifies('NAM-02', 'means what it says in our own spelling first', () => {
    expect(speaks('mcp__a_b', 'allow', 'a_b', 'anything')).toBe(true);
    expect(speaks('mcp__a_b', 'allow', 'a', 'b')).toBe(false);
    expect(speaks('mcp__files__read', 'allow', 'files', 'read')).toBe(true);
  });

  verifies('NAM-02', 'never opens a tool by its name alone, whose server may be another tomorrow', () => {
    expect(speaks('read', 'allow', 'files', 'read')).toBe(false);
  });

  test('opens no other tool than the one whose server and name it holds', () => {
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
          // A server alone stands for all of its tools.
          if (body === server || !speaks(`mcp__${body}`, 'allow', server, tool, [...known, server, other])) return;
          const plain = (text: string) => text.toLowerCase().replace(/[^a-z]/g, '');
          expect(plain(server + tool)).toBe(plain(other + named));
          expect(named.endsWith(tool) || tool.endsWith(named)).toBe(true);
        },
      ),
      { numRuns: 3_000 },
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
    verifies('NAM-02', `speaks of all that it may mean: ${what}`, () => {
      for (const action of ['deny', 'ask'] as const)
        expect(all.map(([server, tool]) => speaks(text, action, server, tool))).toEqual(all.map(() => true));
      expect(speaks(text, 'deny', 'fetch', 'other')).toBe(false);
    });
  }

  verifies('NAM-02', 'speaks of a server, where one is called so, and not of a tool of the same name', () => {
    expect(speaks('fetch', 'deny', 'fetch', 'x')).toBe(true);
    expect(speaks('fetch', 'deny', 'files', 'fetch')).toBe(false);
  });

  verifies(['NAM-02', 'NAM-09'], 'knows a hashed name by its hash, however tools are called now', () => {
    const odd = { server: 'My Web', tool: 'read it' };
    const hash = canonicalName(odd).slice(-10);
    expect(speaks(`read_it_${hash}`, 'deny', odd.server, odd.tool)).toBe(true);
    expect(speaks(`read_it_${hash}`, 'allow', odd.server, odd.tool)).toBe(false);
    expect(speaks(canonicalName(odd), 'allow', odd.server, odd.tool)).toBe(true);
  });
});

test('a text that nobody would write costs nothing', () => {
  expect(speaks('_'.repeat(100_000), 'deny', 'files', 'read')).toBe(false);
  expect(speaks('a_'.repeat(1_000), 'allow', 'a', 'read')).toBe(false);
});

test('names of nothing but odd characters are only like themselves', () => {
  const known = ['日本', '中国'];
  expect([
    speaks('日本.読む', 'allow', '日本', '読む', known),
    speaks('日本.読む', 'deny', '中国', '読む', known),
  ]).toEqual([true, false]);
});
