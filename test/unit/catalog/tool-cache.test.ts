// Owns the proof that the tools of a server are remembered as they were listed, and that a broken memory is no memory.

import { expect, test } from 'vitest';
import type { ToolListing } from '../../../src/catalog/listing.ts';
import { createStoredLists } from '../../../src/catalog/tool-cache.ts';
import { createMemoryStore } from '../../../src/kernel/store.ts';
import { limits } from '../../../src/model/limits.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';

function setUp() {
  const clock = createFakeClock();
  const store = createMemoryStore(clock);
  const written: string[] = [];
  const counted: typeof store = {
    ...store,
    set: (key, ...rest) => {
      written.push(key);
      return store.set(key, ...rest);
    },
  };
  return { clock, store, written, known: createStoredLists(counted), createKnown: () => createStoredLists(counted) };
}

const listing: ToolListing = {
  tools: [
    { annotations: { readOnlyHint: true }, description: 'Reads.', inputSchema: { type: 'object' }, name: 'read' },
  ],
  problems: ['a tool without a name was left out'],
  instructions: 'Read first.',
  capabilities: ['resources'],
  listedAt: 5,
};

verifies(['TRN-11', 'STA-09'], 'what was listed is known under its key, with what was odd about it', async () => {
  const { known } = setUp();
  expect(await known.read('k')).toBeUndefined();
  await known.write('k', listing);
  const found = await known.read('k');
  expect(found).toEqual(listing);
  expect(typeof found === 'object' && Object.isFrozen(found.tools[0]?.inputSchema)).toBe(true);
  expect(await known.read('other')).toBeUndefined();
});

verifies('STA-09', 'it is known for thirty days', async () => {
  const { known, clock } = setUp();
  await known.write('k', listing);
  await clock.advance(limits.toolCache.keptMs - 1);
  expect(await known.read('k')).toMatchObject({ listedAt: 5 });
  await clock.advance(1);
  expect(await known.read('k')).toBeUndefined();
});

verifies('STA-09', 'what is the same is written once a day, and what is news at once', async () => {
  const { known, createKnown, written } = setUp();
  await known.write('k', listing);
  await known.write('k', { ...listing, listedAt: 6 });
  expect(written.length).toBe(1);
  const next = createKnown();
  await next.read('k');
  await next.write('k', { ...listing, listedAt: 7 });
  expect(written.length, 'another start knows what is there').toBe(1);
  await next.write('k', { ...listing, listedAt: 5 + limits.toolCache.writeAgainMs });
  expect(written.length).toBe(2);
  await next.write('k', { ...listing, listedAt: 8, tools: [] });
  await next.write('k', { ...listing, listedAt: 8, tools: [], instructions: 'Other.' });
  await next.write('k', { ...listing, listedAt: 8, tools: [], instructions: 'Other.', capabilities: [] });
  await next.write('k', {
    ...listing,
    listedAt: 8,
    tools: [],
    instructions: 'Other.',
    capabilities: [],
    problems: [],
  });
  expect(written.length).toBe(6);
});

test('what could not be written is not taken to be there', async () => {
  const { store } = setUp();
  let isFull = true;
  const known = createStoredLists({
    ...store,
    set: async (...given) => {
      if (isFull) throw new Error('full');
      await store.set(...given);
    },
  });
  await expect(known.write('k', listing)).rejects.toThrow('full');
  isFull = false;
  await known.write('k', { ...listing, listedAt: 6 });
  expect(await known.read('k')).toMatchObject({ listedAt: 6 });
});

test('of what was odd only so much is kept, and only texts are read', async () => {
  const { known, createKnown, store, written } = setUp();
  const problems = Array.from({ length: 100 }, (_, n) => `${n} ${'x'.repeat(2_000)}`);
  await known.write('k', { ...listing, problems });
  const next = createKnown();
  const found = await next.read('k');
  const kept = typeof found === 'object' ? found.problems : [];
  expect(kept).toEqual(problems.slice(0, limits.listProblems + 2).map((each) => each.slice(0, 500)));
  await next.write('k', { ...listing, problems });
  expect(written.length, 'the same is not written again').toBe(1);
  for (const odd of [{}, 'x', [1, null, { a: 1 }]]) {
    await store.set('tools:k', JSON.stringify({ version: 1, listedAt: 1, tools: [], problems: odd }));
    expect(await known.read('k')).toMatchObject({ problems: [] });
  }
});

verifies('STA-09', 'what cannot be read, or another version wrote, is dropped', async () => {
  const { known, store } = setUp();
  const texts = ['', '{', 'null', '[]', '{}', '{"version":1,"listedAt":1,"tools":{}}', '{"version":1,"tools":[]}'];
  for (const text of [...texts, '{"version":2,"listedAt":1,"tools":[]}']) {
    await store.set('tools:k', text);
    expect(await known.read('k'), text).toBe('unreadable');
    expect(await store.get('tools:k'), text).toBeUndefined();
  }
});

test('what somebody else wrote there is read with the care that a server gets', async () => {
  const { known, store } = setUp();
  const tools = [null, { name: '' }, { name: 'read', inputSchema: 'x' }, { name: 'a' }, { name: 'a' }];
  const text = JSON.stringify({ version: 1, listedAt: 1, tools, instructions: 5, offers: ['x', 'prompts'] });
  await store.set('tools:k', text);
  expect(await known.read('k')).toMatchObject({
    tools: [{ name: 'a', inputSchema: { type: 'object' } }],
    capabilities: ['prompts'],
    listedAt: 1,
  });
});
