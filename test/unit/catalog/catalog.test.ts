// Owns the proof of the catalog: one frozen, sorted list, a slice per server, and news only when something changed.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Catalog } from '../../../src/catalog/catalog.ts';
import type { CatalogEvent } from '../../../src/catalog/events.ts';
import { createSnapshot, type Slice } from '../../../src/catalog/snapshot.ts';
import type { Answer } from '../../../src/connection/session.ts';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { createSession, definitionOf, page } from './session.ts';

function setUp() {
  const events: CatalogEvent[] = [];
  const catalog = new Catalog(createFakeClock(), (event) => events.push(event));
  const names = () => catalog.snapshot().tools.map(({ name }) => name);
  return { catalog, events, names };
}

const sessionWith = (...tools: string[]) => createSession(() => page(tools));
const slice = (server: string, ...names: string[]): Slice => ({
  server,
  label: `mcp:${server} via user`,
  tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })),
});

verifies('NAM-12', 'tools are sorted by name, whatever order servers and tools come in', () => {
  const anySlices = fc.uniqueArray(
    fc.record({
      server: fc.string({ minLength: 1, maxLength: 4 }),
      tools: fc.uniqueArray(fc.string({ minLength: 1, maxLength: 4 }), { maxLength: 4 }),
    }),
    { selector: ({ server }) => server, maxLength: 5 },
  );
  fc.assert(
    fc.property(anySlices, (found) => {
      const slices = found.map(({ server, tools }) => slice(server, ...tools));
      const turned = found.toReversed().map(({ server, tools }) => slice(server, ...tools.toReversed()));
      const { tools, revision } = createSnapshot(slices);
      const names = tools.map(({ name }) => name);
      expect(names).toEqual([...names].sort());
      expect(createSnapshot(turned)).toMatchObject({ tools, revision });
    }),
  );
});

verifies('NAM-12', 'they are sorted again after each change', async () => {
  const { catalog, names } = setUp();
  await catalog.list(definitionOf('m'), sessionWith('z', 'a'));
  await catalog.list(definitionOf('a'), sessionWith('y'));
  expect(names()).toEqual(['mcp__a__y', 'mcp__m__a', 'mcp__m__z']);
  await catalog.list(definitionOf('m'), sessionWith('z', 'b'));
  expect(names()).toEqual(['mcp__a__y', 'mcp__m__b', 'mcp__m__z']);
  catalog.remove('a');
  expect(names()).toEqual(['mcp__m__b', 'mcp__m__z']);
});

test('a tool is what its server sent, with its identity and its name', () => {
  const definition = { name: 'read file', description: 'Reads.', inputSchema: { type: 'object', required: ['path'] } };
  const { tools, find } = createSnapshot([{ server: 'files', label: 'mcp:files via user', tools: [definition] }]);
  expect(tools).toEqual([
    {
      id: { server: 'files', tool: 'read file' },
      name: expect.stringMatching(/^mcp__files__read_file_[0-9a-f]{10}$/),
      freshness: 'live',
      label: 'mcp:files via user',
      description: 'Reads.',
      inputSchema: definition.inputSchema,
      definition,
    },
  ]);
  expect([find(tools[0]?.name ?? ''), find('read file'), find('__proto__')]).toEqual([tools[0], undefined, undefined]);
});

verifies('EXT-12', 'a snapshot is frozen', () => {
  const snapshot = createSnapshot([slice('files', 'read')]);
  expect([snapshot, snapshot.tools, snapshot.tools[0], snapshot.tools[0]?.id].map(Object.isFrozen)).toEqual([
    true,
    true,
    true,
    true,
  ]);
});

test('equal tools have equal revisions, and any change of a definition is another one', () => {
  const revision = (definition: Record<string, unknown>) =>
    createSnapshot([
      { server: 'files', label: 'mcp:files via user', tools: [{ name: 'read', inputSchema: {}, ...definition }] },
    ]).revision;
  expect(revision({ inputSchema: { a: 1, b: 2 } })).toBe(revision({ inputSchema: { b: 2, a: 1 } }));
  const revisions = [{}, { description: 'x' }, { inputSchema: { a: 1 } }, { annotations: {} }, { future: 1 }].map(
    revision,
  );
  expect(new Set([...revisions, createSnapshot([]).revision]).size).toBe(6);
});

