// Owns the proof of how long a call waits for its server: its limit, a person's thinking time, the failure of the attempt itself.

import { expect } from 'vitest';
import { limitWait, waitFailure } from '../../../src/connection/call-wait.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';

function waiting(
  limitMs: number | (() => number),
  change: { readonly isPersonAsked?: () => boolean; readonly isAttemptDue?: () => boolean } = {},
) {
  const clock = createFakeClock();
  let expired = 0;
  const expire = () => {
    expired += 1;
  };
  const { cancel, recheck } = limitWait({
    clock,
    limitMs: typeof limitMs === 'number' ? () => limitMs : limitMs,
    isAttemptDue: () => false,
    isPersonAsked: () => false,
    expire,
    ...change,
  });
  return { clock, cancel, recheck, expired: () => expired };
}

verifies(
  'CAL-09',
  'a wait ends at its limit, never without one, and leaves no timer when it is cancelled',
  async () => {
    const { clock, expired } = waiting(1_000);
    await clock.advance(999);
    expect(expired()).toBe(0);
    await clock.advance(1);
    expect([expired(), clock.pending()]).toEqual([1, 0]);
    expect(waiting(0).clock.pending()).toBe(0);
    const given = waiting(1_000);
    given.cancel();
    await given.clock.advance(10_000);
    expect([given.expired(), given.clock.pending()]).toEqual([0, 0]);
  },
);

verifies(['CAL-09', 'LIF-07'], 'an edited limit counts for a wait under way: shorter, longer, off and on', async () => {
  let limitMs = 10_000;
  const { clock, recheck, expired } = waiting(() => limitMs);
  await clock.advance(4_000);
  const change = (to: number) => {
    limitMs = to;
    recheck();
  };
  change(20_000);
  await clock.advance(15_000);
  expect(expired()).toBe(0);
  change(0);
  await clock.advance(100_000);
  expect([expired(), clock.pending()]).toEqual([0, 0]);
  change(120_000);
  await clock.advance(999);
  expect(expired()).toBe(0);
  change(30_000);
  expect([expired(), clock.pending()]).toEqual([1, 0]);
  change(200_000);
  await clock.advance(200_000);
  expect(expired(), 'it ends once').toBe(1);
});

verifies('CAL-09', 'the limit begins anew while a person is asked', async () => {
  let isAsked = true;
  const { clock, expired } = waiting(1_000, { isPersonAsked: () => isAsked });
  await clock.advance(5_500);
  isAsked = false;
  await clock.advance(499);
  expect(expired()).toBe(0);
  await clock.advance(1);
  expect(expired()).toBe(1);
});

verifies('CAL-09', 'an attempt whose own limit ends at the same moment may still say why it failed', async () => {
  const { clock, expired } = waiting(1_000, { isAttemptDue: () => true });
  await clock.advance(1_000 + limits.startFailureMs - 1);
  expect(expired()).toBe(0);
  await clock.advance(1);
  expect(expired()).toBe(1);
});

verifies('CAL-09', 'the failure says why the server is down and when the next attempt comes', () => {
  const cause = new RuntimeError('CONNECTION_LOST', {
    server: 'files',
    reason: 'it exited with code 3',
    stderr: 'boom',
  });
  const state = { kind: 'waiting', attempt: 2, retryAt: 7_000, hurried: false, cause } as const;
  const failure = waitFailure({ server: 'files', state, lastFailure: { cause }, now: 5_000 }, 1_000);
  expect(failure.data).toEqual({
    server: 'files',
    afterMs: 1_000,
    reason: 'it waits for its next attempt',
    before: 'it exited with code 3',
    stderr: 'boom',
    retryInMs: 2_000,
  });
  const first = waitFailure({ server: 'files', state: { kind: 'idle' }, lastFailure: undefined, now: 0 }, 1_000);
  expect(first.data).toEqual({ server: 'files', afterMs: 1_000, reason: 'a call waited for it' });
});
