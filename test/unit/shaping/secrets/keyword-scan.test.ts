// Owns the proof that no word is overlooked, wherever it stands and however many others there are.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KeywordScan } from '../../../../src/shaping/secrets/keyword-scan.ts';

const words = ['key', 'token', 'ghp_', 'sk-', 'sk-ant-', '://', 's.', 'private key', 'A3-', 'aaa'];

function found(text: string): Set<string> {
  const all = new Set<string>();
  new KeywordScan(words).scan(text, (word, at, end) => {
    all.add(`${words[word]} ${at} ${end}`);
    return at;
  });
  return all;
}

/** The naive search to compare with: at every position, every keyword. All digits are alike, and so are colon and slash. */
function expected(text: string): Set<string> {
  const plain = (each: string) => each.toLowerCase().replace(/\d/g, '0').replaceAll('/', ':');
  const all = new Set<string>();
  for (const word of words)
    for (let at = 0; at + word.length <= text.length; at++) {
      const isAlone = word.length > 2 || !/[\w.:/-]/.test(text[at - 1] ?? ' ');
      if (isAlone && plain(text.slice(at, at + word.length)) === plain(word))
        all.add(`${word} ${at} ${at + word.length}`);
    }
  return all;
}

describe('a word', () => {
  test('is found wherever it stands', () => {
    const piece = fc.constantFrom(
      ...words,
      'KEY',
      'To',
      'ken',
      'a',
      's',
      '.',
      ' ',
      '-',
      ':',
      '/',
      '7',
      '\n',
      'sk',
      '(',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('');
        expect(found(text)).toEqual(expected(text));
      }),
    );
  });

  test('is found at the border of two chunks', () => {
    for (let at = 32_768 - 140; at < 32_768 + 20; at++) {
      expect(found(`${'x'.repeat(at)} private key`)).toContain(`private key ${at + 1} ${at + 12}`);
    }
  });
});
