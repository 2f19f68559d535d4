// Owns the proof that what can be asked again without harm is, after the right pause, and that nothing else is.

import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/model/limits.ts';
import { verifies } from '../../verifies.ts';
import {
  type Answering,
  answer,
  connect,
  event,
  events,
  hangUp,
  initialize,
  lost,
  older,
  pausing,
  request,
  result,
  serve,
  status,
} from './http-servers.ts';

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
      // A call that was refused for its rate waits under the eyes of its caller.
      for (const code of passing.filter((each) => each !== 429 || method !== 'tools/call')) {
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
      sent: true,
      status: 503,
      cause: lost('it answered HTTP 503 (Service Unavailable): busy'),
    });
    expect(server.received).toHaveLength(3);
  });

  verifies(['EXT-18', 'REC-12'], 'the transport never sends a call again that must not be repeated', async () => {
    for (const code of passing) {
      for (const headers of [{}, { 'retry-after': '0' }]) {
        const server = await serve([status(code, '', headers), answer]);
        const { channel, heard } = await connect(server.url);
        await channel.send(request(1));
        expect(await heard.failureOf(1)).toMatchObject({ sent: code !== 425 && code !== 429, status: code });
        expect(server.received).toHaveLength(1);
      }
    }
  });

  verifies(
    ['EXT-18', 'REC-12'],
    'a call whose refusal is compressed is not sent again: it may be the page of a proxy',
    async () => {
      const server = await serve(older(status(404, 'gzipped page', { 'content-encoding': 'gzip' })));
      const opened = await connect(server.url);
      await initialize(opened);
      await opened.channel.send(request(1));
      const cause = { code: 'REQUEST_REFUSED', data: { reason: 'it answered HTTP 404 (Not Found)' } };
      expect(await opened.heard.failureOf(1)).toMatchObject({ sent: true, status: 404, cause });
    },
  );

  verifies('EXT-18', 'another request is sent again where the server says that it has not handled it', async () => {
    for (const [code, headers] of [
      [429, {}],
      [503, { 'retry-after': '0' }],
    ] as const) {
      const server = await serve([status(code, '', headers), answer]);
      const { channel, heard, clock } = await connect(server.url);
      await channel.send(request(1, 'resources/read'));
      await pausing(server, clock, 1);
      await clock.advance(limits.httpRetryDelaysMs[0]);
      expect(await heard.answerTo(1)).toEqual(result(1));
    }
  });

  verifies(
    ['EXT-30', 'EXT-18'],
    'a rate limit is told with the time that the server names, or without one',
    async () => {
      for (const [headers, waitMs] of [
        [{}, undefined],
        [{ 'retry-after': '90' }, 90_000],
        [{ 'retry-after': 'soon' }, undefined],
      ] as const) {
        const server = await serve(status(429, 'slow down', headers));
        const { channel, heard } = await connect(server.url);
        await channel.send(request(1));
        await channel.send(request(2), { repeatable: true });
        for (const id of [1, 2]) {
          const { sent, cause } = await heard.failureOf(id);
          expect([sent, cause.code, cause.outage, cause.remedy]).toEqual([false, 'RATE_LIMITED', false, 'retry-later']);
          expect((cause.data as { waitMs?: number }).waitMs).toBe(waitMs);
        }
      }
    },
  );

  verifies(['EXT-18', 'CAL-13'], 'every further POST of a request is told: a retry, a reset, a redirect', async () => {
    const again = (_: unknown, response: ServerResponse) => response.writeHead(307, { location: '/mcp' }).end();
    for (const [answers, repeats] of [
      [[answer], 0],
      [[status(503), answer], 1],
      [[hangUp, answer], 1],
      [[again, again, answer], 2],
    ] as const) {
      const server = await serve([...answers]);
      const { channel, heard, clock } = await connect(server.url);
      let told = 0;
      await channel.send(request(1), { repeatable: true, onRepeat: () => (told += 1) });
      if (answers[0] !== answer && answers[0] !== hangUp && answers[0] !== again) {
        await pausing(server, clock, 1);
        await clock.advance(limits.httpRetryDelaysMs[0]);
      }
      await heard.answerTo(1);
      expect([told, server.received.length]).toEqual([repeats, repeats + 1]);
    }
  });

  verifies('EXT-18', 'the server may name the pause, in seconds or as a date', async () => {
    for (const retryAfter of ['7', new Date(Date.UTC(2026, 0, 1) + 7_000).toUTCString()]) {
      const server = await serve([status(429, '', { 'retry-after': retryAfter }), answer]);
      const { channel, heard, clock } = await connect(server.url);
      await channel.send(request(1, 'tools/list'));
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
      sent: true,
      cause: lost('it answered HTTP 503 (Service Unavailable) and asks to wait 120 s'),
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
