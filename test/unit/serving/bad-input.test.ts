// Owns the proof that bad input is answered with the right code, and that none of it ends the server or disturbs others.

import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';
import { echoService, initialize, MODERN, modernMeta, serveHttp, servePipes } from './served.ts';

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

/** A line, and the id and code of its answer. */
const badLines: Readonly<Record<string, readonly [string, unknown, number]>> = {
  'no JSON': ['nonsense', null, -32700],
  'half a message': ['{"jsonrpc":"2.0","id":1,"method":"pi', null, -32700],
  'a number': ['42', null, -32600],
  'a null': ['null', null, -32600],
  'a batch outside of 2025-03-26': [JSON.stringify([ping]), null, -32600],
  'an empty batch': ['[]', null, -32600],
  'no version of JSON-RPC': ['{"id":1,"method":"ping"}', 1, -32600],
  'another version of JSON-RPC': ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 1, -32600],
  'an id that is null': ['{"jsonrpc":"2.0","id":null,"method":"ping"}', null, -32600],
  'an id that is an object': ['{"jsonrpc":"2.0","id":{},"method":"ping"}', null, -32600],
  'an id with a fraction': ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', null, -32600],
  'an id that is true': ['{"jsonrpc":"2.0","id":true,"method":"ping"}', null, -32600],
  'a method that is a number': ['{"jsonrpc":"2.0","id":1,"method":7}', 1, -32600],
  'neither method nor answer': ['{"jsonrpc":"2.0","id":1}', 1, -32600],
  'an answer with result and error': ['{"jsonrpc":"2.0","id":1,"result":{},"error":{}}', 1, -32600],
  'params that are a list': ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 1, -32602],
  'params that are a text': ['{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}', 1, -32602],
  'an unknown method': ['{"jsonrpc":"2.0","id":1,"method":"no/such"}', 1, -32601],
  'a method of every object': ['{"jsonrpc":"2.0","id":1,"method":"constructor"}', 1, -32601],
  'a method that only services have': ['{"jsonrpc":"2.0","id":1,"method":"toString"}', 1, -32601],
};

describe('over pipes', () => {
  verifies(
    'SRV-11',
    'each bad line gets its code before and after the handshake, and the next line is read',
    async () => {
      for (const greeting of [undefined, initialize()]) {
        const { write, answer, said, input, done } = servePipes();
        if (greeting !== undefined) {
          write(greeting);
          await answer('init');
        }
        for (const [name, [line, id, code]] of Object.entries(badLines)) {
          const before = said.length;
          write(line);
          write({ ...ping, id: name });
          await answer(name);
          expect([name, said[before]]).toMatchObject([name, { id, error: { code } }]);
        }
        input.end();
        await done;
      }
    },
  );

  verifies('SRV-04', 'a second initialize is refused with -32600, and the session goes on', async () => {
    const { write, answer } = servePipes();
    write(initialize());
    expect(await answer('init')).toMatchObject({
      result: { protocolVersion: '2025-11-25', serverInfo: { name: 'echo' } },
    });
    write({ ...initialize(), id: 'again' });
    expect(await answer('again')).toMatchObject({ error: { code: -32600 } });
    write(ping);
    expect(await answer(1)).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });

  verifies('SRV-05', 'a ping is answered with an empty object, also before the handshake', async () => {
    const { write, answer } = servePipes();
    write(ping);
    expect(await answer(1)).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });

  test('a known method before the handshake is refused with -32600', async () => {
    const { write, answer } = servePipes();
    write({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    expect(await answer(1)).toMatchObject({ error: { code: -32600 } });
  });

  test('initialize without its parameters is -32602 and opens nothing', async () => {
    const { write, answer } = servePipes();
    write({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } });
    expect(await answer(1)).toMatchObject({ error: { code: -32602 } });
    write(initialize());
    expect(await answer('init')).toHaveProperty('result');
  });

  test('a message over the limit is dropped while it arrives, and its id is answered', async () => {
    const { write, answer } = servePipes({ limits: { messageBytes: 1_000 } });
    write(initialize());
    write({ jsonrpc: '2.0', id: 'big', method: 'tools/call', params: { name: 'echo', text: 'x'.repeat(5_000) } });
    expect(await answer('big')).toMatchObject({ error: { code: -32600 } });
    write(ping);
    expect(await answer(1)).toHaveProperty('result');
  });

  test('a batch of 2025-03-26 is answered as one list, without its notifications', async () => {
    const { write, answer, said } = servePipes();
    write(initialize({}, '2025-03-26'));
    await answer('init');
    write([
      ping,
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 2, method: 'no/such' },
      5,
    ]);
    write({ ...ping, id: 'after' });
    await answer('after');
    const batch = said.find(Array.isArray) as unknown as { id: unknown }[];
    expect(batch.map(({ id }) => id)).toEqual([null, 1, 2]);
    write(Array.from({ length: 65 }, () => ping));
    write({ ...ping, id: 'last' });
    await answer('last');
    expect(said).toContainEqual(
      expect.objectContaining({ id: null, error: expect.objectContaining({ code: -32600 }) }),
    );
  });

  test('a request whose id is in use is refused, and the first one is answered', async () => {
    const { write, answer, said } = servePipes();
    write(initialize());
    await answer('init');
    write({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'hang' } });
    write({ jsonrpc: '2.0', id: 7, method: 'ping' });
    expect(await answer(7)).toMatchObject({ error: { code: -32600 } });
    write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } });
    write(ping);
    await answer(1);
    expect(said.filter(({ id }) => id === 7)).toHaveLength(1);
  });
});

