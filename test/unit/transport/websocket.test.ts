// Owns the proof that a server behind a WebSocket can be talked to, explained and left, however it behaves.

import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/model/limits.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { eventually } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';
import { call, text } from './channels.ts';
import { failureOf, openChannel, serve, serveRaw, start } from './websockets.ts';

const lost = (reason: unknown) => ({ code: 'CONNECTION_LOST', data: { server: 'files', reason, isRemote: true } });
const broken = (reason: unknown) => ({ code: 'PROTOCOL_BROKEN', data: { server: 'files', reason, isRemote: true } });

describe('talking', () => {
  verifies('TRN-05', 'the subprotocol mcp is offered and messages go both ways, in order', async () => {
    const server = await serve();
    const { channel, heard } = await start(server.url, { headers: { Authorization: 'Bearer t', 'X-Team': 'blue' } });
    const { websocket, received } = await server.peer();
    const calls = [1, 2, 3].map((id) => call(id, 'echo'));
    for (const each of calls) await channel.send(each);
    await eventually(() => received.length === calls.length);
    expect(received.map((each) => JSON.parse(each))).toEqual(calls);
    for (const id of [1, 2, 3]) websocket.send(JSON.stringify(text(id, 'é')));
    await eventually(() => heard.messages.length === calls.length);
    expect(heard.messages).toEqual([1, 2, 3].map((id) => text(id, 'é')));
    expect(server.requests[0]?.headers).toMatchObject({
      'sec-websocket-protocol': 'mcp',
      authorization: 'Bearer t',
      'x-team': 'blue',
    });
  });

  verifies('TRN-05', 'a server that chooses no subprotocol is taken as it is', async () => {
    const server = await serve({ handleProtocols: () => false });
    const { channel } = await start(server.url);
    await channel.send(call(1, 'echo'));
    const { received } = await server.peer();
    await eventually(() => received.length === 1);
  });

  verifies('TRN-05', 'a server that chooses another one does not speak MCP', async () => {
    const server = await serve({ handleProtocols: () => 'graphql' });
    const { channel } = openChannel(server.url);
    expect(await failureOf(channel.start())).toMatchObject(
      broken('it speaks the subprotocol "graphql" instead of "mcp"'),
    );
  });

  test('what an entry says of the handshake itself is overlooked', async () => {
    const server = await serve();
    const headers = {
      'sec-websocket-protocol': 'other',
      'Sec-WebSocket-Extensions': 'permessage-deflate',
      upgrade: 'x',
    };
    await start(server.url, { headers });
    expect(server.requests[0]?.headers).toMatchObject({ 'sec-websocket-protocol': 'mcp', upgrade: 'websocket' });
    expect(server.requests[0]?.headers).not.toHaveProperty('sec-websocket-extensions');
  });

  test('a message that comes with the handshake is heard', async () => {
    const server = await serve({ greet: (websocket) => websocket.send('{"id":1}') });
    const { heard } = await start(server.url);
    await eventually(() => heard.messages.length === 1);
  });

  test('binary frames and batches carry messages too; blank frames carry nothing', async () => {
    const server = await serve();
    const noise: string[] = [];
    const { heard } = await start(server.url, { onNoise: (each) => noise.push(each) });
    const { websocket } = await server.peer();
    websocket.send(Buffer.from('{"id":"é"}'));
    websocket.send(' \n');
    websocket.send('[{"id":2},{"id":3},4]');
    websocket.send('\uFEFF{\n"id": 5\n}\n');
    await eventually(() => heard.messages.length === 4);
    expect(heard.messages).toEqual([{ id: 'é' }, { id: 2 }, { id: 3 }, { id: 5 }]);
    expect(noise).toEqual(['4']);
  });

  test('a frame that holds no message is told and skipped, broken characters included', async () => {
    const server = await serve();
    const noise: string[] = [];
    const { channel, heard } = await start(server.url, { onNoise: (each) => noise.push(each) });
    const { websocket } = await server.peer();
    websocket.send('Welcome!\u001b[31m');
    websocket.send(Buffer.from([0xff, 0xfe]), { binary: false });
    websocket.send('x'.repeat(5_000));
    websocket.send('{"id":1}');
    await eventually(() => heard.messages.length === 1);
    expect(noise).toEqual(['Welcome!\u001b[31m', '\ufffd\ufffd', 'x'.repeat(limits.noiseLineChars)]);
    expect(channel.report().reason).toMatch(
      /^it has not answered; it printed text that is not MCP: Welcome! \ufffd\ufffd x+$/,
    );
  });

  test('a flood of them ends the connection', async () => {
    const server = await serve();
    const { channel, heard } = await start(server.url);
    const { websocket } = await server.peer();
    for (let sent = 0; sent <= limits.noiseBytes; sent += limits.noiseLineChars) websocket.send('x'.repeat(3_000));
    await eventually(() => heard.closes === 1);
    expect(channel.report().reason).toMatch(/^it floods its output with text that is not MCP/);
  });

  test('a listener that throws is reported and the next message still delivered', async () => {
    const server = await serve();
    const { channel, heard } = await start(server.url);
    const seen: unknown[] = [];
    channel.onmessage = (message) => {
      seen.push(message['id']);
      throw new Error('listener');
    };
    const { websocket } = await server.peer();
    for (const id of [1, 2]) websocket.send(JSON.stringify({ id }));
    await eventually(() => seen.length === 2);
    expect(heard.errors).toHaveLength(2);
  });

  test('a ping is answered', async () => {
    const server = await serve();
    await start(server.url);
    const { websocket } = await server.peer();
    const answered = new Promise((resolve) => websocket.once('pong', (data) => resolve(String(data))));
    websocket.ping('are you there?');
    expect(await answered).toBe('are you there?');
  });

  verifies('TRN-05', 'a message over the limit is told, and the end of the connection says so', async () => {
    const server = await serve();
    const { channel, heard } = await start(server.url, { maxMessageBytes: 1024 * 1024 });
    const { websocket } = await server.peer();
    const code = new Promise((resolve) => websocket.once('close', resolve));
    const order: string[] = [];
    channel.onoversized = (id) => order.push(`oversized ${id}`);
    channel.onclose = () => order.push('close');
    websocket.send('x'.repeat(1024 * 1024 + 1));
    await eventually(() => order.length === 2);
    expect(order).toEqual(['oversized undefined', 'close']);
    expect(heard.messages).toEqual([]);
    expect(channel.report()).toEqual({ reason: 'its message was larger than 1 MiB', isRemote: true });
    expect(await code).toBe(1009);
  });
});

