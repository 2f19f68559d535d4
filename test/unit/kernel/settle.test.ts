// Owns the proof that waiting for several promises ends when all have settled or the time is up, and never in a rejection.

import { expect, test } from 'vitest';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import { settleWithin } from '../../../src/kernel/settle.ts';
import { unreachable } from '../../../src/kernel/unreachable.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';

test('nothing to wait for is settled at once, without a timer', async () => {
  const clock = createFakeClock();
  expect(await settleWithin([], { limitMs: 100, clock })).toBe(true);
  expect(clock.pending()).toBe(0);
});

test('all that settles in time is settled, well or badly, and no timer is left', async () => {
  const clock = createFakeClock();
  const work = [createDeferred<void>(), createDeferred<void>()];
  const settled = settleWithin(
    work.map(({ promise }) => promise),
    { limitMs: 100, clock },
  );
  work[0]?.resolve();
  await clock.advance(99);
  work[1]?.reject(new Error('badly'));
  expect(await settled).toBe(true);
  expect(clock.pending()).toBe(0);
});

test('what is slower than the limit is not waited for', async () => {
  const clock = createFakeClock();
  const slow = createDeferred<void>();
  const settled = settleWithin([Promise.resolve(), slow.promise], { limitMs: 100, clock });
  await clock.advance(100);
  expect(await settled).toBe(false);
  slow.reject(new Error('nobody hears this'));
  await clock.advance(0);
});

test('a deferred promise is settled from outside, once', async () => {
  const kept = createDeferred<string>();
  kept.resolve('first');
  kept.reject(new Error('second'));
  await expect(kept.promise).resolves.toBe('first');
  const broken = createDeferred<string>();
  const reason = { why: 'broken' };
  broken.reject(reason);
  await expect(broken.promise).rejects.toBe(reason);
});

test('a variant that nobody handled is named', () => {
  expect(() => unreachable({ kind: 'new' } as never)).toThrow('unhandled variant: {"kind":"new"}');
});

test('who stops waiting is let go at once, and no timer is left', async () => {
  const clock = createFakeClock();
  const stop = new AbortController();
  const settled = settleWithin([createDeferred<void>().promise], { limitMs: 100, clock, signal: stop.signal });
  stop.abort();
  expect(await settled).toBe(false);
  expect(await settleWithin([createDeferred<void>().promise], { limitMs: 100, clock, signal: stop.signal })).toBe(
    false,
  );
  expect(clock.pending()).toBe(0);
});
