// Owns the proof that whatever a server does over HTTP, each request ends: with its answer, or with a failure that says
// what happened and whether the server may have acted on it.

import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/model/limits.ts';
import { eventually } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';
import {
  type Answering,
  answer,
  broken,
  connect,
  event,
  events,
  failureOf,
  hangUp,
  initialize,
  json,
  lost,
  nobody,
  older,
  pausing,
  request,
  result,
  serve,
  serveRaw,
  status,
} from './http-servers.ts';

/** The failure of a request that the server refused, which says nothing about the server itself. */
const unwanted = (reason: string) => ({ code: 'REQUEST_REFUSED', data: { server: 'files', reason } });
const error = (id: unknown, code = -32000) => ({ jsonrpc: '2.0', id, error: { code, message: 'no' } });

describe('a no', () => {
  const refused: Record<string, [answering: Answering, failure: object, sent: boolean]> = {
    'that wants a login': [status(401), { code: 'AUTH_REQUIRED', data: { server: 'files' } }, false],
    'that forbids': [
      status(403, 'members only'),
      { code: 'AUTH_FAILED', data: { reason: 'it answered HTTP 403 (Forbidden): members only' } },
      false,
    ],
    'that finds the request wrong': [status(400, 'why?'), unwanted('it answered HTTP 400 (Bad Request): why?'), false],
    'without a session': [status(404), unwanted('it answered HTTP 404 (Not Found)'), false],
    'of a broken server': [
      status(500, '<h1>Oops\u001b[31m\r\n</h1>'),
      lost('it answered HTTP 500 (Internal Server Error): <h1>Oops </h1>'),
      true,
    ],
    'with a long text': [
      status(502, 'x'.repeat(500)),
      lost(`it answered HTTP 502 (Bad Gateway): ${'x'.repeat(200)}`),
      true,
    ],
    'of a proxy': [
      status(407),
      { code: 'CONFIG_INVALID', data: { problem: 'the proxy of server "files" wants a login (HTTP 407)' } },
      false,
    ],
    'with a text without end': [
      (_, response) => {
        response.writeHead(500);
        response.write('y'.repeat(limits.refusalBytes + 1));
      },
      lost(`it answered HTTP 500 (Internal Server Error): ${'y'.repeat(200)}`),
      true,
    ],
    'that breaks off': [
      (_, response) => {
        response.writeHead(500);
        response.write('half a', () => response.destroy());
      },
      lost('it answered HTTP 500 (Internal Server Error): half a'),
      true,
    ],
  };
  for (const [how, [answering, cause, sent]] of Object.entries(refused)) {
    verifies('TRN-04', `${how} ends the request and not the channel`, async () => {
      const server = await serve([answering, answer]);
      const { channel, heard } = await connect(server.url);
      await channel.send(request(1));
      const failure = await heard.failureOf(1);
      expect(failure).toMatchObject({ sent, status: expect.any(Number), cause });
      await channel.send(request(2));
      expect(await heard.answerTo(2)).toEqual(result(2));
      expect(heard.closes()).toBe(0);
    });
  }

  verifies('TRN-04', 'to a token is a login that failed', async () => {
    const server = await serve(status(401, JSON.stringify(error(1))));
    const { channel, heard } = await connect(server.url, { headers: { AUTHORIZATION: 'Bearer old' } });
    await channel.send(request(1));
    const { cause } = await heard.failureOf(1);
    expect(cause).toMatchObject({
      code: 'AUTH_FAILED',
      data: { reason: 'it refused the token it was given (HTTP 401)' },
    });
    expect([cause.outage, cause.reconnect]).toEqual([false, false]);
  });

  for (const code of [400, 404, 405]) {
    verifies('TRN-04', `HTTP ${code} to the handshake means that the address is wrong`, async () => {
      const server = await serve(status(code));
      const { channel, heard } = await connect(server.url);
      await channel.send(request(1, 'initialize'));
      expect(await heard.failureOf(1)).toMatchObject({
        status: code,
        cause: broken(expect.stringContaining(`HTTP ${code}`)),
      });
    });
  }

  verifies('TRN-04', 'in the words of the protocol is an answer', async () => {
    for (const [code, body] of [
      [400, error(1, -32022)],
      [404, error(1, -32601)],
      [500, error(1)],
      [400, error(null)],
      [503, error(1)],
    ] as const) {
      const server = await serve(json(body, code));
      const { channel, heard } = await connect(server.url);
      await channel.send(request(1));
      expect(await heard.answerTo(1)).toEqual({ ...body, id: 1 });
      expect(heard.failures.size).toBe(0);
      expect(server.received).toHaveLength(1);
    }
  });
});

