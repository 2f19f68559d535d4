// Owns the proof that a server is stopped after exactly its idle time, and never during a call.

import { expect } from 'vitest';
import { watchIdle } from '../../../src/connection/idle.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { createFakeSession } from '../session.ts';

const idleStopMs = 300_000;

function setUp() {
  const clock = createFakeClock();
  const session = createFakeSession();
  const stops: number[] = [];
  const cancel = watchIdle(session, { idleStopMs, since: 0, clock, stop: () => stops.push(clock.now()) });
  const begin = () => session.use({ isBusy: true });
  const end = () => session.use({ isBusy: false, quietSince: clock.now() });
  return { clock, stops, cancel, begin, end };
}

verifies('TRN-10', 'a server that was never called is stopped so long after it came up', async () => {
  const { clock, stops } = setUp();
  await clock.advance(idleStopMs - 1);
  expect(stops).toEqual([]);
  await clock.advance(1_000_000);
  expect([stops, clock.pending()]).toEqual([[idleStopMs], 0]);
});

verifies('TRN-10', 'every call gives it the whole time again, counted from the call’s end', async () => {
  const { clock, stops, begin, end } = setUp();
  let lastEnd = 0;
  for (const pause of [1_000, 200_000, 299_999, 299_999]) {
    await clock.advance(pause);
    begin();
    await clock.advance(10);
    end();
    lastEnd = clock.now();
  }
  await clock.advance(10 * idleStopMs);
  expect([stops, clock.pending()]).toEqual([[lastEnd + idleStopMs], 0]);
});

verifies('TRN-10', 'it is never stopped during a call, however long that takes', async () => {
  const { clock, stops, begin, end } = setUp();
  begin();
  await clock.advance(10 * idleStopMs + 12_345);
  expect(stops).toEqual([]);
  end();
  await clock.advance(idleStopMs - 1);
  expect(stops).toEqual([]);
  await clock.advance(1);
  expect(stops).toEqual([11 * idleStopMs + 12_345]);
});

verifies(['TRN-10', 'REC-15'], 'a stopped watch leaves no timer', async () => {
  const { clock, stops, cancel } = setUp();
  await clock.advance(100);
  cancel();
  expect(clock.pending()).toBe(0);
  await clock.advance(10 * idleStopMs);
  expect(stops).toEqual([]);
});

verifies('RES-04', 'a server with resource subscriptions is not stopped before they end', async () => {
  const clock = createFakeClock();
  const session = createFakeSession();
  const stops: number[] = [];
  watchIdle(session, { idleStopMs, since: 0, clock, stop: () => stops.push(clock.now()) });
  const unsubscribe = session.keep();
  await clock.advance(10 * idleStopMs);
  expect(stops).toEqual([]);
  unsubscribe();
  await clock.advance(idleStopMs);
  expect(stops).toHaveLength(1);
});
