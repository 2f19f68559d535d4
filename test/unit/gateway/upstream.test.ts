// Owns the proof of what passes between clients and servers and what does not: the clients' own headers, results that the older era has no
// words for, a server's error that a capability is missing, and methods that the newer era has given up.

import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Access, WORKSPACE_HEADER } from '../../../src/gateway/access.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { Channel } from '../../../src/model/server.ts';
import { byToken } from '../../../src/serving/access.ts';
import { createFolder, createRawServer, start } from '../../e2e/runtimes.ts';
import { verifies } from '../../verifies.ts';
import { TOKEN } from '../serving/served.ts';
import { front } from './fronted.ts';

/** A server of the newer era that answers each method as told. */
const modernServer = (answers: Readonly<Record<string, JsonObject>>) => ({
  async serve(channel: Channel) {
    const all: Readonly<Record<string, JsonObject>> = {
      'server/discover': {
        result: { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
      },
      ...answers,
    };
    channel.onmessage = ({ id, method }) => {
      if (id === undefined) return;
      const answer = all[String(method)] ?? { error: { code: -32601, message: 'Method not found' } };
      void channel.send({ jsonrpc: '2.0', id, ...answer } as never);
    };
    await channel.start();
  },
});

const complete = (result: JsonObject) => ({
  result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...result },
});

test('what a client sends to show who it is reaches no server', async () => {
  const heard: JsonObject[] = [];
  const upstream = createServer(async (request, response) => {
    heard.push({ ...request.headers });
    const { id, method } = JSON.parse(Buffer.concat(await request.toArray()).toString() || '{}');
    const results: Readonly<Record<string, JsonObject>> = {
      initialize: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'far', version: '1' },
      },
      'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [] },
    };
    if (id === undefined) response.writeHead(request.method === 'GET' ? 405 : 202).end();
    else {
      const result = results[String(method)];
      const answer = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
    }
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void upstream.close());
  await once(upstream, 'listening');
  const { port } = upstream.address() as AddressInfo;
  const far = { url: `http://127.0.0.1:${port}/mcp`, transport: 'http' as const };
  const fronted = await front({ far }, { authenticate: byToken(TOKEN) });
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    cookie: 'who=me',
    'x-api-key': TOKEN,
    'proxy-authorization': TOKEN,
  };
  const calling = { name: 'far__echo', arguments: {} };
  const session = await fronted.open('/mcp', { headers });
  expect((await session.request('tools/call', calling)).message['result']).toEqual({ content: [] });
  const { message } = await fronted.modern('/mcp', 'tools/call', calling, { headers });
  expect(message['result']).toMatchObject({ content: [] });
  expect(heard.length).toBeGreaterThan(3);
  expect(heard.filter((sent) => /authorization|cookie|x-api-key/.test(Object.keys(sent).join()))).toEqual([]);
  expect(JSON.stringify(heard)).not.toContain(TOKEN);
});

test('structured content and schemas that are no objects go to clients of the newer era alone; the text goes to all', async () => {
  const tool = { name: 'count', inputSchema: { type: 'object' }, outputSchema: { type: 'array' } };
  const server = modernServer({
    'tools/list': complete({ tools: [tool] }),
    'tools/call': complete({ content: [{ type: 'text', text: '[1]' }], structuredContent: [1] }),
  });
  const fronted = await front({ s: server });
  const session = await fronted.open('/mcp/s/s');
  const calling = { name: 'count', arguments: {} };
  const { outputSchema: _, ...shown } = tool;
  expect((await session.request('tools/list')).message['result']).toMatchObject({ tools: [shown] });
  expect((await session.request('tools/list')).body).not.toContain('outputSchema');
  expect((await session.request('tools/call', calling)).message['result']).toEqual({
    content: [{ type: 'text', text: '[1]' }],
  });
  const listed = await fronted.modern('/mcp/s/s', 'tools/list');
  expect(listed.message['result']).toMatchObject({ tools: [tool] });
  const called = await fronted.modern('/mcp/s/s', 'tools/call', calling);
  expect(called.message['result']).toMatchObject({ content: [{ type: 'text', text: '[1]' }], structuredContent: [1] });
});

test('the error of a server that misses a capability reaches a client of the newer era with status 400', async () => {
  const error = { code: -32021, message: 'needs a person', data: { requiredCapabilities: { elicitation: {} } } };
  const server = modernServer({
    'tools/list': complete({ tools: [{ name: 'ask', inputSchema: { type: 'object' } }] }),
    'tools/call': { error },
  });
  const fronted = await front({ s: server });
  const { status, message } = await fronted.modern('/mcp/s/s', 'tools/call', { name: 'ask', arguments: {} });
  expect([status, message['error']]).toEqual([400, error]);
});

test.each(['ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe', 'initialize'])(
  '%s is no method of the newer era, also for a server of the older one',
  async (method) => {
    const fronted = await front({ s: modernServer({ 'tools/list': complete({ tools: [] }) }) });
    const { status, message } = await fronted.modern('/mcp', method, { uri: 'note://1', level: 'info' });
    expect([status, message['error']?.['code']]).toEqual([404, -32601]);
  },
);

verifies(
  'EXT-32',
  'a server introduces itself to the clients of a folder as it does there, whatever another folder has by its name',
  async () => {
    const folder = createFolder();
    const folders = ['one', 'two'].map((name) => join(folder, name));
    for (const each of folders) mkdirSync(each);
    const serverIn = (place: string) =>
      createRawServer(
        { tools: {} },
        {
          initialize: () => ({
            protocolVersion: '2025-11-25',
            capabilities: { tools: {} },
            serverInfo: { name: place, version: '1' },
          }),
        },
      ).entry;
    const fronted = await front(
      { s: serverIn('nowhere') },
      {
        authenticate: () => ({ id: 'connect', details: { mayNameWorkspace: true } satisfies Access }),
        openWorkspace: (cwd) => start(cwd, { cwd, servers: { s: serverIn(basename(cwd)) } } as never),
      },
    );
    const headersOf = (place: string | undefined) =>
      place === undefined ? {} : { [WORKSPACE_HEADER]: encodeURIComponent(place) };
    const nameAfter = async (method: string, place: string | undefined) => {
      const { message } = await fronted.modern('/mcp/s/s', method, {}, { headers: headersOf(place) });
      const meta = message['result']?.['_meta'] as Readonly<Record<string, JsonObject>>;
      return meta['io.modelcontextprotocol/serverInfo']?.['name'];
    };
    const places = [...folders, undefined];
    const names = ['one', 'two', 'nowhere'];
    const opened = places.map((place) => fronted.open('/mcp/s/s', { headers: headersOf(place) }));
    const infos = (await Promise.all(opened)).map((session) => session.opened.message['result']?.['serverInfo']);
    expect(infos).toEqual(names.map((name) => ({ name, version: '1' })));
    for (const method of ['server/discover', 'tools/list'])
      expect(await Promise.all(places.map((place) => nameAfter(method, place)))).toEqual(names);
  },
);
