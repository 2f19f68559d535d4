// Owns the proof that a cut keeps head and tail, says what is missing, and never leaves half a character.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { estimateTokens } from '../../../src/kernel/tokens.ts';
import { findCut, joinCut, truncate } from '../../../src/shaping/truncate.ts';
import { runs } from '../../effort.ts';
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
      expect(keptChars).toBeGreaterThanOrEqual(maxChars - 2 * 32);
      expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
      expect(hasHalfPair(cut)).toBe(false);
    }),
    { numRuns: runs(1_000) },
  );
});

test('a limit of one character still says what is missing', () => {
  expect(truncate('abc', 1)).toEqual({
    text: 'a\n[... 2 of 3 characters left out ...]\n',
    truncated: { totalChars: 3, keptChars: 1 },
  });
});

const whole = (text: string) => ({ head: text, tail: text, totalChars: text.length });

verifies('OUT-06', 'a text within both limits stays, whichever is exceeded first cuts it', () => {
  const dense = '字'.repeat(1_000);
  expect(findCut(whole(dense), { chars: 1_000, tokens: 700 })).toBeUndefined();
  const cut = findCut(whole(dense), { chars: 1_000, tokens: 70 });
  expect([cut?.head.length, cut?.tail.length]).toEqual([75, 24]);
  const thin = findCut(whole('word '.repeat(200)), { chars: 100, tokens: 700 });
  expect([thin?.head.length, thin?.tail.length]).toEqual([75, 25]);
});

verifies('OUT-06', 'what is kept is never more than either limit, and always the two ends', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 60 }), (text, chars, tokens) => {
      const cut = findCut(whole(text), { chars, tokens });
      if (cut === undefined) {
        expect(text.length).toBeLessThanOrEqual(chars);
        expect(estimateTokens(text)).toBeLessThanOrEqual(tokens + 1);
        return;
      }
      const { head, tail } = cut;
      expect(head.length + tail.length).toBeLessThanOrEqual(chars);
      expect(estimateTokens(head) + estimateTokens(tail)).toBeLessThanOrEqual(tokens);
      expect(text.startsWith(head) && text.endsWith(tail) && head.length + tail.length < text.length).toBe(true);
      expect(hasHalfPair(head) || hasHalfPair(tail)).toBe(false);
    }),
    { numRuns: runs(3_000) },
  );
});

test('what is one character to a reader is not cut in two', () => {
  const family = '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}';
  const accented = 'e\u0301\u0323';
  for (const one of [family, accented, '\u{1f44d}\u{1f3fd}', '\r\n']) {
    const text = one.repeat(40);
    for (let chars = 8; chars < text.length; chars++) {
      const { head = '', tail = '' } = findCut(whole(text), { chars, tokens: 1_000 }) ?? {};
      expect([head.length % one.length, tail.length % one.length], `${JSON.stringify(one)} at ${chars}`).toEqual([
        0, 0,
      ]);
    }
  }
});

test('a character that never ends is cut, but not within a pair', () => {
  const text = `a${'\u0301'.repeat(500)}${'\u{1f3fd}'.repeat(500)}`;
  for (let chars = 50; chars < 1_400; chars += 7) {
    const { head = '', tail = '' } = findCut(whole(text), { chars, tokens: 10_000 }) ?? {};
    expect(hasHalfPair(head) || hasHalfPair(tail)).toBe(false);
    expect(head.length + tail.length).toBeLessThanOrEqual(chars);
  }
});

test('a remark about the rest stands in the notice', () => {
  expect(joinCut({ head: 'ab', tail: 'z' }, 26, 'the whole text is in /tmp/x.txt')).toBe(
    'ab\n[... 23 of 26 characters left out; the whole text is in /tmp/x.txt ...]\nz',
  );
});