describe('what is no answer', () => {
  const answers: Record<string, [answering: Answering, reason: unknown, delivered?: unknown[], noise?: string[]]> = {
    'a page': [status(200, '<html>', { 'content-type': 'text/html' }), expect.stringContaining('but text/html')],
    'nothing at all': [status(202), expect.stringContaining('HTTP 202')],
    'JSON that is broken': [
      status(200, '{"jsonrpc":', { 'content-type': 'application/json' }),
      NOT_FOR_IT(),
      [],
      ['{"jsonrpc":'],
    ],
    'a word': [json('hello'), NOT_FOR_IT(), [], ['"hello"']],
    'an object of another kind': [json({ hello: 1 }), NOT_FOR_IT(), [{ hello: 1 }]],
    'the answer to someone else': [json(result(99)), NOT_FOR_IT(), [result(99)]],
    'an answer that is packed': [
      status(200, 'x', { 'content-type': 'application/json', 'content-encoding': 'gzip' }),
      'it compressed its answer with gzip, although it was not asked to',
    ],
    'an answer that is packed twice': [
      status(200, 'x', { 'content-type': 'application/json', 'content-encoding': 'Identity, BR' }),
      'it compressed its answer with br, although it was not asked to',
    ],
    'a type of answer that would move the cursor': [
      status(200, 'x', { 'content-type': '\x9b31mred' }),
      'its answer is neither JSON nor a stream of events but red',
    ],
  };
  for (const [what, [answering, reason, delivered = [], noise = []]] of Object.entries(answers)) {
    verifies('TRN-04', `${what} fails the request and nothing else`, async () => {
      const server = await serve([answering, answer]);
      const { channel, heard } = await connect(server.url);
      await channel.send(request(1));
      expect(await heard.failureOf(1)).toMatchObject({ sent: true, status: expect.any(Number), cause: broken(reason) });
      expect([heard.messages, heard.noise]).toEqual([delivered, noise]);
      await channel.send(request(2));
      expect(await heard.answerTo(2)).toEqual(result(2));
    });
  }

  function NOT_FOR_IT(): string {
    return 'its answer does not belong to the request';
  }

  verifies('TRN-04', 'a message over the limit is not read to its end, and the one it answers is told', async () => {
    const big = { ...result(1), filler: 'x'.repeat(300_000) };
    const server = await serve([json(big), events(event({ ...big, id: 2 }), event({ x: 1 })), answer]);
    const { channel, heard } = await connect(server.url, { maxMessageBytes: 10_000 });
    await channel.send(request(1));
    await eventually(() => heard.oversized.length === 1);
    await channel.send(request(2));
    await eventually(() => heard.oversized.length === 2);
    await channel.send(request(3));
    await heard.answerTo(3);
    expect([heard.oversized, heard.failures.size]).toEqual([[1, 2], 0]);
  });

  verifies('TRN-04', 'an event that is no message does not disturb the stream', async () => {
    const server = await serve(
      events('data: {broken\n\n', 'event: ping\ndata: x\n\n', 'data: 7\n\n', event(result(1))),
    );
    const { channel, heard } = await connect(server.url);
    await channel.send(request(1));
    expect(await heard.answerTo(1)).toEqual(result(1));
    expect(heard.noise).toEqual(['{broken', '7']);
  });
});

describe('a server that is not there', () => {
  verifies('TRN-04', 'ends the channel, and every request is known not to have arrived', async () => {
    const { channel, heard } = await connect(await nobody());
    for (const id of [1, 2, 3]) await channel.send(request(id));
    await eventually(() => heard.closes() === 1);
    const cause = expect.objectContaining(lost('nothing listens at its address (ECONNREFUSED)'));
    expect([...heard.failures].sort(([a], [b]) => Number(a) - Number(b))).toEqual(
      [1, 2, 3].map((id) => [id, { sent: false, cause }]),
    );
    expect(channel.report?.()).toEqual({ reason: 'nothing listens at its address (ECONNREFUSED)', isRemote: true });
    expect(await failureOf(channel.send(request(4)))).toMatchObject(lost(expect.stringContaining('ECONNREFUSED')));
  });

  verifies('TRN-04', 'what had arrived before it went away is waited for, and not claimed to be lost', async () => {
    const server = await serve([() => undefined, status(429), hangUp]);
    const { channel, heard, clock } = await connect(server.url);
    await channel.send(request(1));
    await eventually(() => server.received.length === 1);
    await channel.send(request(2, 'resources/read'));
    await pausing(server, clock, 2);
    await server.stop();
    await channel.send(request(3));
    expect(await heard.failureOf(3)).toMatchObject({ sent: false });
    await clock.advance(limits.httpRetryDelaysMs[0]);
    expect(await heard.failureOf(2)).toMatchObject({ sent: false });
    expect([[...heard.failures.keys()], heard.closes()]).toEqual([[3, 2], 0]);
    await channel.close();
  });

  verifies('TRN-04', 'what does not speak HTTP is told as that', async () => {
    const server = await serveRaw((socket) => socket.end('220 mail.example ESMTP\r\n'));
    const { channel, heard } = await connect(server.url);
    await channel.send(request(1));
    expect(await heard.failureOf(1)).toMatchObject({
      sent: true,
      cause: lost('its answer is not valid HTTP'),
    });
  });
});

