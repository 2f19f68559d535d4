// Owns the proof that TOML is parsed with the position of every part, and that broken text gives a problem.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseToml } from '../../../../src/config/sources/toml.ts';
import { runs } from '../../../effort.ts';

describe('TOML', () => {
  test('knows where each key and each item begins, and else the closest thing around', async () => {
    const parsed = parseToml(
      [
        'title = "x"', // 1
        '[mcp_servers.a]', // 2
        'env = { A = "b", "C.d" = 1 }', // 3
        'x.y = [1, { z = 2 }]', // 4
        '[[permissions.rules]]', // 5
        'tool = "a"', // 6
        '[[permissions.rules]]', // 7
        'tool = "b"', // 8
        '[mcp_servers."b.c".env]', // 9
      ].join('\n'),
    );
    if (!parsed.ok) throw new Error(parsed.problem.message);
    const places: [(string | number)[], [number, number]][] = [
      [['title'], [1, 1]],
      [['mcp_servers'], [2, 1]],
      [
        ['mcp_servers', 'a'],
        [2, 1],
      ],
      [
        ['mcp_servers', 'a', 'env', 'A'],
        [3, 9],
      ],
      [
        ['mcp_servers', 'a', 'env', 'C.d'],
        [3, 18],
      ],
      [
        ['mcp_servers', 'a', 'x'],
        [4, 1],
      ],
      [
        ['mcp_servers', 'a', 'x', 'y', 1, 'z'],
        [4, 13],
      ],
      [
        ['permissions', 'rules', 1, 'tool'],
        [8, 1],
      ],
      [
        ['permissions', 'rules', 1],
        [7, 1],
      ],
      [
        ['mcp_servers', 'b.c'],
        [9, 1],
      ],
      [
        ['mcp_servers', 'b.c', 'command'],
        [9, 1],
      ],
    ];
    for (const [path, [line, column]] of places) {
      expect([path, await parsed.document.locate(path)]).toEqual([path, { line, column }]);
    }
  });

  test.each([
    ['a = 1\nb = ', 2],
    ['[a]\n[a]', 2],
    ['a = 1\na = 2', 2],
    ['> [a]', 1],
    ['a = 99999999999999999999', 1],
  ])('%j is told with its line', (text, line) => {
    expect(parseToml(text)).toMatchObject({
      ok: false,
      problem: { line, message: expect.not.stringMatching(/\n|Invalid TOML/) },
    });
  });

  test('any text gives a value or a problem, never an exception', async () => {
    const pieces = fc.constantFrom(
      '[',
      ']',
      '[[',
      ']]',
      '"',
      "'",
      '=',
      '.',
      ',',
      '{',
      '}',
      '\n',
      'a',
      'b',
      '1',
      '#',
      '"""',
      '\\',
      '\0',
      '\ud800',
      ' ',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(pieces, { maxLength: 60 }), async (each) => {
        const parsed = parseToml(each.join(''));
        if (parsed.ok) await parsed.document.locate(['a']);
        else expect(parsed.problem.line).toBeGreaterThan(0);
      }),
      { numRuns: runs(1_000) },
    );
  });
});
