// Owns the proof that whatever a server does over HTTP, each request ends: with its answer, or with a failure that says
// what happened and whether the server may have acted on it.

import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/model/limits.ts';
import type { FakeClock } from '../../../src/testing/fake-clock.ts';
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
  request,
  result,
  serve,
  serveRaw,
  status,
} from './http-servers.ts';

const error = (id: unknown, code = -32000) => ({ jsonrpc: '2.0', id, error: { code, message: 'no' } });

/** So many have arrived, and the last one waits for its next turn: beside the watch over silence one timer is set. */
const pausing = (server: { received: readonly unknown[] }, clock: FakeClock, requests: number) =>
  eventually(() => server.received.length === requests && clock.pending() === 2);

describe('a no', () => {
  const refused: Record<string, [answering: Answering, failure: object, sent: boolean]> = {
    'that wants a login': [status(401), { code: 'AUTH_REQUIRED', data: { server: 'files' } }, false],
    'that forbids': [
      status(403, 'members only'),
      { code: 'AUTH_FAILED', data: { reason: 'it answered HTTP 403 (Forbidden): members only' } },
      false,
    ],
    'that finds the request wrong': [status(400, 'why?'), lost('it answered HTTP 400 (Bad Request): why?'), false],
    'without a session': [status(404), lost('it answered HTTP 404 (Not Found)'), false],
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
      expect.stringContaining('gzip'),
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

describe('asking again', () => {
  const passing = [408, 425, 429, 500, 502, 503, 504];

  verifies('EXT-18', 'a trouble that may pass is met after 250 and 1000 ms for what can be repeated', async () => {
    for (const [method, options] of [
      ['initialize', undefined],
      ['tools/list', undefined],
      ['server/discover', undefined],
      ['resources/templates/list', undefined],
      ['tools/call', { repeatable: true }],
    ] as const) {
      for (const code of passing) {
        const server = await serve([status(code), status(code), answer]);
        const { channel, heard, clock } = await connect(server.url);
        await channel.send(request(1, method), options);
        for (const [sent, pauseMs] of limits.httpRetryDelaysMs.entries()) {
          await pausing(server, clock, sent + 1);
          await clock.advance(pauseMs - 1);
          expect(server.received).toHaveLength(sent + 1);
          await clock.advance(1);
        }
        expect(await heard.answerTo(1)).toEqual(result(1));
        expect(heard.failures.size).toBe(0);
      }
    }
  });

  verifies('EXT-18', 'a third no is final', async () => {
    const server = await serve(status(503, 'busy'));
    const { channel, heard, clock } = await connect(server.url);
    await channel.send(request(1, 'tools/list'));
    for (const [sent, pauseMs] of limits.httpRetryDelaysMs.entries()) {
      await pausing(server, clock, sent + 1);
      await clock.advance(pauseMs);
    }
    expect(await heard.failureOf(1)).toMatchObject({
      sent: false,
      status: 503,
      cause: lost('it answered HTTP 503 (Service Unavailable): busy'),
    });
    expect(server.received).toHaveLength(3);
  });

  verifies('EXT-18', 'a call is sent again only where the server says that it has not handled it', async () => {
    for (const code of passing) {
      const server = await serve([status(code), answer]);
      const { channel, heard, clock } = await connect(server.url);
      await channel.send(request(1));
      if (code === 429 || code === 503) {
        await pausing(server, clock, 1);
        await clock.advance(250);
        expect(await heard.answerTo(1)).toEqual(result(1));
      } else {
        expect(await heard.failureOf(1)).toMatchObject({ status: code });
        expect(server.received).toHaveLength(1);
      }
    }
  });

  verifies('EXT-18', 'the server may name the pause, in seconds or as a date', async () => {
    for (const retryAfter of ['7', new Date(Date.UTC(2026, 0, 1) + 7_000).toUTCString()]) {
      const server = await serve([status(429, '', { 'retry-after': retryAfter }), answer]);
      const { channel, heard, clock } = await connect(server.url);
      await channel.send(request(1));
      await pausing(server, clock, 1);
      await clock.advance(6_999);
      expect(server.received).toHaveLength(1);
      await clock.advance(1);
      expect(await heard.answerTo(1)).toEqual(result(1));
    }
  });

  verifies('EXT-18', 'a pause that is too long is told at once', async () => {
    const server = await serve(status(503, '', { 'retry-after': '120' }));
    const { channel, heard } = await connect(server.url);
    await channel.send(request(1, 'tools/list'));
    expect(await heard.failureOf(1)).toMatchObject({
      cause: lost('it answered HTTP 503 (Service Unavailable) and wants to be left alone for 120 s'),
    });
  });

  verifies(
    'EXT-18',
    'a connection that was reset is tried once more for what can be repeated, never for a call',
    async () => {
      for (const [method, options, isAgain] of [
        ['tools/list', undefined, true],
        ['tools/call', { repeatable: true }, true],
        ['tools/call', undefined, false],
        ['resources/read', undefined, false],
      ] as const) {
        const server = await serve([hangUp, answer]);
        const { channel, heard } = await connect(server.url);
        await channel.send(request(1, method), options);
        if (isAgain) expect(await heard.answerTo(1)).toEqual(result(1));
        else
          expect(await heard.failureOf(1)).toEqual({ sent: true, cause: expect.objectContaining(lost('it hung up')) });
        expect(server.received).toHaveLength(isAgain ? 2 : 1);
      }
    },
  );

  test('a second reset is final', async () => {
    const server = await serve(hangUp);
    const { channel, heard } = await connect(server.url);
    await channel.send(request(1, 'ping'));
    expect(await heard.failureOf(1)).toMatchObject({ sent: true, cause: lost('it hung up') });
    expect(server.received).toHaveLength(2);
  });
});

describe('a server that is not there', () => {
  verifies('TRN-04', 'ends the channel, and every request is known not to have arrived', async () => {
    const { channel, heard } = await connect(await nobody());
    for (const id of [1, 2, 3]) await channel.send(request(id));
    await eventually(() => heard.closes() === 1);
    const cause = expect.objectContaining(lost('nothing listens at its address (ECONNREFUSED)'));
    expect([...heard.failures]).toEqual([1, 2, 3].map((id) => [id, { sent: false, cause }]));
    expect(channel.report?.()).toEqual({ reason: 'nothing listens at its address (ECONNREFUSED)', isRemote: true });
    expect(await failureOf(channel.send(request(4)))).toMatchObject(lost(expect.stringContaining('ECONNREFUSED')));
  });

  verifies('TRN-04', 'what had arrived before it went away is not claimed to be lost', async () => {
    const server = await serve([() => undefined, status(503), hangUp]);
    const { channel, heard, clock } = await connect(server.url);
    await channel.send(request(1));
    await eventually(() => server.received.length === 1);
    await channel.send(request(2));
    await pausing(server, clock, 2);
    await server.stop();
    await channel.send(request(3));
    await eventually(() => heard.closes() === 1);
    expect([...heard.failures.keys()]).toEqual([2, 3]);
    expect([...heard.failures.values()].every(({ sent }) => !sent)).toBe(true);
  });

  verifies('TRN-04', 'what does not speak HTTP is told as that', async () => {
    const server = await serveRaw((socket) => socket.end('220 mail.example ESMTP\r\n'));
    const { channel, heard } = await connect(server.url);
    await channel.send(request(1));
    expect(await heard.failureOf(1)).toMatchObject({
      sent: true,
      cause: lost(expect.stringMatching(/not speak HTTP/)),
    });
  });
});

describe('a session that has expired', () => {
  verifies('TRN-04', 'lets its request go to a new one, and what still runs come to its end', async () => {
    const held: (() => void)[] = [];
    const server = await serve(
      older((received, response) => {
        if (received.message['id'] === 2) json(error(2), 404)(received, response);
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

describe('a stream that ends before its answer', () => {
  const primed = events('retry: 300\nid: e1\ndata:\n\n');
  const get = (first: Answering, ...more: Answering[]): Answering => {
    const answers = [first, ...more];
    let asked = 0;
    return (received, response) => {
      if (received.headers['last-event-id'] === undefined) status(405)(received, response);
      else answers[Math.min(asked++, answers.length - 1)]?.(received, response);
    };
  };
  const resumes = (server: { received: readonly { headers: Record<string, unknown> }[] }) =>
    server.received.map(({ headers }) => headers['last-event-id']).filter(Boolean);

  verifies('TRN-04', 'is taken up where it broke off, after the pause that the server wants', async () => {
    const server = await serve(older(primed, { get: get(events(event(result(1), 'e2'))) }));
    const opened = await connect(server.url, { headers: { authorization: 'Bearer x' } });
    await initialize(opened);
    await opened.channel.send(request(1));
    await pausing(server, opened.clock, 4);
    await opened.clock.advance(299);
    expect(resumes(server)).toEqual([]);
    await opened.clock.advance(1);
    expect(await opened.heard.answerTo(1)).toEqual(result(1));
    expect(server.received.at(-1)?.headers).toMatchObject({
      ...{ 'last-event-id': 'e1', accept: 'text/event-stream', authorization: 'Bearer x' },
      ...{ 'mcp-session-id': 's-1', 'mcp-protocol-version': '2025-06-18' },
    });
  });

  verifies(
    'TRN-04',
    'is taken up as often as it goes on, and given up after three times without progress',
    async () => {
      const server = await serve(
        older(primed, { get: get(events('id: e2\ndata:\n\n'), hangUp, events(), status(503)) }),
      );
      const opened = await connect(server.url);
      await initialize(opened);
      await opened.channel.send(request(1));
      for (const before of [4, 5, 6, 7]) {
        await pausing(server, opened.clock, before);
        await opened.clock.advance(300);
      }
      expect(await opened.heard.failureOf(1)).toMatchObject({
        sent: true,
        cause: lost('it answered HTTP 503 (Service Unavailable)'),
      });
      expect(resumes(server)).toEqual(['e1', 'e2', 'e2', 'e2']);
    },
  );

  test('a server that refuses to go on is believed', async () => {
    const server = await serve(older(primed, { get: get(status(404)) }));
    const opened = await connect(server.url);
    await initialize(opened);
    await opened.channel.send(request(1));
    await pausing(server, opened.clock, 4);
    await opened.clock.advance(300);
    expect(await opened.heard.failureOf(1)).toMatchObject({ sent: true, status: 404 });
    expect(opened.heard.closes()).toBe(0);
  });

  verifies('TRN-04', 'fails at once where it cannot be taken up', async () => {
    for (const answering of [
      events(),
      events(event({ jsonrpc: '2.0', method: 'x' })),
      events('id: \u0007\ndata:\n\n'),
    ]) {
      const server = await serve(older(answering));
      const opened = await connect(server.url);
      await initialize(opened);
      await opened.channel.send(request(1));
      expect(await opened.heard.failureOf(1)).toMatchObject({
        sent: true,
        cause: lost('its stream ended before the answer'),
      });
    }
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
    const server = await serve([status(503), events('id: 1\ndata:\n\n')]);
    const { channel, heard, clock } = await connect(server.url);
    for (const id of [1, 2]) {
      await channel.send(request(id));
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
