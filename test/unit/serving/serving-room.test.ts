// Owns the proof that the limits of servers in one room hold for all of them together, and that one of them disturbs no other.

import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { createServerIn } from '../../../src/serving/mcp-server.ts';
import { createOwnService } from '../../../src/serving/own-service.ts';
import type { ServedCall } from '../../../src/serving/service.ts';
import { type ServingLimits, withDefaults } from '../../../src/serving/serving-limits.ts';
import { ServingRoom } from '../../../src/serving/serving-room.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { waitFor } from '../../wait-for.ts';
import { connectPipes, echoService, initialize, modernMeta, serveHttp } from './served.ts';

const able = { capabilities: { elicitation: {} } };
const full = { code: -32000, message: 'Too many sessions are open' };

/** One tool, `run`, whose calls the test holds in its hands. */
function held() {
  const calls: { readonly call: ServedCall; finish(text: string): void }[] = [];
  const run = {
    run: (_: JsonObject, call: ServedCall) => new Promise<string>((finish) => calls.push({ call, finish })),
  };
  const tools = { run: { description: 'Held by the test.', ...run } };
  return { calls, service: createOwnService({ name: 'held', version: '1', tools, prompts: {}, resources: {} }) };
}

const run = (id: number) => ({
  ...{ jsonrpc: '2.0', id, method: 'tools/call' },
  params: { name: 'run', arguments: {}, _meta: modernMeta() },
});

const roomOf = (limits: Partial<ServingLimits>) => new ServingRoom(withDefaults(limits));

test('sessions of all servers count together, those on pipes too; with the end of one there is room again', async () => {
  const room = roomOf({ sessions: 3 });
  const [a, b] = await Promise.all([serveHttp({ room }), serveHttp({ room })]);
  const ofA = await a.open();
  await b.open();
  const pipe = connectPipes(b.server);
  pipe.write({ jsonrpc: '2.0', id: 1, method: 'ping' });
  await pipe.answer(1);
  for (const { send } of [a, b])
    expect(await send({ body: initialize() })).toMatchObject({
      ...{ status: 503, headers: { 'retry-after': '60' }, message: { error: full } },
    });
  const another = a.server.stdio({ input: new PassThrough(), output: new PassThrough() });
  await expect(another).rejects.toMatchObject({ ...full, status: 503 });
  expect((await a.send({ headers: ofA, body: { jsonrpc: '2.0', id: 1, method: 'ping' } })).status).toBe(200);
  pipe.input.end();
  await pipe.done;
  expect((await a.send({ body: initialize() })).status).toBe(200);
  expect((await b.send({ body: initialize() })).status).toBe(503);
  await a.server.close({ drainMs: 0 });
  expect((await b.send({ body: initialize() })).status).toBe(200);
});

test('calls of all servers count together: one waits for its turn, the next is refused, and the first goes on', async () => {
  const room = roomOf({ inFlight: 1, waiting: 1 });
  const { calls, service } = held();
  const [a, b] = await Promise.all([serveHttp({ room, service }), serveHttp({ room, service })]);
  const running = a.modern('tools/call', { name: 'run', arguments: {} });
  await waitFor(() => expect(calls).toHaveLength(1));
  const waiting = b.modern('tools/call', { name: 'run', arguments: {} });
  await waitFor(() => expect(room.calls.isFull).toBe(true));
  for (const each of [a, b]) {
    const { status, message } = await each.modern('tools/call', { name: 'run', arguments: {} });
    expect([status, message['error']?.['code']]).toEqual([429, -32000]);
  }
  expect([a, b].map(({ server }) => server.counts().running)).toEqual([1, 0]);
  calls[0]?.finish('first');
  expect((await running).message['result']).toMatchObject({ content: [{ text: 'first' }] });
  await waitFor(() => expect(calls).toHaveLength(2));
  expect([a, b].map(({ server }) => server.counts().running)).toEqual([0, 1]);
  calls[1]?.finish('second');
  expect((await waiting).message['result']).toMatchObject({ content: [{ text: 'second' }] });
});

