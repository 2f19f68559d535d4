// Owns the proof of who may open a link: a `plexus connect` of this machine with its token, and never a gateway's own server.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openLink } from '../../../src/gateway/connect/link.ts';
import { isBehind, marksBehind } from '../../../src/gateway/link-words.ts';
import { limits } from '../../../src/model/limits.ts';
import { createOwnService } from '../../../src/serving/own-service.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';
import { modernMeta, sendTo } from '../serving/served.ts';
import { serveLinks, target } from './linked.ts';

verifies('EXT-45', 'a gateway behind itself is refused', async () => {
  const { port } = await serveLinks();
  const refused = openLink({ ...target(port), behind: 'gateway-0,gateway-1' });
  await expect(refused).rejects.toMatchObject({ status: 508, message: expect.stringContaining('behind itself') });
  (await openLink({ ...target(port), behind: 'gateway-0' })).destroy();
});

test.each([
  ['another token', { token: 'x'.repeat(40) }, 401],
  ['no token', { token: '' }, 401],
  ['another route', { path: '/mcp/p/none' }, 404],
])('a link with %s is refused', async (_, change, status) => {
  const { port, clients } = await serveLinks();
  await expect(openLink({ ...target(port), ...change })).rejects.toMatchObject({ status });
  expect(clients).toEqual([]);
});

test('another protocol, another host and a page of the web are refused with their status', async () => {
  const { port } = await serveLinks();
  const headers = { connection: 'upgrade', upgrade: 'plexus-link', authorization: `Bearer ${target(port).token}` };
  const ask = (more: object) =>
    sendTo(`http://127.0.0.1:${port}/mcp`, { method: 'GET', headers: { ...headers, ...more } });
  expect(await ask({ 'plexus-protocol': '99' })).toMatchObject({ status: 426 });
  expect(await ask({ origin: 'https://evil.example' })).toMatchObject({ status: 403 });
  expect(await ask({ host: 'evil.example' })).toMatchObject({ status: 403 });
});

test('neither a client that reads nothing nor one that was refused and stays keeps a gateway from ending', async () => {
  const clock = createFakeClock();
  const big = { description: 'Says much.', run: () => 'x'.repeat(8 * 1024 * 1024) };
  const gateway = await serveLinks(createOwnService({ name: 'big', version: '1', tools: { big } }), { clock });
  const deaf = await openLink(target(gateway.port));
  const params = { _meta: modernMeta(), name: 'big' };
  for (const id of [1, 2]) deaf.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })}\n`);
  await waitFor(() => expect(deaf.bytesWritten).toBeGreaterThan(0));
  const refused = connect({ host: '127.0.0.1', port: gateway.port, allowHalfOpen: true });
  onTestFinished(() => void [deaf, refused].map((socket) => socket.destroy()));
  refused.write('GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: plexus-link\r\n\r\n');
  expect(String((await once(refused, 'data'))[0])).toContain('401');
  const closed = Promise.all([gateway.links.close(), gateway.server.close(), gateway.close()]);
  await clock.advance(limits.served.drainMs);
  await closed;
});

test('a gateway that stops takes no new link', async () => {
  const { port, links } = await serveLinks();
  await links.close();
  await expect(openLink(target(port))).rejects.toMatchObject({ status: 503 });
});

test('a gateway that says nothing is told of as one', async () => {
  const mute = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
  onTestFinished(() => void mute.close());
  await once(mute, 'listening');
  const { port } = mute.address() as AddressInfo;
  await expect(openLink(target(port))).rejects.toThrow('it runs and does not answer');
});

test('marks add up on the way', () => {
  expect(marksBehind('b', marksBehind('a'))).toBe('a,b');
  expect([isBehind('a', 'a,b'), isBehind('b', 'a,b'), isBehind('c', 'a,b'), isBehind('a')]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