describe('over HTTP', () => {
  verifies('SRV-11', 'a bad body gets its code with status 400, and others are served', async () => {
    const { send } = await serveHttp();
    for (const [name, [line, id, code]] of Object.entries(badLines)) {
      if (code === -32601) continue;
      const { status, message } = await send({ body: line });
      expect([name, status, message]).toMatchObject([name, 400, { id, error: { code } }]);
    }
    expect((await send({ body: initialize() })).status).toBe(200);
  });

  test('an error that a handler throws is -32603 without its text, and a tool that throws is an error result', async () => {
    const errors: unknown[] = [];
    const methods = {
      ...echoService().methods,
      'odd/method': () => {
        throw new Error('secret detail');
      },
    };
    const { send, open } = await serveHttp({
      service: echoService({ methods }),
      onError: (error) => errors.push(error),
    });
    const headers = await open();
    const odd = await send({ headers, body: { jsonrpc: '2.0', id: 1, method: 'odd/method' } });
    expect([odd.status, odd.message]).toMatchObject([200, { error: { code: -32603, message: 'Internal error' } }]);
    expect(errors).toMatchObject([{ message: 'secret detail' }]);
    const broken = await send({
      headers,
      body: { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'break' } },
    });
    expect(broken.message).toMatchObject({ result: { isError: true, content: [{ text: 'broken' }] } });
  });

  test('an unknown resource is -32002 to a legacy client and -32602 to a modern one', async () => {
    const { send, open, modern } = await serveHttp();
    const params = { uri: 'note://none' };
    const old = await send({
      headers: await open(),
      body: { jsonrpc: '2.0', id: 1, method: 'resources/read', params },
    });
    expect(old.message).toMatchObject({ error: { code: -32002, data: params } });
    const recent = await modern('resources/read', params);
    expect([recent.status, recent.message]).toMatchObject([200, { error: { code: -32602, data: params } }]);
  });

  test('sessions: missing id 400, unknown id 404, initialize in a session -32600, without one a new session', async () => {
    const { send, open, server } = await serveHttp();
    const headers = await open();
    expect((await send({ body: ping })).status).toBe(400);
    const unknown = await send({ headers: { 'mcp-session-id': 'none' }, body: ping });
    expect([unknown.status, unknown.message]).toMatchObject([404, { id: 1, error: { code: -32001 } }]);
    expect((await send({ headers, body: initialize() })).message).toMatchObject({ error: { code: -32600 } });
    expect((await send({ body: initialize() })).headers['mcp-session-id']).not.toBe(headers['mcp-session-id']);
    expect(server.counts().sessions).toBe(2);
    expect((await send({ method: 'DELETE', headers })).status).toBe(204);
    expect((await send({ headers, body: ping })).status).toBe(404);
    const odd = await send({ headers: { ...(await open()), 'mcp-protocol-version': '1999-01-01' }, body: ping });
    expect(odd.status).toBe(400);
  });

  test('methods, types and paths that are none of ours', async () => {
    const { send, open } = await serveHttp();
    expect(await send({ method: 'PUT', body: {} })).toMatchObject({
      status: 405,
      headers: { allow: 'POST, GET, DELETE' },
    });
    expect((await send({ headers: { 'content-type': 'text/plain' }, body: ping })).status).toBe(415);
    expect((await send({ path: '/other', body: ping })).status).toBe(404);
    expect((await send({ headers: { ...(await open()), accept: 'text/html' }, body: ping })).status).toBe(406);
    expect((await send({ method: 'GET', headers: { 'mcp-protocol-version': MODERN } })).status).toBe(405);
    expect((await send({ method: 'GET', headers: { ...(await open()), 'last-event-id': 's99.1' } })).status).toBe(400);
  });

  test('a body over the limit is 413, whether or not it says its length', async () => {
    const { send, port } = await serveHttp({ limits: { messageBytes: 1_000 } });
    expect((await send({ body: 'x'.repeat(1_001) })).status).toBe(413);
    const endless = await rawHttp(port, 'Transfer-Encoding: chunked', `7d0\r\n${'x'.repeat(2_000)}\r\n`);
    expect(endless).toContain('413 Payload Too Large');
  });

  test('a body that does not come is 408, and headers that do not come end the connection', async () => {
    const { port } = await serveHttp({ limits: { bodyMs: 50, headersMs: 50 } });
    expect(await rawHttp(port, 'Content-Length: 100', '{')).toContain('408 Request Timeout');
    const silent = connect(port, '127.0.0.1');
    silent.write('POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n');
    await new Promise((resolve) => silent.resume().on('close', resolve));
  });

  test('only a session of 2025-03-26 has batches, of 64 messages at most', async () => {
    const { send, open } = await serveHttp();
    expect((await send({ headers: await open(), body: [ping] })).status).toBe(400);
    const headers = await open({}, '2025-03-26');
    const body = [
      ping,
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'echo', arguments: { text: 'x' } } },
    ];
    const { status, body: answers } = await send({ headers, body });
    expect([status, JSON.parse(answers)]).toMatchObject([
      200,
      [{ id: 1 }, { id: 2, result: { content: [{ text: 'x' }] } }],
    ]);
    expect((await send({ headers, body: Array.from({ length: 65 }, () => ping) })).status).toBe(400);
    expect((await send({ headers, body: [] })).status).toBe(400);
    expect((await send({ headers, body: [{ jsonrpc: '2.0', method: 'notifications/initialized' }] })).status).toBe(202);
  });
});

