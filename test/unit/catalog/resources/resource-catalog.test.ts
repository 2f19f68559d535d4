// Owns the proof that resources and prompts are listed as promised, whatever the lists look like, and that no failure costs a
// server.

import { describe, expect, test } from 'vitest';
import { createDeferred } from '../../../../src/kernel/deferred.ts';
import type { JsonObject } from '../../../../src/kernel/json.ts';
import { limits } from '../../../../src/model/limits.ts';
import { verifies } from '../../../verifies.ts';
import { definitionOf } from '../../session.ts';
import {
  type Answers,
  createHarness,
  createResourceSession,
  listOf,
  promptsOf,
  refuse,
  resource,
} from './test-servers.ts';

const urisOf = (harness: ReturnType<typeof createHarness>, server?: string) =>
  harness.resourceCatalog.resources(server).map(({ uri }) => uri);

describe('listing', () => {
  verifies('RES-01', 'goes through all pages of resources, templates and prompts, each sorted', async () => {
    const harness = createHarness();
    const session = createResourceSession({
      'resources/list': ({ cursor }) =>
        cursor === undefined ? { resources: [resource('b:2')], nextCursor: 'more' } : { resources: [resource('a:1')] },
      'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'a:{id}', name: 'one' }] }),
      'prompts/list': promptsOf({ name: 'review', arguments: [{ name: 'code', required: true }, { name: 'how' }, 7] }),
    });
    await harness.connect('s', session);
    expect(urisOf(harness)).toEqual(['a:1', 'b:2']);
    expect(harness.resourceCatalog.templates()).toMatchObject([{ server: 's', uriTemplate: 'a:{id}', name: 'one' }]);
    expect(harness.resourceCatalog.prompts()).toMatchObject([
      {
        server: 's',
        name: 'review',
        arguments: [
          { name: 'code', required: true },
          { name: 'how', required: false },
        ],
      },
    ]);
    expect(harness.resourceCatalog.problemsOf('s')).toEqual([]);
    expect(harness.events).toEqual([
      { type: 'prompts.changed', server: 's', count: 1 },
      { type: 'resources.changed', server: 's', count: 2, templates: 1 },
    ]);
  });

  verifies('RES-01', 'asks only for what the server declares', async () => {
    const harness = createHarness();
    const neither = createResourceSession({}, { capabilities: { tools: {} } });
    await harness.connect('none', neither);
    expect(neither.asked).toEqual([]);
    const prompts = createResourceSession({ 'prompts/list': promptsOf() }, { capabilities: { prompts: {} } });
    await harness.connect('prompts', prompts);
    expect(prompts.asked.map(({ method }) => method)).toEqual(['prompts/list']);
    expect([harness.resourceCatalog.declaring('resources'), harness.resourceCatalog.declaring('prompts')]).toEqual([
      [],
      ['prompts'],
    ]);
  });

  verifies(
    ['RES-01', 'RES-02'],
    'takes a server without templates as one that has none, without a remark',
    async () => {
      const harness = createHarness();
      await harness.connect(
        's',
        createResourceSession({ 'resources/list': listOf('a:1') }, { capabilities: { resources: {} } }),
      );
      expect([urisOf(harness), harness.resourceCatalog.templates(), harness.resourceCatalog.problemsOf('s')]).toEqual([
        ['a:1'],
        [],
        [],
      ]);
    },
  );

  verifies(['RES-02', 'ERR-08'], 'keeps the resources where the templates fail, and says so', async () => {
    const harness = createHarness();
    const answers = { 'resources/list': listOf('a:1'), 'resources/templates/list': () => refuse(-32603, 'broken') };
    await harness.connect('s', createResourceSession(answers, { capabilities: { resources: {} } }));
    expect(urisOf(harness)).toEqual(['a:1']);
    const [problem] = harness.resourceCatalog.problemsOf('s');
    expect(problem).toMatch(/^its resource templates could not be listed: .*broken/);
    expect(harness.events).toContainEqual({ type: 'catalog.problem-found', server: 's', problem });
  });

  verifies(['ERR-08', 'ERR-04'], 'keeps each list for itself: one that fails leaves the others', async () => {
    const harness = createHarness();
    const answers = { 'resources/list': () => refuse(-32603, 'broken'), 'prompts/list': promptsOf({ name: 'p' }) };
    await harness.connect('s', createResourceSession(answers));
    expect(harness.resourceCatalog.prompts()).toHaveLength(1);
    expect(harness.resourceCatalog.problemsOf('s')).toEqual([
      expect.stringContaining('its resources could not be listed'),
    ]);
  });

  verifies('LIF-02', 'waits until the tools were listed, whatever became of them', async () => {
    const harness = createHarness();
    const session = createResourceSession({ 'resources/list': listOf('a:1') });
    const tools = createDeferred<void>();
    const ready = harness.resourceCatalog.onReady(definitionOf('s'), session, tools.promise);
    await harness.clock.advance(0);
    expect(session.asked).toEqual([]);
    let isListed = false;
    void harness.resourceCatalog.listed('resources').then(() => {
      isListed = true;
    });
    await harness.clock.advance(0);
    expect(isListed, 'who asks now waits too').toBe(false);
    tools.reject(new Error('no tools'));
    await ready;
    expect(urisOf(harness)).toEqual(['a:1']);
  });

  test('tries again what was lost, and tells nobody of it', async () => {
    const harness = createHarness();
    let asked = 0;
    const answers: Answers = {
      'resources/list': () => (++asked < 3 ? { kind: 'lost', sent: true } : { resources: [resource('a:1')] }),
    };
    const connected = harness.connect('s', createResourceSession(answers, { capabilities: { resources: {} } }));
    await harness.clock.advance(1_000);
    await connected;
    expect([urisOf(harness), harness.resourceCatalog.problemsOf('s'), asked]).toEqual([['a:1'], [], 3]);
  });
});

