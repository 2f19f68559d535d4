// Owns the proof of the order of clients at a server, for calls and for every other request that a question may come during.

import { expect, test } from 'vitest';
import { ServerLine } from '../../../src/gateway/server-line.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { limits } from '../../../src/model/limits.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';
import { front } from './fronted.ts';
import { createManualServer } from './manual-server.ts';

const [one, other, third] = [{}, {}, {}];
const clock = createFakeClock();
const never = { signal: new AbortController().signal };

test('clients call at once', () => {
  const line = new ServerLine('s');
  expect([line.enter(one, never, clock), line.enter(other, never, clock)]).toEqual([undefined, undefined]);
});

test('once exclusive, one client at a time, in the order in which they came', async () => {
  const line = new ServerLine('s');
  void line.enter(one, never, clock);
  line.makeExclusive();
  const order: string[] = [];
  const waiting = [other, third, other].map((caller, at) =>
    line.enter(caller, never, clock)?.then(() => order.push(`${at}`)),
  );
  line.leave();
  await Promise.all([waiting[0], waiting[2]]);
  expect(order).toEqual(['0', '2']);
  expect(line.enter(other, never, clock), 'others wait longer').toBeInstanceOf(Promise);
  line.leave();
  line.leave();
  await waiting[1];
  expect(order).toEqual(['0', '2', '1']);
});

test('a call that is cancelled while it waits keeps no other from calling', async () => {
  const line = new ServerLine('s');
  line.makeExclusive();
  void line.enter(one, never, clock);
  const cancelled = new AbortController();
  const waiting = line.enter(other, cancelled, clock);
  cancelled.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  line.leave();
  expect(line.enter(third, never, clock)).toBeUndefined();
});

test('a request of the client whose turn it is waits no longer than those before it', async () => {
  const time = createFakeClock();
  const line = new ServerLine('s');
  line.makeExclusive();
  void line.enter(one, never, time);
  const refused = line.enter(other, never, time);
  await time.advance(1);
  const behind = line.enter(one, never, time);
  await Promise.all([
    expect(refused).rejects.toMatchObject({ status: 429, message: expect.stringContaining('another client') }),
    time.advance(limits.relay.turnMs - 1),
  ]);
  await behind;
});

const able = { elicitation: {} };
const question = (id: string) => ({
  ...{ id, method: 'elicitation/create' },
  params: { message: id, requestedSchema: { type: 'object', properties: {} } },
});

const requests: readonly (readonly [string, JsonObject, JsonObject])[] = [
  ['prompts/get', { name: 'p' }, { messages: [] }],
  ['resources/read', { uri: 'note://1' }, { contents: [] }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, argument: {} }, { completion: { values: [] } }],
];
const held = ['tools/call', ...requests.map(([method]) => method)];

/** A server that has asked while two clients called, and so has one client at a time. */
async function exclusiveServer() {
  const server = createManualServer(held, { prompts: {}, resources: {}, completions: {} });
  const fronted = await front({ s: server.entry });
  const asked: (readonly [number, unknown])[] = [];
  const sessions = await Promise.all([0, 1].map(() => fronted.open('/mcp/s/s', { capabilities: able })));
  const send = (at: number, method: string, params: JsonObject) =>
    sessions[at]?.answering(method, params, ({ params: told }) => {
      asked.push([at, (told as JsonObject)['message']]);
      return { result: { action: 'accept', content: {} } };
    });
  const call = (at: number) => send(at, 'tools/call', { name: 'wait', arguments: {} });
  const answerOf = (id: string) => server.received.find((message) => message['id'] === id && message['result']);
  const both = [call(0), call(1)];
  await waitFor(() => expect(server.calls).toHaveLength(2));
  server.send(question('whose'));
  await waitFor(() => expect(answerOf('whose')).toMatchObject({ result: { action: 'decline' } }));
  for (const each of server.calls) server.answer(each, 'done');
  await Promise.all(both);
  return { server, fronted, asked, call, send, answerOf };
}

for (const [method, params, result] of requests)
  verifies(
    'EXT-36',
    `${method} waits for its turn at a server with one client at a time, and is asked itself`,
    async () => {
      const { server, fronted, asked, call, send, answerOf } = await exclusiveServer();
      const calling = call(0);
      await waitFor(() => expect(server.calls).toHaveLength(3));
      const requesting = send(1, method, params);
      await waitFor(() => expect(fronted.gateway.measures().unanswered).toBe(2));
      // A request that did not wait would be on its way by now.
      await new Promise(setImmediate);
      server.send(question('of the call'));
      await waitFor(() => expect(answerOf('of the call')).toMatchObject({ result: { action: 'accept' } }));
      expect(server.calls, 'the request waits').toHaveLength(3);
      server.answer(server.calls[2], 'done');
      await waitFor(() => expect(server.calls[3]).toMatchObject({ method }));
      server.send(question('of the request'));
      await waitFor(() => expect(answerOf('of the request')).toMatchObject({ result: { action: 'accept' } }));
      server.send({ id: server.calls[3]?.['id'], result });
      expect(await Promise.all([calling, requesting])).toMatchObject([{ result: {} }, { result }]);
      expect(asked).toEqual([
        [0, 'of the call'],
        [1, 'of the request'],
      ]);
    },
  );

test('a modern client is asked within the prompt that it gets, and not while a value is completed', async () => {
  const { server, fronted, answerOf } = await exclusiveServer();
  const getting = fronted.modern('/mcp/s/s', 'prompts/get', { name: 'p' }, { capabilities: able });
  await waitFor(() => expect(server.calls[2]).toMatchObject({ method: 'prompts/get' }));
  server.send(question('of the prompt'));
  const { requestState, inputRequests } = (await getting).message['result'] as JsonObject;
  const [[key] = ['']] = Object.entries(inputRequests as JsonObject);
  const inputResponses = { [key]: { action: 'accept', content: {} } };
  const retried = { name: 'p', requestState, inputResponses };
  const got = fronted.modern('/mcp/s/s', 'prompts/get', retried, { capabilities: able });
  await waitFor(() => expect(answerOf('of the prompt')).toMatchObject({ result: { action: 'accept' } }));
  server.send({ id: server.calls[2]?.['id'], result: { messages: [] } });
  expect((await got).message['result']).toMatchObject({ messages: [] });
  const [, params] = requests[2] ?? [];
  const completing = fronted.modern('/mcp/s/s', 'completion/complete', params, { capabilities: able });
  await waitFor(() => expect(server.calls[3]).toMatchObject({ method: 'completion/complete' }));
  server.send(question('of the completion'));
  await waitFor(() => expect(answerOf('of the completion')).toMatchObject({ result: { action: 'decline' } }));
  server.send({ id: server.calls[3]?.['id'], result: { completion: { values: [] } } });
  expect((await completing).message['result']).toMatchObject({ completion: {} });
});
