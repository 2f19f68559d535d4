// Owns the proof that a gateway without clients ends after its time, and not before.

import { expect } from 'vitest';
import { endWhenIdle } from '../../../src/gateway/idle-end.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';

verifies('EXT-45', 'a gateway ends when it has been idle for so long, counted from its last client', async () => {
  const clock = createFakeClock();
  const begun = clock.now();
  let [since, ended] = [begun as number | undefined, 0];
  const stop = endWhenIdle({ clock, idleMs: 600, idleSince: () => since, end: () => ended++ });
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
