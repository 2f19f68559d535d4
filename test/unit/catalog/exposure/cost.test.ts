// Owns the proof that what tools cost is counted as they are sent, and estimated in tokens within a few percent.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { costOf, costOfAll, reportCost } from '../../../../src/catalog/exposure/cost.ts';
import { estimateTokens } from '../../../../src/kernel/tokens.ts';
import { processorMs } from '../../../effort.ts';
import { heavyTools, toolsOf } from './tools.ts';

test('the characters of a tool are those of its JSON', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'binary' }),
      fc.object(),
      (name, description, said) => {
        const inputSchema = JSON.parse(JSON.stringify(said));
        const tool = { name, description, inputSchema };
        expect(costOf(tool).chars).toBe(JSON.stringify(tool).length);
      },
    ),
  );
});

/** The token counts of a current tokenizer (o200k), counted once and written down. */
const counted: Record<string, number> = {
  'Convert an address into geographic coordinates': 7,
  '{"type":"object","properties":{"path":{"type":"string","description":"The file to read"}},"required":["path"]}': 26,
  'Returns the first 1000 rows; use `offset` for more (max. 50000).': 18,
  getUserRepositoryByName: 5,
  '日本語の説明文です。ファイルを読み込みます': 13,
  '读取文件并返回其内容，支持多种编码': 11,
  'Читает файл и возвращает его содержимое': 10,
  'Lit un fichier et renvoie son contenu à côté': 10,
};

test.each(Object.entries(counted))('the estimate for %j is near the count of a tokenizer', (text, tokens) => {
  expect(Math.abs(estimateTokens(text) - tokens)).toBeLessThanOrEqual(Math.max(2, tokens * 0.2));
});

test('an estimate is never negative, never above one token a character, and adds up over words', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      const tokens = estimateTokens(text);
      expect(tokens).toBeGreaterThanOrEqual(0);
      expect(tokens).toBeLessThanOrEqual(text.length);
      expect(estimateTokens(`${text} and ${text}`)).toBeGreaterThanOrEqual(tokens);
    }),
  );
  expect(estimateTokens('')).toBe(0);
});

test('a schema is read once, however often its tool is made anew', () => {
  const inputSchema = { type: 'object' as const, properties: { a: { type: 'string' } } };
  const first = costOf({ name: 'a', description: 'one', inputSchema });
  Object.assign(inputSchema, { more: 'x'.repeat(1_000) });
  expect(costOf({ name: 'a', description: 'one', inputSchema })).toEqual(first);
  expect(costOf({ name: 'a', description: 'another', inputSchema }).chars, 'another description is').toBeGreaterThan(
    1_000,
  );
});

test('a report names the dearest server first, and its shares make up the whole', () => {
  const tools = toolsOf({ small: ['a'], large: heavyTools(3, 500), alike: ['a'] });
  const report = reportCost(tools);
  expect(report.servers.map(({ server, tools: count }) => [server, count])).toEqual([
    ['large', 3],
    ['alike', 1],
    ['small', 1],
  ]);
  expect({ chars: report.chars, tokens: report.tokens }).toEqual(costOfAll(tools));
  expect(report.servers.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
  expect(reportCost([])).toEqual({ tools: 0, chars: 0, tokens: 0, servers: [] });
});

test('a text of a million characters is estimated in a moment, whatever it holds', () => {
  for (const text of ['a', '{', ' ', '1', '字', 'aB', '\ud800', '{"']) {
    const million = text.repeat(1_000_000 / text.length);
    expect(
      processorMs(() => estimateTokens(million)),
      text,
    ).toBeLessThan(2_500);
  }
});