verifies('EXT-12', 'what was listed again and is the same is no news, and the list is not built anew', async () => {
  const { catalog, events } = setUp();
  await catalog.list(definitionOf('files'), sessionWith('read', 'write'));
  const before = catalog.snapshot();
  await catalog.list(definitionOf('files'), sessionWith('write', 'read'));
  expect(catalog.snapshot()).toBe(before);
  expect(events).toEqual([
    {
      type: 'catalog.changed',
      revision: before.revision,
      added: ['mcp__files__read', 'mcp__files__write'],
      removed: [],
    },
  ]);
});

test('news says what came and what went', async () => {
  const { catalog, events } = setUp();
  await catalog.list(definitionOf('files'), sessionWith('read', 'write'));
  await catalog.list(definitionOf('files'), sessionWith('read', 'append'));
  catalog.remove('files');
  catalog.remove('files');
  expect(events.map((event) => event.type === 'catalog.changed' && [event.added, event.removed])).toEqual([
    [['mcp__files__read', 'mcp__files__write'], []],
    [['mcp__files__append'], ['mcp__files__write']],
    [[], ['mcp__files__append', 'mcp__files__read']],
  ]);
});

verifies('TDN-01', 'what leaves is what the server brought, whatever it is called', async () => {
  const { catalog, names } = setUp();
  await catalog.list(definitionOf('a'), sessionWith('b_c', 'x'));
  await catalog.list(definitionOf('a_b'), sessionWith('c', 'x'));
  catalog.remove('a');
  expect(names()).toEqual(['mcp__a_b__c', 'mcp__a_b__x']);
});

test('one session is listed once, however many ask', async () => {
  const { catalog } = setUp();
  const session = sessionWith('read');
  await Promise.all([catalog.list(definitionOf('files'), session), catalog.list(definitionOf('files'), session)]);
  expect(session.asked).toEqual([undefined]);
});

test('what a former session still answers is not news any more', async () => {
  const { catalog, names } = setUp();
  const slow = createDeferred<Answer>();
  const former = catalog.list(
    definitionOf('files'),
    createSession(() => slow.promise),
  );
  await catalog.list(definitionOf('files'), sessionWith('new'));
  slow.resolve(page(['old']));
  await former;
  expect(names()).toEqual(['mcp__files__new']);
});

test('what a removed server still answers is not news any more', async () => {
  const { catalog, names } = setUp();
  const slow = createDeferred<Answer>();
  const former = catalog.list(
    definitionOf('files'),
    createSession(() => slow.promise),
  );
  catalog.remove('files');
  slow.resolve(page(['old']));
  await former;
  expect(names()).toEqual([]);
});

test('a list that fails keeps the tools of before, with the reason', async () => {
  const { catalog, names } = setUp();
  await catalog.list(definitionOf('files'), sessionWith('read'));
  await catalog.list(
    definitionOf('files'),
    createSession(() => ({ kind: 'error', code: -32603, message: 'out of order' })),
  );
  expect([names(), catalog.get('files')?.error?.code]).toEqual([['mcp__files__read'], 'PROTOCOL_BROKEN']);
  await catalog.list(definitionOf('files'), sessionWith('read'));
  expect(catalog.get('files')?.error, 'a list that succeeds forgets it').toBeUndefined();
});

test('what was left out is told', async () => {
  const { catalog, events } = setUp();
  await catalog.list(
    definitionOf('files'),
    createSession(() => ({ kind: 'result', result: { tools: [{ name: '' }] } })),
  );
  expect(events).toEqual([
    { type: 'catalog.problem-found', server: 'files', problem: 'a tool without a name was left out' },
  ]);
});

test('who waits for the latest list has it afterwards', async () => {
  const { catalog, names } = setUp();
  const slow = createDeferred<Answer>();
  void catalog.list(
    definitionOf('files'),
    createSession(() => slow.promise),
  );
  const listed = catalog.listed('files').then(names);
  slow.resolve(page(['read']));
  expect(await listed).toEqual(['mcp__files__read']);
  await catalog.listed('nobody');
});
