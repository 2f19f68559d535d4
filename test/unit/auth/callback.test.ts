import { expect, test } from 'vitest';
import { openCallback } from '../../../src/auth/callback.ts';
import { verifies } from '../../verifies.ts';
import { freePort } from './login-world.ts';

const addresses = async (host = '127.0.0.1') => [
  `http://${host}:${await freePort()}/callback`,
  `http://${host}:${await freePort()}/callback`,
];

verifies('AUT-01', 'the listener takes the first free port, one answer, and nothing but an answer', async () => {
  const uris = await addresses();
  const first = await openCallback(uris);
  const second = await openCallback(uris);
  expect([first?.redirectUri, second?.redirectUri]).toEqual(uris);
  expect(await openCallback(uris)).toBeUndefined();
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
  const callback = await openCallback([`${uri}?own=1`]);
  expect((await fetch(`${uri}?own=1`)).status).toBe(404);
  void fetch(`${uri}?own=1&error=access_denied`).catch(() => undefined);
  const answer = await callback?.answer;
  expect(answer?.fields.get('error')).toBe('access_denied');
  answer?.show(false);
  await callback?.close();
});