describe('a hostile list', () => {
  const page = (uris: readonly string[], nextCursor?: unknown) => ({
    resources: uris.map((uri) => resource(uri)),
    ...(nextCursor !== undefined && { nextCursor }),
  });
  const endless: Record<string, [Answers[string], RegExp]> = {
    'of endless pages': [({ cursor = '0' }) => page([`a:${cursor}`], `${Number(cursor) + 1}`), /more than 100 pages/],
    'that repeats a cursor': [() => page(['a:1'], 'same'), /repeats a cursor/],
    'of too many items': [() => page(Array.from({ length: 3_000 }, (_, n) => `a:${n}`)), /more than 2048/],
    'with a giant cursor': [() => page(['a:1'], 'x'.repeat(70_000)), /cursor is longer than/],
    'with a cursor of another kind': [() => page(['a:1'], { next: 1 }), /cursor is not a text/],
    'whose second page is none': [
      ({ cursor }) => (cursor ? { resources: null } : page(['a:1'], 'x')),
      /page 2 holds no/,
    ],
  };
  for (const [name, [answer, problem]] of Object.entries(endless)) {
    verifies('RES-12', `${name} is cut off, and what came before is kept`, async () => {
      const harness = createHarness();
      await harness.connect(
        's',
        createResourceSession({ 'resources/list': answer }, { capabilities: { resources: {} } }),
      );
      expect(harness.resourceCatalog.resources().length).toBeGreaterThan(0);
      expect(harness.resourceCatalog.resources().length).toBeLessThanOrEqual(limits.listItems);
      expect(harness.resourceCatalog.problemsOf('s').join('; ')).toMatch(problem);
    });
  }

  verifies('RES-12', 'that never answers is given up after one limit for all pages', async () => {
    const harness = createHarness();
    const answers = { 'prompts/list': () => new Promise<JsonObject>(() => undefined) };
    const connected = harness.connect('s', createResourceSession(answers, { capabilities: { prompts: {} } }));
    await harness.clock.advance(limits.listTimeoutMs);
    await connected;
    expect(harness.resourceCatalog.problemsOf('s')).toEqual([
      expect.stringContaining('did not answer prompts/list within 60 s'),
    ]);
    expect(harness.clock.pending()).toBe(0);
  });

  for (const resources of [null, 'x', 7, { a: 1 }, undefined])
    test(`(${JSON.stringify(resources)}) is no list, and what was known before is kept`, async () => {
      const harness = createHarness();
      const given: { resources: unknown } = { resources: [resource('a:1')] };
      const session = createResourceSession(
        { 'resources/list': () => given },
        { capabilities: { resources: { listChanged: true } } },
      );
      await harness.connect('s', session);
      given.resources = resources;
      session.say('notifications/resources/list_changed');
      await harness.clock.advance(limits.listChangedMs);
      expect(urisOf(harness)).toEqual(['a:1']);
      expect(harness.resourceCatalog.problemsOf('s')).toEqual([expect.stringContaining('holds no list of resources')]);
    });

  test('leaves out what is broken and keeps its neighbors, with a few words about it', async () => {
    const harness = createHarness();
    const cyclic: JsonObject = { uri: 'a:cyclic', self: [] as unknown[] };
    (cyclic['self'] as unknown[]).push(cyclic);
    const odd = [cyclic, resource('a:big-number', { a: 7n })];
    const broken = [
      ...odd,
      null,
      7,
      'x',
      [],
      {},
      { uri: '' },
      { uri: 7 },
      resource('a:\u001b[2J'),
      resource('a:\u202etxt'),
    ];
    const deep = JSON.parse(`${'{"a":'.repeat(200)}1${'}'.repeat(200)}`);
    const resources = [
      ...[
        ...broken,
        resource('x'.repeat(9_000)),
        resource('a:deep', { deep }),
        resource('a:big', { a: 'x'.repeat(70_000) }),
      ],
      ...[resource('a:1', { size: -1, mimeType: 7, title: {} }), resource('a:1'), { uri: 'a:2', size: 3 }],
    ];
    await harness.connect('s', createResourceSession({ 'resources/list': () => ({ resources }) }));
    expect(harness.resourceCatalog.resources()).toMatchObject([
      { uri: 'a:1', name: 'A:1' },
      { uri: 'a:2', name: 'a:2', size: 3 },
    ]);
    expect(harness.resourceCatalog.resources()[0]).not.toHaveProperty('size');
    expect(
      harness.resourceCatalog.problemsOf('s').filter((each) => each.startsWith('a resource was left out')),
    ).toHaveLength(14);
    expect(harness.resourceCatalog.problemsOf('s').join()).toContain('"a:1" is listed twice among the resources');
    expect(harness.resourceCatalog.problemsOf('s').join()).not.toContain('\u001b');
  });

  test('of nothing but broken prompts is told of in a few lines', async () => {
    const harness = createHarness();
    const many = Array.from({ length: 101 }, (_, n) => ({ name: `a${n}` }));
    const prompts = [{ name: 'many', arguments: many }, ...Array.from({ length: 1_000 }, () => ({ name: 7 }))];
    await harness.connect(
      's',
      createResourceSession({ 'prompts/list': () => ({ prompts }) }, { capabilities: { prompts: {} } }),
    );
    expect(harness.resourceCatalog.prompts()).toEqual([]);
    expect(harness.resourceCatalog.problemsOf('s')).toHaveLength(limits.listProblems + 1);
    expect(harness.resourceCatalog.problemsOf('s').at(-1)).toBe(`and ${1_001 - limits.listProblems} more`);
  });
});

