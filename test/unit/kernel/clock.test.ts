// Owns the proof that a sleep ends on time or at once with the signal's reason, and leaves no timer behind.

import { expect, test } from 'vitest';
import { sleepOn, systemClock } from '../../../src/kernel/clock.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';

test('a sleep resolves after its time and not before', async () => {
  const clock = createFakeClock();
  let awake = false;
  const sleep = clock.sleep(100).then(() => {
    awake = true;
  });
  await clock.advance(99);
  expect(awake).toBe(false);
  await clock.advance(1);
  expect(awake).toBe(true);
  await sleep;
});

test('an abort ends a sleep with the reason of its signal, and takes the timer along', async () => {
  const clock = createFakeClock();
  const controller = new AbortController();
  const reason = { why: 'enough' };
  const sleep = clock.sleep(100, controller.signal);
  expect(clock.pending()).toBe(1);
  controller.abort(reason);
  await expect(sleep).rejects.toBe(reason);
  expect(clock.pending()).toBe(0);
});

test('a sleep under a signal that has aborted never begins', async () => {
  const clock = createFakeClock();
  const reason = { why: 'too late' };
  await expect(clock.sleep(100, AbortSignal.abort(reason))).rejects.toBe(reason);
  expect(clock.pending()).toBe(0);
});

test('an abort after the sleep is heard by nobody', async () => {
  const clock = createFakeClock();
  const controller = new AbortController();
  const sleep = clock.sleep(100, controller.signal);
  await clock.advance(100);
  controller.abort();
  await expect(sleep).resolves.toBeUndefined();
});

test('the system clock sleeps and can be woken by an abort', async () => {
  await expect(systemClock.sleep(1)).resolves.toBeUndefined();
  const controller = new AbortController();
  const reason = { why: 'enough' };
  const sleep = systemClock.sleep(1_000_000, controller.signal);
  controller.abort(reason);
  await expect(sleep).rejects.toBe(reason);
});

test('a time too long for a timer of Node is cut to its longest instead of firing at once', async () => {
  let fired = false;
  const cancel = systemClock.after(2 ** 40, () => {
    fired = true;
  });
  await systemClock.sleep(5);
  cancel();
  expect(fired).toBe(false);
});

test('a timer that was cancelled never runs, and cancelling twice does nothing', async () => {
  let fired = false;
  const cancel = systemClock.after(
    1,
    () => {
      fired = true;
    },
    'background',
  );
  cancel();
  cancel();
  await systemClock.sleep(5);
  expect(fired).toBe(false);
});

test('sleeping needs no more of a clock than its timers', async () => {
  const waited: number[] = [];
  const after = (ms: number, run: () => void) => {
    waited.push(ms);
    run();
    return () => undefined;
  };
  await sleepOn({ after }, 7);
  expect(waited).toEqual([7]);
});
