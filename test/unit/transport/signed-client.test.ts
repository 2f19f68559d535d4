// Owns the proof that a request gets the headers of the moment, is sent again where a refusal can be cured, and that whatever
// else a refusal says arrives whole and once.

import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { targetOf } from '../../../src/transport/exchange.ts';
import { createHttpClient } from '../../../src/transport/fetch.ts';
import { fetchText } from '../../../src/transport/fetch-text.ts';
import { createSignedClient, type LoginRefusal, type RequestLogin } from '../../../src/transport/signed-client.ts';
import { type Answering, serve } from './http-servers.ts';

const refuse =
  (status: number, body: string): Answering =>
  (_, response) =>
    void response.writeHead(status, { 'www-authenticate': 'Bearer scope="a"', 'dpop-nonce': 'n' }).end(body);
const accept: Answering = (_, response) => void response.writeHead(200).end('done');

async function setUp(answers: readonly Answering[], login: Partial<RequestLogin>) {
  const web = await serve(answers);
  const client = await createHttpClient({ server: 'web', network: { env: {}, cwd: '/' }, clock: systemClock });
  onTestFinished(() => client.close());
  const refusals: LoginRefusal[] = [];
  const nonces: string[] = [];
  let signed = 0;
  const signing: RequestLogin = {
    headersFor: () => ['authorization', `Bearer ${++signed}`],
    onNonce: (nonce) => nonces.push(nonce),
    ...login,
    onRefused: async (headers, refusal) => {
      refusals.push(refusal);
      return login.onRefused?.(headers, refusal);
    },
  };
  const target = targetOf(web.url);
  if (target === undefined) throw new TypeError('the test has an address');
  const request = { method: 'POST', target, headers: ['x-own', '1'], body: '{}' } as const;
  const send = () => fetchText(createSignedClient(client, signing), request, { maxBytes: 1_000_000 });
  return {
    send,
    refusals,
    nonces,
    sent: () => web.received.map(({ headers }) => [headers.authorization, headers['x-own']]),
  };
}

const again: Partial<RequestLogin> = { onRefused: async () => 'again' };

describe('a signed request', () => {
  test('is sent again with new headers after a refusal that can be cured', async () => {
    for (const body of ['', 'no', 'x'.repeat(200_000)]) {
      const { send, sent, refusals } = await setUp([refuse(401, body), accept], again);
      expect(await send()).toMatchObject({ status: 200, text: 'done' });
      expect(sent()).toEqual([
        ['Bearer 1', '1'],
        ['Bearer 2', '1'],
      ]);
      expect(refusals).toEqual([{ status: 401, challenge: 'Bearer scope="a"', nonce: 'n', repeats: 0 }]);
    }
  });

  test('tells the nonce of every response', async () => {
    const gives: Answering = (_, response) => void response.writeHead(200, { 'dpop-nonce': 'later' }).end('done');
    const { send, nonces } = await setUp([refuse(401, ''), gives], again);
    await send();
    expect(nonces).toEqual(['n', 'later']);
  });

  test('gets the whole refusal where the login has nothing to say about it', async () => {
    for (const body of ['', 'no', 'x'.repeat(200_000)]) {
      const { send } = await setUp([refuse(403, body)], {});
      expect(await send()).toMatchObject({ status: 403, text: body });
    }
  });

  test('fails with what the login says', async () => {
    const cause = new RuntimeError('AUTH_REQUIRED', { server: 'web' });
    const { send } = await setUp([refuse(401, 'no')], { onRefused: async () => cause });
    await expect(send()).rejects.toBe(cause);
    const unsigned = await setUp([accept], { headersFor: () => Promise.reject(cause) });
    await expect(unsigned.send()).rejects.toBe(cause);
    expect(unsigned.sent()).toEqual([]);
    const throwing = await setUp([accept], {
      headersFor: () => {
        throw cause;
      },
    });
    await expect(throwing.send()).rejects.toBe(cause);
  });

  test('waits for its headers', async () => {
    const { send, sent } = await setUp([accept], { headersFor: async () => ['authorization', 'Bearer late'] });
    await send();
    expect(sent()).toEqual([['Bearer late', '1']]);
  });
});
