// Owns the proof that no exact string is overlooked, by `find` or by `isIn`.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NeedleScan } from '../../../../src/shaping/secrets/needle-scan.ts';
import { runs } from '../../../effort.ts';

const letters = fc.constantFrom('a', 'b', 'c', 'š', '字', '\ud83c');
const aNeedle = fc.string({ unit: letters, minLength: 4, maxLength: 40 });

/** The naive search to compare with: at every position, the longest needle. */
function expected(text: string, needles: readonly string[]): readonly [needle: string, at: number][] {
  const longestFirst = [...needles].sort((a, b) => b.length - a.length);
  const found: [string, number][] = [];
  for (let at = 0; at < text.length; ) {
    const needle = longestFirst.find((each) => text.startsWith(each, at));
    if (needle !== undefined) found.push([needle, at]);
    at += needle?.length ?? 1;
  }
  return found;
}

test('every string is found, the leftmost and of those the longest; a text without any is told apart', () => {
  const given = fc.uniqueArray(aNeedle, { minLength: 1, maxLength: 6 }).chain((needles) =>
    fc.record({
      needles: fc.constant(needles),
      pieces: fc.array(fc.oneof(letters, fc.constantFrom(...needles), aNeedle), { maxLength: 60 }),
    }),
  );
  fc.assert(
    fc.property(given, ({ needles, pieces }) => {
      const text = pieces.join('');
      const scan = new NeedleScan(needles.map((each) => ({ text: each })));
      const found = expected(text, needles);
      expect(scan.find(text).map(({ needle, at }) => [needle.text, at])).toEqual(found);
      expect(scan.isIn(text)).toBe(found.length > 0);
    }),
    { numRuns: runs(1_000) },
  );
});

test('one is seen wherever it stands in a text of several chunks', () => {
  const needle = 'hidden-0123456789';
  const scan = new NeedleScan([{ text: needle }]);
  const places = [0, 1, 16_384, 40_000, 70_000 - needle.length];
  for (let at = 32_768 - 40; at < 32_768 + 40; at++) places.push(at);
  for (const at of places) {
    const text = `${'x'.repeat(at)}${needle}${'x'.repeat(70_000 - at - needle.length)}`;
    expect([scan.isIn(text), scan.isIn(text.replace('hidden', 'hilden'))], `at ${at}`).toEqual([true, false]);
  }
});
