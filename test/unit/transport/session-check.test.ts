// Owns the proof of how a channel finds out that its session is gone, where only a call was refused.

import { expect, onTestFinished, test } from 'vitest';
import { limits } from '../../../src/model/limits.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { openHttpSetup } from '../../../src/transport/http-options.ts';
import { SessionCheck } from '../../../src/transport/session-check.ts';
import { eventually } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';
import {
  type Answering,
  answer,
  connect,
  initialize,
  json,
  lost,
  older,
  request,
  serve,
  status,
} from './http-servers.ts';

const error = (id: unknown, code = -32000) => ({ jsonrpc: '2.0', id, error: { code, message: 'no' } });
const pings = (server: { posts(): readonly { message: object }[] }) =>
  server.posts().filter(({ message }) => 'method' in message && message.method === 'ping');

/** Answers the ping so, and everything else otherwise. */
const open = async (calls: Answering, ping: Answering) => {
  const server = await serve(
    older((received, response) => (received.message['method'] === 'ping' ? ping : calls)(received, response)),
  );
  const opened = await connect(server.url, { headers: { authorization: 'Bearer x' } });
  await initialize(opened);
  return { server, ...opened };
};
const named: Answering = (received, response) => json(error(received.message['id']), 404)(received, response);

verifies(['TRN-04', 'REC-12'], 'calls that are refused at the same time share one ping in their session', async () => {
  const held: (() => void)[] = [];
  const { server, channel, heard } = await open(json(error(null), 400), (received, response) =>
    held.push(() => json(error(null), 400)(received, response)),
  );
  for (const id of [1, 2, 3]) await channel.send(request(id));
  await eventually(() => held.length === 1 && server.posts().length === 6);
  expect(pings(server)[0]).toMatchObject({ headers: { 'mcp-session-id': 's-1', authorization: 'Bearer x' } });
  held[0]?.();
  for (const id of [1, 2, 3])
    expect(await heard.failureOf(id)).toMatchObject({ sent: false, cause: lost('its session expired (HTTP 400)') });
  await eventually(() => heard.closes() === 1);
  expect(pings(server)).toHaveLength(1);
});

const others: Record<string, Answering> = {
  'is answered': answer,
  'is refused with another status': status(404),
  'is refused with another code': json(error(null, -32600), 400),
  'is refused by its name': (received, response) => json(error(received.message['id']), 400)(received, response),
  'is refused without an error': status(400, 'bad'),
  'breaks off': (_, response) => response.destroy(),
};

for (const [what, ping] of Object.entries(others)) {
  verifies(['TRN-04', 'REC-12'], `where the ping ${what}, the refusal is the answer`, async () => {
    const { server, channel, heard } = await open(json(error(null), 400), ping);
    await channel.send(request(1));
    expect(await heard.answerTo(1)).toEqual(error(1));
    expect([heard.failures.size, pings(server).length]).toEqual([0, 1]);
  });
}

verifies(['TRN-04', 'REC-12'], 'a ping that is not answered is not waited for', async () => {
  const { server, channel, heard, clock } = await open(json(error(null), 400), () => undefined);
  await channel.send(request(1));
  await eventually(() => pings(server).length === 1);
  await clock.advance(limits.sessionCheckMs - 1);
  expect(heard.messages.some(({ id }) => id === 1)).toBe(false);
  await clock.advance(1);
  expect(await heard.answerTo(1)).toEqual(error(1));
});

verifies(
  ['TRN-04', 'REC-12'],
  'a call whose 404 names it is answered; the session ends if a ping fares the same',
  async () => {
    const { channel, heard } = await open(named, named);
    await channel.send(request(1));
    expect(await heard.answerTo(1)).toEqual(error(1));
    await eventually(() => heard.closes() === 1);
    expect(heard.failures.size).toBe(0);
  },
);

test('pings of different sessions are not shared, and the next doubt asks anew', async () => {
  const server = await serve(json(error(null), 400));
  const clock = createFakeClock();
  const network = { env: {}, cwd: '/' };
  const options = { server: 'files', url: server.url, headers: {}, network, maxMessageBytes: 1_000, clock };
  const { client, target, headers } = await openHttpSetup(options);
  onTestFinished(() => client.close());
  const check = new SessionCheck(client, clock);
  const refusal = { id: 1, status: 400, body: JSON.stringify(error(null)) };
  const ask = (session: string) => check.isRefusedAlike(session, { method: 'POST', target, headers }, refusal);
  expect(await Promise.all([ask('a'), ask('b'), ask('a')])).toEqual([true, true, true]);
  expect([await ask('a'), server.received.length, clock.pending()]).toEqual([true, 3, 0]);
  expect(new Set(server.received.map(({ message }) => message['id'])).size, 'each with an id of its own').toBe(3);
});

test('a session that answers a ping goes on after a 404 that names its call', async () => {
  const { server, channel, heard } = await open(named, answer);
  await channel.send(request(1));
  await eventually(() => pings(server).length === 1);
  await channel.send(request(2));
  expect([await heard.answerTo(2), heard.closes()]).toEqual([error(2), 0]);
});

test('a channel that is closed during the ping leaves nothing behind', async () => {
  const { server, channel, heard } = await open(json(error(null), 400), () => undefined);
  await channel.send(request(1));
  await eventually(() => pings(server).length === 1);
  await channel.close();
  expect(heard.messages.some(({ id }) => id === 1)).toBe(false);
});
