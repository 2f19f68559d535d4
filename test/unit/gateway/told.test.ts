// Owns the proof of what clients are told beside results: which server is down, what an app needs, progress, log messages, changes, and how a
// call ends that its client gives up; and that a question of a server with several callers is nobody's.

import { expect, test } from 'vitest';
import { openProfile } from '../../../src/gateway/profiles.ts';
import { isObject, type JsonObject } from '../../../src/kernel/json.ts';
import type { Message } from '../../../src/model/server.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { createRawServer } from '../../e2e/runtimes.ts';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';
import { front } from './fronted.ts';
import { createManualServer } from './manual-server.ts';

verifies(
  'EXT-37',
  'a broken server empties no list, and a model is told why it is missing and what to do',
  async () => {
    const fronted = await front({ good: createRawServer({ tools: {} }).entry, bad: { command: '/no/such/program' } });
    const { message, status } = await fronted.modern('/mcp', 'tools/list');
    const { tools, _meta: meta } = message['result'] as { tools: JsonObject[]; _meta: JsonObject };
    expect([status, tools.map(({ name }) => name)]).toEqual([200, ['good__echo', 'plexus_status']]);
    const outcomes = meta['plexus/servers'] as Record<string, JsonObject>;
    expect(outcomes['good']).toEqual({ state: 'connected', tools: 1 });
    expect(outcomes['bad']).toMatchObject({ state: 'blocked', reason: expect.stringContaining('/no/such/program') });
    const told = await fronted.modern('/mcp', 'tools/call', { name: 'plexus_status', arguments: {} });
    expect(told.message['result']).toMatchObject({
      content: [{ text: expect.stringMatching(/bad: blocked.*\/no\/such\/program.*Install/s) }],
      structuredContent: { servers: { good: { state: 'connected' } } },
    });
    for (const method of ['resources/list', 'prompts/list', 'resources/templates/list'])
      expect((await fronted.modern('/mcp', method)).message['result']?.['_meta']).toMatchObject({
        'plexus/servers': { bad: { state: 'blocked' } },
      });
    const single = await fronted.modern('/mcp/s/bad', 'tools/list');
    expect([single.status, single.message['error']?.['message']]).toEqual([
      502,
      expect.stringContaining('/no/such/program'),
    ]);
    const called = await fronted.modern('/mcp/s/bad', 'tools/call', { name: 'x', arguments: {} });
    expect([called.status, called.message['result']?.['isError']]).toEqual([200, true]);
  },
);

verifies('EXT-39', 'apps survive: ui:// resources, the link to them, and tools that only an app calls', async () => {
  const app = (tool: string, visibility?: readonly string[]) => ({
    ...{ name: tool, inputSchema: { type: 'object' } },
    _meta: {
      ui: { resourceUri: 'ui://view', ...(visibility && { visibility }) },
      ...{ 'ui/resourceUri': 'ui://view', other: 1 },
    },
  });
  const server = () =>
    createRawServer(
      { tools: {}, resources: {} },
      {
        'tools/list': () => ({ tools: [app('show'), app('refresh', ['app'])] }),
        'resources/list': () => ({ resources: [{ uri: 'ui://view', name: 'view', mimeType: 'text/html' }] }),
        'resources/templates/list': () => ({ resourceTemplates: [] }),
        'resources/read': () => ({ contents: [{ uri: 'ui://view', text: '<p>' }] }),
      },
    );
  const alone = await front({ a: server().entry });
  await alone.modern('/mcp', 'resources/list');
  const shown = async (fronted: typeof alone, capabilities: JsonObject = {}) =>
    (await fronted.modern('/mcp', 'tools/list', {}, { capabilities })).message['result']?.['tools'] as JsonObject[];
  expect(await shown(alone)).toMatchObject([
    { name: 'a__show', _meta: { ui: { resourceUri: 'ui://view' }, other: 1 } },
    { name: 'plexus_status' },
  ]);
  const withApps = { extensions: { 'io.modelcontextprotocol/ui': {} } };
  expect((await shown(alone, withApps)).map(({ name }) => name)).toEqual(['a__refresh', 'a__show', 'plexus_status']);
  const search = { default: { ...openProfile, expose: 'search' as const } };
  const searching = await front({ a: server().entry }, { profiles: search });
  const found = async (args: JsonObject) =>
    JSON.stringify(
      (await searching.modern('/mcp', 'tools/call', { name: 'mcp_search', arguments: args })).message['result'],
    );
  expect(await found({ query: 'show' })).toContain('mcp__a__show');
  expect(await found({ select: ['mcp__a__refresh'] })).toContain('There is no tool');
  expect(await found({ server: 'a' })).not.toContain('mcp__a__refresh');
  const two = await front({ a: server().entry, b: server().entry });
  expect(await shown(two)).toMatchObject([
    { name: 'a__show', _meta: { ui: { resourceUri: 'ui://plexus/a/view' }, 'ui/resourceUri': 'ui://plexus/a/view' } },
    { name: 'b__show', _meta: { ui: { resourceUri: 'ui://plexus/b/view' }, other: 1 } },
    { name: 'plexus_status' },
  ]);
  const { resources } = (await two.modern('/mcp', 'resources/list')).message['result'] as { resources: JsonObject[] };
  expect(resources.map(({ uri }) => uri)).toEqual(['ui://plexus/a/view', 'ui://plexus/b/view']);
  const read = await two.modern('/mcp', 'resources/read', { uri: 'ui://plexus/b/view' });
  expect(read.message['result']).toMatchObject({ contents: [{ uri: 'ui://plexus/b/view', text: '<p>' }] });
});

