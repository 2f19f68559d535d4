// Owns the proof of what becomes of a modern client's call while a legacy server's question waits for that client: the client comes back,
// or does not, or another one does, or the server or the gateway is gone by then. Nothing hangs, and nothing is left of the call.

import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { isRunning } from '../../servers/processes.ts';
import { waitFor } from '../../wait-for.ts';
import type { HttpAnswer } from '../serving/served.ts';
import { type FrontOptions, front } from './fronted.ts';
import { createManualServer } from './manual-server.ts';

const QUESTION_MS = 600_000;
const params = { name: 'wait', arguments: {} };
const capabilities = { elicitation: {} };
const yes = { action: 'accept', content: { ok: true } };
const question = {
  method: 'elicitation/create',
  params: { message: 'Sure?', requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } },
};

interface Round {
  /** By which the client may come back. */
  readonly requestState: string;
  readonly inputResponses: JsonObject;
}

function roundIn({ status, message }: HttpAnswer): Round {
  const { resultType, inputRequests, requestState } = message['result'] as JsonObject;
  expect([status, resultType]).toEqual([200, 'input_required']);
  const names = Object.keys(inputRequests as JsonObject);
  return { requestState: String(requestState), inputResponses: Object.fromEntries(names.map((name) => [name, yes])) };
}

/** A gateway whose clients are told apart by a header, with a call that is suspended in a question. */
async function suspend(options: FrontOptions = {}) {
  const clock = createFakeClock();
  const server = createManualServer();
  const fronted = await front({ s: server.entry }, { clock, ...options });
  const call = (more: object = {}, headers = {}) =>
    fronted.modern('/mcp/s/s', 'tools/call', { ...params, ...more }, { capabilities, headers });
  const begin = async (id: string) => {
    const [asking, earlier] = [call(), server.calls.length];
    await waitFor(() => expect(server.calls).toHaveLength(earlier + 1));
    server.send({ id, ...question });
    return roundIn(await asking);
  };
  const round = await begin('q1');
  expect(fronted.gateway.measures().suspended).toBe(1);
  /** The server's answer to its question by that id. */
  const answerTo = (id: string) => server.received.filter((each) => each['id'] === id && each['method'] === undefined);
  const expectNothingLeft = () =>
    waitFor(() => {
      const { servers, suspended, unanswered } = fronted.gateway.measures();
      const { inFlight, queued } = servers.get('s') ?? expect.fail('no call was counted');
      expect({ suspended, unanswered, inFlight, queued }).toEqual({
        ...{ suspended: 0, unanswered: 0, inFlight: 0, queued: 0 },
      });
    });
  const outcomes = () => Object.fromEntries(fronted.gateway.measures().servers.get('s')?.outcomes ?? []);
  return { clock, server, fronted, call, begin, round, answerTo, expectNothingLeft, outcomes };
}

const refused = { error: { code: -32602, message: expect.stringContaining('requestState') } };

