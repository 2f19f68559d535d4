// Owns the echo over HTTP, in the older era: `/json` answers with one message, `/events` with a stream that holds it, as
// the SDK's own servers do, `/stalled` never. Tells its parent its addresses, ten of them, and goes when the parent is gone.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { answerTo } from './echo.mjs';

const ORIGINS = 10;

function onRequest(request, response) {
  if (request.method !== 'POST') {
    response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
    return;
  }
  let body = '';
  request.setEncoding('utf8').on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => answer(JSON.parse(body), request.url, response));
}

function answer(message, path, response) {
  if (path === '/stalled') return;
  if (message.id === undefined) {
    response.writeHead(202).end();
    return;
  }
  if (message.method === 'initialize') response.setHeader('mcp-session-id', randomUUID());
  const text = answerTo(message).join('');
  if (path === '/json') response.writeHead(200, { 'content-type': 'application/json' }).end(text);
  else {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    response.write(`event: message\ndata: ${text}\n\n`);
    response.end();
  }
}

async function listen() {
  const server = createServer(onRequest);
  // Pauses between the rounds are no reason to hang up.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${server.address().port}`;
}

process.once('disconnect', () => process.exit());
process.send(await Promise.all(Array.from({ length: ORIGINS }, listen)));
