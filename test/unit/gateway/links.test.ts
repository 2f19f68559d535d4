// Owns the proof of who may open a link: a `plexus connect` of this machine with its token, and never a gateway's own server.

import { expect, test } from 'vitest';
import { openLink } from '../../../src/gateway/connect/link.ts';
import { isBehind, marksBehind } from '../../../src/gateway/link-words.ts';
import { verifies } from '../../verifies.ts';
import { sendTo } from '../serving/served.ts';
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

test('another protocol, another upgrade, another host and a page of the web are refused with their status', async () => {
  const { port } = await serveLinks();
  const headers = { connection: 'upgrade', upgrade: 'websocket', authorization: `Bearer ${target(port).token}` };
  const ask = (more: object) =>
    sendTo(`http://127.0.0.1:${port}/mcp`, { method: 'GET', headers: { ...headers, ...more } });
  expect(await ask({})).toMatchObject({ status: 400 });
  expect(await ask({ upgrade: 'plexus-link', 'plexus-protocol': '99' })).toMatchObject({ status: 426 });
  expect(await ask({ upgrade: 'plexus-link', origin: 'https://evil.example' })).toMatchObject({ status: 403 });
  expect(await ask({ upgrade: 'plexus-link', host: 'evil.example' })).toMatchObject({ status: 403 });
});

test('a gateway that stops takes no new link', async () => {
  const { port, links } = await serveLinks();
  await links.close();
  await expect(openLink(target(port))).rejects.toMatchObject({ status: 503 });
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