describe('sending', () => {
  test('never waits for a server that does not read, and fails when too much waits', async () => {
    const server = await serve();
    const { channel } = await start(server.url);
    (await server.peer()).websocket.pause();
    const megabyte = call(1, 'echo', { text: 'x'.repeat(1024 * 1024) });
    const ends = await Promise.allSettled(Array.from({ length: 100 }, () => channel.send(megabyte)));
    const accepted = ends.filter((end) => end.status === 'fulfilled').length;
    const megabytes = limits.unreadInputBytes / (1024 * 1024);
    // The system's own buffers take some more.
    expect(accepted).toBeGreaterThanOrEqual(megabytes);
    expect(accepted).toBeLessThan(100);
    expect(await failureOf(channel.send(megabyte))).toMatchObject(lost('it does not read its input'));
  });

  test('a message that cannot be written down is refused alone', async () => {
    const server = await serve();
    const { channel } = await start(server.url);
    expect(await failureOf(channel.send({ id: 1n }))).toBeInstanceOf(TypeError);
    await channel.send(call(2, 'echo'));
    const { received } = await server.peer();
    await eventually(() => received.length === 1);
  });

  test('is refused before the start and after the end', async () => {
    const server = await serve();
    const { channel, heard } = openChannel(server.url);
    expect(await failureOf(channel.send({}))).toMatchObject(lost('it has not been started'));
    await channel.start();
    (await server.peer()).websocket.close(1001);
    await eventually(() => heard.closes === 1);
    expect(await failureOf(channel.send({}))).toMatchObject(lost('it closed the connection with code 1001'));
  });
});