test('a server that stops waits for its own calls alone', async () => {
  const room = roomOf({});
  const { calls, service } = held();
  const [a, b] = await Promise.all([serveHttp({ room, service }), serveHttp({ room })]);
  const running = a.modern('tools/call', { name: 'run', arguments: {} });
  await waitFor(() => expect(calls).toHaveLength(1));
  await b.server.close();
  calls[0]?.finish('done');
  expect((await running).message['result']).toMatchObject({ content: [{ text: 'done' }] });
});

test('pipes of several servers wait for room, and no line of theirs is refused', async () => {
  const room = roomOf({ inFlight: 1, waiting: 1 });
  const { calls, service } = held();
  const servers = [createServerIn(room, service), createServerIn(room, service)];
  const pipes = servers.map((server) => connectPipes(server));
  onTestFinished(() => {
    for (const { input } of pipes) input.end();
  });
  const ids = [1, 2, 3];
  for (const { write } of pipes) for (const id of ids) write(run(id));
  for (let at = 0; at < 6; at++) {
    await waitFor(() => expect(calls).toHaveLength(at + 1));
    calls[at]?.finish('done');
  }
  const answers = await Promise.all(pipes.flatMap(({ answer }) => ids.map((id) => answer(id))));
  expect(answers.map(({ error }) => error)).toEqual(Array(6).fill(undefined));
});

test('calls that wait for their clients count together: one too many ends the oldest of its own principal, at whichever server', async () => {
  const room = roomOf({ suspendedCalls: 2 });
  const http = {
    authenticate: ({ headers }: { headers: NodeJS.Dict<string | string[]> }) => ({ id: String(headers['x-caller']) }),
  };
  const [a, b] = await Promise.all([serveHttp({ room, http }), serveHttp({ room, http })]);
  const ask = async (server: typeof a, caller: string, params: JsonObject = {}) => {
    const options = { ...able, headers: { 'x-caller': caller } };
    return (await server.modern('tools/call', { name: 'ask', arguments: {}, ...params }, options)).message;
  };
  const first = await ask(a, 'other');
  const second = await ask(a, 'one');
  const third = await ask(b, 'one');
  expect([a, b].map(({ server }) => server.counts().suspended)).toEqual([1, 1]);
  const retry = (server: typeof a, caller: string, { result }: typeof first) => {
    const inputResponses = { sure: { action: 'decline' } };
    return ask(server, caller, { requestState: result?.['requestState'], inputResponses });
  };
  expect(await retry(a, 'one', second)).toMatchObject({ error: { code: -32602 } });
  expect(await retry(a, 'other', first)).toMatchObject({ result: { resultType: 'complete' } });
  expect(await retry(b, 'one', third)).toMatchObject({ result: { resultType: 'complete' } });
});

test('questions to clients of the older era, and streams for subscriptions, count together', async () => {
  const room = roomOf({ suspendedCalls: 1 });
  const service = echoService();
  const servers = [0, 1].map(() => createServerIn(room, service, { clock: createFakeClock() }));
  const [a, b] = servers.map((server) => connectPipes(server));
  if (a === undefined || b === undefined) throw new Error('there are two');
  onTestFinished(() => {
    for (const { input } of [a, b]) input.end();
  });
  for (const { write } of [a, b]) {
    write(initialize({ elicitation: {} }));
    write({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask', arguments: {} } });
    await waitFor(() => expect(room.questions).toBe(1));
  }
  expect(await b.answer(1)).toMatchObject({ error: { code: -32000 } });
  const notifications = { toolsListChanged: true };
  const listen = { method: 'subscriptions/listen', params: { notifications, _meta: modernMeta() } };
  for (const { write } of [a, b]) write({ jsonrpc: '2.0', id: 2, ...listen });
  await waitFor(() => expect(room.subscriptions).toBe(2));
});
