// Owns the proof that a server over Streamable HTTP is spoken to as both eras of the protocol want it.

import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/model/limits.ts';
import { eventually } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';
import {
  answer,
  connect,
  drive,
  event,
  events,
  failureOf,
  hangUp,
  initialize,
  json,
  lost,
  older,
  prepare,
  request,
  result,
  serve,
  status,
} from './http-servers.ts';

const note = (method: string) => ({ jsonrpc: '2.0', method });

describe('answers', () => {
  verifies('TRN-04', 'come as JSON, each to its request, and sending never waits for them', async () => {
    const server = await serve(older());
    const { channel, heard } = await connect(server.url);
    const sends = Array.from({ length: 100 }, (_, index) => channel.send(request(index + 1)));
    expect(heard.messages).toEqual([]);
    await Promise.all(sends);
    await eventually(() => heard.messages.length === 100);
    expect(new Set(heard.messages.map(({ id }) => id)).size).toBe(100);
    expect(heard.messages.every((message) => message['result'] !== undefined)).toBe(true);
  });

  verifies('TRN-04', 'come as a stream, with what is said before and after them', async () => {
    const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: {} };
    const server = await serve(events(': hello\n\n', event(progress), event(result(1)), event(progress)));
    const { channel, heard } = await connect(server.url);
    await channel.send(request(1));
    await eventually(() => heard.messages.length === 3);
    expect(heard.messages).toEqual([progress, result(1), progress]);
    expect(heard.failures.size).toBe(0);
  });

  const bodies: Record<string, string> = {
    'in a batch': JSON.stringify([{ jsonrpc: '2.0', method: 'x' }, result(1)]),
    'behind a byte order mark': `\uFEFF${JSON.stringify(result(1))}`,
  };
  for (const [how, body] of Object.entries(bodies)) {
    verifies('TRN-04', `may come ${how}`, async () => {
      const server = await serve(status(200, body, { 'content-type': 'application/json; charset=utf-8' }));
      const { channel, heard } = await connect(server.url);
      await channel.send(request(1));
      expect(await heard.answerTo(1)).toEqual(result(1));
      expect(heard.failures.size).toBe(0);
    });
  }

  verifies('TRN-04', 'to notifications and to answers of ours are not waited for', async () => {
    const server = await serve([status(202), status(204), json({ ok: true }), hangUp]);
    const { channel, heard } = await connect(server.url);
    for (const each of [note('a'), { jsonrpc: '2.0', id: 7, result: {} }, note('b'), note('c')]) {
      await channel.send(each);
      const sent = server.received.length;
      await eventually(() => server.received.length > sent || server.received.length === 4);
    }
    await eventually(() => heard.errors.length === 1);
    expect(heard.errors[0]).toMatchObject(lost('it hung up'));
    expect(heard.messages).toEqual([]);
    expect(heard.failures.size).toBe(0);
  });

  test('a server that leaves its streams open although it has answered holds no more than a few of them', async () => {
    const server = await serve(({ message: { id } }, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(event(result(id as number)));
    });
    const { channel, heard } = await connect(server.url);
    for (let id = 1; id <= limits.answeredStreams + 10; id += 1) {
      await channel.send(request(id));
      await heard.answerTo(id);
    }
    await eventually(() => server.sockets.size === limits.answeredStreams);
    expect(heard.failures.size).toBe(0);
  });
});

