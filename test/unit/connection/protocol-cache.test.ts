// Owns the proof that the protocol of a server is cached for a while, with its date, and that a broken store costs nothing.

import { expect, test } from 'vitest';
import { createProtocolCache } from '../../../src/connection/protocol-cache.ts';
import { createMemoryStore, type Store } from '../../../src/kernel/store.ts';
import { limits } from '../../../src/model/limits.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import type { Seal } from '../../../src/trust/account.ts';
import { verifies } from '../../verifies.ts';

const sealed: Seal = async (text) => `sealed ${text}`;

function setUp(change: Partial<Store> = {}, seal = sealed) {
  const clock = createFakeClock(1_000);
  const store = { ...createMemoryStore(clock), ...change };
  const errors: unknown[] = [];
  const begin = () => createProtocolCache({ store, seal, clock, onError: (error) => errors.push(error) });
  return { clock, store, errors, begin, protocolCache: begin() };
}

verifies(
  'VAL-03',
  'a negotiated protocol is recalled at once and by the next process, with the date of its negotiation',
  async () => {
    const { protocolCache, store, begin } = setUp();
    expect(await protocolCache.recall('k')).toEqual({});
    protocolCache.remember('k', { era: 'legacy', negotiatedTransport: 'sse' });
    expect(await protocolCache.recall('k')).toEqual({ era: 'legacy', negotiatedTransport: 'sse' });
    await protocolCache.flush();
    expect(await begin().recall('k')).toEqual({ era: 'legacy', negotiatedTransport: 'sse' });
    expect(await begin().recall('other')).toEqual({});
    expect(JSON.parse((await store.get('protocols')) ?? '')).toEqual({
      'sealed k': { era: 'legacy', spoken: 'sse', at: 1_000 },
    });
  },
);

verifies('VAL-03', 'it is forgotten after a week, or when it turned out to be wrong', async () => {
  const { clock, protocolCache, store, begin } = setUp();
  protocolCache.remember('k', { era: 'modern' });
  await clock.advance(7 * 24 * 3_600_000 - 1);
  protocolCache.remember('other', { era: 'modern' });
  expect([await protocolCache.recall('k'), await begin().recall('k')]).toEqual([{ era: 'modern' }, { era: 'modern' }]);
  await clock.advance(limits.cacheWriteMs);
  expect([await protocolCache.recall('k'), await begin().recall('k'), limits.protocolCacheMs]).toEqual([
    {},
    {},
    604_800_000,
  ]);
  protocolCache.forget('other');
  expect(await protocolCache.recall('other')).toEqual({});
  await protocolCache.flush();
  expect(await store.get('protocols')).toBe('{}');
});

test('the protocols of many servers are written together, and keep what other processes wrote', async () => {
  let writes = 0;
  const { clock, store, begin } = setUp();
  const { set } = store;
  store.set = (...written) => {
    writes++;
    return set(...written);
  };
  const [ours, theirs] = [begin(), begin()];
  await ours.recall('a');
  for (const key of ['a', 'b', 'c']) ours.remember(key, { era: 'legacy' });
  await clock.advance(limits.cacheWriteMs - 1);
  expect(writes).toBe(0);
  theirs.remember('d', { era: 'modern' });
  await clock.advance(limits.cacheWriteMs);
  await ours.flush();
  expect({
    writes,
    known: Object.keys(JSON.parse((await store.get('protocols')) ?? '')),
    timers: clock.pending(),
  }).toEqual({
    writes: 2,
    known: ['sealed a', 'sealed b', 'sealed c', 'sealed d'],
    timers: 0,
  });
});

test('a stored value of another shape is ignored', async () => {
  const odd = [
    '',
    '{',
    'null',
    '[]',
    '"legacy"',
    '{"sealed k":{"era":"future","spoken":"ws","at":1000}}',
    '{"sealed k":{"era":"modern"}}',
  ];
  for (const value of odd) {
    const { protocolCache } = setUp({ get: async () => value });
    expect(await protocolCache.recall('k')).toEqual({});
  }
  const { protocolCache } = setUp({ get: async () => '{"sealed k":{"era":"modern","spoken":"ws","at":1000}}' });
  expect(await protocolCache.recall('k')).toEqual({ era: 'modern' });
});

test('a memory that fails is told of, and costs nothing else', async () => {
  const failure = new Error('the disk is full');
  const fail = () => Promise.reject(failure);
  const { protocolCache, errors } = setUp({ get: fail, set: fail });
  expect(await protocolCache.recall('k')).toEqual({});
  protocolCache.remember('k', { era: 'legacy' });
  await protocolCache.flush();
  expect([errors, await protocolCache.recall('k')]).toEqual([[failure, failure, failure], { era: 'legacy' }]);
});

verifies('CFG-19', 'no key is stored as it is, and without the secret that seals keys nothing is stored', async () => {
  const failure = new Error('the disk is gone');
  const { protocolCache, errors, store } = setUp({}, () => Promise.reject(failure));
  expect(await protocolCache.recall('k')).toEqual({});
  protocolCache.remember('k', { era: 'legacy' });
  await protocolCache.flush();
  expect([await store.get('protocols'), errors]).toEqual([undefined, [failure]]);
});