describe('a change that the server announces', () => {
  const changing = (uris: string[]) =>
    createResourceSession({ 'resources/list': () => ({ resources: uris.map((uri) => resource(uri)) }) });
  const lists = (session: ReturnType<typeof changing>) =>
    session.asked.filter(({ method }) => method === 'resources/list').length;

  verifies('RES-08', 'is listed again once, a moment later; nothing is told where nothing is new', async () => {
    const harness = createHarness();
    const uris = ['a:1'];
    const session = changing(uris);
    await harness.connect('s', session);
    const before = harness.events.length;
    for (let n = 0; n < 5; n++) session.say('notifications/resources/list_changed');
    await harness.clock.advance(limits.listChangedMs - 1);
    expect(lists(session)).toBe(1);
    await harness.clock.advance(1);
    expect([lists(session), harness.events.length]).toEqual([2, before]);
    uris.push('a:2');
    session.say('notifications/resources/list_changed');
    await harness.clock.advance(limits.listChangedMs);
    expect(urisOf(harness)).toEqual(['a:1', 'a:2']);
    expect(harness.events.at(-1)).toEqual({ type: 'resources.changed', server: 's', count: 2, templates: 0 });
  });

  verifies('RES-08', 'of the prompts is listed again in the same way', async () => {
    const harness = createHarness();
    const prompts = [{ name: 'one' }];
    const session = createResourceSession({ 'prompts/list': () => ({ prompts }) });
    await harness.connect('s', session);
    prompts.push({ name: 'two' });
    session.say('notifications/prompts/list_changed');
    await harness.clock.advance(limits.listChangedMs);
    expect(harness.resourceCatalog.prompts().map(({ name }) => name)).toEqual(['one', 'two']);
    expect(harness.events.at(-1)).toEqual({ type: 'prompts.changed', server: 's', count: 2 });
  });

  verifies('RES-08', 'is seen although it is announced without end', async () => {
    const harness = createHarness();
    const uris = ['a:1'];
    const session = changing(uris);
    await harness.connect('s', session);
    uris.push('a:2');
    for (let ms = 0; ms < 1_000; ms += 10) {
      session.say('notifications/resources/list_changed');
      await harness.clock.advance(10);
    }
    expect(urisOf(harness)).toEqual(['a:1', 'a:2']);
    expect(lists(session), 'and the server is not asked without end').toBeLessThanOrEqual(5);
  });

  verifies('RES-08', 'that is announced with every list is looked at ever more seldom', async () => {
    const harness = createHarness();
    const session = createResourceSession({
      'resources/list': () => {
        session.say('notifications/resources/list_changed');
        return { resources: [resource('a:1')] };
      },
    });
    await harness.connect('s', session);
    await harness.clock.advance(5 * 60_000);
    const before = lists(session);
    expect(before).toBeLessThanOrEqual(15);
    await harness.clock.advance(10 * 60_000);
    expect(lists(session) - before).toBeLessThanOrEqual(10);
    harness.resourceCatalog.close();
    expect(harness.clock.pending()).toBe(0);
  });

  test('that could not be fetched is asked for again, although the server tells of changes', async () => {
    const harness = createHarness();
    let isBusy = false;
    const list = () => (isBusy ? refuse(-32603, 'busy') : { prompts: [{ name: 'one' }] });
    const session = createResourceSession(
      { 'prompts/list': list },
      { capabilities: { prompts: { listChanged: true } } },
    );
    await harness.connect('s', session);
    isBusy = true;
    session.say('notifications/prompts/list_changed');
    await harness.clock.advance(5_000);
    expect(harness.resourceCatalog.problemsOf('s')).toHaveLength(1);
    isBusy = false;
    await harness.clock.advance(limits.listFailedMs);
    await harness.resourceCatalog.listed('prompts');
    await harness.clock.advance(0);
    expect(harness.resourceCatalog.problemsOf('s')).toEqual([]);
  });

  verifies('RES-08', 'while it is being listed is looked at once more', async () => {
    const harness = createHarness();
    const gates = [createDeferred<JsonObject>(), createDeferred<JsonObject>()];
    let asked = 0;
    const session = createResourceSession(
      { 'prompts/list': () => gates[asked++]?.promise ?? { prompts: [] } },
      { capabilities: { prompts: {} } },
    );
    void harness.connect('s', session);
    await harness.clock.advance(0);
    session.say('notifications/prompts/list_changed');
    await harness.clock.advance(limits.listChangedMs);
    expect(asked).toBe(1);
    gates[0]?.resolve({ prompts: [] });
    await harness.clock.advance(limits.listChangedMs);
    gates[1]?.resolve({ prompts: [{ name: 'new' }] });
    await harness.clock.advance(0);
    expect(harness.resourceCatalog.prompts().map(({ name }) => name)).toEqual(['new']);
  });

  test('by a session that is gone is not news, and what it still answers is not either', async () => {
    const harness = createHarness();
    const late = createDeferred<JsonObject>();
    const old = createResourceSession({ 'resources/list': () => late.promise });
    void harness.connect('s', old);
    await harness.clock.advance(0);
    harness.drop('s');
    const next = changing(['a:new']);
    await harness.connect('s', next);
    late.resolve({ resources: [resource('a:old')] });
    old.say('notifications/resources/list_changed');
    await harness.clock.advance(limits.listChangedMs);
    expect([urisOf(harness), lists(next)]).toEqual([['a:new'], 1]);
  });
});

