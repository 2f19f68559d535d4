// Owns the proof that `*` and `?` match as documented, and that no pattern and no text can stall the matcher.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesWildcard, specificity } from '../../../src/kernel/wildcard.ts';
import { limits } from '../../../src/model/limits.ts';
import { runs } from '../../effort.ts';

/** By brute force: a regular expression, on texts too short to stall it. */
function matchesByRegExp(pattern: string, text: string): boolean {
  const source = [...pattern].map((each) => (each === '*' ? '.*' : each === '?' ? '.' : each)).join('');
  return new RegExp(`^${source}$`, 's').test(text);
}

test('it agrees with a regular expression on every short pattern and text', () => {
  const anyPattern = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 7 });
  const anyText = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });
  fc.assert(
    fc.property(anyPattern, anyText, (pattern, text) => {
      expect(matchesWildcard(pattern, text)).toBe(matchesByRegExp(pattern, text));
    }),
    { numRuns: runs(5_000) },
  );
});

const pairs: Record<string, [pattern: string, text: string, matches: boolean]> = {
  'a star is also nothing': ['create_*', 'create_', true],
  'a star runs over anything': ['*', 'any thing\n__at.all', true],
  'a question mark is exactly one character': ['get_?', 'get_', false],
  'characters of a regular expression are only characters': ['a.c+(d)[e]', 'abc+(d)[e]', false],
  'upper and lower case differ': ['Read', 'read', false],
  'nothing matches nothing': ['', '', true],
  'nothing matches only nothing': ['', 'a', false],
};

test.each(Object.entries(pairs))('%s', (_, [pattern, text, matches]) => {
  expect(matchesWildcard(pattern, text)).toBe(matches);
});

const hostile: Record<string, [pattern: string, text: string]> = {
  'stars without end': ['*'.repeat(100_000), 'a'.repeat(100_000)],
  'stars between letters': [`${'*a'.repeat(50_000)}b`, 'a'.repeat(100_000)],
  'a star before question marks': [`*${'?'.repeat(2_000)}b`, 'a'.repeat(100_000)],
  'a star before a long word that nearly fits everywhere': [`*${'a'.repeat(2_000)}b`, 'a'.repeat(100_000)],
  'a long word between stars that nearly fits everywhere': [`*${'a'.repeat(2_000)}b*`, 'a'.repeat(100_000)],
  'a long word between stars that fits but for its beginning': [`*b${'a'.repeat(2_000)}*`, 'a'.repeat(100_000)],
  'a long word between stars that fits but for its middle': [
    `*${'a'.repeat(1_000)}b${'a'.repeat(1_000)}*`,
    'a'.repeat(100_000),
  ],
  'letters and question marks between stars': [`*${'a?'.repeat(250)}b*`, 'a'.repeat(limits.nameChars)],
  'question marks and one letter between stars': [`*a${'?'.repeat(500)}b*`, 'a'.repeat(limits.nameChars)],
  'many such words': [`${`*${'a?'.repeat(50)}b`.repeat(20)}*`, 'a'.repeat(limits.nameChars)],
};

test.each(Object.entries(hostile))('%s cost no time', (_, [pattern, text]) => {
  const before = process.cpuUsage();
  matchesWildcard(pattern, text);
  expect(process.cpuUsage(before).user / 1_000, 'milliseconds').toBeLessThan(1_500);
});

test('the closer rule is the one with more letters', () => {
  expect(['*', 'mcp__*', 'mcp__files__*', 'mcp__files__read?', 'mcp__files__read_'].map(specificity)).toEqual([
    0, 5, 12, 16, 17,
  ]);
});

test('a long pattern costs no more than the text has characters: a file may hold a thousand of them for hundreds of servers', () => {
  const patterns = Array.from({ length: 1_000 }, (_, at) => `${'*a'.repeat(1_000)}b${at}`);
  const before = process.cpuUsage();
  for (let at = 0; at < 200; at++) for (const pattern of patterns) matchesWildcard(pattern, `server_b${at}`);
  expect(process.cpuUsage(before).user / 1_000, 'milliseconds').toBeLessThan(1_500);
});