const call = { name: 'wait', arguments: {} };
const tokenOf = ({ params }: Message) =>
  isObject(params) && isObject(params['_meta']) ? params['_meta']['progressToken'] : undefined;

test('progress and log messages reach the client that called, and progress comes at least every 15 s', async () => {
  const clock = createFakeClock();
  const server = createManualServer();
  const fronted = await front({ s: server.entry }, { clock });
  const session = await fronted.open('/mcp/s/s');
  await session.request('logging/setLevel', { level: 'info' });
  const params = { ...call, _meta: { progressToken: 'mine' } };
  const answering = session.answering('tools/call', params, () => ({}));
  await waitFor(() => expect(server.calls).toHaveLength(1));
  expect(server.received.filter(({ method }) => method === 'logging/setLevel')).toMatchObject([
    { params: { level: 'info' } },
  ]);
  const [running] = server.calls;
  const progressToken = running && tokenOf(running);
  server.send({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 3, message: 'one' } });
  server.send({ method: 'notifications/message', params: { level: 'warning', data: 'careful' } });
  server.send({ method: 'notifications/message', params: { level: 'debug', data: 'chatter' } });
  const told = () =>
    session.heard.filter(({ method }) => method !== 'notifications/message').map(({ params: said }) => said);
  await waitFor(() => expect(told()).toHaveLength(1));
  await clock.advance(15_000);
  await waitFor(() => expect(told()).toHaveLength(2));
  server.answer(running, 'done');
  expect(await answering).toMatchObject({ result: { content: [{ text: 'done' }] } });
  expect(told()).toEqual([
    { progressToken: 'mine', progress: 1, total: 3, message: 'one' },
    { progressToken: 'mine', progress: 1.000001, total: 3, message: 'one' },
  ]);
  expect(session.heard.filter(({ method }) => method === 'notifications/message')).toMatchObject([
    { params: { level: 'warning', data: 'careful' } },
  ]);
});

test('a question while several clients call is nobody’s: it is declined, and from then on they call one after the other', async () => {
  const clock = createFakeClock();
  const server = createManualServer();
  const fronted = await front({ s: server.entry }, { clock });
  const able = { capabilities: { elicitation: {} } };
  const sessions = await Promise.all([fronted.open('/mcp/s/s', able), fronted.open('/mcp/s/s', able)]);
  const asked: JsonObject[] = [];
  const start = (at: number) =>
    sessions[at]?.answering('tools/call', call, (question) => {
      asked.push(question);
      return { result: { action: 'accept', content: {} } };
    });
  const first = [start(0), start(1)];
  await waitFor(() => expect(server.calls).toHaveLength(2));
  const question = {
    method: 'elicitation/create',
    params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
  };
  server.send({ id: 'q1', ...question });
  await waitFor(() =>
    expect(server.received.find(({ id }) => id === 'q1')).toMatchObject({ result: { action: 'decline' } }),
  );
  for (const each of server.calls) server.answer(each, 'done');
  await Promise.all(first);
  const second = [start(0), start(1)];
  await waitFor(() => expect(server.calls).toHaveLength(3));
  server.send({ id: 'q2', ...question });
  await waitFor(() =>
    expect(server.received.find(({ id }) => id === 'q2')).toMatchObject({ result: { action: 'accept' } }),
  );
  expect(server.calls, 'the other client waits').toHaveLength(3);
  server.answer(server.calls[2], 'third');
  await waitFor(() => expect(server.calls).toHaveLength(4));
  server.answer(server.calls[3], 'fourth');
  expect(await Promise.all(second)).toMatchObject([{ result: {} }, { result: {} }]);
  expect(asked).toHaveLength(1);
  const third = [start(0), start(1)];
  await waitFor(() => expect(server.calls).toHaveLength(5));
  await waitFor(() => expect(fronted.gateway.measures().servers.get('s')?.queued).toBe(1));
  await clock.advance(30_000);
  expect(await Promise.race(third), 'a client that has to wait for another is told').toMatchObject({
    error: { code: -32000, message: 'Server "s" waits for the answer of another client' },
  });
  server.answer(server.calls[4], 'fifth');
  await Promise.all(third);
});

test('a call that its client cancels is cancelled at the server', async () => {
  const server = createManualServer();
  const fronted = await front({ s: server.entry });
  const session = await fronted.open('/mcp/s/s');
  const running = session.request('tools/call', call);
  await waitFor(() => expect(server.calls).toHaveLength(1));
  await session.notify('notifications/cancelled', { requestId: 1 });
  await waitFor(() => expect(server.received.map(({ method }) => method)).toContain('notifications/cancelled'));
  await running;
  expect(fronted.gateway.measures().servers.get('s')?.outcomes.get('cancelled')).toBe(1);
});

verifies('EVT-06', 'clients are told when a list changes, and a host when a session opens and closes', async () => {
  const server = createManualServer();
  const fronted = await front({ s: server.entry });
  const events: string[] = [];
  fronted.gateway.on(({ type, profile }) => events.push(`${type} ${profile}`));
  const session = await fronted.open('/mcp');
  await session.request('tools/list');
  server.send({ method: 'notifications/tools/list_changed' });
  await waitFor(() => expect(session.heard.map(({ method }) => method)).toContain('notifications/tools/list_changed'));
  fronted.gateway.endSessions(() => true);
  await waitFor(() => expect(events).toEqual(['session.opened default', 'session.closed default']));
});
