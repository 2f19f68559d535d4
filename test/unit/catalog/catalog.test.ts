// Owns the proof of the catalog: one frozen, sorted list of all servers' tools, and events only when something changed.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Catalog } from '../../../src/catalog/catalog.ts';
import type { CatalogEvent } from '../../../src/catalog/events.ts';
import { healthyTools } from '../../../src/catalog/listing.ts';
import { createSnapshot, narrowSnapshot, presentFor, type ServerSlice } from '../../../src/catalog/snapshot.ts';
import type { RequestOutcome } from '../../../src/connection/session.ts';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import type { Tool } from '../../../src/model/tool.ts';
import { createFakeClock, type FakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { definitionOf } from '../session.ts';
import { createSession, page } from './session.ts';

function setUp() {
  const events: CatalogEvent[] = [];
  const clock = createFakeClock();
  const catalog = new Catalog({ clock, emit: (event) => events.push(event) });
  const names = () => catalog.snapshot().tools.map(({ name }) => name);
  const freshness = () => catalog.snapshot().tools.map(({ name, freshness }) => `${name} ${freshness}`);
  return { catalog, clock, events, names, freshness };
}

const sessionWith = (...tools: string[]) => createSession(() => page(tools));
const slice = (server: string, ...names: string[]): ServerSlice => ({
  server,
  label: `mcp:${server} via user`,
  freshness: 'live',
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
  const inputSchema = { type: 'object', properties: { path: {} }, required: ['path'] };
  const definition = { name: 'read file', description: 'Reads.', inputSchema };
  const { tools, find } = createSnapshot([
    { server: 'files', label: 'mcp:files via user', freshness: 'cached', tools: [definition] },
  ]);
  expect(tools).toEqual([
    {
      id: { server: 'files', tool: 'read file' },
      name: expect.stringMatching(/^mcp__files__read_file_[0-9a-f]{10}$/),
      freshness: 'cached',
      label: 'mcp:files via user',
      source: 'files',
      description: 'Reads.',
      inputSchema,
      meta: { server: 'files', annotations: {} },
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

test('equal tools have equal revisions, and any change of what a model reads is another one', () => {
  const revision = (definition: Record<string, unknown>) =>
    createSnapshot([{ ...slice('files'), tools: healthyTools([{ name: 'read', ...definition }]).tools }]).revision;
  expect(revision({ inputSchema: { a: 1, b: 2 } })).toBe(revision({ inputSchema: { b: 2, a: 1 } }));
  const revisions = [{}, { description: 'x' }, { inputSchema: { properties: { a: {} } } }].map(revision);
  expect(new Set([...revisions, createSnapshot([]).revision]).size).toBe(4);
  const unread = [{ annotations: { readOnlyHint: true } }, { outputSchema: {} }, { _meta: { at: 1 } }, { future: 1 }];
  expect(new Set(unread.map(revision))).toEqual(new Set([revision({})]));
});

test('a revision follows the prefix of the descriptions, also where only the name of the server in it differs', () => {
  const revision = (server: string, descriptionPrefix?: string) =>
    createSnapshot([slice(server, 'read')], { naming: { style: 'bare' }, descriptionPrefix }).revision;
  expect(revision('a')).toBe(revision('b'));
  expect(revision('a', '[{server}] ')).not.toBe(revision('b', '[{server}] '));
  expect(revision('a', '[{server}] ')).toBe(revision('b', '[a] '));
});

test('a provider is shown the same objects as long as nothing changes, and a revision of its own only for its own bytes', () => {
  const tools = healthyTools([
    { name: 'plain', inputSchema: { type: 'object', properties: { a: { type: 'string' } } } },
    { name: 'odd', inputSchema: { type: 'object', properties: { a: { type: ['string', 'null'] } } } },
  ]).tools;
  const whole = createSnapshot([{ ...slice('files'), tools }]);
  const shown = presentFor(whole, 'google', {});
  expect(presentFor(whole, 'google', {}).tools.every((tool, at) => tool === shown.tools[at])).toBe(true);
  for (const tool of whole.tools) {
    const same = JSON.stringify(shown.find(tool.name)?.inputSchema) === JSON.stringify(tool.inputSchema);
    const isOnly = (each: Tool) => each.name === tool.name;
    expect(narrowSnapshot(shown, isOnly).revision === narrowSnapshot(whole, isOnly).revision, tool.name).toBe(same);
  }
});

verifies('EXT-12', 'what a model does not read is replaced without being news', async () => {
  const { catalog, events } = setUp();
  let servedAt = 0;
  const session = createSession(() => ({ kind: 'result', result: { tools: [{ name: 'read', _meta: { servedAt } }] } }));
  await catalog.list(definitionOf('files'), session);
  const { revision } = catalog.snapshot();
  servedAt = 1;
  await catalog.list(definitionOf('files'), session);
  expect(catalog.snapshot().tools[0]?.definition).toMatchObject({ _meta: { servedAt: 1 } });
  expect([catalog.snapshot().revision, events.length]).toEqual([revision, 1]);
});

test('another prefix is a change of every tool whose description it begins', async () => {
  const { catalog, events } = setUp();
  await catalog.list(definitionOf('files'), sessionWith('read', 'write'));
  catalog.configure({ toolCacheTtlMs: 0, descriptionPrefix: '[MCP] ' });
  expect(events.at(-1)).toMatchObject({
    type: 'catalog.changed',
    added: [],
    removed: [],
    changed: ['mcp__files__read', 'mcp__files__write'],
  });
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
      changed: [],
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

test('who asks while a list is on its way gets one more, however many ask: what changed meanwhile is in it', async () => {
  const { catalog, names, clock } = setUp();
  const definition = definitionOf('files');
  const pages = [page(['old']), page(['new']), page(['newest'])];
  const session = createSession(() => pages.shift() ?? page([]));
  await Promise.all([1, 2, 3].map(() => catalog.list(definition, session)));
  expect([session.cursors.length, names()]).toEqual([1, ['mcp__files__old']]);
  await clock.advance(limits.listChangedMs);
  expect([session.cursors.length, names()]).toEqual([2, ['mcp__files__new']]);
  await catalog.list(definition, session);
  expect([session.cursors.length, names()]).toEqual([3, ['mcp__files__newest']]);
});

test('what a former session still answers is not news any more', async () => {
  const { catalog, names } = setUp();
  const slow = createDeferred<RequestOutcome>();
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
  const slow = createDeferred<RequestOutcome>();
  const former = catalog.list(
    definitionOf('files'),
    createSession(() => slow.promise),
  );
  catalog.remove('files');
  slow.resolve(page(['old']));
  await former;
  expect(names()).toEqual([]);
});

const broken: RequestOutcome = { kind: 'error', code: -32603, message: 'out of order' };

verifies('ERR-04', 'a list that fails keeps the tools of before, with the reason', async () => {
  const { catalog, clock, names } = setUp();
  await catalog.list(definitionOf('files'), sessionWith('read'));
  const listing = catalog.list(
    definitionOf('files'),
    createSession(() => broken),
  );
  await clock.advance(1_750);
  await listing;
  expect([names(), catalog.get('files')?.error?.code]).toEqual([['mcp__files__read'], 'PROTOCOL_BROKEN']);
  await catalog.list(definitionOf('files'), sessionWith('read'));
  expect(catalog.get('files')?.error, 'a list that succeeds forgets it').toBeUndefined();
});

verifies(
  ['REC-13', 'ERR-04'],
  'a list that fails is fetched again after 250, 500 and 1000 ms, and then no more',
  async () => {
    for (const failure of [broken, { kind: 'lost', sent: true } as const]) {
      const { catalog, clock } = setUp();
      const askedAt: number[] = [];
      const session = createSession(() => {
        askedAt.push(clock.now());
        return failure;
      });
      const listing = catalog.list(definitionOf('files'), session);
      await clock.advance(60_000);
      await listing;
      expect([askedAt, clock.pending()]).toEqual([[0, 250, 750, 1_750], 0]);
      expect(catalog.get('files')).toMatchObject({ tools: [], error: { code: expect.any(String) } });
    }
  },
);

verifies('REC-13', 'the first list that comes through counts, and leaves no trace of those before', async () => {
  const { catalog, clock, freshness } = setUp();
  const answers = [broken, broken, page(['read'])];
  const listing = catalog.list(
    definitionOf('files'),
    createSession(() => answers.shift() ?? broken),
  );
  await clock.advance(750);
  await listing;
  expect([freshness(), catalog.get('files')?.error, clock.pending()]).toEqual([
    ['mcp__files__read live'],
    undefined,
    0,
  ]);
});

test('a list is not fetched again for what waiting does not cure; silence is cured by it as anything else', async () => {
  const refused = { kind: 'lost', sent: true, cause: new RuntimeError('AUTH_REQUIRED', { server: 'files' }) } as const;
  const { catalog, clock } = setUp();
  const session = createSession(() => refused);
  await catalog.list(definitionOf('files'), session);
  expect([session.cursors.length, catalog.get('files')?.error]).toEqual([1, refused.cause]);
  const silent = createSession((_, cancellation) => cancellation.race(new Promise<never>(() => undefined)));
  const listing = catalog.list(definitionOf('files'), silent);
  await clock.advance(4 * limits.listTimeoutMs + 250 + 500 + 1_000);
  await listing;
  expect([silent.cursors.length, catalog.get('files')?.error?.code, clock.pending()]).toEqual([
    4,
    'STARTUP_TIMEOUT',
    0,
  ]);
});

test('what waits to be fetched again is given up at once when its server is gone, or has another session', async () => {
  const { catalog, clock } = setUp();
  const failing = createSession(() => broken);
  const given = catalog.list(definitionOf('files'), failing);
  await clock.advance(100);
  catalog.remove('files');
  await given;
  const former = catalog.list(definitionOf('files'), failing);
  await clock.advance(100);
  await catalog.list(definitionOf('files'), sessionWith('read'));
  await former;
  expect([failing.cursors.length, clock.pending(), catalog.get('files')?.error]).toEqual([2, 0, undefined]);
});

verifies('REC-11', 'tools of a server that is gone for now stay, marked stale, under the same revision', async () => {
  const { catalog, events, freshness } = setUp();
  await catalog.list(definitionOf('files'), sessionWith('read'));
  await catalog.list(definitionOf('web'), sessionWith('get'));
  const { revision } = catalog.snapshot();
  catalog.stale('files');
  catalog.stale('nobody');
  expect(freshness()).toEqual(['mcp__files__read stale', 'mcp__web__get live']);
  await catalog.list(definitionOf('files'), sessionWith('read'));
  expect(freshness()).toEqual(['mcp__files__read live', 'mcp__web__get live']);
  expect([catalog.snapshot().revision, events.length], 'nobody is told').toEqual([revision, 2]);
});

verifies('REC-09', 'after a reconnect the list is news only if a byte of it differs', async () => {
  const { catalog, events } = setUp();
  const describe = (description: string) =>
    createSession(() => ({ kind: 'result', result: { tools: [{ name: 'read', description }] } }));
  await catalog.list(definitionOf('files'), describe('Reads.'));
  for (const description of ['Reads.', 'Reads!', 'Reads!']) {
    catalog.stale('files');
    await catalog.list(definitionOf('files'), describe(description));
  }
  expect(events.map((event) => event.type === 'catalog.changed' && [event.added, event.changed])).toEqual([
    [['mcp__files__read'], []],
    [[], ['mcp__files__read']],
  ]);
});

verifies('STA-05', 'what is remembered of a server is offered as such until it lists its tools itself', async () => {
  const { catalog, freshness } = setUp();
  const tools = ['read', 'secret'].map((name) => ({ name, inputSchema: {} }));
  const known = { tools, problems: [], listedAt: 5 };
  const definition = definitionOf('files', { disabledTools: ['secret'] });
  catalog.adopt([[definition, known]]);
  expect([freshness(), catalog.get('files')?.hidden]).toEqual([['mcp__files__read cached'], ['secret']]);
  await catalog.list(definition, sessionWith('read', 'write'));
  catalog.adopt([[definition, known]]);
  expect(freshness()).toEqual(['mcp__files__read live', 'mcp__files__write live']);
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

test('what was left out is told once, however often it is listed, and again only when it was gone', async () => {
  const { catalog, events } = setUp();
  const definition = definitionOf('files');
  const problems = ['a tool without a name was left out'];
  catalog.adopt([[definition, { tools: [], problems, listedAt: 5 }]]);
  const told = () => events.filter(({ type }) => type === 'catalog.problem-found').length;
  expect([told(), catalog.get('files')?.problems], 'what is remembered is told too').toEqual([1, problems]);
  let tools: unknown[] = [{ name: '' }];
  const session = createSession(() => ({ kind: 'result', result: { tools } }));
  for (let n = 0; n < 3; n++) await catalog.list(definition, session);
  catalog.stale('files');
  await catalog.list(definition, session);
  expect(told()).toBe(1);
  tools = [];
  await catalog.list(definition, session);
  tools = [{ name: '' }];
  await catalog.list(definition, session);
  expect(told()).toBe(2);
});

describe('a server that says again and again that its list has changed', () => {
  const minute = async (clock: FakeClock, say: () => void) => {
    for (let ms = 0; ms < 60_000; ms += 250) {
      say();
      await clock.advance(250);
    }
  };

  verifies('RES-07', 'is asked ever more seldom, and about once a minute in the end', async () => {
    const { catalog, clock } = setUp();
    const definition = definitionOf('files');
    const session = createSession(() => {
      // Sent before the answer, as well as after it.
      catalog.announce(definition, session);
      return page(['read']);
    });
    await catalog.list(definition, session);
    const counts: number[] = [];
    for (let n = 0; n < 5; n++) {
      const before = session.cursors.length;
      await minute(clock, () => catalog.announce(definition, session));
      counts.push(session.cursors.length - before);
    }
    expect(counts[0]).toBeLessThanOrEqual(10);
    expect(Math.max(...counts.slice(2))).toBe(1);
    catalog.remove('files');
    await clock.advance(0);
    expect(clock.pending()).toBe(0);
  });

  test('is believed sooner where each list brings something new', async () => {
    const { catalog, clock, names } = setUp();
    const definition = definitionOf('files');
    let edition = 0;
    const session = createSession(() => page([`read_${++edition}`]));
    await catalog.list(definition, session);
    for (let n = 0; n < 3; n++) await minute(clock, () => catalog.announce(definition, session));
    const before = edition;
    await minute(clock, () => catalog.announce(definition, session));
    expect(edition - before).toBeGreaterThanOrEqual(14);
    expect(edition - before).toBeLessThanOrEqual(15);
    expect(names()).toEqual([`mcp__files__read_${edition}`]);
  });

  test('is as quick as any other once it has rested', async () => {
    const { catalog, clock } = setUp();
    const definition = definitionOf('files');
    const session = sessionWith('read');
    await catalog.list(definition, session);
    await minute(clock, () => catalog.announce(definition, session));
    await clock.advance(120_000);
    const before = session.cursors.length;
    catalog.announce(definition, session);
    await clock.advance(limits.listChangedMs);
    expect(session.cursors.length).toBe(before + 1);
  });
});

verifies(
  'ERR-04',
  'a change that could not be fetched is asked for again, although its server tells of changes',
  async () => {
    const { catalog, clock, names } = setUp();
    const definition = definitionOf('files');
    const answers = [page(['old']), broken, broken, broken, broken, page(['new'])];
    const session = createSession(() => answers.shift() ?? broken, { capabilities: { tools: { listChanged: true } } });
    await catalog.list(definition, session);
    catalog.announce(definition, session);
    await clock.advance(limits.listChangedMs + 1_750);
    expect([names(), catalog.get('files')?.error?.code]).toEqual([['mcp__files__old'], 'PROTOCOL_BROKEN']);
    await clock.advance(limits.listFailedMs - 1);
    catalog.revalidate();
    await clock.advance(0);
    expect(names()).toEqual(['mcp__files__old']);
    await clock.advance(1);
    catalog.revalidate();
    await clock.advance(0);
    expect([names(), catalog.get('files')?.error, session.cursors.length]).toEqual([['mcp__files__new'], undefined, 6]);
    await clock.advance(3_600_000);
    catalog.revalidate();
    await clock.advance(0);
    expect(session.cursors.length, 'what is known again is left to its server').toBe(6);
  },
);

test('who waits for the latest list has it afterwards', async () => {
  const { catalog, names } = setUp();
  const slow = createDeferred<RequestOutcome>();
  void catalog.list(
    definitionOf('files'),
    createSession(() => slow.promise),
  );
  const listed = catalog.listed('files').then(names);
  slow.resolve(page(['read']));
  expect(await listed).toEqual(['mcp__files__read']);
  await catalog.listed('nobody');
});

verifies(
  'TRU-02',
  'tools of a server that is set aside are listed for people, and take nothing from a turn',
  async () => {
    const events: CatalogEvent[] = [];
    const aside = new Set(['theirs']);
    const isSetAside = (server: string) => aside.has(server);
    const catalog = new Catalog({ clock: createFakeClock(), emit: (event) => events.push(event), isSetAside });
    // In this style two tools of one name would both get a hash.
    catalog.configure({ naming: { style: 'bare' }, toolCacheTtlMs: 0 });
    await catalog.list(definitionOf('mine'), sessionWith('read'));
    const before = catalog.snapshot();
    await catalog.list(definitionOf('theirs'), sessionWith('read', 'xyzzyword'));
    expect(catalog.snapshot()).toBe(before);
    expect([catalog.search('xyzzyword'), catalog.nearestWords('xyzzywor')]).toEqual([[], []]);
    expect(catalog.everything().map(({ id }) => id.server)).toEqual(['mine', 'theirs', 'theirs']);
    expect(events.filter(({ type }) => type === 'catalog.changed').length).toBe(1);

    aside.clear();
    catalog.reconsider('theirs');
    expect(catalog.snapshot().tools.length).toBe(3);
    expect(catalog.search('xyzzyword').length).toBe(1);
    aside.add('theirs');
    catalog.reconsider('theirs');
    expect(catalog.snapshot().tools.map(({ name }) => name)).toEqual(['read']);
  },
);
describe('an edited entry', () => {
  const live = (settings: Parameters<typeof definitionOf>[1] = {}) => definitionOf('files', settings);

  verifies('LIF-07', 'filters the list that is there, and counts for one that is being fetched', async () => {
    const { catalog, names, freshness } = setUp();
    const session = sessionWith('a', 'b');
    await catalog.list(live(), session);
    catalog.edit(live({ disabledTools: ['a'] }));
    expect([names(), catalog.get('files')?.hidden, freshness()]).toEqual([
      ['mcp__files__b'],
      ['a'],
      ['mcp__files__b live'],
    ]);
    const answer = createDeferred<RequestOutcome>();
    const listing = catalog.list(
      live(),
      createSession(() => answer.promise),
    );
    catalog.edit(live({ disabledTools: ['b'] }));
    answer.resolve(page(['a', 'b', 'c']));
    await listing;
    expect(names()).toEqual(['mcp__files__a', 'mcp__files__c']);
    catalog.edit(live());
    expect(names()).toEqual(['mcp__files__a', 'mcp__files__b', 'mcp__files__c']);
  });

  verifies('LIF-07', 'decides how long the list that is there counts as fresh', async () => {
    const { catalog, clock } = setUp();
    const session = sessionWith('a');
    await catalog.list(live(), session);
    await clock.advance(60_000);
    catalog.revalidate();
    catalog.edit(live({ toolCacheTtlMs: 60_001 }));
    catalog.revalidate();
    expect(session.cursors).toHaveLength(1);
    await clock.advance(1);
    catalog.revalidate();
    await clock.advance(0);
    expect(session.cursors).toHaveLength(2);
  });

  verifies('LIF-07', 'of another launch keeps the list until there is a better one', async () => {
    const clock = createFakeClock();
    const kept: unknown[] = [];
    const catalog = new Catalog({
      clock,
      emit: () => undefined,
      sourceOf: ({ settings }) => settings.title ?? '',
      onListed: ({ settings }) => kept.push(settings.title),
    });
    const shown = () => catalog.snapshot().tools.map(({ id, source, freshness }) => [id.tool, source, freshness]);
    const former = sessionWith('a');
    await catalog.list(live({ title: 'one' }), former);
    catalog.edit(live({ title: 'two' }));
    catalog.edit(live({ title: 'two' }));
    expect(kept, 'no list of a former launch is cached as that of the next').toEqual(['one']);
    catalog.stale('files');
    catalog.announce(live({ title: 'two' }), former);
    await clock.advance(limits.listChangedMs);
    expect([shown(), former.cursors.length], 'the former session is not asked any more').toEqual([
      [['a', 'two', 'stale']],
      1,
    ]);
    const cached = { ...healthyTools([{ name: 'b', inputSchema: { type: 'object' } }]), listedAt: 0 };
    catalog.adopt([[live({ title: 'two' }), cached]]);
    expect(shown()).toEqual([['b', 'two', 'cached']]);
    catalog.adopt([[live({ title: 'two' }), { ...cached, tools: [] }]]);
    expect(shown(), 'which is not replaced by another from the disk').toEqual([['b', 'two', 'cached']]);
  });
});
