// Owns the servers of the serving bench, each an echo tool over HTTP: `plexus` on its serving side, `hand` as plain JSON-RPC on
// `node:http`, `sdk2` on the SDK's handler. Tells its parent its port, and its processor time and memory when it is asked.

import { createServer } from 'node:http';

const servers = { plexus, hand, sdk2 };

async function plexus() {
  const { createMcpServer, createOwnService, withoutToken } = await import('../dist/serving.js');
  const echo = {
    description: 'Says it again.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    run: ({ text }) => text,
  };
  const server = createMcpServer(createOwnService({ name: 'echo', version: '1.0.0', tools: { echo } }));
  const { port } = await server.listen({ port: 0, authenticate: withoutToken });
  return port;
}

function hand() {
  const answer = ({ id, method, params }) =>
    method === 'tools/call' && params.name === 'echo'
      ? {
          jsonrpc: '2.0',
          id,
          result: { resultType: 'complete', content: [{ type: 'text', text: params.arguments.text }] },
        }
      : { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } };
  return listen((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.stringify(answer(JSON.parse(Buffer.concat(chunks).toString())));
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
      response.end(body);
    });
  });
}

async function sdk2() {
  const { createMcpHandler, McpServer } = await import('@modelcontextprotocol/server');
  const z = await import('zod');
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'echo', version: '1.0.0' });
    server.registerTool(
      'echo',
      { description: 'Says it again.', inputSchema: z.object({ text: z.string() }) },
      async ({ text }) => ({ content: [{ type: 'text', text }] }),
    );
    return server;
  });
  return listen(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const answer = await handler.fetch(
      new Request(`http://${request.headers.host}${request.url}`, {
        ...{ method: request.method, body },
        headers: Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
}

function listen(onRequest) {
  const server = createServer(onRequest);
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));
}

process.once('disconnect', () => process.exit());
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send({ cpuMicros: user + system, memoryMb: process.memoryUsage.rss() / 1_048_576 });
});
process.send(await servers[process.argv[2]]());
