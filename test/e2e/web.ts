// Owns the remote servers that tests put into their own process: a small one that keeps what it is sent, headers included,
// and a relay that notes who comes by on the way to another.

import { createServer, request } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { type Answering, json, serve } from '../unit/transport/http-servers.ts';

/** A server of the older era. `first` may answer in its place: whatever it leaves open is answered as usual. */
export function serveMcp(first: Answering = () => undefined) {
  return serve((received, response) => {
    first(received, response);
    if (response.headersSent || response.destroyed) return;
    const { id, method } = received.message;
    const result = results[String(method)];
    if (received.method === 'DELETE') response.writeHead(200).end();
    else if (received.method === 'GET') response.writeHead(405).end();
    else if (id === undefined) response.writeHead(202).end();
    else if (result) json({ jsonrpc: '2.0', id, result }, 200, { 'mcp-session-id': 'one' })(received, response);
    else json({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } })(received, response);
  });
}

/** The same server at a public name: the proxy of the person leads there, and the server itself plays that proxy. */
export function publicly(url: string, name = 'theirs.example') {
  const { origin } = new URL(url);
  return { url: url.replace(origin, `http://${name}`), env: { http_proxy: origin } };
}

const results: Record<string, object> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'small', version: '1' },
  },
  'tools/list': {
    tools: [
      { name: 'echo', inputSchema: { type: 'object' } },
      { name: 'look', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
    ],
  },
  'tools/call': { content: [{ type: 'text', text: 'done' }] },
};

/** Whatever comes to `/door` goes to the target; every other path is the same there. */
export async function relay(to: string) {
  let target = new URL(to);
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  let busy = 0;
  const server = createServer((asked, answer) => {
    const { method = '', url = '', headers } = asked;
    const isDoor = url === '/door';
    seen.push(`${method} ${url.replace(/\?.*/, '')}`);
    const onward = request(isDoor ? target : new URL(url, target), {
      method,
      headers: { ...headers, host: target.host },
    });
    onward.on('response', (from) => from.pipe(answer.writeHead(from.statusCode ?? 500, from.headers)));
    onward.on('error', () => answer.destroy());
    busy += 1;
    answer.on('close', () => {
      busy -= 1;
      onward.destroy();
    });
    asked.pipe(onward);
  });
  server.on('connection', (socket) => sockets.add(socket.on('error', () => socket.destroy())));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/door`,
    /** Method and path of everything that came by since the last time. */
    takeSeen: () => seen.splice(0),
    /** How many requests have been asked and neither been answered to the end nor called off. */
    busy: () => busy,
    /** From now on it leads there. */
    leadTo: (to: string) => {
      target = new URL(to);
    },
  };
}
