// Owns the proof that a server over the older transport is spoken to: messages to the address it names, answers over its stream.

import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { openSse } from '../../../src/transport/sse.ts';
import { eventually } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';
import {
  type Answering,
  broken,
  connect,
  drive,
  event,
  failureOf,
  hangUp,
  lost,
  nobody,
  type Options,
  prepare,
  request,
  result,
  serve,
  status,
} from './http-servers.ts';

const stream = (response: ServerResponse, endpoint: string) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`event: endpoint\ndata: ${endpoint}\n\n`);
};

/** A real server that answers over its stream unless the test says otherwise. */
async function serveSse(onPost: Answering = status(202, 'Accepted'), endpoint = '/messages?session=1') {
  let open: ServerResponse | undefined;
  const server = await serve((received, response) => {
    if (received.method === 'GET') {
      open = response;
      stream(response, endpoint);
      return;
    }
    onPost(received, response);
    const { id, method } = received.message;
    if (typeof id === 'number' && response.statusCode === 202) {
      const answer =
        method === 'initialize' ? { jsonrpc: '2.0', id, result: { protocolVersion: '2024-11-05' } } : result(id);
      open?.write(event(answer));
    }
  });
  const say = (text: string) => open?.write(text);
  const end = () => open?.end();
  const cut = () => open?.destroy();
  return { ...server, say, end, cut };
}

const connectSse = (url: string, options: Options = {}) => connect(url, options, openSse);

describe('the stream', () => {
  for (const endpoint of ['/messages?session=1', 'messages?session=1', 'ORIGIN/messages?session=1']) {
    verifies('TRN-03', `names where messages go (${endpoint}), and brings their answers`, async () => {
      const server = await serve((received, response) => {
        if (received.method === 'GET') stream(response, endpoint.replace('ORIGIN', server.origin));
        else response.writeHead(202).end();
      });
      const { channel } = await connectSse(server.url, { headers: { authorization: 'Bearer x' } });
      await channel.send(request(1));
      await eventually(() => server.received.length === 2);
      expect(server.received.map(({ method, path }) => [method, path])).toEqual([
        ['GET', '/mcp'],
        ['POST', '/messages?session=1'],
      ]);
      expect(server.received[0]?.headers).toMatchObject({ accept: 'text/event-stream', authorization: 'Bearer x' });
      expect(server.received[1]?.headers).toMatchObject({
        'content-type': 'application/json',
        authorization: 'Bearer x',
      });
    });
  }

  verifies('TRN-03', 'carries every answer, and what the server says unasked', async () => {
    const server = await serveSse();
    const { channel, heard } = await connectSse(server.url);
    expect([channel.negotiatedTransport, channel.hasRequestStreams ?? false]).toEqual(['sse', false]);
    for (let id = 1; id <= 50; id += 1) await channel.send(request(id));
    await eventually(() => heard.messages.length === 50);
    server.say(event({ jsonrpc: '2.0', method: 'news' }));
    server.say('data: noise\n\ndata: [1]\n\nevent: other\ndata: {}\n\n');
    await eventually(() => heard.noise.length === 2);
    expect(heard.messages.at(-1)).toEqual({ jsonrpc: '2.0', method: 'news' });
    expect(heard.noise).toEqual(['noise', '1']);
  });

  const note = { jsonrpc: '2.0', method: 'notifications/initialized' };

  verifies(['TRN-03', 'LIF-02'], 'nothing overtakes the word that the handshake is over', async () => {
    const held: (() => void)[] = [];
    const server = await serveSse((received, response) => {
      if (received.message['method'] === note.method) held.push(() => response.writeHead(202).end());
      else status(202)(received, response);
    });
    const { channel, heard } = await connectSse(server.url);
    await channel.send(request(1, 'initialize'));
    await heard.answerTo(1);
    let isOver = false;
    const over = channel.send(note).then(() => {
      isOver = true;
    });
    await eventually(() => held.length === 1);
    expect(isOver).toBe(false);
    held[0]?.();
    await over;
  });

  for (const [what, answering] of Object.entries({ 'never taken': () => undefined, refused: status(500) })) {
    test(`that word is waited for no longer than a second where it is ${what}`, async () => {
      const server = await serveSse((received, response) => {
        const isNote = received.message['method'] === note.method;
        (isNote ? answering : status(202))(received, response);
      });
      const { channel, heard, clock } = await connectSse(server.url);
      await channel.send(request(1, 'initialize'));
      await heard.answerTo(1);
      await drive(clock, channel.send(note));
      await channel.send(request(2));
      await heard.answerTo(2);
    });
  }

  verifies('TRN-03', 'its version is sent once it is known', async () => {
    const server = await serveSse();
    const { channel, heard } = await connectSse(server.url);
    await channel.send(request(1, 'initialize'));
    await heard.answerTo(1);
    await channel.send(request(2));
    await heard.answerTo(2);
    expect(server.posts().map(({ headers }) => headers['mcp-protocol-version'])).toEqual([undefined, '2024-11-05']);
  });

  verifies('TRN-03', 'may not send messages to another origin', async () => {
    for (const [endpoint, where] of [
      ['https://elsewhere.example/in?secret=1', 'at https://elsewhere.example, which is another origin'],
      ['file:///etc/passwd', 'at an address that is not http or https'],
    ] as const) {
      const server = await serveSse(undefined, endpoint);
      const { channel } = prepare(server.url, {}, openSse);
      expect(await failureOf(channel.start())).toMatchObject(broken(`it wants its messages ${where}`));
      await eventually(() => server.sockets.size === 0);
    }
  });

  verifies('TRN-03', 'ends the channel with its end', async () => {
    for (const [end, reason] of [
      [(server: Awaited<ReturnType<typeof serveSse>>) => server.end(), 'its stream ended'],
      [(server: Awaited<ReturnType<typeof serveSse>>) => server.cut(), 'it hung up'],
    ] as const) {
      const server = await serveSse();
      const { channel, heard } = await connectSse(server.url);
      end(server);
      await eventually(() => heard.closes() === 1);
      expect(channel.report?.()).toEqual({ reason, isRemote: true });
      expect(await failureOf(channel.send(request(1)))).toMatchObject(lost(reason));
      await eventually(() => server.sockets.size === 0);
    }
  });

  test('an event over the limit is told, and the stream goes on', async () => {
    const server = await serveSse();
    const { channel, heard } = await connectSse(server.url, { maxMessageBytes: 1_000 });
    server.say(event({ ...result(7), filler: 'x'.repeat(2_000) }));
    await channel.send(request(8));
    await heard.answerTo(8);
    expect(heard.oversized).toEqual([7]);
  });
});