describe('the older era', () => {
  verifies('TRN-04', 'its session and its version are learned from the handshake and sent from then on', async () => {
    const server = await serve(older());
    const opened = await connect(server.url);
    await initialize(opened);
    await opened.channel.send(request(1));
    await opened.heard.answerTo(1);
    const known = server
      .posts()
      .map(({ message: { method }, headers }) => [
        method,
        headers['mcp-session-id'],
        headers['mcp-protocol-version'],
        headers['mcp-method'],
      ]);
    expect(known).toEqual([
      ['initialize', undefined, undefined, undefined],
      ['notifications/initialized', 's-1', '2025-06-18', undefined],
      ['tools/call', 's-1', '2025-06-18', undefined],
    ]);
  });

  test('a request of the server is not taken for its answer to the handshake', async () => {
    const ping = { jsonrpc: '2.0', id: 0, method: 'ping' };
    const agreed = { jsonrpc: '2.0', id: 0, result: { protocolVersion: '2025-06-18' } };
    const server = await serve([events(event(ping), event(agreed)), answer]);
    const { channel, heard } = await connect(server.url);
    await channel.send(request(0, 'initialize'));
    await eventually(() => heard.messages.length === 2);
    await channel.send(request(1));
    await heard.answerTo(1);
    expect(server.received[1]?.headers['mcp-protocol-version']).toBe('2025-06-18');
  });

  verifies('TRN-04', 'a second handshake begins without the session of the first', async () => {
    const server = await serve(older());
    const opened = await connect(server.url);
    await initialize(opened);
    opened.heard.messages.length = 0;
    await initialize(opened);
    expect(server.posts()[2]?.headers).not.toHaveProperty('mcp-session-id');
  });

  verifies('TRN-04', 'nothing overtakes the word that the handshake is over', async () => {
    const held: (() => void)[] = [];
    const server = await serve((received, response) => {
      if (received.message['method'] === 'notifications/initialized') held.push(() => response.writeHead(202).end());
      else older()(received, response);
    });
    const { channel, heard } = await connect(server.url);
    await channel.send(request(0, 'initialize'));
    await heard.answerTo(0);
    let isOver = false;
    const over = channel.send(note('notifications/initialized')).then(() => {
      isOver = true;
    });
    await eventually(() => held.length === 1);
    expect(isOver).toBe(false);
    held[0]?.();
    await over;
  });

  test('a server that never takes note of the handshake is not waited for', async () => {
    const server = await serve((received, response) => {
      if (received.message['method'] !== 'notifications/initialized') older()(received, response);
    });
    const opened = await connect(server.url);
    await drive(opened.clock, initialize(opened));
    await opened.channel.send(request(1));
    expect(await opened.heard.answerTo(1)).toEqual(result(1));
  });

  verifies('TDN-03', 'its session is ended when the channel is closed, and no socket is left', async () => {
    const server = await serve(older());
    const opened = await connect(server.url, { headers: { authorization: 'Bearer x' } });
    await initialize(opened);
    await opened.channel.close();
    const { method, headers } = server.received.at(-1) ?? {};
    expect(method).toBe('DELETE');
    expect(headers).toMatchObject({ 'mcp-session-id': 's-1', authorization: 'Bearer x' });
    await eventually(() => server.sockets.size === 0);
    expect(opened.heard.closes()).toBe(1);
  });

  verifies('TDN-03', 'a server that does not answer the goodbye holds up nothing', async () => {
    const server = await serve((received, response) => {
      if (received.method !== 'DELETE') older()(received, response);
    });
    const opened = await connect(server.url);
    await initialize(opened);
    let isClosed = false;
    const closing = opened.channel.close().then(() => {
      isClosed = true;
    });
    await eventually(() => server.received.at(-1)?.method === 'DELETE');
    await opened.clock.advance(limits.goodbyeMs - 1);
    expect(isClosed).toBe(false);
    await drive(opened.clock, closing);
    await eventually(() => server.sockets.size === 0);
  });
});

