import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { openCallback } from '../../../src/auth/callback.ts';
import { freePort } from '../../free-port.ts';
import { verifies } from '../../verifies.ts';

const addresses = async (host = '127.0.0.1') => [
  `http://${host}:${await freePort()}/callback`,
  `http://${host}:${await freePort()}/callback`,
];

const ofLogin = (fields: URLSearchParams) => fields.get('state') === 'b';

verifies('AUT-01', 'the listener takes the first free port, one answer, and nothing but an answer', async () => {
  const uris = await addresses();
  const first = await openCallback(uris, ofLogin);
  const second = await openCallback(uris, ofLogin);
  expect([first?.redirectUri, second?.redirectUri]).toEqual(uris);
  expect(await openCallback(uris, ofLogin)).toBeUndefined();
  const [uri = ''] = uris;
  for (const strange of [uri, uri.replace('/callback', '/favicon.ico?code=x')])
    expect((await fetch(strange)).status).toBe(404);
  expect((await fetch(`${uri}?code=x`, { method: 'POST' })).status).toBe(404);
  const page = fetch(`${uri}?code=a&state=b`);
  const answer = await first?.answer;
  expect(Object.fromEntries(answer?.fields ?? [])).toEqual({ code: 'a', state: 'b' });
  expect((await fetch(`${uri}?code=other&state=b`)).status).toBe(410);
  answer?.show(true);
  expect(await (await page).text()).toContain('You can close this tab');
  await Promise.all([first?.close(), second?.close()]);
  await expect(fetch(`${uri}?code=a`)).rejects.toThrow();
});

test('an address by name is listened at, and keeps what it asks itself', async () => {
  const [uri = ''] = await addresses('localhost');
  const callback = await openCallback([`${uri}?own=1`], () => true);
  expect((await fetch(`${uri}?own=1`)).status).toBe(404);
  void fetch(`${uri}?own=1&error=access_denied`).catch(() => undefined);
  const answer = await callback?.answer;
  expect(answer?.fields.get('error')).toBe('access_denied');
  answer?.show(false);
  await callback?.close();
});

verifies('AUT-01', 'an address without a port is listened at where a browser looks for it, or not at all', async () => {
  // An address of this machine that no other test has.
  const host = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  const other = createServer();
  // Not every system gives everybody port 80, or knows this address.
  const mayListen = await new Promise<boolean>((resolve) => {
    other.once('error', () => resolve(false)).listen(80, host, () => resolve(true));
  });
  const uri = `http://${host}/callback`;
  expect(await openCallback([uri], ofLogin)).toBeUndefined();
  if (!mayListen) return;
  await new Promise((resolve) => other.close(resolve));
  const callback = await openCallback([uri], ofLogin);
  expect((await fetch(`${uri}?code=a&state=other`)).status).toBe(400);
  await callback?.close();
});

verifies(
  'AUT-01',
  'strangers at the listener neither end the login, nor hold it up, nor break the program',
  async () => {
    const uris = await addresses();
    const callback = await openCallback(uris, ofLogin);
    const [uri = ''] = uris;
    const port = Number(new URL(uri).port);
    // Half a request, and a path that is no part of any address.
    const slow = connect(port, '127.0.0.1', () => slow.write('GET /callback?state=b'));
    slow.on('error', () => undefined);
    const odd = connect(port, '127.0.0.1', () => odd.write('GET // HTTP/1.1\r\nHost: x\r\n\r\n'));
    const answered = await new Promise<string>((resolve) => odd.once('data', (data) => resolve(String(data))));
    expect(answered).toContain('404');
    // A page whose name was made to lead here (DNS rebinding).
    const rebound = connect(port, '127.0.0.1', () =>
      rebound.write('GET /callback?code=a&state=b HTTP/1.1\r\nHost: evil.example\r\n\r\n'),
    );
    expect(await new Promise((resolve) => rebound.once('data', (data) => resolve(String(data))))).toContain('404');
    for (const stray of ['?code=x', '?code=x&state=other', '?error=access_denied&state=']) {
      const response = await fetch(`${uri}${stray}`);
      expect(response.status).toBe(400);
      expect(await response.text()).toContain('Finish the page that was opened last');
    }
    const page = fetch(`${uri}?code=a&state=b`);
    const answer = await callback?.answer;
    answer?.show(true);
    // Not held up by the half request.
    await callback?.close();
    expect(await (await page).text()).toContain('You are logged in');
  },
);
