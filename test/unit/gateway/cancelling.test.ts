// Owns the proof that a call that its client gives up is cancelled at its server, in each combination of eras: by a notification of a
// legacy client or the closed stream of a modern one, as a notification to a legacy server or by closing the stream of a modern one.

import { describe, expect, test } from 'vitest';
import type { ServedMethod } from '../../../src/serving/service.ts';
import { waitFor } from '../../wait-for.ts';
import { echoService, modernMeta, serveHttp } from '../serving/served.ts';
import { type Fronted, front } from './fronted.ts';
import { createManualServer } from './manual-server.ts';

const call = { name: 'wait', arguments: {} };
const eras = ['legacy', 'modern'] as const;

/** With how many of its calls run, and how many were cancelled. */
const servers = {
  legacy: async () => {
    const { entry, calls, received } = createManualServer();
    const cancelled = () => received.filter(({ method }) => method === 'notifications/cancelled').length;
    return { entry, running: () => calls.length, cancelled };
  },
  modern: async () => {
    let [running, cancelled] = [0, 0];
    const { methods, ...service } = echoService();
    const wait: ServedMethod = ({ signal }) => {
      running++;
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          cancelled++;
          reject(signal.reason);
        });
      });
    };
    const tools = [{ name: 'wait', inputSchema: { type: 'object' } }];
    const own = { ...methods, 'tools/list': () => ({ tools }), 'tools/call': wait };
    const { url } = await serveHttp({ service: { ...service, methods: own } });
    return { entry: { url }, running: () => running, cancelled: () => cancelled };
  },
};

/** Begins a call; resolves with how to give it up, which resolves once the client is rid of it. */
const clients = {
  async legacy(fronted: Fronted) {
    const session = await fronted.open('/mcp/s/s');
    const running = session.request('tools/call', call);
    return async () => {
      await session.notify('notifications/cancelled', { requestId: 1 });
      await running;
    };
  },
  async modern({ url }: Fronted) {
    const leaving = new AbortController();
    const running = fetch(`${url}/mcp/s/s`, {
      method: 'POST',
      signal: leaving.signal,
      headers: {
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'wait' },
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...call, _meta: modernMeta() } }),
    }).catch(String);
    return async () => {
      leaving.abort();
      await running;
    };
  },
};

describe.each(eras)('a %s server', (server) => {
  test.each(eras)('hears that a %s client has given its call up', async (client) => {
    const { entry, running, cancelled } = await servers[server]();
    const fronted = await front({ s: entry });
    const giveUp = await clients[client](fronted);
    await waitFor(() => expect(running()).toBe(1));
    await giveUp();
    await waitFor(() => expect(cancelled()).toBe(1));
    await waitFor(() => {
      const { servers: measured, unanswered } = fronted.gateway.measures();
      const { inFlight, outcomes } = measured.get('s') ?? expect.fail('no call was counted');
      expect([inFlight, unanswered, Object.fromEntries(outcomes)]).toEqual([0, 0, { cancelled: 1 }]);
    });
  });
});
