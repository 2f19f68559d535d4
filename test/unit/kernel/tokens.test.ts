// Owns the proof that tokens are estimated alike from either end, within the truth for prose, code, JSON and Asian scripts.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { charsWithin, estimateTokens } from '../../../src/kernel/tokens.ts';
import { runs } from '../../effort.ts';

const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom('a', 'b', 'Z', 'Q', '1', '7', ' ', '\n', '{', '"', 'é', 'я', '字', '한', '🎈', '\ud800'),
    fc.string({ unit: 'binary', maxLength: 1 }),
  ),
  maxLength: 300,
});

/** A plain reading of the rule, one run after the other. */
function counted(text: string): number {
  const lengths = { word: 10, digits: 3, signs: 4 };
  const words = text.match(/[A-Z]*[a-z]+|[A-Z]+/g) ?? [];
  const digits = text.match(/[0-9]+/g) ?? [];
  const signs = text.match(/(?:[^\s\w\u0080-\uffff]|_)+/g) ?? [];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: of ASCII
  const spaces = text.match(/(?:(?=[\x00-\x7f])\s){2,}/g) ?? [];
  const sum = (found: readonly string[], length: number) =>
    found.reduce((total, each) => total + Math.ceil(each.length / length), 0);
  const others = [...Array(text.length).keys()].reduce((total, at) => total + foreign(text.charCodeAt(at)), 0);
  return sum(words, lengths.word) + sum(digits, lengths.digits) + sum(signs, lengths.signs) + spaces.length + others;
}

function foreign(code: number): number {
  if (code < 0x80) return 0;
  if (code < 0x250) return 0.6;
  if (code < 0x2000) return 0.35;
  if (code < 0x2e80) return 1;
  if (code >= 0xac00 && code < 0xd7b0) return 0.6;
  return code >= 0xd800 && code < 0xe000 ? 0.8 : 0.7;
}

test('the estimate is the sum over words, groups of digits, signs and foreign characters', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(estimateTokens(text)).toBeCloseTo(counted(text), 5);
    }),
    { numRuns: runs(1_000) },
  );
});

test('what fits, fits, and one character more does not: from the start and from the end', () => {
  fc.assert(
    fc.property(anyText, fc.nat(60), (text, tokens) => {
      const head = charsWithin(text, tokens, text.length, 'start');
      expect(estimateTokens(text.slice(0, head))).toBeLessThanOrEqual(tokens);
      if (head < text.length) expect(estimateTokens(text.slice(0, head + 1))).toBeGreaterThan(tokens);
      const tail = charsWithin(text, tokens, text.length, 'end');
      expect(estimateTokens(text.slice(text.length - tail))).toBeLessThanOrEqual(tokens);
      if (tail < text.length) expect(estimateTokens(text.slice(text.length - tail - 1))).toBeGreaterThan(tokens);
    }),
    { numRuns: runs(1_000) },
  );
});

test('a text longer than what is read at once is counted as a whole', () => {
  const text = `${'Some words of 12 letters, 字 too. '.repeat(3_000)}`;
  expect(estimateTokens(text)).toBeCloseTo(counted(text), 3);
  const half = estimateTokens(text) / 2;
  const head = charsWithin(text, half, text.length, 'start');
  const tail = charsWithin(text, half, text.length, 'end');
  expect(Math.abs(text.length - head - tail)).toBeLessThan(12);
});

/** Characters a token, as tokenizers of today have it for such texts. */
const ratios: Record<string, [text: string, least: number, most: number]> = {
  'English prose': [
    'The ship left the harbor before dawn, and nobody on the pier saw who had stayed behind. ',
    3.7,
    5.2,
  ],
  code: ['  if (answer === undefined) return next(call, { retries: 3 });\n', 2.8, 4.5],
  JSON: ['{"id":18273,"name":"river","tags":["a","b"],"size":{"width":120}}', 1.8, 3.6],
  Chinese: ['读取文件并返回其内容，支持多种编码。', 0.9, 1.7],
  Japanese: ['ファイルを読み込み、その内容を返します。', 0.9, 1.8],
};

test.each(Object.entries(ratios))('%s has as many characters a token as it should', (_, [text, least, most]) => {
  const ratio = (text.length * 50) / estimateTokens(text.repeat(50));
  expect(ratio).toBeGreaterThan(least);
  expect(ratio).toBeLessThan(most);
});
