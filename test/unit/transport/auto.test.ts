// Owns the proof that a server whose entry leaves the transport open is reached over the one it speaks, unnoticed by its client.

import { describe, expect, test } from 'vitest';
import { openAuto } from '../../../src/transport/auto.ts';
import { eventually } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';
import {
  type Answering,
  broken,
  connect,
  event,
  failureOf,
  json,
  lost,
  nobody,
  older,
  prepare,
  request,
  result,
  serve,
  status,
} from './http-servers.ts';

type NegotiatedTransport = 'http' | 'sse';

/** Opens an `auto` channel and records every negotiated transport. */
function auto(lastNegotiated?: NegotiatedTransport) {
  const negotiated: NegotiatedTransport[] = [];
  const open: typeof import('../../../src/transport/http.ts').openHttp = (options) =>
    openAuto({
      ...options,
      lastNegotiated,
      onNegotiated: (transport) => negotiated.push(transport),
    });
  return { open, negotiated };
}

/** A server that speaks only HTTP+SSE: it refuses a POST to its address as the test says. */
async function serveSseOnly(refusal: Answering, onGet?: Answering) {
  let say: ((text: string) => void) | undefined;
  const server = await serve((received, response) => {
    if (received.method === 'GET' && onGet !== undefined) onGet(received, response);
    else if (received.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: endpoint\ndata: /messages\n\n');
      say = (text) => response.write(text);
    } else if (received.path === '/messages') {
      response.writeHead(202).end();
      const { id } = received.message;
      if (typeof id === 'number') say?.(event({ ...result(id), result: { protocolVersion: '2024-11-05' } }));
    } else refusal(received, response);
  });
  return server;
}

describe('the newer transport', () => {
  verifies('VAL-03', 'is tried first, and kept when the handshake is answered', async () => {
    const server = await serve(older());
    const { open, negotiated } = auto();
    const { channel, heard } = await connect(server.url, {}, open);
    await channel.send(request(1, 'initialize'));
    await heard.answerTo(1);
    await channel.send(request(2));
    expect(await heard.answerTo(2)).toEqual(result(2));
    expect([channel.negotiatedTransport, channel.hasRequestStreams, negotiated]).toEqual(['http', true, ['http']]);
  });

  verifies('VAL-03', 'is also known by an answer to the probe of the modern era, and not by a no to it', async () => {
    for (const [answering, expected] of [
      [older(), ['http']],
      [status(404), []],
    ] as const) {
      const server = await serve(answering);
      const { open, negotiated } = auto();
      const { channel, heard } = await connect(server.url, {}, open);
      await channel.send(request(1, 'server/discover'));
      await heard.answerTo(1);
      expect(negotiated).toEqual(expected);
    }
  });

  for (const [code, cause] of [
    [401, { code: 'AUTH_REQUIRED' }],
    [500, lost(expect.stringContaining('HTTP 500'))],
  ] as const) {
    verifies('VAL-03', `HTTP ${code} to the handshake says nothing about the transport`, async () => {
      const server = await serve(status(code, '', { 'retry-after': '60' }));
      const { open, negotiated } = auto();
      const { channel, heard } = await connect(server.url, {}, open);
      await channel.send(request(1, 'initialize'));
      expect(await heard.failureOf(1)).toMatchObject({ cause });
      expect(server.received.every(({ method }) => method === 'POST')).toBe(true);
      expect(negotiated).toEqual([]);
    });
  }
});

