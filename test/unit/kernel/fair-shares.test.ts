// Owns the proof that a scarce total is divided fairly: no request gets less than an equal share if it needs that much.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fairShares } from '../../../src/kernel/fair-shares.ts';

test('the modest get what they want, the others an equal part of the rest', () => {
  expect(fairShares([10, 500, 300, 20], 230)).toEqual([10, 100, 100, 20]);
  expect(fairShares([10, 20], 100)).toEqual([10, 20]);
  expect(fairShares([5, 5, 5], 2)).toEqual([0, 1, 1]);
  expect(fairShares([], 100)).toEqual([]);
});

test('for any wants: never more than there is, never more than wanted, never less than an equal part, nothing wasted', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5_000), { maxLength: 50 }), fc.nat(20_000), (wants, total) => {
      const shares = fairShares(wants, total);
      const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0);
      const equalPart = Math.floor(total / Math.max(1, wants.length));
      expect(sum(shares)).toBeLessThanOrEqual(total);
      expect(shares.every((share, at) => share <= (wants[at] ?? 0))).toBe(true);
      expect(shares.every((share, at) => share >= Math.min(wants[at] ?? 0, equalPart))).toBe(true);
      expect(sum(shares)).toBe(Math.min(total, sum(wants)));
    }),
  );
});
