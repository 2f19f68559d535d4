// Owns the proof that what a server speaks is remembered for a while, with its date, and that a broken memory costs nothing.

import { expect, test } from 'vitest';
import { createVerdicts } from '../../../src/connection/verdicts.ts';
import { createMemoryStore, type Store } from '../../../src/kernel/store.ts';
import { limits } from '../../../src/model/limits.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';

function setUp(change: Partial<Store> = {}) {
  const clock = createFakeClock(1_000);
  const store = { ...createMemoryStore(clock), ...change };
  const errors: unknown[] = [];
  return { clock, store, errors, verdicts: createVerdicts(store, clock, (error) => errors.push(error)) };
}

verifies('VAL-03', 'what was found out is known the next time, with the date it was found out', async () => {
  const { verdicts, store } = setUp();
  expect(await verdicts.recall('k')).toEqual({});
  await verdicts.remember('k', { era: 'legacy', spoken: 'sse' });
  expect(await verdicts.recall('k')).toEqual({ era: 'legacy', spoken: 'sse' });
  expect(await verdicts.recall('other')).toEqual({});
  expect(JSON.parse((await store.get('spoken:k')) ?? '')).toEqual({ era: 'legacy', spoken: 'sse', at: 1_000 });
});

verifies('VAL-03', 'it is forgotten after a week, or when it turned out to be wrong', async () => {
  const { clock, verdicts } = setUp();
  await verdicts.remember('k', { era: 'modern' });
  await clock.advance(7 * 24 * 3_600_000 - 1);
  expect(await verdicts.recall('k')).toEqual({ era: 'modern' });
  await clock.advance(1);
  expect([await verdicts.recall('k'), limits.verdictMs]).toEqual([{}, 604_800_000]);
  await verdicts.remember('k', { era: 'modern' });
  await verdicts.forget('k');
  expect(await verdicts.recall('k')).toEqual({});
});

test('what somebody else wrote there is no verdict', async () => {
  const odd = ['', '{', 'null', '[]', '"legacy"', '{"era":"future","spoken":"ws"}', '{"era":1}'];
  for (const value of odd) {
    const { verdicts } = setUp({ get: async () => value });
    expect(await verdicts.recall('k')).toEqual({});
  }
  const { verdicts } = setUp({ get: async () => '{"era":"modern","spoken":"ws"}' });
  expect(await verdicts.recall('k')).toEqual({ era: 'modern' });
});

test('a memory that fails is told of, and costs nothing else', async () => {
  const failure = new Error('the disk is full');
  const fail = () => Promise.reject(failure);
  const { verdicts, errors } = setUp({ get: fail, set: fail, delete: fail });
  expect(await verdicts.recall('k')).toEqual({});
  await verdicts.remember('k', { era: 'legacy' });
  await verdicts.forget('k');
  expect(errors).toEqual([failure, failure, failure]);
});