describe('the older transport', () => {
  for (const code of [400, 404, 405]) {
    verifies(
      'VAL-03',
      `is taken when the handshake is answered with HTTP ${code}, with the same handshake`,
      async () => {
        const server = await serveSseOnly(status(code, 'no such thing'));
        const { open, negotiated } = auto();
        const { channel, heard } = await connect(server.url, {}, open);
        await channel.send(request(0, 'server/discover'));
        expect(await heard.answerTo(0)).toMatchObject({ error: { code: -32601 } });
        await channel.send(request(1, 'initialize', { a: 1 }));
        await heard.answerTo(1);
        await channel.send(request(2));
        await heard.answerTo(2);
        const handshakes = server.posts().filter(({ message: { method } }) => method === 'initialize');
        expect(handshakes.map(({ path }) => path)).toEqual(['/mcp', '/messages']);
        expect(new Set(handshakes.map(({ body }) => body)).size).toBe(1);
        expect([channel.negotiatedTransport, channel.hasRequestStreams, negotiated]).toEqual(['sse', false, ['sse']]);
        expect([heard.failures.size, heard.closes()]).toEqual([0, 0]);
      },
    );
  }

  verifies('VAL-03', 'is taken even when the no is in the words of the protocol, but names no request', async () => {
    const error = { code: -32000, message: 'Method not allowed' };
    const server = await serveSseOnly(json({ jsonrpc: '2.0', id: null, error }, 405));
    const { open, negotiated } = auto();
    const { channel, heard } = await connect(server.url, {}, open);
    await channel.send(request(1, 'initialize'));
    await heard.answerTo(1);
    expect([heard.messages.length, negotiated]).toEqual([1, ['sse']]);
  });

  verifies('VAL-03', 'that cannot be opened either leaves the first failure standing', async () => {
    const server = await serveSseOnly(status(404, 'nothing here'), status(405));
    const { open, negotiated } = auto();
    const { channel, heard } = await connect(server.url, {}, open);
    await channel.send(request(1, 'initialize'));
    expect(await heard.failureOf(1)).toMatchObject({
      status: 404,
      cause: broken('it answered HTTP 404 (Not Found): nothing here'),
    });
    expect([channel.negotiatedTransport, negotiated]).toEqual(['http', []]);
  });

  test('what is sent while it is being opened waits for it', async () => {
    const server = await serveSseOnly(status(404));
    const { open } = auto();
    const { channel, heard } = await connect(server.url, {}, open);
    await channel.send(request(1, 'initialize'));
    await eventually(() => channel.negotiatedTransport === 'sse');
    await channel.send(request(2));
    await heard.answerTo(2);
    expect(heard.failures.size).toBe(0);
  });

  test('is ended with the channel even while it is being opened', async () => {
    const server = await serveSseOnly(status(404), (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n');
    });
    const { open } = auto();
    const { channel, heard } = await connect(server.url, {}, open);
    await channel.send(request(1, 'initialize'));
    await eventually(() => server.received.length === 2);
    await channel.close();
    await eventually(() => server.sockets.size === 0);
    expect([heard.failures.size, heard.closes()]).toEqual([0, 1]);
  });
});

describe('what was spoken the last time', () => {
  verifies('VAL-03', 'is tried first', async () => {
    const server = await serveSseOnly(status(500));
    const { open, negotiated } = auto('sse');
    const { channel, heard } = await connect(server.url, {}, open);
    await channel.send(request(1, 'initialize'));
    await heard.answerTo(1);
    expect(server.received.map(({ method, path }) => [method, path])).toEqual([
      ['GET', '/mcp'],
      ['POST', '/messages'],
    ]);
    expect([channel.negotiatedTransport, negotiated]).toEqual(['sse', ['sse']]);
  });

  verifies('VAL-03', 'is forgotten when the server has learned the newer one', async () => {
    const server = await serve(older());
    const { open, negotiated } = auto('sse');
    const { channel, heard } = await connect(server.url, {}, open);
    await channel.send(request(1, 'initialize'));
    await heard.answerTo(1);
    expect([channel.negotiatedTransport, negotiated]).toEqual(['http', ['http']]);
  });

  test('names the true cause when neither can be used', async () => {
    const server = await serveSseOnly(status(405), status(503, 'busy'));
    const { open } = auto('sse');
    const { channel, heard } = await connect(server.url, {}, open);
    await channel.send(request(1, 'initialize'));
    expect(await heard.failureOf(1)).toMatchObject({ cause: lost('it answered HTTP 503 (Service Unavailable): busy') });
  });
});

test('a server that is not there ends the channel once, and says so', async () => {
  for (const lastNegotiated of ['sse', undefined] as const) {
    const { open } = auto(lastNegotiated);
    const { channel, heard } = await connect(await nobody(), {}, open);
    await channel.send(request(1, 'initialize'));
    await eventually(() => heard.closes() === 1);
    expect(heard.failures.get(1)).toMatchObject({ sent: false });
    expect(channel.report?.().reason).toContain('ECONNREFUSED');
  }
});

test('what was not started sends nothing', async () => {
  const { open } = auto();
  const { channel } = prepare('http://127.0.0.1:1/', {}, open);
  expect(await failureOf(channel.send(request(1)))).toMatchObject(lost('it has not answered'));
  expect(channel.negotiatedTransport).toBeUndefined();
});