describe('a modern request', () => {
  test('initialize and everything else that was removed is 404 with -32601', async () => {
    const { modern } = await serveHttp();
    for (const method of [
      'initialize',
      'ping',
      'logging/setLevel',
      'resources/subscribe',
      'resources/unsubscribe',
      'x/y',
    ]) {
      const { status, message } = await modern(method, { uri: 'note://1' });
      expect([method, status, message]).toMatchObject([method, 404, { id: 1, error: { code: -32601 } }]);
    }
  });

  test('that does not describe itself, or whose headers disagree, is refused', async () => {
    const { modern, send } = await serveHttp();
    const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list' };
    const bare = await send({ headers, body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } });
    expect([bare.status, bare.message]).toMatchObject([400, { id: 1, error: { code: -32602 } }]);
    const other = await modern('tools/list', {}, { headers: { 'mcp-method': 'tools/call' } });
    expect([other.status, other.message]).toMatchObject([400, { error: { code: -32020 } }]);
    const future = await modern(
      'tools/list',
      {},
      {
        meta: { ...modernMeta(), 'io.modelcontextprotocol/protocolVersion': '2099-01-01' },
        headers: { 'mcp-protocol-version': '2099-01-01' },
      },
    );
    expect([future.status, future.message]).toMatchObject([
      400,
      { error: { code: -32022, data: { supported: [MODERN], requested: '2099-01-01' } } },
    ]);
  });
});

test('connections beyond the limit are closed at once, and there is room again when another one ends', async () => {
  const { port, send } = await serveHttp({ limits: { connections: 3 } });
  const held = Array.from({ length: 3 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  await Promise.all(held.map((socket) => once(socket, 'connect')));
  const beyond = connect(port, '127.0.0.1').on('error', () => undefined);
  await once(beyond, 'close');
  expect(held.map(({ destroyed }) => destroyed)).toEqual([false, false, false]);
  for (const socket of held) socket.destroy();
  await waitFor(async () => expect((await send({ body: initialize() })).status).toBe(200));
});

/** Sends a request that never ends; resolves with all that came back before the server closed the connection. */
function rawHttp(port: number, header: string, body: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', () => resolve(text)).on('close', () => resolve(text));
    socket.write(`POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${header}\r\n\r\n${body}`);
  });
}