describe('a session that has expired', () => {
  verifies('TRN-04', 'lets its request go to a new one, and what still runs come to its end', async () => {
    const held: (() => void)[] = [];
    const server = await serve(
      older((received, response) => {
        if (received.message['id'] === 2) json({ ...error(2), id: null }, 404)(received, response);
        else held.push(() => answer(received, response));
      }),
    );
    const opened = await connect(server.url);
    const { channel, heard } = opened;
    await initialize(opened);
    await channel.send(request(1));
    await eventually(() => held.length === 1);
    await channel.send(request(2));
    expect(await heard.failureOf(2)).toMatchObject({
      sent: false,
      status: 404,
      cause: lost('its session expired (HTTP 404)'),
    });
    expect(await failureOf(channel.send(request(3)))).toMatchObject(lost('its session expired (HTTP 404)'));
    expect(heard.closes()).toBe(0);
    held[0]?.();
    expect(await heard.answerTo(1)).toEqual(result(1));
    await eventually(() => heard.closes() === 1);
    expect(channel.report?.()).toEqual({ reason: 'its session expired (HTTP 404)', isRemote: true });
    await channel.close();
    expect(server.received.map(({ method }) => method)).not.toContain('DELETE');
  });

  verifies('TRN-04', 'is recognized also where the server says so with a 400 that names no request', async () => {
    const unknown = { jsonrpc: '2.0', id: null, error: { code: -32000, message: 'Bad Request: no valid session' } };
    const server = await serve(older(json(unknown, 400)));
    const opened = await connect(server.url);
    await initialize(opened);
    await opened.channel.send(request(2));
    expect(await opened.heard.failureOf(2)).toMatchObject({
      sent: false,
      cause: lost('its session expired (HTTP 400)'),
    });
    await eventually(() => opened.heard.closes() === 1);
    await opened.channel.close();
  });

  verifies('TRN-04', 'is not kept for long by what does not end', async () => {
    const server = await serve(
      older((received, response) => received.message['id'] === 2 && status(404)(received, response)),
    );
    const opened = await connect(server.url);
    await initialize(opened);
    await opened.channel.send(request(1));
    await opened.channel.send(request(2));
    await opened.heard.failureOf(2);
    await opened.clock.advance(limits.expiredDrainMs - 1);
    expect(opened.heard.closes()).toBe(0);
    await opened.clock.advance(1);
    expect(opened.heard.closes()).toBe(1);
    expect(opened.heard.failures.has(1)).toBe(false);
  });

  test('with nothing under way it ends at once', async () => {
    const server = await serve(older(status(404)));
    const opened = await connect(server.url);
    await initialize(opened);
    await opened.channel.send(request(1));
    await opened.heard.failureOf(1);
    expect(opened.heard.closes()).toBe(1);
  });
});

