// Owns the proof that large numbers are written in groups of three.

import { expect, test } from 'vitest';
import { thousands } from '../../../src/kernel/thousands.ts';

test('whole numbers are written in groups of three digits, others as they are', () => {
  expect([0, 7, 999, 1_000, 32_000, 200_000, 1_234_567, -1_000, 1.5, Number.POSITIVE_INFINITY].map(thousands)).toEqual([
    ...['0', '7', '999', '1,000', '32,000', '200,000', '1,234,567', '-1,000', '1.5', 'Infinity'],
  ]);
});