describe('a modern client that is asked by a legacy server', () => {
  test('comes back with the answer, and gets the result', async () => {
    const { server, call, round, answerTo, expectNothingLeft, outcomes } = await suspend();
    const answering = call(round);
    await waitFor(() => expect(answerTo('q1')).toMatchObject([{ result: yes }]));
    server.answer(server.calls[0], 'done');
    expect((await answering).message).toMatchObject({ result: { content: [{ text: 'done' }] } });
    await expectNothingLeft();
    expect([outcomes(), server.calls.length]).toEqual([{ ok: 1 }, 1]);
  });

  test('comes back without an answer, and is asked again', async () => {
    const { server, call, round, answerTo, expectNothingLeft } = await suspend();
    const again = roundIn(await call({ requestState: round.requestState }));
    expect(again.requestState).not.toBe(round.requestState);
    expect((await call(round)).message).toMatchObject(refused);
    const answering = call(again);
    await waitFor(() => expect(answerTo('q1')).toMatchObject([{ result: yes }]));
    server.answer(server.calls[0], 'done');
    expect((await answering).message).toMatchObject({ result: {} });
    await expectNothingLeft();
  });

  test('never comes back: the call ends, at the server too, and so does the question', async () => {
    const { clock, server, call, round, answerTo, expectNothingLeft, outcomes } = await suspend();
    await clock.advance(QUESTION_MS - 1);
    expect(outcomes()).toEqual({});
    await clock.advance(1);
    await expectNothingLeft();
    expect(outcomes()).toEqual({ cancelled: 1 });
    const [{ id: requestId } = {}] = server.calls;
    await waitFor(() =>
      expect(server.received.filter(({ method }) => method === 'notifications/cancelled')).toMatchObject([
        { params: { requestId } },
      ]),
    );
    await waitFor(() => expect(answerTo('q1')).toHaveLength(1));
    expect(answerTo('q1')[0]).not.toHaveProperty('result.content');
    // The state has expired with it.
    expect((await call(round)).message).toMatchObject(refused);
  });

  test('that never comes back does not keep a server that serves one client at a time', async () => {
    const { clock, server, fronted, call, begin, expectNothingLeft } = await suspend();
    const other = call();
    await waitFor(() => expect(server.calls).toHaveLength(2));
    // Of two callers nobody knows which is meant: declined, and one after the other from now on.
    server.send({ id: 'q2', ...question });
    await waitFor(() => expect(server.received).toContainEqual(expect.objectContaining({ id: 'q2' })));
    for (const each of server.calls) server.answer(each, 'done');
    await other;
    await begin('q3');
    const next = call();
    await waitFor(() => expect(fronted.gateway.measures().servers.get('s')?.queued).toBe(1));
    await clock.advance(30_000);
    expect((await next).message).toMatchObject({ error: { message: expect.stringContaining('waits for the answer') } });
    await clock.advance(QUESTION_MS);
    const last = call();
    await waitFor(() => expect(server.calls).toHaveLength(4));
    server.answer(server.calls[3], 'free');
    expect((await last).message).toMatchObject({ result: { content: [{ text: 'free' }] } });
    await expectNothingLeft();
  });

  test.each<[string, (round: Round) => object, object?]>([
    ['forged', () => ({ requestState: 'p1.Zm9yZ2Vk' })],
    ['changed', ({ requestState }) => ({ requestState: withAnotherLetter(requestState) })],
    ['cut', ({ requestState }) => ({ requestState: requestState.slice(0, 20) })],
    ['of another type', () => ({ requestState: { id: 1 } })],
    ['of another request', () => ({ arguments: { path: '/etc' } })],
    ["of another client's", () => ({}), { 'x-client': 'mallory' }],
  ])('is not mistaken for one with a state that is %s', async (_, change, headers = {}) => {
    const authenticate: FrontOptions['authenticate'] = ({ headers: { 'x-client': client = 'ada' } }) => ({
      id: String(client),
    });
    const { server, call, round, answerTo, expectNothingLeft, fronted } = await suspend({ authenticate });
    const { message } = await call({ ...round, ...change(round) }, headers);
    expect(message).toMatchObject({ error: { code: -32602 } });
    expect([answerTo('q1'), server.calls.length, fronted.gateway.measures().suspended]).toEqual([[], 1, 1]);
    // The client that was asked may still come.
    const answering = call(round);
    await waitFor(() => expect(answerTo('q1')).toMatchObject([{ result: yes }]));
    server.answer(server.calls[0], 'done');
    expect((await answering).message).toMatchObject({ result: { content: [{ text: 'done' }] } });
    await expectNothingLeft();
  });

  test('comes back twice: the second time there is no call to go on with, and nothing is sent again', async () => {
    const { server, call, round, answerTo, expectNothingLeft } = await suspend();
    const both = [call(round), call(round)];
    await waitFor(() => expect(answerTo('q1')).toHaveLength(1));
    server.answer(server.calls[0], 'done');
    const told = (await Promise.all(both)).map(({ message }) => message);
    expect(told).toContainEqual(
      expect.objectContaining({ result: expect.objectContaining({ content: [expect.anything()] }) }),
    );
    expect(told).toContainEqual(expect.objectContaining({ error: expect.objectContaining({ code: -32602 }) }));
    expect((await call(round)).message).toMatchObject(refused);
    await expectNothingLeft();
    expect([server.calls.length, answerTo('q1').length]).toEqual([1, 1]);
  });

  test('cancels as it comes back: the call is cancelled at the server', async () => {
    const { server, fronted, round, expectNothingLeft } = await suspend();
    const leaving = new AbortController();
    const request = fetch(`${fronted.url}/mcp/s/s`, {
      method: 'POST',
      signal: leaving.signal,
      headers: {
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'wait' },
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 2, method: 'tools/call' },
        params: { ...params, ...round, _meta: metaOf(capabilities) },
      }),
    }).catch(String);
    await waitFor(() => expect(server.received.some(({ id }) => id === 'q1')).toBe(true));
    leaving.abort();
    await request;
    await waitFor(() => expect(server.received.map(({ method }) => method)).toContain('notifications/cancelled'));
    await expectNothingLeft();
  });
});