describe('what is known of a server', () => {
  verifies('TDN-05', 'is gone when it is disconnected, with an event for each', async () => {
    const harness = createHarness();
    const answers = { 'resources/list': listOf('a:1'), 'prompts/list': promptsOf({ name: 'p' }) };
    await harness.connect('s', createResourceSession(answers));
    await harness.connect('t', createResourceSession(answers));
    const before = harness.events.length;
    harness.remove('s');
    expect(harness.resourceCatalog.resources().map(({ server }) => server)).toEqual(['t']);
    expect(harness.events.slice(before)).toEqual([
      { type: 'resources.changed', server: 's', count: 0, templates: 0 },
      { type: 'prompts.changed', server: 's', count: 0 },
    ]);
    harness.remove('s');
    expect(harness.events.length, 'nobody goes twice').toBe(before + 2);
  });

  verifies('TDN-01', 'is dropped with it, whatever is still on its way', async () => {
    const harness = createHarness();
    const late = createDeferred<JsonObject>();
    void harness.connect('s', createResourceSession({ 'resources/list': () => late.promise }));
    await harness.clock.advance(0);
    harness.remove('s');
    late.resolve({ resources: [resource('a:1')] });
    await harness.clock.advance(1_000);
    expect([urisOf(harness), harness.clock.pending()]).toEqual([[], 0]);
  });

  test('stays while it is away, and a reconnect without change is no news', async () => {
    const harness = createHarness();
    const answers = { 'resources/list': listOf('a:1') };
    await harness.connect('s', createResourceSession(answers));
    const before = harness.events.length;
    harness.drop('s');
    expect(urisOf(harness)).toEqual(['a:1']);
    await harness.connect('s', createResourceSession(answers));
    expect(harness.events.length).toBe(before);
    await harness.connect('s', createResourceSession({}, { capabilities: {} }));
    expect([urisOf(harness), harness.events.at(-1)?.type]).toEqual([[], 'resources.changed']);
  });

  test('is fetched again once it is old, by the server’s word or by ours', async () => {
    const harness = createHarness();
    const listing = (ttlMs: number | undefined, capabilities: JsonObject) =>
      createResourceSession(
        { 'resources/list': () => ({ resources: [], ...(ttlMs !== undefined && { ttlMs }) }) },
        { capabilities: { resources: capabilities } },
      );
    const sessions = {
      short: listing(2_000, {}),
      quiet: listing(undefined, {}),
      told: listing(undefined, { listChanged: true }),
    };
    for (const [name, session] of Object.entries(sessions)) await harness.connect(name, session);
    const counts = () =>
      Object.values(sessions).map(({ asked }) => asked.filter(({ method }) => method === 'resources/list').length);
    await harness.resources.list();
    expect(counts()).toEqual([1, 1, 1]);
    await harness.clock.advance(2_000);
    await harness.resources.list();
    expect(counts()).toEqual([2, 1, 1]);
    await harness.clock.advance(limits.resourcesFreshMs);
    await harness.resources.list();
    expect(counts()).toEqual([3, 2, 1]);
  });
});
