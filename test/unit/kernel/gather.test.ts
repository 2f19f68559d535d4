// Owns the proof that a task that is requested often runs once, a span after the first request, and is never starved.

import { expect, test } from 'vitest';
import { Gather } from '../../../src/kernel/gather.ts';
import { pause } from '../../../src/kernel/pause.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';

test('each key is done once for all who asked in its span, counted from the first', async () => {
  const clock = createFakeClock();
  const gather = new Gather<string>(clock, 250);
  const done: string[] = [];
  for (let ms = 0; ms < 250; ms += 10) {
    gather.ask('a', () => done.push(`a at ${clock.now()}`));
    if (ms >= 100) gather.ask('b', () => done.push(`b at ${clock.now()}`));
    await clock.advance(10);
  }
  expect([done, gather.size, gather.has('b')]).toEqual([['a at 250'], 1, true]);
  await clock.advance(250);
  expect(done).toEqual(['a at 250', 'b at 350']);
});

test('what is forgotten is not done', async () => {
  const clock = createFakeClock();
  const gather = new Gather<string>(clock, 250);
  const done: string[] = [];
  for (const key of ['a', 'b', 'c']) gather.ask(key, () => done.push(key));
  gather.forget(['a', 'x']);
  await clock.advance(250);
  expect(done).toEqual(['b', 'c']);
  gather.ask('d', () => done.push('d'));
  gather.forget();
  expect(clock.pending()).toBe(0);
});

test('a pause ends with its time, or with its signal, and never fails', async () => {
  const clock = createFakeClock();
  const controller = new AbortController();
  const ended: string[] = [];
  void pause(clock, 100, controller.signal).then(() => ended.push('short'));
  void pause(clock, 1_000, controller.signal).then(() => ended.push('long'));
  await clock.advance(100);
  expect(ended).toEqual(['short']);
  controller.abort();
  await clock.advance(0);
  await pause(clock, 100, controller.signal);
  expect([ended, clock.pending()]).toEqual([['short', 'long'], 0]);
});