describe('a server that refuses', () => {
  const token = { Authorization: 'Bearer t' };
  const answers: Record<string, [status: string, headers: Record<string, string>, failure: object]> = {
    '401 asks for a login': ['401 Unauthorized', {}, { code: 'AUTH_REQUIRED', data: { server: 'files' } }],
    '401 to a token': [
      '401 Unauthorized',
      token,
      { code: 'AUTH_FAILED', data: { server: 'files', reason: 'it refused the token it was given (HTTP 401)' } },
    ],
    '403 to a token': [
      '403 Forbidden',
      { authorization: 'Bearer t' },
      { code: 'AUTH_FAILED', data: { server: 'files', reason: 'it answered HTTP 403 (Forbidden)' } },
    ],
    '403 without one': [
      '403 Forbidden',
      {},
      { code: 'AUTH_FAILED', data: { server: 'files', reason: 'it answered HTTP 403 (Forbidden)' } },
    ],
    503: ['503 Busy\u0007', {}, lost('it answered HTTP 503 (Busy)')],
    429: [
      '429 Too Many Requests',
      {},
      { code: 'RATE_LIMITED', data: { server: 'files', reason: 'it answered HTTP 429 (Too Many Requests)' } },
    ],
    400: ['400 Bad Request', {}, broken('it answered HTTP 400 (Bad Request)')],
    404: ['404 Not Found', {}, broken('it answered HTTP 404 (Not Found)')],
    405: ['405 Not Allowed', {}, broken('it answered HTTP 405 (Not Allowed)')],
    'a web page': ['200 OK', {}, broken('it answered HTTP 200 instead of opening a WebSocket')],
  };
  for (const [what, [status, headers, failure]] of Object.entries(answers)) {
    verifies('TRN-05', `is understood: ${what}`, async () => {
      const server = await serveRaw((socket) => socket.write(`HTTP/1.1 ${status}\r\ncontent-length: 2\r\n\r\nno`));
      const { channel, heard } = openChannel(server.url, { headers });
      expect(await failureOf(channel.start())).toMatchObject(failure);
      await eventually(server.isQuiet);
      await channel.close();
      expect(heard.closes).toBe(0);
    });
  }

  verifies('TRN-14', 'by sending us elsewhere is not followed, so no header reaches another place', async () => {
    const elsewhere = await serve();
    const location = elsewhere.url.replace('ws:', 'http:');
    const server = await serveRaw((socket) => socket.write(`HTTP/1.1 307 Moved\r\nlocation: ${location}\r\n\r\n`));
    const { channel } = openChannel(server.url, { headers: token });
    expect(await failureOf(channel.start())).toMatchObject(
      broken('it redirects (HTTP 307), and redirects of a WebSocket are not followed'),
    );
    await eventually(server.isQuiet);
    expect(elsewhere.requests).toEqual([]);
  });

  const unusable: Record<string, [answer: string | undefined, failure: object]> = {
    'no HTTP': ['SSH-2.0-OpenSSH_9.6\r\n', broken('it does not answer in HTTP (HPE_INVALID_CONSTANT)')],
    'an upgrade to something else': [
      'HTTP/1.1 101 Fine\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n',
      broken('its answer does not open a WebSocket'),
    ],
    'no proof that it understood': [
      'HTTP/1.1 101 Fine\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: x\r\n\r\n',
      broken('its answer does not open a WebSocket'),
    ],
    'nothing, and the end': [undefined, lost(expect.stringMatching(/^it hung up/))],
  };
  for (const [what, [answer, failure]] of Object.entries(unusable)) {
    test(`is understood: ${what}`, async () => {
      const server = await serveRaw((socket) => (answer === undefined ? socket.end() : socket.write(answer)));
      const { channel } = openChannel(server.url);
      expect(await failureOf(channel.start())).toMatchObject(failure);
      await eventually(server.isQuiet);
    });
  }

  verifies('TRN-05', 'or is not there is named by what the network says', async () => {
    const { url } = await serveRaw();
    const nobody = url.replace(/\d+\/$/, '1/');
    const failures = [nobody, 'ws://no-such-name.invalid/'].map((each) => failureOf(openChannel(each).channel.start()));
    expect(await Promise.all(failures)).toMatchObject([
      lost('nothing listens at its address (ECONNREFUSED)'),
      lost(expect.stringMatching(/^the name in its address .* \((ENOTFOUND|EAI_AGAIN)\)$/)),
    ]);
  });

  test('an entry that cannot be sent is told as such, and nothing stays open', async () => {
    const server = await serveRaw();
    const refused = async (url: string, headers = {}) => failureOf(openChannel(url, { headers }).channel.start());
    expect(await refused('ftp://127.0.0.1/')).toMatchObject({
      code: 'CONFIG_INVALID',
      data: { problem: 'the url of server "files" begins neither with ws:// nor with wss://' },
    });
    expect(await refused(server.url, { 'X-Key': 'a\nb' })).toMatchObject({
      code: 'CONFIG_INVALID',
      data: { problem: 'server "files" has a header that cannot be sent (ERR_INVALID_CHAR)' },
    });
    await eventually(server.isQuiet);
  });
});