describe('the modern era', () => {
  const modern = (id: number, method: string, params: object) =>
    request(id, method, { ...params, _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } });

  verifies('TRN-04', 'what a message is about can be read from its headers, and there is no session', async () => {
    const server = await serve((received, response) => {
      json(result(received.message['id'] as number), 200, { 'mcp-session-id': 'unwanted' })(received, response);
    });
    const { channel, heard } = await connect(server.url);
    const sent: [string, object, string | undefined][] = [
      ['server/discover', {}, undefined],
      ['tools/call', { name: 'add' }, 'add'],
      ['resources/read', { uri: 'file:///ä' }, '=?base64?ZmlsZTovLy/DpA==?='],
      ['prompts/get', { name: ' hi ' }, '=?base64?IGhpIA==?='],
      ['tasks/get', { taskId: 't-1' }, 't-1'],
      ['tools/list', { name: 'x' }, undefined],
    ];
    for (const [index, [method, params]] of sent.entries()) {
      await channel.send(modern(index, method, params));
      await heard.answerTo(index);
    }
    expect(
      server.received.map(({ headers }) => [
        ...[headers['mcp-protocol-version'], headers['mcp-method'], headers['mcp-name'], headers['mcp-session-id']],
      ]),
    ).toEqual(sent.map(([method, _, name]) => ['2026-07-28', method, name, undefined]));
    await channel.close();
    expect(server.received.every(({ method }) => method === 'POST')).toBe(true);
  });

  for (const code of [400, 404, 405, 406, 415, 422]) {
    verifies('TRN-04', `HTTP ${code} to its probe means that the server is of the older era`, async () => {
      const server = await serve(status(code, 'what?'));
      const { channel, heard } = await connect(server.url);
      await channel.send(modern(1, 'server/discover', {}));
      expect(await heard.answerTo(1)).toEqual({
        jsonrpc: '2.0',
        id: 1,
        error: { code: -32601, message: 'Method not found' },
      });
      expect(heard.failures.size).toBe(0);
    });
  }

  test('a login, a ban or a broken server say nothing about the era', async () => {
    for (const [code, failure] of [
      [401, 'AUTH_REQUIRED'],
      [403, 'AUTH_FAILED'],
      [429, 'RATE_LIMITED'],
      [500, 'CONNECTION_LOST'],
    ] as const) {
      const server = await serve(status(code, '', { 'retry-after': '3600' }));
      const { channel, heard } = await connect(server.url);
      await channel.send(modern(1, 'server/discover', {}));
      expect(await heard.failureOf(1)).toMatchObject({ status: code, cause: { code: failure } });
      expect(heard.messages).toEqual([]);
    }
  });

  test('its broken streams are not taken up again', async () => {
    const server = await serve(events('id: 1\ndata:\n\n'));
    const { channel, heard } = await connect(server.url);
    await channel.send(modern(1, 'tools/call', { name: 'x' }));
    expect(await heard.failureOf(1)).toMatchObject({ sent: true, cause: lost('its stream ended before the answer') });
    expect(server.received).toHaveLength(1);
  });
});

