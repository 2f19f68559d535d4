// Owns the proof that delays are exactly the schedule's, spread evenly by the jitter and by nothing else.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBackoff, type Schedule } from '../../../src/kernel/backoff.ts';
import { verifies } from '../../verifies.ts';

const delays = (schedule: Schedule, random: number, attempts: number) => {
  const delayFor = createBackoff(schedule, () => random);
  return Array.from({ length: attempts }, (_, index) => delayFor(index + 1));
};

const formula = { initialMs: 100, multiplier: 2, maxMs: 1_000, maxAttempts: 6, jitter: 0.2 };

test('a random source in the middle gives the exact figures of a list', () => {
  expect(delays({ delaysMs: [500, 1_000, 2_000, 4_000], jitter: 0.2 }, 0.5, 6)).toEqual([
    500,
    1_000,
    2_000,
    4_000,
    undefined,
    undefined,
  ]);
});

test('a random source in the middle gives the exact figures of a formula, up to its ceiling and its last attempt', () => {
  expect(delays(formula, 0.5, 8)).toEqual([100, 200, 400, 800, 1_000, 1_000, undefined, undefined]);
});

test('the ends of the random source give the ends of the jitter', () => {
  expect(delays({ delaysMs: [500, 1_000], jitter: 0.2 }, 0, 2)).toEqual([400, 800]);
  expect(delays({ delaysMs: [500, 1_000], jitter: 0.2 }, 1, 2)).toEqual([600, 1_200]);
});

verifies(['REC-01', 'REC-02'], 'no jitter lifts a delay over the maximum of the schedule', () => {
  const schedule = { initialMs: 20_000, multiplier: 2, maxMs: 30_000, maxAttempts: 4, jitter: 0.2 };
  expect(delays(schedule, 1, 4)).toEqual([24_000, 30_000, 30_000, 30_000]);
  expect(delays(schedule, 0, 4)).toEqual([16_000, 24_000, 24_000, 24_000]);
});

test('without jitter the random source says nothing', () => {
  expect(delays({ delaysMs: [500], jitter: 0 }, 0.9, 1)).toEqual([500]);
});

test('no delay leaves the band of its jitter, whatever the random source gives', () => {
  const anyRandom = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(anyRandom, fc.integer({ min: 1, max: 6 }), (random, failed) => {
      const exact = createBackoff(formula, () => 0.5)(failed) ?? 0;
      const delay = createBackoff(formula, () => random)(failed) ?? Number.NaN;
      expect(delay).toBeGreaterThanOrEqual(Math.floor(exact * 0.8));
      expect(delay).toBeLessThanOrEqual(Math.min(formula.maxMs, Math.ceil(exact * 1.2)));
    }),
  );
});
