// Owns the proof of which stored list counts for a server: by its entry, account and offer, and only with a person's word.

import { expect } from 'vitest';
import { type CachedListsDeps, createCachedLists } from '../../../src/catalog/cached-lists.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { definitionOf } from '../session.ts';

interface List {
  readonly listedAt: number;
}

function setUp(deps: Partial<CachedListsDeps<List>> = {}) {
  const clock = createFakeClock();
  const stored = new Map<string, List | 'unreadable'>();
  const errors: unknown[] = [];
  const late: List[] = [];
  const lists = createCachedLists<List>({
    lists: { read: async (key) => stored.get(key) },
    gate: { judge: async () => ({ kind: 'trusted' }) as never },
    accountOf: async () => 'account',
    seal: async (text) => `sealed ${text}`,
    hasKey: async () => true,
    offerTo: () => 'none',
    offers: ['none', 'asks', 'all'],
    clock,
    onError: (error) => errors.push(error),
    ...deps,
  });
  const server = definitionOf('one', { lifecycle: 'lazy' });
  const store = async (offer: string, list: List | 'unreadable') =>
    stored.set((await lists.keysOf(server))(offer), list);
  const read = async () => (await lists.read([server], (_, { listing }) => late.push(listing))).get(server);
  return { clock, errors, late, lists, store, read };
}

verifies('STA-09', 'the list for this offer counts, otherwise the newest for another one', async () => {
  const { store, read } = setUp();
  expect(await read()).toBeUndefined();
  await store('asks', { listedAt: 1 });
  await store('all', { listedAt: 2 });
  expect((await read())?.listing).toEqual({ listedAt: 2 });
  await store('none', { listedAt: 0 });
  await store('all', { listedAt: 3 });
  expect((await read())?.listing, 'its own, though another is newer').toEqual({ listedAt: 0 });
});

verifies('STA-09', 'the list of a server that asks for an approval is not used', async () => {
  const { store, read } = setUp({ gate: { judge: async () => ({ kind: 'asks' }) as never } });
  await store('none', { listedAt: 1 });
  expect(await read()).toBeUndefined();
});

verifies('STA-09', 'a list that cannot be read is reported with its server', async () => {
  const { store, read, errors } = setUp();
  await store('none', 'unreadable');
  expect(await read()).toBeUndefined();
  expect(errors).toEqual([new RuntimeError('STORE_UNREADABLE', { what: 'the tools of server "one"' })]);
});

verifies('STA-09', 'without a key of the machine no list is looked for', async () => {
  const { store, read } = setUp({ hasKey: async () => false });
  await store('none', { listedAt: 1 });
  expect(await read()).toBeUndefined();
});

verifies('STA-09', 'a list that a slow disk delivers later is handed over when it comes', async () => {
  let deliver: (list: List) => void = () => undefined;
  const slow = new Promise<List>((resolve) => {
    deliver = resolve;
  });
  const { clock, late, read } = setUp({ lists: { read: () => slow } });
  const reading = read();
  await clock.advance(limits.toolCache.readMs);
  expect(await reading).toBeUndefined();
  deliver({ listedAt: 3 });
  await clock.advance(0);
  expect(late).toEqual([{ listedAt: 3 }]);
});