describe('headers', () => {
  verifies('TRN-14', 'ours win over those of the entry, however they are written', async () => {
    const server = await serve(older());
    const configured = {
      ...{ ACCEPT: 'text/html', 'Content-Type': 'text/plain', 'MCP-Session-Id': 'mine', 'Mcp-Protocol-Version': '1' },
      ...{ 'Mcp-Method': 'x', 'mcp-NAME': 'x', Host: 'evil.example', 'Content-Length': '3', Connection: 'close' },
      ...{ 'Accept-Encoding': 'gzip', 'Last-Event-ID': '7', 'Transfer-Encoding': 'chunked' },
      ...{ Authorization: 'Bearer x', 'X-Own': 'kept' },
    };
    const opened = await connect(server.url, { headers: configured });
    await initialize(opened);
    await opened.channel.send(request(1));
    await opened.heard.answerTo(1);
    const { headers, rawHeaders, body } = server.posts().at(-1) ?? { rawHeaders: [], body: '' };
    expect(headers).toEqual({
      ...{ host: new URL(server.url).host, connection: 'keep-alive', 'content-length': String(body.length) },
      ...{ accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
      ...{ 'mcp-session-id': 's-1', 'mcp-protocol-version': '2025-06-18' },
      ...{ authorization: 'Bearer x', 'x-own': 'kept', 'user-agent': expect.stringContaining('plexus/') },
    });
    const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    expect(new Set(names).size).toBe(names.length);
  });

  verifies('TRN-14', 'those of one message are sent with it alone, and never replace who we are', async () => {
    const server = await serve(answer);
    const { channel, heard } = await connect(server.url, {
      headers: { authorization: 'Bearer x', 'Mcp-Param-A': '1' },
    });
    await channel.send(request(1), {
      headers: {
        'mcp-param-a': '2',
        'Mcp-Param-B': 'b',
        Authorization: 'evil',
        'Mcp-Session-Id': 'evil',
        DPoP: 'evil',
      },
    });
    await heard.answerTo(1);
    await channel.send(request(2));
    await heard.answerTo(2);
    const [first, second] = server.received.map(({ headers }) => headers);
    expect(first).toMatchObject({ authorization: 'Bearer x', 'mcp-param-a': '2', 'mcp-param-b': 'b' });
    for (const name of ['mcp-session-id', 'dpop']) expect(first).not.toHaveProperty(name);
    expect(second).toMatchObject({ authorization: 'Bearer x', 'mcp-param-a': '1' });
    expect(second).not.toHaveProperty('mcp-param-b');
  });

  verifies('TRN-14', 'a login in the address is sent as one, unless the entry has a header for it', async () => {
    const server = await serve(answer);
    const basic = (login: string) => `Basic ${Buffer.from(login).toString('base64')}`;
    for (const [login, headers, expected] of [
      ['ada:p%40ss', {}, basic('ada:p@ss')],
      ['ada:100%', {}, basic('ada:100%')],
      ['ada:p%40ss', { AUTHORIZATION: 'Bearer x' }, 'Bearer x'],
    ] as const) {
      const { channel, heard } = await connect(server.url.replace('://', `://${login}@`), { headers });
      await channel.send(request(1));
      await heard.answerTo(1);
      expect(server.received.at(-1)?.headers.authorization).toBe(expected);
    }
  });

  test('what cannot be sent is told before anything is, without showing a value', async () => {
    for (const [headers, url, problem] of [
      [{ 'X Y': 'a' }, 'http://127.0.0.1/', 'has a header "X Y", which is not a valid header name'],
      [{ 'X-Y': 'secret\n' }, 'http://127.0.0.1/', 'has a header "X-Y" with characters that no header can hold'],
      [{}, 'ftp://127.0.0.1/', 'is not an http or https address'],
      [{}, 'not an address', 'is not an http or https address'],
    ] as const) {
      const { channel } = prepare(url, { headers });
      const failure = await failureOf(channel.start());
      expect(failure).toMatchObject({ code: 'CONFIG_INVALID', data: { problem: expect.stringContaining(problem) } });
      expect(String(failure)).not.toContain('secret');
    }
  });
});

describe('closing', () => {
  verifies('TDN-03', 'ends what is under way without a word, and nothing can be sent any more', async () => {
    const server = await serve(() => undefined);
    const { channel, heard } = await connect(server.url);
    await channel.send(request(1));
    await eventually(() => server.received.length === 1);
    const closing = channel.close();
    expect(await failureOf(channel.send(request(2)))).toMatchObject(lost('it was closed'));
    await closing;
    await eventually(() => server.received[0]?.isGone());
    expect([heard.messages, heard.failures.size, heard.errors, heard.closes()]).toEqual([[], 0, [], 1]);
    expect(await failureOf(channel.start())).toMatchObject(lost('it was closed'));
  });

  test('what was never started has nothing to close', async () => {
    const { channel } = prepare('http://127.0.0.1:1/');
    expect(await failureOf(channel.send(request(1)))).toMatchObject(lost('it has not answered'));
    await channel.close();
  });

  test('a message that cannot be written down is refused alone', async () => {
    const server = await serve(answer);
    const { channel, heard } = await connect(server.url);
    expect(await failureOf(channel.send({ id: 1n }))).toBeInstanceOf(TypeError);
    await channel.send(request(2));
    expect(await heard.answerTo(2)).toEqual(result(2));
  });

  test('a listener that throws is told of it and hears the next message', async () => {
    const server = await serve(answer);
    const { channel, heard } = await connect(server.url);
    channel.onmessage = () => {
      throw new Error('my fault');
    };
    await channel.send(request(1));
    await channel.send(request(2));
    await eventually(() => heard.errors.length === 2);
    expect(heard.errors[0]).toMatchObject({ code: 'INTERNAL', data: { problem: 'my fault' } });
  });
});
