// Owns the tests of signals that are joined for one piece of work.

import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { joinSignals } from '../../../src/kernel/join-signals.ts';

test('the first reason counts, also of a signal that has aborted before', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const { signal } = joinSignals(one.signal, other.signal);
  expect(signal.aborted).toBe(false);
  other.abort('late');
  one.abort('later');
  expect(signal.reason).toBe('late');
  expect(joinSignals(one.signal, other.signal).signal.reason).toBe('later');
});

test('nothing is left in the signals when the work is over', () => {
  const { signal: lasting } = new AbortController();
  for (let work = 0; work < 3; work++) joinSignals(lasting, new AbortController().signal).leave();
  expect(getEventListeners(lasting, 'abort')).toEqual([]);
});

test('many pieces of work may share a signal: Node prints no warning', async () => {
  const warnings: unknown[] = [];
  const onWarning = (warning: unknown) => warnings.push(warning);
  process.on('warning', onWarning);
  const { signal: lasting } = new AbortController();
  const joined = Array.from({ length: 20 }, () => joinSignals(lasting));
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', onWarning);
  for (const { leave } of joined) leave();
  expect(warnings).toEqual([]);
});
