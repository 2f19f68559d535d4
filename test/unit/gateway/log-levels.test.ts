// Owns the proof of which log level a legacy server is told: the most verbose that any client wants, before the call that wants it, and no
// less than its entry says; and whose a log message is that came on the stream of a call.

import { expect, test } from 'vitest';
import { GatewayFleet } from '../../../src/gateway/gateway-fleet.ts';
import type { ServerLine } from '../../../src/gateway/server-line.ts';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { ServedMethod } from '../../../src/serving/service.ts';
import { createFolder, createRawServer, start } from '../../e2e/runtimes.ts';
import { waitFor } from '../../wait-for.ts';
import { echoService, serveHttp } from '../serving/served.ts';
import { front } from './fronted.ts';
import { createManualServer } from './manual-server.ts';

const loggingServer = () =>
  createRawServer(
    { tools: {}, resources: {}, logging: {} },
    {
      'resources/list': () => ({ resources: [] }),
      'resources/read': () => ({ contents: [] }),
      'logging/setLevel': () => ({}),
    },
  );
const toldTo = ({ received }: ReturnType<typeof loggingServer>) =>
  received('logging/setLevel').map(({ params }) => (params as JsonObject)['level']);

test.each(['legacy', 'modern'] as const)(
  'the first request of a %s client starts the server, which is told the level first',
  async (era) => {
    const server = loggingServer();
    const order: string[] = [];
    const fronted = await front({
      s: {
        lifecycle: 'lazy',
        async serve(channel) {
          await server.entry.serve(channel);
          const { onmessage } = channel;
          channel.onmessage = (message) => {
            order.push(String(message['method']));
            onmessage?.(message);
          };
        },
      },
    });
    const uri = 'note://1';
    if (era === 'modern') {
      const meta = { 'io.modelcontextprotocol/logLevel': 'debug' };
      await fronted.modern('/mcp', 'resources/read', { uri: `plexus://s/${uri}` }, { meta });
    } else {
      const session = await fronted.open('/mcp');
      await session.request('logging/setLevel', { level: 'debug' });
      await session.request('resources/read', { uri: `plexus://s/${uri}` });
    }
    expect(toldTo(server)).toEqual(['debug']);
    expect(order.filter((method) => /setLevel|read/.test(method))).toEqual(['logging/setLevel', 'resources/read']);
  },
);

test('a level that is wanted while a call runs is told at once', async () => {
  const server = createManualServer();
  const fronted = await front({ s: server.entry });
  const session = await fronted.open('/mcp/s/s');
  const running = session.request('tools/call', { name: 'wait', arguments: {} });
  await waitFor(() => expect(server.calls).toHaveLength(1));
  await session.request('logging/setLevel', { level: 'debug' });
  await waitFor(() =>
    expect(server.received.filter(({ method }) => method === 'logging/setLevel')).toMatchObject([
      { params: { level: 'debug' } },
    ]),
  );
  server.answer(server.calls[0], 'done');
  await running;
});

test('of two clients the more verbose counts, and of two workspaces that share a server too', async () => {
  const servers = [loggingServer(), loggingServer()];
  const lines = new Map<string, ServerLine>();
  const fleets = await Promise.all(
    servers.map(async ({ entry }) => {
      const runtime = await start(createFolder(), { servers: { s: { ...entry, share: 'machine' } } });
      return new GatewayFleet(runtime, undefined, lines);
    }),
  );
  await Promise.all(fleets.map((fleet) => fleet.session('s')));
  for (const level of ['info', 'debug', 'error'] as const) fleets[0]?.wantLogLevel('s', level);
  fleets[1]?.wantLogLevel('s', 'error');
  await waitFor(() => expect(servers.map(toldTo)).toEqual([['info', 'debug'], ['debug']]));
});

test('a client that wants less than the entry of the server says changes nothing', async () => {
  const server = loggingServer();
  const fronted = await front({ s: { ...server.entry, logLevel: 'info' } });
  const session = await fronted.open('/mcp');
  for (const level of ['error', 'debug']) {
    await session.request('logging/setLevel', { level });
    await session.request('tools/call', { name: 's__echo', arguments: {} });
  }
  expect(toldTo(server)).toEqual(['info', 'debug']);
});

test('a log message on the stream of a call belongs to that call, also while other clients call', async () => {
  const both = createDeferred<void>();
  const waiting: unknown[] = [];
  const { methods, ...service } = echoService();
  const say: ServedMethod = async (called) => {
    waiting.push(called);
    if (waiting.length === 2) both.resolve();
    await both.promise;
    called.log('info', called.params['arguments']);
    return { content: [] };
  };
  const tools = [{ name: 'say', inputSchema: { type: 'object' } }];
  const own = { ...methods, 'tools/list': () => ({ tools }), 'tools/call': say };
  const { url } = await serveHttp({ service: { ...service, methods: own } });
  const fronted = await front({ s: { url } });
  const logged = async (who: string) => {
    const params = { name: 'say', arguments: { who } };
    const meta = { 'io.modelcontextprotocol/logLevel': 'info' };
    const { events } = await fronted.modern('/mcp/s/s', 'tools/call', params, { meta });
    return events.flatMap(({ method, params: said }) =>
      method === 'notifications/message' ? [(said as JsonObject)['data']] : [],
    );
  };
  expect(await Promise.all(['ada', 'bob'].map(logged))).toEqual([[{ who: 'ada' }], [{ who: 'bob' }]]);
});
