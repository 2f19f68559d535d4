// Owns the proof that "did you mean" offers what is close, closest first, and nothing far away.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nearest } from '../../../src/kernel/nearest.ts';

const known = ['read_file', 'read_files', 'write_file', 'list_folder', 'x'];

const words: Record<string, [word: string, count: number, found: string[]]> = {
  'a missing letter': ['read_fil', 3, ['read_file', 'read_files']],
  'no more than asked for': ['read_fil', 1, ['read_file']],
  'upper and lower case are one': ['READ_FILE', 1, ['read_file']],
  'nothing close by': ['completely_different', 3, []],
  'a short word forgives one letter only': ['y', 3, ['x']],
  'no word at all': ['', 3, ['x']],
};

test.each(Object.entries(words))('%s', (_, [word, count, found]) => {
  expect(nearest(word, known, count)).toEqual(found);
});

test('words at the same distance come in the order of the alphabet', () => {
  expect(nearest('tool_x', ['tool_c', 'tool_a', 'tool_b'], 3)).toEqual(['tool_a', 'tool_b', 'tool_c']);
});

test('a known word is the nearest to itself', () => {
  const anyWords = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), {
    minLength: 1,
    maxLength: 8,
    selector: (word) => word.toLowerCase(),
  });
  fc.assert(
    fc.property(anyWords, fc.nat(), (list, at) => {
      const word = list[at % list.length] ?? '';
      expect(nearest(word, list, 1)).toEqual([word]);
    }),
  );
});

test('a word of any length costs no more than a long one', () => {
  const before = process.cpuUsage();
  nearest('a'.repeat(1_000_000), ['b'.repeat(1_000_000), 'a'.repeat(300)], 3);
  expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
});

test('a part of a longer word is as close as a typo', () => {
  const settings = ['command', 'args', 'env', 'startupTimeoutMs', 'toolTimeoutMs', 'url'];
  expect(nearest('timeout', settings, 3)).toEqual(['startupTimeoutMs', 'toolTimeoutMs']);
  expect(nearest('toolTimeout', settings, 3)).toEqual(['toolTimeoutMs']);
  expect(['x', 'autoApprove'].flatMap((word) => nearest(word, settings, 3))).toEqual([]);
});

test('two letters in the wrong order are one slip, and bring in nothing that is far away', () => {
  const settings = ['command', 'args', 'env', 'url', 'cwd', 'enabled', 'title'];
  expect(['agrs', 'evn', 'comand', 'ulr', 'cdw', 'enalbed'].map((word) => nearest(word, settings, 3))).toEqual([
    ['args'],
    ['env'],
    ['command'],
    ['url'],
    ['cwd'],
    ['enabled'],
  ]);
  expect(
    ['gras', 'nve', 'sgra', 'vne', 'lru', 'dwc', 'retries', 'autoApprove'].flatMap((word) =>
      nearest(word, settings, 3),
    ),
  ).toEqual([]);
});
