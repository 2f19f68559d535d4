// Owns the proof that the limits of a gateway hold for all its addresses together, and that what is too much disturbs no other client.

import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createRawServer } from '../../e2e/runtimes.ts';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';
import { initialize, sendTo } from '../serving/served.ts';
import { front } from './fronted.ts';
import { createManualServer } from './manual-server.ts';

const profiles = { few: { servers: ['*'], tools: ['*'], shaping: 'raw', expose: 'all', approval: 'client' } } as const;
const full = 'Too many sessions are open';

/** As a `plexus connect` opens one. */
function link({ gateway }: Awaited<ReturnType<typeof front>>, path: string) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const request = { url: path, headers: {} } as IncomingMessage;
  return { input, served: gateway.link(request, { id: 'connect' }, { input, output: output.resume() }) };
}

verifies(
  'EXT-33',
  'sessions are counted over all addresses, links and streams of the oldest kind among them',
  async () => {
    const servers = { a: createRawServer({ tools: {} }).entry, b: createRawServer({ tools: {} }).entry };
    const fronted = await front(servers, { profiles, limits: { sessions: 5 } });
    const first = await fronted.open('/mcp');
    for (const path of ['/mcp/p/few', '/mcp/s/a'])
      expect((await fronted.send(path, { body: initialize() })).status).toBe(200);
    const linked = link(fronted, '/mcp/s/b');
    const closing = new AbortController();
    const stream = await fetch(`${fronted.url}/sse`, { signal: closing.signal });
    expect(stream.status).toBe(200);
    for (const path of ['/mcp', '/mcp/p/few', '/mcp/s/a', '/mcp/s/b'])
      expect(await fronted.send(path, { body: initialize() }), path).toMatchObject({
        ...{ status: 503, headers: { 'retry-after': '60' }, message: { error: { code: -32000, message: full } } },
      });
    for (const path of ['/mcp', '/own/a', '/mcp/s/b'])
      expect(link(fronted, path).served, path).toEqual({ status: 503, sentence: `${full}.` });
    expect(await sendTo(`${fronted.url}/sse`, { method: 'GET' })).toMatchObject({ status: 503, body: full });
    expect((await first.request('ping')).message['result'], 'a client that is there notices nothing').toEqual({});
    linked.input.end();
    await linked.served;
    const another = link(fronted, '/mcp');
    expect(another.served).toBeInstanceOf(Promise);
    closing.abort();
    await waitFor(async () => expect((await fronted.send('/mcp/s/b', { body: initialize() })).status).toBe(200));
    another.input.end();
    await another.served;
  },
);

test('calls are counted over all addresses: one too many is refused before it is handed on', async () => {
  const [a, b] = [createManualServer(), createManualServer()];
  const fronted = await front({ a: a.entry, b: b.entry }, { limits: { inFlight: 2, waiting: 1 } });
  const call = (path: string, name: string) => fronted.modern(path, 'tools/call', { name, arguments: {} });
  const running = [call('/mcp', 'a__wait'), call('/mcp/s/b', 'wait')];
  await waitFor(() => expect([a.calls.length, b.calls.length]).toEqual([1, 1]));
  const waiting = call('/mcp/s/a', 'wait');
  await waitFor(() => expect(fronted.gateway.measures().unanswered).toBe(3));
  for (const [path, name] of [
    ['/mcp', 'b__wait'],
    ['/mcp/s/b', 'wait'],
  ] as const) {
    const { status, message } = await call(path, name);
    expect([status, message['error']?.['code']]).toEqual([429, -32000]);
  }
  expect([a.calls.length, b.calls.length]).toEqual([1, 1]);
  a.answer(a.calls[0], 'first');
  await waitFor(() => expect(a.calls).toHaveLength(2));
  a.answer(a.calls[1], 'third');
  b.answer(b.calls[0], 'second');
  const texts = (await Promise.all([...running, waiting])).map(({ message }) => message['result']);
  expect(texts).toMatchObject(['first', 'second', 'third'].map((text) => ({ content: [{ text }] })));
});
