// Owns the server that `large.mjs` calls, over pipes or, with a first argument `http`, over HTTP: its one answer is written in
// advance, so that only the client works while it travels. Usage: large-server.mjs stdio|http|events SHAPE BYTES.

import { createServer } from 'node:http';
import { shapes } from './large-shapes.mjs';

const [transport, shape, bytes] = process.argv.slice(2);
const large = Buffer.from(JSON.stringify(shapes[shape](Number(bytes))));
const tool = { name: 'large', description: 'Answers at length.', inputSchema: { type: 'object' } };

const results = {
  initialize: ({ protocolVersion }) =>
    JSON.stringify({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'large', version: '1.0.0' },
    }),
  'tools/list': () => JSON.stringify({ tools: [tool] }),
  'tools/call': () => large,
};

function answerTo({ id, method, params }) {
  const result = results[method]?.(params);
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`;
  if (result === undefined) return [`${head}"error":{"code":-32601,"message":"Method not found"}}`];
  return [`${head}"result":`, result, '}'];
}

function serveStdio() {
  let unfinished = '';
  process.stdin.setEncoding('utf8').on('data', (chunk) => {
    const lines = (unfinished + chunk).split('\n');
    unfinished = lines.pop();
    for (const message of lines.map((each) => JSON.parse(each)).filter(({ id }) => id !== undefined))
      for (const part of [...answerTo(message), '\n']) process.stdout.write(part);
  });
  process.stdin.on('end', () => process.exit());
  process.stdout.on('error', () => process.exit());
}

function serveHttp() {
  const isStream = transport === 'events';
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    if (request.method !== 'POST') response.writeHead(405).end();
    else if (JSON.parse(body).id === undefined) response.writeHead(202).end();
    else {
      response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
      const parts = answerTo(JSON.parse(body));
      for (const part of isStream ? ['data: ', ...parts, '\n\n'] : parts) response.write(part);
      response.end();
    }
  });
  server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}/mcp`));
  process.once('disconnect', () => process.exit());
}

if (transport === 'stdio') serveStdio();
else serveHttp();
