// Owns the proof that a gateway without clients ends after its time, and not before.

import { expect } from 'vitest';
import { endWhenIdle } from '../../../src/gateway/idle-end.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';

verifies('EXT-45', 'a gateway ends when it has been idle for so long, counted from its last client', async () => {
  const clock = createFakeClock();
  const begun = clock.now();
  let [since, ended] = [begun as number | undefined, 0];
  const stop = endWhenIdle({ clock, idleMs: 600, lookMs: 600, idleSince: () => since, end: () => ended++ });
  await clock.advance(500);
  since = undefined;
  await clock.advance(1_000);
  expect(ended).toBe(0);
  since = clock.now();
  await clock.advance(599);
  expect(ended).toBe(0);
  await clock.advance(1);
  expect(ended).toBe(1);
  await clock.advance(10_000);
  expect(ended).toBe(1);
  stop();
});

verifies('EXT-45', 'what ends shortly before the time is up has been there: the time counts from then on', async () => {
  const clock = createFakeClock();
  let [isBusy, used, ended] = [true, clock.now(), 0];
  const idleSince = () => {
    if (isBusy) used = clock.now();
    return isBusy ? undefined : used;
  };
  endWhenIdle({ clock, idleMs: 600, lookMs: 10, idleSince, end: () => ended++ });
  // Nothing tells of its end.
  await clock.advance(595);
  isBusy = false;
  await clock.advance(590);
  expect(ended).toBe(0);
  await clock.advance(15);
  expect(ended).toBe(1);
});
