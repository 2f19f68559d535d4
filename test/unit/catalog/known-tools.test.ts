// Owns the proof that the tools of a server are remembered as they were listed, and that a broken memory is no memory.

import { expect, test } from 'vitest';
import { createKnownTools } from '../../../src/catalog/known-tools.ts';
import type { Listing } from '../../../src/catalog/listing.ts';
import { createMemoryStore, type Store } from '../../../src/kernel/store.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';

function setUp(change: Partial<Store> = {}) {
  const errors: unknown[] = [];
  const store = { ...createMemoryStore(createFakeClock()), ...change };
  return { errors, known: createKnownTools(store, (error) => errors.push(error)) };
}

const listing: Listing = {
  tools: [
    { name: 'read', description: 'Reads.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
  ],
  hidden: ['secret'],
  problems: ['a tool without a name was left out'],
};

verifies('TRN-11', 'what was listed is known under its key, without what was odd about it then', async () => {
  const { known } = setUp();
  expect(await known.recall('k')).toBeUndefined();
  await known.remember('k', listing);
  const found = await known.recall('k');
  expect(found).toEqual({ ...listing, problems: [] });
  expect(Object.isFrozen(found?.tools[0]?.inputSchema)).toBe(true);
  expect(await known.recall('other')).toBeUndefined();
});

test('what somebody else wrote there is read with care', async () => {
  for (const value of ['', '{', 'null', '[]', '{}', '{"tools":{},"hidden":[]}', '{"tools":[]}'])
    expect(await setUp({ get: async () => value }).known.recall('k')).toBeUndefined();
  const odd = JSON.stringify({
    tools: [null, { name: '' }, { name: 'read', inputSchema: 'x' }, { name: 'a' }],
    hidden: [1, 'b'],
  });
  expect(await setUp({ get: async () => odd }).known.recall('k')).toEqual({
    tools: [{ name: 'a', inputSchema: { type: 'object' } }],
    hidden: ['b'],
    problems: [],
  });
});

test('a memory that fails is told of, and costs nothing else', async () => {
  const failure = new Error('the disk is full');
  const fail = () => Promise.reject(failure);
  const { known, errors } = setUp({ get: fail, set: fail });
  expect(await known.recall('k')).toBeUndefined();
  await known.remember('k', listing);
  expect(errors).toEqual([failure, failure]);
});