describe('the end of a server', () => {
  const ends: Record<
    string,
    [end: (peer: Awaited<ReturnType<typeof serve>>['peers'][number]) => void, reason: string]
  > = {
    'a goodbye with words': [
      ({ websocket }) => websocket.close(1011, 'out of\u001b[2J memory'),
      'it closed the connection with code 1011 (out of memory)',
    ],
    'a goodbye without': [({ websocket }) => websocket.close(), 'it closed the connection'],
    'no goodbye': [({ websocket }) => websocket.terminate(), 'it hung up'],
  };
  for (const [what, [end, reason]] of Object.entries(ends)) {
    verifies('TRN-05', `is in the report: ${what}`, async () => {
      const server = await serve();
      const { channel, heard } = await start(server.url);
      expect(channel.report()).toEqual({ reason: 'it has not answered', isRemote: true });
      end(await server.peer());
      await eventually(() => heard.closes === 1);
      expect(channel.report()).toEqual({ reason, isRemote: true });
      await channel.close();
      expect([channel.report().reason, heard.closes]).toEqual([reason, 1]);
    });
  }

  test('a reset is named', async () => {
    const server = await serve();
    const { channel, heard } = await start(server.url);
    server.requests[0]?.socket.resetAndDestroy();
    await eventually(() => heard.closes === 1);
    expect(channel.report().reason).toBe('it hung up (ECONNRESET)');
  });

  test('one that breaks the rules is left', async () => {
    const server = await serve();
    const { channel, heard } = await start(server.url);
    server.requests[0]?.socket.write(Buffer.from([0xff, 0x00]));
    await eventually(() => heard.closes === 1);
    expect(channel.report().reason).toBe('it breaks the rules of WebSocket (WS_ERR_UNEXPECTED_RSV_2_3)');
  });
});

describe('closing', () => {
  verifies(['TRN-05', 'TDN-03'], 'nothing is delivered after it but the news, once', async () => {
    const clock = createFakeClock();
    const server = await serve({ greet: (websocket) => websocket.on('message', () => websocket.send('{"id":1}')) });
    const { channel, heard } = await start(server.url, { clock });
    const { websocket, received } = await server.peer();
    const code = new Promise((resolve) => websocket.once('close', resolve));
    await channel.send(call(1, 'write'));
    const closing = channel.close();
    expect(channel.close()).toBe(closing);
    await closing;
    expect([heard.messages, heard.closes, clock.pending()]).toEqual([[], 1, 0]);
    expect([received.length, await code]).toEqual([1, 1000]);
    expect(channel.report()).toEqual({ reason: 'it was closed', isRemote: true });
    expect(await failureOf(channel.send({}))).toMatchObject(lost('it was closed'));
    expect(await failureOf(channel.start())).toMatchObject(lost('it was closed'));
  });

  verifies('TDN-03', 'a server that says no goodbye has one second', async () => {
    const clock = createFakeClock();
    const server = await serve();
    const { channel, heard } = await start(server.url, { clock });
    (await server.peer()).websocket.pause();
    const closing = channel.close();
    await clock.advance(limits.goodbyeMs - 1);
    expect(heard.closes).toBe(0);
    await clock.advance(1);
    await closing;
    expect([heard.closes, clock.pending()]).toEqual([1, 0]);
  });

  verifies('LIF-12', 'during the start it fails the start and leaves no socket', async () => {
    const server = await serveRaw();
    const { channel, heard } = openChannel(server.url);
    const starting = failureOf(channel.start());
    await eventually(() => server.sockets.length === 1);
    expect(channel.report().reason).toBe('its address has not answered');
    await channel.close();
    expect(await starting).toMatchObject(lost('it was closed'));
    await eventually(server.isQuiet);
    expect(heard.closes).toBe(0);
  });

  test('at once after the start began, it leaves nothing either', async () => {
    const server = await serveRaw();
    const { channel } = openChannel(server.url);
    const starting = failureOf(channel.start());
    await channel.close();
    expect(await starting).toMatchObject(lost('it was closed'));
    await eventually(server.isQuiet);
  });

  test('before the start, it forbids the start', async () => {
    const server = await serveRaw();
    const { channel, heard } = openChannel(server.url);
    await channel.close();
    expect(await failureOf(channel.start())).toMatchObject(lost('it was closed'));
    expect([server.sockets.length, heard.closes]).toEqual([0, 0]);
  });
});