describe('silence', () => {
  const silences: Record<string, Answering> = {
    'before the head': () => undefined,
    'in the middle of JSON': (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{');
    },
    'in a stream': (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': still there\n\n');
    },
  };
  for (const [where, answering] of Object.entries(silences)) {
    verifies('TRN-04', `${where} is borne for five minutes, and no longer`, async () => {
      const server = await serve([answering, answer]);
      const { channel, heard, clock } = await connect(server.url);
      await channel.send(request(1));
      await eventually(() => server.received.length === 1);
      await clock.advance(1_000);
      await channel.send(request(2));
      await heard.answerTo(2);
      await clock.advance(limits.httpIdleMs - 2_000);
      expect(heard.failures.size).toBe(0);
      await clock.advance(2_000);
      expect(await heard.failureOf(1)).toMatchObject({ sent: true, cause: lost('it was silent for 300 s') });
      await eventually(() => server.received[0]?.isGone());
    });
  }

  test('any sign of life is a new beginning', async () => {
    let write: ((text: string) => void) | undefined;
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      write = (text) => response.write(text);
      write(':\n');
    });
    const { channel, heard, clock } = await connect(server.url);
    await channel.send(request(1));
    await eventually(() => write !== undefined);
    for (let at = 0; at < 4; at += 1) {
      await clock.advance(limits.httpIdleMs - 60_000);
      const noise = heard.noise.length;
      write?.(': comment\ndata: sign\n\n');
      await eventually(() => heard.noise.length > noise);
    }
    expect(heard.failures.size).toBe(0);
    write?.(event(result(1)));
    expect(await heard.answerTo(1)).toEqual(result(1));
  });
});

describe('abandoning', () => {
  verifies('CAL-06', 'a request closes its stream, and nothing more is heard of it', async () => {
    const server = await serve([() => undefined, answer]);
    const { channel, heard } = await connect(server.url);
    expect(channel.hasRequestStreams).toBe(true);
    await channel.send(request(1));
    await eventually(() => server.received.length === 1);
    channel.abandon?.(1);
    channel.abandon?.(99);
    await eventually(() => server.received[0]?.isGone());
    await channel.send(request(2));
    await heard.answerTo(2);
    expect([heard.messages, heard.failures.size]).toEqual([[result(2)], 0]);
  });

  verifies('CAL-06', 'a request that waits to be asked again ends the waiting', async () => {
    const server = await serve([status(429), events('id: 1\ndata:\n\n')]);
    const { channel, heard, clock } = await connect(server.url);
    for (const id of [1, 2]) {
      await channel.send(request(id, 'resources/read'));
      await pausing(server, clock, id);
      channel.abandon?.(id);
      expect(clock.pending()).toBe(1);
    }
    expect([server.received.length, heard.failures.size]).toEqual([2, 0]);
  });

  test('a request that has not even been sent is never sent', async () => {
    const server = await serve(answer);
    const { channel, heard } = await connect(server.url);
    await channel.send(request(1));
    channel.abandon?.(1);
    await channel.send(request(2));
    await heard.answerTo(2);
    expect(server.received.map(({ message: { id } }) => id)).toEqual([2]);
  });
});

describe('chance', () => {
  /** Returns the same numbers for the same seed. */
  const dice = (seed: number) => {
    let state = seed;
    return (sides: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % sides;
    };
  };

  const half: Answering = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('id: 5\ndata: {"ha', () => response.destroy());
  };
  const inPieces: Answering = ({ message: { id } }, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const byte of event(result(id as number))) response.write(byte);
    response.end();
  };
  const moods: readonly Answering[] = [
    ...[answer, answer, inPieces, hangUp, half, () => undefined],
    ...[status(503), status(500), status(429, '', { 'retry-after': '1' }), status(202), status(404), json(result(1e9))],
    ...[events(), events('id: 1\ndata:\n\n'), events('data: {\n\n'), json({ filler: 'x'.repeat(20_000) })],
  ];

  verifies('TRN-04', 'every request ends exactly once, whatever the server does to it', async () => {
    const roll = dice(20_260_101);
    const server = await serve(
      older((received, response) => moods[roll(moods.length)]?.(received, response), { session: '' }),
    );
    const opened = await connect(server.url, { maxMessageBytes: 10_000 });
    const { channel, heard, clock } = opened;
    await initialize(opened);
    const ids = Array.from({ length: 400 }, (_, index) => index + 1);
    const isAbandoned = new Set<number>();
    for (const id of ids) {
      await channel.send(request(id, roll(2) === 0 ? 'tools/call' : 'tools/list'));
      if (roll(10) === 0) {
        isAbandoned.add(id);
        channel.abandon?.(id);
      }
    }
    await eventually(() => {
      // Small steps while a connection is being opened, or it would time out.
      void clock.advance(clock.pending() > 1 ? 100 : limits.httpIdleMs);
      return clock.pending() === 0;
    });
    const endsOf = (id: number) =>
      heard.messages.filter((message) => message['id'] === id).length +
      heard.oversized.filter((each) => each === id).length +
      (heard.failures.has(id) ? 1 : 0);
    expect(ids.filter((id) => endsOf(id) !== (isAbandoned.has(id) ? 0 : 1))).toEqual([]);
    expect(heard.closes()).toBe(0);
  });
});
