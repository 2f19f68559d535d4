// Owns the proof that a stored list is counted without its tools, and as a whole where it has no usable summary.

import { expect, test } from 'vitest';
import { listKey } from '../../../src/catalog/list-form.ts';
import { createListSummaries } from '../../../src/catalog/list-summary.ts';
import { createMemoryStore } from '../../../src/kernel/store.ts';

test('names and problems are read from the summary; a list without one is counted, and what is no list is unreadable', async () => {
  const store = createMemoryStore();
  const tools = [{ name: 'one', inputSchema: { type: 'object' } }];
  const stored = { version: 1, listedAt: 7, problems: ['late'], tools };
  await store.set(listKey('plain'), JSON.stringify(stored));
  await store.set(listKey('other'), JSON.stringify({ ...stored, summary: { by: '0', names: ['x'], reduced: [] } }));
  await store.set(listKey('broken'), '{');
  const { read } = createListSummaries(store);
  const counted = { names: ['one'], reduced: [], problems: ['late'], listedAt: 7 };
  expect([await read('plain'), await read('other'), await read('broken'), await read('nothing')]).toEqual([
    expect.objectContaining(counted),
    expect.objectContaining(counted),
    'unreadable',
    undefined,
  ]);
});
