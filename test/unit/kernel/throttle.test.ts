// Owns the proof that a throttle passes one value per span, and that the last value is never lost.

import { expect, test } from 'vitest';
import { createThrottle } from '../../../src/kernel/throttle.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';

function createHarness() {
  const clock = createFakeClock();
  const told: number[] = [];
  return { clock, told, throttle: createThrottle<number>(clock, 100, (value) => told.push(value)) };
}

verifies('RES-09', 'the first goes out at once, then the latest of each span', async () => {
  const { clock, told, throttle } = createHarness();
  throttle.push(1);
  expect(told).toEqual([1]);
  throttle.push(2);
  throttle.push(3);
  await clock.advance(99);
  expect(told).toEqual([1]);
  await clock.advance(1);
  expect(told).toEqual([1, 3]);
  await clock.advance(1_000);
  throttle.push(4);
  expect(told).toEqual([1, 3, 4]);
});

verifies('RES-09', 'a thousand in a second are ten or so, and the end is told', async () => {
  const { clock, told, throttle } = createHarness();
  for (let n = 1; n <= 1_000; n++) {
    throttle.push(n);
    await clock.advance(1);
  }
  throttle.flush();
  expect(told.length).toBeLessThanOrEqual(12);
  expect(told.at(-1)).toBe(1_000);
  expect(clock.pending()).toBe(0);
});

test('nothing is told twice, and nothing after nobody listens', async () => {
  const { clock, told, throttle } = createHarness();
  throttle.push(1);
  throttle.flush();
  throttle.push(2);
  throttle.push(3);
  throttle.drop();
  await clock.advance(1_000);
  expect([told, clock.pending()]).toEqual([[1, 2], 0]);
});
