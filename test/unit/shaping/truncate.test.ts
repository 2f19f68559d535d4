// Owns the proof that a cut keeps head and tail, says what is missing, and never leaves half a character.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { truncate } from '../../../src/shaping/truncate.ts';
import { verifies } from '../../verifies.ts';

const hasHalfPair = (text: string) => /\p{Surrogate}/u.test(text);
const anyText = fc.string({
  unit: fc.oneof(fc.constantFrom('a', 'é', '🎈', '👩‍👩‍👧', '\n'), fc.string({ unit: 'binary' })),
});

verifies('OUT-05', 'a text within the limit stays as it is', () => {
  fc.assert(
    fc.property(anyText, fc.nat(50), (text, room) => {
      expect(truncate(text, text.length + room)).toEqual({ text });
    }),
  );
});

verifies('OUT-05', 'of a longer one head and tail are kept, and the notice names the total', () => {
  const text = `${'h'.repeat(50)}${'m'.repeat(100)}${'t'.repeat(50)}`;
  expect(truncate(text, 40)).toEqual({
    text: `${'h'.repeat(30)}\n[... 160 of 200 characters left out ...]\n${'t'.repeat(10)}`,
    truncated: { totalChars: 200, keptChars: 40 },
  });
});

verifies('OUT-05', 'a cut never splits a character, never keeps more than it may, and counts what it kept', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 1, max: 60 }), (text, maxChars) => {
      fc.pre(text.length > maxChars);
      const { text: cut, truncated } = truncate(text, maxChars);
      const { totalChars = 0, keptChars = 0 } = truncated ?? {};
      const notice = `\n[... ${totalChars - keptChars} of ${totalChars} characters left out ...]\n`;
      const at = cut.indexOf(notice);
      const [head, tail] = [cut.slice(0, at), cut.slice(at + notice.length)];
      expect(at).toBeGreaterThanOrEqual(0);
      expect([totalChars, keptChars]).toEqual([text.length, head.length + tail.length]);
      expect(keptChars).toBeLessThanOrEqual(maxChars);
      expect(keptChars).toBeGreaterThanOrEqual(maxChars - 2);
      expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
      expect(hasHalfPair(cut)).toBe(false);
    }),
    { numRuns: 1_000 },
  );
});

test('a limit of one character still says what is missing', () => {
  expect(truncate('abc', 1)).toEqual({
    text: 'a\n[... 2 of 3 characters left out ...]\n',
    truncated: { totalChars: 3, keptChars: 1 },
  });
});
