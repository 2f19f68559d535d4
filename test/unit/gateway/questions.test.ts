// Owns the proof that a question belongs to the call it is asked in, that it is asked as often as is promised and not where the settings of
// the server decline it, and that the end of a page is told to the client that was asked to visit it, and to no other.

import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { metaKeys } from '../../../src/serving/protocol.ts';
import type { ServedMethod } from '../../../src/serving/service.ts';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';
import { echoService, serveHttp } from '../serving/served.ts';
import { front } from './fronted.ts';
import { createManualServer } from './manual-server.ts';

const able = { capabilities: { elicitation: { form: {}, url: {} } } };
const accepted = { result: { action: 'accept', content: {} } };
const form = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } };
const asking = (requestState: string) => ({
  ...{ resultType: 'input_required', requestState },
  inputRequests: { who: { method: 'elicitation/create', params: form } },
});
const said = (value: unknown) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const call = (name: string) => ({ name, arguments: {} });

/** A modern server that answers its calls so, and has these tools. */
async function modernServer(names: readonly string[], answer: ServedMethod) {
  const { methods, ...service } = echoService({ keepsRequestState: true });
  const tools = names.map((name) => ({ name, inputSchema: { type: 'object' } }));
  const own = { ...methods, 'tools/list': () => ({ tools }), 'tools/call': answer };
  return { url: (await serveHttp({ service: { ...service, methods: own } })).url };
}

verifies(
  'EXT-36',
  'a modern server asks within its call, also where its client has called again meanwhile',
  async () => {
    const [first, second] = [createDeferred<void>(), createDeferred<void>()];
    const begun: string[] = [];
    const s = await modernServer(['first', 'second'], async ({ params: { name, inputResponses } }) => {
      begun.push(String(name));
      if (inputResponses !== undefined) return said(inputResponses);
      await (name === 'first' ? first : second).promise;
      return name === 'first' ? asking('one') : said('second');
    });
    const session = await (await front({ s })).open('/mcp/s/s', able);
    const asked: string[] = [];
    const calling = (name: string) =>
      session.answering('tools/call', call(name), () => {
        asked.push(name);
        return accepted;
      });
    const calls = [calling('first')];
    await waitFor(() => expect(begun).toEqual(['first']));
    calls.push(calling('second'));
    await waitFor(() => expect(begun).toEqual(['first', 'second']));
    first.resolve();
    expect(await calls[0]).toMatchObject({ result: said({ who: accepted.result }) });
    expect(asked).toEqual(['first']);
    second.resolve();
    expect(await calls[1]).toMatchObject({ result: said('second') });
  },
);

test('a modern server gets eight rounds for the call of a legacy client', async () => {
  let rounds = 0;
  const s = await modernServer(['curious'], () => asking(`round ${++rounds}`));
  const session = await (await front({ s })).open('/mcp/s/s', able);
  let asked = 0;
  const message = await session.answering('tools/call', call('curious'), () => {
    asked++;
    return accepted;
  });
  expect([asked, rounds, JSON.stringify(message)]).toEqual([8, 9, expect.stringContaining('after 8 rounds')]);
});

test('a modern client is not asked what the settings of a modern server decline, even if that asks all the same', async () => {
  const told: unknown[] = [];
  const s = await modernServer(['ask'], ({ meta, params: { inputResponses } }) => {
    told.push(meta[metaKeys.clientCapabilities]);
    return inputResponses === undefined ? asking('one') : said(inputResponses);
  });
  const fronted = await front({ s: { ...s, elicitation: 'decline' } });
  const { message } = await fronted.modern('/mcp/s/s', 'tools/call', call('ask'), able);
  expect(message['result']).toMatchObject({ resultType: 'complete', ...said({ who: { action: 'decline' } }) });
  expect(told).toEqual([{}, {}]);
});

const PAGE_DONE = 'notifications/elicitation/complete';
const page = { mode: 'url', message: 'Log in', url: 'https://login.example/', elicitationId: 'p1' };
const pagesDone = (heard: readonly JsonObject[]) =>
  heard.flatMap(({ method, params }) => (method === PAGE_DONE ? [(params as JsonObject)['elicitationId']] : []));

test('a legacy client hears that the page is done which a legacy server has demanded, after its call and as the only one', async () => {
  const server = createManualServer();
  const fronted = await front({ s: server.entry });
  const [one, other] = await Promise.all([fronted.open('/mcp/s/s', able), fronted.open('/mcp/s/s', able)]);
  const refused = one.request('tools/call', call('wait'));
  await waitFor(() => expect(server.calls).toHaveLength(1));
  const error = { code: -32042, message: 'Log in first', data: { elicitations: [page] } };
  server.send({ id: server.calls[0]?.['id'], error });
  expect((await refused).message).toMatchObject({ error });
  const running = other.request('tools/call', call('wait'));
  await waitFor(() => expect(server.calls).toHaveLength(2));
  server.send({ method: PAGE_DONE, params: { elicitationId: 'p1' } });
  server.send({ method: PAGE_DONE, params: { elicitationId: 'unknown' } });
  await waitFor(() => expect(pagesDone(one.heard)).toEqual(['p1']));
  server.answer(server.calls[1], 'done');
  const { events } = await running;
  expect(pagesDone([...other.heard, ...events])).toEqual([]);
});

test('a modern client hears of no page: it comes back by itself', async () => {
  const server = createManualServer();
  const fronted = await front({ s: server.entry });
  const asked = fronted.modern('/mcp/s/s', 'tools/call', call('wait'), able);
  await waitFor(() => expect(server.calls).toHaveLength(1));
  server.send({ id: 'q1', method: 'elicitation/create', params: page });
  const { requestState, inputRequests } = (await asked).message['result'] as JsonObject;
  const [key = ''] = Object.keys(inputRequests as JsonObject);
  const inputResponses = { [key]: { action: 'accept' } };
  const answered = fronted.modern('/mcp/s/s', 'tools/call', { ...call('wait'), requestState, inputResponses }, able);
  await waitFor(() => expect(server.received).toContainEqual(expect.objectContaining({ id: 'q1' })));
  server.send({ method: PAGE_DONE, params: { elicitationId: 'p1' } });
  server.answer(server.calls[0], 'done');
  const { events, message } = await answered;
  expect([pagesDone(events), message['result']]).toMatchObject([[], { content: [{ text: 'done' }] }]);
});

const program = fileURLToPath(new URL('../../servers/eliciting.mjs', import.meta.url));

test.each([
  ['accept', 1],
  ['decline', 0],
])(
  'a page of a modern server that a legacy client has answered with %s: told as done %i times',
  async (action, times) => {
    const fronted = await front({ s: { command: process.execPath, args: [program, '--era', 'modern'] } });
    const session = await fronted.open('/mcp/s/s', able);
    const asked: unknown[] = [];
    const message = await session.answering('tools/call', call('visit'), ({ params }) => {
      asked.push((params as JsonObject)['elicitationId']);
      return { result: { action } };
    });
    expect(message).toMatchObject({ result: { content: [{ text: expect.stringContaining(action) }] } });
    expect(asked).toEqual([expect.any(String)]);
    expect(pagesDone(session.heard)).toEqual(asked.slice(0, times));
  },
);
