// Owns the proof that an untrusted word in a command to paste stays one word, and runs nothing.

import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shellWord, visible } from '../../../src/kernel/shell-word.ts';

const words: Record<string, [word: string, written: string]> = {
  'a plain word stays plain': ['@scope/pkg@1.0,--port=80+x:y', '@scope/pkg@1.0,--port=80+x:y'],
  'nothing is still a word': ['', "''"],
  'a blank does not divide it': ['my files', "'my files'"],
  'a command in it does not run': ['a$(touch PWNED)`x`', "'a$(touch PWNED)`x`'"],
  'a quote does not end it': ["it's", String.raw`'it'\''s'`],
  'a new line does not end the line': ['a\nb\r\u001b[2K', String.raw`'a\u000ab\u000d\u001b[2K'`],
  'a new line at its end is seen': ['a\n', String.raw`'a\u000a'`],
  'nothing turns the direction or hides': ['a\u202eb\u200b\u2028', String.raw`'a\u202eb\u200b\u2028'`],
  'half a character is seen': ['a\ud800', String.raw`'a\ud800'`],
  'letters of any alphabet stay': ['größe 文', "'größe 文'"],
};

test.each(Object.entries(words))('%s', (_, [word, written]) => {
  expect(shellWord(word)).toBe(written);
});

test.skipIf(process.platform === 'win32')('a shell reads back what was written, and nothing else', () => {
  const anyWord = fc.string({ unit: fc.constantFrom(...'ab \'"$()`\\;&|<>*?~!#{}[]=-'), maxLength: 12 });
  const some = fc.sample(anyWord, { numRuns: 200, seed: 1 });
  const script = `printf '%s\\n' ${some.map(shellWord).join(' ')}`;
  expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toBe(`${some.join('\n')}\n`);
});

test('what is made visible has no control characters left', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(visible(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    }),
  );
});
