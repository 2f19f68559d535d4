// Owns the proof that the listening stream delivers a server's own messages, and that a server without such a stream works
// as well.

import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/model/limits.ts';
import { eventually } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';
import {
  type Answering,
  answer,
  connect,
  event,
  events,
  hangUp,
  initialize,
  json,
  older,
  request,
  result,
  serve,
  status,
} from './http-servers.ts';

const news = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };

/** A channel to a server whose listening stream is tested: `gets` are the requests for the stream. */
async function listening(get: Answering, options: Parameters<typeof connect>[1] = {}) {
  const server = await serve(older(answer, { get }));
  const opened = await connect(server.url, options);
  await initialize(opened);
  const gets = () => server.received.filter(({ method }) => method === 'GET');
  return { server, gets, ...opened };
}

/** Waits until the stream has ended and only the pause before the next one and the idle watch have timers. */
const pausing = ({ gets, clock }: Awaited<ReturnType<typeof listening>>, streams: number) =>
  eventually(() => gets().length === streams && clock.pending() === 2);

describe('the stream', () => {
  verifies('TRN-13', 'is opened once the handshake was taken note of, and what comes over it is heard', async () => {
    const { server, gets, heard } = await listening((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(event(news));
    });
    await eventually(() => heard.messages.includes(heard.messages.find(({ method }) => method === news.method) ?? {}));
    expect(heard.messages.at(-1)).toEqual(news);
    expect(gets()[0]?.headers).toMatchObject({
      ...{ accept: 'text/event-stream', 'mcp-session-id': 's-1', 'mcp-protocol-version': '2025-06-18' },
    });
    expect(server.received.map(({ method }) => method)).toEqual(['POST', 'POST', 'GET']);
  });

  const refusals: Record<string, Answering> = {
    'has none (405)': status(405),
    'has none (404)': status(404),
    'wants a login for it': status(401),
    'answers with a page': status(200, '<html>', { 'content-type': 'text/html' }),
    'answers with JSON': json({}),
    'sends us elsewhere': status(307, '', { location: 'http://elsewhere.example/' }),
  };
  for (const [how, get] of Object.entries(refusals)) {
    verifies('TRN-13', `is not asked for again of a server that ${how}, and nothing else suffers`, async () => {
      const { gets, channel, heard, clock } = await listening(get);
      await eventually(() => gets().length === 1);
      await channel.send(request(1));
      expect(await heard.answerTo(1)).toEqual(result(1));
      await clock.advance(200_000);
      expect([gets().length, heard.closes(), heard.failures.size]).toEqual([1, 0, 0]);
    });
  }

  verifies(
    'TRN-13',
    'is opened again when it ends: after a second, then after twice as long, up to a minute',
    async () => {
      const answers = [events(), hangUp, status(503)];
      let asked = 0;
      const opened = await listening((received, response) => answers[asked++ % 3]?.(received, response));
      for (const [before, seconds] of [1, 2, 4, 8, 16, 32, 60, 60].entries()) {
        await pausing(opened, before + 1);
        await opened.clock.advance(seconds * 1_000 - 1);
        expect(opened.gets()).toHaveLength(before + 1);
        await opened.clock.advance(1);
      }
      await pausing(opened, 9);
      expect(opened.heard.closes()).toBe(0);
    },
  );

  verifies('TRN-13', 'one that lived for long is opened again without delay', async () => {
    const ends: (() => void)[] = [];
    const opened = await listening((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(event({ ...news, params: ends.length }));
      ends.push(() => response.end());
    });
    const heardFrom = (stream: number) =>
      eventually(() => opened.heard.messages.some(({ params }) => params === stream));
    for (const [stream, livedMs, pauseMs] of [
      [0, 0, 1_000],
      [1, 0, 2_000],
      [2, limits.stableMs, 1_000],
    ] as const) {
      await heardFrom(stream);
      await opened.clock.advance(livedMs);
      ends[stream]?.();
      await pausing(opened, stream + 1);
      await opened.clock.advance(pauseMs - 1);
      expect(opened.gets()).toHaveLength(stream + 1);
      await opened.clock.advance(1);
    }
    await heardFrom(3);
  });

  verifies('TRN-13', 'goes on behind the last event, after the pause that the server wants', async () => {
    const opened = await listening(events('retry: 5000\n', event(news, 'n-1')));
    await pausing(opened, 1);
    await opened.clock.advance(4_999);
    expect(opened.gets()).toHaveLength(1);
    await opened.clock.advance(1);
    await pausing(opened, 2);
    expect(opened.gets().map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'n-1']);
  });

  verifies('TRN-13', 'that cannot be opened again because nobody is there ends the channel', async () => {
    const opened = await listening(events());
    await pausing(opened, 1);
    await opened.server.stop();
    for (const socket of opened.server.sockets) socket.destroy();
    await opened.clock.advance(1_000);
    await eventually(() => opened.heard.closes() === 1);
    expect(opened.channel.report?.().reason).toContain('ECONNREFUSED');
  });

  test('an event over the limit is told', async () => {
    const { heard } = await listening(events(event({ ...result(77), filler: 'x'.repeat(2_000) })), {
      maxMessageBytes: 1_000,
    });
    await eventually(() => heard.oversized.length === 1);
    expect(heard.oversized).toEqual([77]);
  });
});
