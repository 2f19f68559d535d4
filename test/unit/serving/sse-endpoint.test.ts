// Owns the proof of the oldest way over HTTP, with the transport of the official SDK and with bad requests.

import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { expect, onTestFinished, test } from 'vitest';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import { createMcpServer } from '../../../src/serving/mcp-server.ts';
import { SseEndpoint } from '../../../src/serving/sse-endpoint.ts';
import { waitFor } from '../../wait-for.ts';
import { echoService, sendTo, TOKEN, tokenAccess } from './served.ts';

async function serveSse() {
  const server = createMcpServer(echoService());
  const { stream, message } = server.sse({ authenticate: tokenAccess, messages: '/messages' });
  const host = createServer((request, response) => {
    void (request.url?.startsWith('/sse') ? stream : message)(request, response);
  });
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    await server.close({ drainMs: 0 });
    host.closeAllConnections();
    await new Promise((resolve) => host.close(resolve));
  });
  return { server, url: `http://127.0.0.1:${(host.address() as AddressInfo).port}` };
}

const headers = { authorization: `Bearer ${TOKEN}` };

test('a client of the oldest kind lists, calls and is gone with its connection', async () => {
  const { server, url } = await serveSse();
  const client = new Client({ name: 'old', version: '1' });
  const transport = new SSEClientTransport(new URL(`${url}/sse`), {
    requestInit: { headers },
    eventSourceInit: {
      fetch: (target, init) => fetch(target, { ...init, headers: { ...headers, accept: 'text/event-stream' } }),
    },
  });
  await client.connect(transport as never);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo');
  expect(await client.callTool({ name: 'echo', arguments: { text: 'hi\nthere' } })).toMatchObject({
    content: [{ text: 'hi\nthere' }],
  });
  const hanging = client.callTool({ name: 'hang', arguments: {} }).catch(String);
  await waitFor(() => expect(server.counts().running).toBe(1));
  expect(server.counts()).toMatchObject({ sessions: 0, pipes: 1 });
  await client.close();
  await hanging;
  await waitFor(() => expect(server.counts().running).toBe(0));
});

test.each([
  ['without a token', 'GET', '/sse', {}, 401],
  ['with another method', 'POST', '/sse', headers, 405],
  ['for a stream that there is not', 'POST', '/messages?sessionId=x', headers, 404],
  ['under another name', 'GET', '/sse', { ...headers, host: 'evil.example' }, 403],
])('a request %s is refused', async (_, method, path, given, status) => {
  const { url } = await serveSse();
  expect((await sendTo(url, { method, path, headers: given })).status).toBe(status);
});

test('a server that stops takes no new stream', async () => {
  const { server, url } = await serveSse();
  await server.close({ drainMs: 0 });
  expect((await sendTo(url, { method: 'GET', path: '/sse', headers })).status).toBe(503);
});

test('an endpoint has one handler for each direction', () => {
  expect(Object.keys(new SseEndpoint({} as never)).sort()).toEqual(['message', 'stream']);
});

test('what authenticate throws fails one request, and is reported', async () => {
  const errors: unknown[] = [];
  const broken = new TypeError('this cookie is no JSON');
  const server = createMcpServer(echoService(), { onError: (error) => void errors.push(error) });
  const { stream } = server.sse({
    messages: '/messages',
    authenticate() {
      throw broken;
    },
  });
  const host = createServer((request, response) => void stream(request, response));
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void host.close());
  const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  expect(await sendTo(url, { method: 'GET' })).toMatchObject({ status: 500, body: 'Internal error' });
  expect(errors).toEqual([broken]);
});

test('a message whose stream has ended while its body came was not taken', async () => {
  const begun = createDeferred<void>();
  const server = createMcpServer(echoService());
  const { stream, message } = server.sse({
    messages: '/messages',
    authenticate({ method }) {
      if (method === 'POST') begun.resolve();
      return { id: 'me' };
    },
  });
  const host = createServer((incoming, response) => {
    void (incoming.url === '/sse' ? stream : message)(incoming, response);
  });
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    await server.close({ drainMs: 0 });
    host.closeAllConnections();
    await new Promise((resolve) => host.close(resolve));
  });
  const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  const opened = await new Promise<IncomingMessage>((resolve) => request(`${url}/sse`, resolve).end());
  const [first] = await once(opened, 'data');
  const path = /^data: (.*)$/m.exec(String(first))?.[1] ?? expect.fail(String(first));
  const sending = request(`${url}${path}`, { method: 'POST' });
  const answered = new Promise<IncomingMessage>((resolve) => sending.on('response', resolve));
  sending.flushHeaders();
  await begun.promise;
  opened.destroy();
  await waitFor(() => expect(server.counts().pipes).toBe(0));
  sending.end('{}');
  expect((await answered).statusCode).toBe(404);
});