/** In the middle: of the last one not every bit counts. */
const withAnotherLetter = (text: string) =>
  text.replace(/^(.{20})(.)/, (_, before, one) => before + (one === 'A' ? 'B' : 'A'));

const metaOf = (clientCapabilities: JsonObject) => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': clientCapabilities,
});

describe('while the question waits', () => {
  test('the server dies: the client is told that the outcome is unknown, and nothing is sent again', async () => {
    const { server, call, round, answerTo, expectNothingLeft, outcomes } = await suspend();
    await server.crash();
    await waitFor(() => expect(outcomes()).toEqual({ unknown: 1 }));
    expect((await call(round)).message).toMatchObject({
      result: { isError: true, _meta: { 'plexus/error': { code: 'OUTCOME_UNKNOWN' } } },
    });
    await expectNothingLeft();
    expect([server.calls.length, answerTo('q1')]).toEqual([1, []]);
    expect((await call(round)).message).toMatchObject(refused);
  });

  test('the server dies, and the client never comes back: what was kept for it goes in time', async () => {
    const { clock, server, expectNothingLeft, fronted, outcomes } = await suspend();
    await server.crash();
    await waitFor(() => expect(outcomes()).toEqual({ unknown: 1 }));
    expect(fronted.gateway.measures().suspended).toBe(1);
    await clock.advance(QUESTION_MS);
    await expectNothingLeft();
  });

  test('the process of a server is killed', async () => {
    const program = fileURLToPath(new URL('../../servers/eliciting.mjs', import.meta.url));
    const fronted = await front({ s: { command: process.execPath, args: [program, '--era', 'legacy'] } });
    const call = (more = {}) =>
      fronted.modern('/mcp/s/s', 'tools/call', { name: 'register', arguments: {}, ...more }, { capabilities });
    const round = roundIn(await call());
    const { pid = 0 } = fronted.runtime.status('s');
    process.kill(pid, 'SIGKILL');
    await waitFor(() => expect(isRunning(pid)).toBe(false));
    await waitFor(() => expect(fronted.gateway.measures().servers.get('s')?.inFlight).toBe(0));
    expect((await call(round)).message).toMatchObject({
      result: { isError: true, _meta: { 'plexus/error': { code: 'OUTCOME_UNKNOWN' } } },
    });
    expect(fronted.gateway.measures()).toMatchObject({ suspended: 0, unanswered: 0 });
    // The next call finds the next process.
    expect(roundIn(await call()).requestState).not.toBe(round.requestState);
  });

  test('the access of the client is withdrawn: the call is cancelled', async () => {
    const { server, fronted, call, round, expectNothingLeft, outcomes } = await suspend();
    fronted.gateway.endSessions(() => true);
    await expectNothingLeft();
    expect(outcomes()).toEqual({ cancelled: 1 });
    await waitFor(() => expect(server.received.map(({ method }) => method)).toContain('notifications/cancelled'));
    expect((await call(round)).message).toMatchObject(refused);
  });

  test('the gateway stops at once, and its next life knows nothing of the call, even with the same key', async () => {
    const stateKey = Buffer.alloc(32, 7);
    const { server, fronted, round, expectNothingLeft } = await suspend({ stateKey });
    await fronted.gateway.close();
    await expectNothingLeft();
    await waitFor(() => expect(server.received.map(({ method }) => method)).toContain('notifications/cancelled'));
    const next = createManualServer();
    const after = await front({ s: next.entry }, { stateKey });
    const { status, message } = await after.modern('/mcp/s/s', 'tools/call', { ...params, ...round }, { capabilities });
    expect([status, message]).toEqual([400, expect.objectContaining(refused)]);
    expect(next.calls).toEqual([]);
  });
});