describe('a start', () => {
  const refusals: Record<string, [answering: Answering, failure: object]> = {
    'a login': [status(401), { code: 'AUTH_REQUIRED' }],
    'a ban': [status(403, 'no'), { code: 'AUTH_FAILED', data: { reason: 'it answered HTTP 403 (Forbidden): no' } }],
    'a wrong address': [status(404, 'gone'), broken('it answered HTTP 404 (Not Found): gone')],
    'a server in trouble': [status(503), lost('it answered HTTP 503 (Service Unavailable)')],
    'a page': [status(200, '<html>'), broken('it was asked for a stream of events and gave something else')],
    'a reset': [hangUp, lost('it hung up')],
    'a stream that says nothing': [status(200, '', { 'content-type': 'text/event-stream' }), lost('its stream ended')],
  };
  for (const [what, [answering, failure]] of Object.entries(refusals)) {
    verifies('TRN-03', `fails by ${what}, and leaves nothing`, async () => {
      const server = await serve(answering);
      const { channel, heard } = prepare(server.url, {}, openSse);
      expect(await failureOf(channel.start())).toMatchObject(failure);
      await eventually(() => server.sockets.size === 0);
      expect(heard.closes()).toBe(0);
    });
  }

  verifies('TRU-08', 'fails without showing a header of the entry that the server quotes', async () => {
    const server = await serve(({ headers: { authorization } }, response) =>
      response.writeHead(500, `no ${authorization}`).end(`not for ${authorization}`),
    );
    const { channel } = prepare(server.url, { headers: { authorization: 'Bearer top-secret' } }, openSse);
    const reason = 'it answered HTTP 500 (no [hidden]): not for [hidden]';
    expect(await failureOf(channel.start())).toMatchObject(lost(reason));
  });

  test('fails where nobody is', async () => {
    const { channel } = prepare(await nobody(), {}, openSse);
    expect(await failureOf(channel.start())).toMatchObject(lost(expect.stringContaining('ECONNREFUSED')));
  });

  test('that does not come to an end is ended by closing', async () => {
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': wait\n\n');
    });
    const { channel } = prepare(server.url, {}, openSse);
    const start = failureOf(channel.start());
    await eventually(() => server.received.length === 1);
    expect(channel.report?.()).toEqual({ reason: 'it has not said where to send messages', isRemote: true });
    await channel.close();
    expect(await start).toMatchObject(lost('it was closed'));
    await eventually(() => server.sockets.size === 0);
  });
});

describe('a message', () => {
  verifies('TRN-03', 'that is refused fails alone', async () => {
    const answers = [status(400, 'bad'), status(401), hangUp, status(202)];
    const server = await serveSse((received, response) => answers[server.posts().length - 1]?.(received, response));
    const { channel, heard } = await connectSse(server.url);
    const ends = [
      { sent: false, status: 400, cause: { code: 'REQUEST_REFUSED' } },
      { sent: false, status: 401, cause: { code: 'AUTH_REQUIRED' } },
      { sent: true, cause: lost('it hung up') },
    ];
    for (const [index, end] of ends.entries()) {
      await channel.send(request(index + 1));
      expect(await heard.failureOf(index + 1)).toMatchObject(end);
    }
    await channel.send(request(4));
    expect(await heard.answerTo(4)).toEqual(result(4));
    expect(heard.closes()).toBe(0);
  });

  verifies('EXT-18', 'is sent again like over any other transport', async () => {
    const answers = [status(429), status(202)];
    const server = await serveSse((received, response) => answers[server.posts().length - 1]?.(received, response));
    const { channel, heard, clock } = await connectSse(server.url);
    await channel.send(request(1, 'resources/read'));
    await eventually(() => server.posts().length === 1 && clock.pending() === 2);
    await clock.advance(250);
    expect(await heard.answerTo(1)).toEqual(result(1));
  });

  verifies('TRN-03', 'to an address that is gone ends the channel: so is its session', async () => {
    const server = await serveSse(status(404));
    const { channel, heard } = await connectSse(server.url);
    await channel.send(request(1));
    expect(await heard.failureOf(1)).toMatchObject({
      sent: false,
      status: 404,
      cause: lost('its session expired (HTTP 404)'),
    });
    await eventually(() => heard.closes() === 1);
  });

  verifies('CAL-06', 'that nobody waits for any more is not sent again', async () => {
    const server = await serveSse(status(429));
    const { channel, heard, clock } = await connectSse(server.url);
    await channel.send(request(1, 'resources/read'));
    await eventually(() => server.posts().length === 1 && clock.pending() === 2);
    channel.abandon?.(1);
    expect([clock.pending(), heard.failures.size]).toEqual([1, 0]);
  });
});
