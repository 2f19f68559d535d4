// Owns the proof of what a list says besides its items: how long it holds and for whom, and which of its servers is missing and why. A
// list that could not be fetched is not told as an empty one.

import { expect, test } from 'vitest';
import { GatewayFleet } from '../../../src/gateway/gateway-fleet.ts';
import { lifeOf, requireList, stateOf } from '../../../src/gateway/list-life.ts';
import { statusResult } from '../../../src/gateway/status-tool.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { ServedMethod, Service } from '../../../src/serving/service.ts';
import { createFakeClock, type FakeClock } from '../../../src/testing/fake-clock.ts';
import { createFolder, createRawServer, start } from '../../e2e/runtimes.ts';
import { verifies } from '../../verifies.ts';
import { echoService, serveHttp } from '../serving/served.ts';
import { type Fronted, front } from './fronted.ts';

const lists = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'] as const;
const HOUR = 3_600_000;

/** A modern server over HTTP that says so of its lists and of what is read. */
async function cachingServer(life: JsonObject, more: Service['methods'] = {}) {
  const { methods, ...service } = echoService({ keepsRequestState: true });
  const said =
    (method: ServedMethod): ServedMethod =>
    async (call) => ({ ...(await method(call)), ...life });
  const own = Object.fromEntries(
    Object.entries(methods).map(([name, method]) => [
      name,
      name.endsWith('/list') || name === 'resources/read' ? said(method) : method,
    ]),
  );
  const { url } = await serveHttp({ service: { ...service, methods: { ...own, ...more } } });
  return { url };
}

async function lifeAt(fronted: Fronted, path: string, method: string, params: JsonObject = {}) {
  const { ttlMs, cacheScope } = (await fronted.modern(path, method, params)).message['result'] as JsonObject;
  return [ttlMs, cacheScope];
}

const within = (most: number) => expect.toSatisfy((ms) => Number.isInteger(ms) && ms > most - 600_000 && ms <= most);

test('a list of several servers holds as long as the shortest, and is private if any is', async () => {
  const [hour, two, secret] = await Promise.all([
    cachingServer({ ttlMs: HOUR, cacheScope: 'public' }),
    cachingServer({ ttlMs: 2 * HOUR, cacheScope: 'public' }),
    cachingServer({ ttlMs: 2 * HOUR, cacheScope: 'private' }),
  ]);
  const open = await front({ hour, two });
  for (const method of lists) expect(await lifeAt(open, '/mcp', method), method).toEqual([within(HOUR), 'public']);
  expect(await lifeAt(open, '/mcp/s/two', 'tools/list')).toEqual([within(2 * HOUR), 'public']);
  const mixed = await front({ hour, secret });
  for (const method of lists) expect(await lifeAt(mixed, '/mcp', method), method).toEqual([within(HOUR), 'private']);
  expect(await lifeAt(mixed, '/mcp/s/hour', 'prompts/list')).toEqual([within(HOUR), 'public']);
});

test('a server that says nothing of it, or is not up, lets no list hold', async () => {
  const hour = await cachingServer({ ttlMs: HOUR, cacheScope: 'public' });
  const legacy = await front({ hour, old: createRawServer({ tools: {} }).entry });
  expect(await lifeAt(legacy, '/mcp', 'tools/list')).toEqual([0, 'private']);
  // It has no prompts, so that it says nothing of them.
  expect(await lifeAt(legacy, '/mcp', 'prompts/list')).toEqual([within(HOUR), 'public']);
  const broken = await front({ hour, broken: { command: '/no/such/program' } });
  for (const method of lists) expect(await lifeAt(broken, '/mcp', method), method).toEqual([0, 'private']);
  const none = await front({});
  expect(await lifeAt(none, '/mcp', 'tools/list')).toEqual([0, 'private']);
});

test('a list that the server does not offer is empty, and no server is no failure', async () => {
  const server = createRawServer({ tools: {} });
  const fleet = new GatewayFleet(await start(createFolder(), { servers: { s: server.entry } }));
  await fleet.whenToolsListed('s');
  expect(stateOf(fleet, 'prompts', 's')).toBeUndefined();
  requireList(fleet, 'prompts', 's');
  expect(lifeOf(fleet, 'prompts', ['s'])).toEqual({ ttlMs: 0, cacheScope: 'private' });
  expect(stateOf(fleet, 'tools', 's')).toMatchObject({ size: 1 });
  expect(statusResult([], () => undefined)).toMatchObject({ content: [{ text: 'No server is configured.' }] });
});

test('a client of the older era is told nothing of it', async () => {
  const session = await (await front({ s: await cachingServer({ ttlMs: HOUR, cacheScope: 'public' }) })).open(
    '/mcp/s/s',
  );
  for (const method of lists) {
    const { result } = (await session.request(method)).message;
    for (const key of ['ttlMs', 'cacheScope', 'resultType']) expect(result, method).not.toHaveProperty(key);
  }
});

test('what is read holds as its server says, but for the answer to what the client was asked', async () => {
  const asks: ServedMethod = ({ params: { uri, inputResponses } }) =>
    inputResponses === undefined && uri === 'ask://1'
      ? { resultType: 'input_required', inputRequests: { who: question }, requestState: 'mine' }
      : { contents: [{ uri: String(uri), text: 'read' }], ttlMs: HOUR, cacheScope: 'public' };
  const s = await cachingServer({}, { 'resources/read': asks });
  const capabilities = { elicitation: {} };
  const fronted = await front({ s });
  expect(await lifeAt(fronted, '/mcp/s/s', 'resources/read', { uri: 'note://1' })).toEqual([HOUR, 'public']);
  const read = async (more: JsonObject) =>
    (await fronted.modern('/mcp/s/s', 'resources/read', { uri: 'ask://1', ...more }, { capabilities })).message[
      'result'
    ];
  const { requestState } = (await read({})) as JsonObject;
  const inputResponses = { who: { action: 'accept', content: {} } };
  expect(await read({ requestState, inputResponses })).toMatchObject({
    ...{ contents: [{ text: 'read' }], ttlMs: 0, cacheScope: 'private' },
  });
});

const question = {
  method: 'elicitation/create',
  params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
};

const fail = (what: string) => () => {
  throw new Error(what);
};

/** Time passes until the answer is there. */
async function inTime<Value>(clock: FakeClock, answer: Promise<Value>): Promise<Value> {
  let isThere = false;
  const arrived = () => {
    isThere = true;
  };
  answer.then(arrived, arrived);
  while (!isThere) {
    await clock.advance(500);
    await new Promise(setImmediate);
  }
  return answer;
}

/** A server that is up, and whose lists all fail. */
const listless = () =>
  createRawServer(
    { tools: {}, resources: {}, prompts: {} },
    Object.fromEntries(lists.map((method) => [method, fail(`no ${method} today`)])),
  );

verifies(
  'EXT-37',
  'a server that is up and does not list is told with the reason, in every list and by plexus_status',
  async () => {
    const good = createRawServer(
      { tools: {}, resources: {}, prompts: {} },
      {
        'resources/list': () => ({ resources: [{ uri: 'note://1', name: 'note' }] }),
        'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'note://{id}', name: 'note' }] }),
        'prompts/list': () => ({ prompts: [{ name: 'hello' }] }),
      },
    );
    const clock = createFakeClock();
    const fronted = await inTime(clock, front({ good: good.entry, bad: listless().entry }, { runtime: { clock } }));
    for (const method of lists) {
      const result = (await inTime(clock, fronted.modern('/mcp', method))).message['result'] as JsonObject;
      const items = Object.values(result).find((value) => Array.isArray(value)) as unknown[];
      expect(items.length, method).toBeGreaterThan(0);
      const outcomes = (result['_meta'] as JsonObject)['plexus/servers'] as Record<string, JsonObject>;
      expect(outcomes['bad'], method).toEqual({
        ...{ state: 'connected', tools: 0, reason: expect.stringContaining(`no ${method} today`) },
      });
      expect(outcomes['good'], method).toEqual({ state: 'connected', tools: 1 });
    }
    const told = await fronted.modern('/mcp', 'tools/call', { name: 'plexus_status', arguments: {} });
    expect(told.message['result']).toMatchObject({
      content: [{ text: expect.stringMatching(/bad: connected, 0 tools\. .*no tools\/list today/) }],
      structuredContent: { servers: { bad: { reason: expect.stringContaining('no tools/list today') } } },
    });
  },
);

verifies(
  'EXT-33',
  'a single server that is up and does not list answers with a status, and no empty list',
  async () => {
    const clock = createFakeClock();
    const fronted = await inTime(clock, front({ bad: listless().entry }, { runtime: { clock } }));
    for (const method of lists) {
      const { status, message } = await inTime(clock, fronted.modern('/mcp/s/bad', method));
      expect([status, message['error']?.['message']], method).toEqual([
        502,
        expect.stringContaining(`no ${method} today`),
      ]);
    }
    expect((await fronted.modern('/mcp/s/bad', 'server/discover')).status).toBe(200);
    const session = await fronted.open('/mcp/s/bad');
    const listed = await session.request('prompts/list');
    expect([listed.status, listed.message['error']?.['message']]).toEqual([
      502,
      expect.stringContaining('no prompts/list today'),
    ]);
  },
);

verifies(
  'EXT-33',
  'a single server that does not answer in time for its list is 504, and not without items',
  async () => {
    const clock = createFakeClock();
    const servers = {
      slow: createRawServer({ tools: {}, prompts: {} }, { 'prompts/list': () => new Promise(() => undefined) }).entry,
    };
    const fronted = await inTime(clock, front(servers, { runtime: { clock } }));
    const { status, message } = await inTime(clock, fronted.modern('/mcp/s/slow', 'prompts/list'));
    expect([status, message['error']?.['message']]).toEqual([504, expect.stringContaining('prompts/list')]);
    const merged = (await inTime(clock, fronted.modern('/mcp', 'prompts/list'))).message['result'];
    expect(merged).toMatchObject({
      prompts: [],
      _meta: { 'plexus/servers': { slow: { state: 'connected', reason: expect.stringContaining('prompts/list') } } },
    });
  },
);
