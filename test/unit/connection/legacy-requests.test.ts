// Owns the proof of how requests of a legacy server are answered.

import { expect, test } from 'vitest';
import type { ViewHandlers } from '../../../src/connection/client-handlers.ts';
import type { ElicitAnswer } from '../../../src/connection/elicitation/request.ts';
import { LeaseHandlers } from '../../../src/connection/lease-handlers.ts';
import { answerWith } from '../../../src/connection/legacy-requests.ts';
import { ServerRequestRouter } from '../../../src/connection/requests.ts';
import { Wire } from '../../../src/connection/wire.ts';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import { limits } from '../../../src/model/limits.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { createScriptedTransport } from '../../../src/testing/scripted-transport.ts';
import { verifies } from '../../verifies.ts';

function connect(handlers: ViewHandlers) {
  const channel = createScriptedTransport();
  const clock = createFakeClock();
  const wire = new Wire(channel, clock);
  const leases = new LeaseHandlers();
  leases.add(handlers);
  const router = new ServerRequestRouter({ server: 's', clock, advertised: handlers, leases });
  wire.onrequest = answerWith(router);
  const ask = (id: string, method: string, params?: unknown) =>
    channel.receive({ jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) });
  return { channel, clock, ask };
}

verifies('LIF-10', 'a server gets an answer to its ping, and the answers of the handlers it was told of', async () => {
  const { channel, clock, ask } = connect({ roots: async () => [{ uri: 'file:///work' }] });
  ask('p', 'ping');
  ask('r', 'roots/list');
  ask('e', 'elicitation/create', { message: 'Who?', requestedSchema: { type: 'object', properties: {} } });
  ask('x', 'tools/list');
  await clock.advance(0);
  const declined = (method: string) => ({ code: -32601, message: `this client does not support ${method}` });
  expect(Object.fromEntries(channel.sent.map(({ id, result, error }) => [id, result ?? error]))).toEqual({
    p: {},
    r: { roots: [{ uri: 'file:///work' }] },
    e: declined('elicitation/create'),
    x: declined('tools/list'),
  });
});

test('a handler that fails is an error for the server, and one with a code a refusal: in its own words, and no fault', async () => {
  const refusal = Object.assign(new Error('not now'), { code: -1 });
  const failures = [new Error('no disk at /home/ada'), refusal, 'nonsense'];
  const left = [...failures];
  const told: unknown[] = [];
  const { channel, clock, ask } = connect({
    roots: () => Promise.reject(left.shift()),
    onError: (error) => told.push(error),
  });
  for (const id of ['a', 'b', 'c']) ask(id, 'roots/list');
  await clock.advance(0);
  const unsaid = { code: -32603, message: 'roots/list could not be answered' };
  expect(channel.sent.map(({ error }) => error)).toEqual([unsaid, { code: -1, message: 'not now' }, unsaid]);
  expect(told).toEqual(failures.filter((each) => each !== refusal));
});

test('a handler that never answers, or with nothing, does not hang the server', async () => {
  const signals: AbortSignal[] = [];
  const told: unknown[] = [];
  const { channel, clock, ask } = connect({
    sample: (_, { signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    },
    roots: async () => [],
    onError: (error) => told.push(error),
  });
  ask('s', 'sampling/createMessage', {});
  await clock.advance(limits.approvalMs - 1);
  expect(channel.sent).toEqual([]);
  await clock.advance(1);
  expect(channel.sent).toEqual([
    { jsonrpc: '2.0', id: 's', error: { code: -32603, message: 'nobody answered sampling/createMessage in time' } },
  ]);
  expect([signals.map(({ aborted }) => aborted), clock.pending(), told]).toEqual([[true], 0, []]);
});

test('an answer that is not an object is reported to the host, and the server gets an error', async () => {
  const told: unknown[] = [];
  const { channel, clock, ask } = connect({ sample: async () => null as never, onError: (error) => told.push(error) });
  ask('s', 'sampling/createMessage', {});
  await clock.advance(0);
  expect(channel.sent.map(({ error }) => error)).toEqual([
    { code: -32603, message: 'the answer to sampling/createMessage is missing' },
  ]);
  expect(told).toEqual([new TypeError('the handler of sampling/createMessage must answer with an object')]);
});

test('more requests at once than the limit are refused, until some are answered', async () => {
  const answers: ((answer: ElicitAnswer) => void)[] = [];
  const { channel, clock, ask } = connect({ elicit: () => new Promise((resolve) => answers.push(resolve)) });
  const form = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } };
  for (let at = 0; at <= limits.openServerRequests; at++) ask(`q${at}`, 'elicitation/create', form);
  await clock.advance(0);
  expect(channel.sent).toMatchObject([{ id: `q${limits.openServerRequests}`, error: { code: -32000 } }]);
  for (const answer of answers) answer({ action: 'decline' });
  await clock.advance(0);
  ask('again', 'elicitation/create', form);
  await clock.advance(0);
  answers.at(-1)?.({ action: 'cancel' });
  await clock.advance(0);
  expect([channel.sent.length, channel.sent.at(-1)]).toEqual([
    limits.openServerRequests + 2,
    { jsonrpc: '2.0', id: 'again', result: { action: 'cancel' } },
  ]);
  expect(clock.pending()).toBe(0);
});

verifies(
  'EXT-02',
  'an elicitation that the server cancels is withdrawn from the person, and not answered',
  async () => {
    const signals: AbortSignal[] = [];
    const { channel, clock, ask } = connect({
      elicit: ({ signal }) => {
        signals.push(signal);
        return new Promise(() => undefined);
      },
    });
    ask('a', 'elicitation/create', { message: 'Who?', requestedSchema: { type: 'object', properties: {} } });
    await clock.advance(1);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    channel.receive({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'a' } });
    await clock.advance(1);
    expect([signals.map(({ aborted }) => aborted), channel.sent, clock.pending()]).toEqual([[true], [], 0]);
  },
);

test('a request that the server cancels is not answered', async () => {
  const answer = createDeferred<[]>();
  const { channel, clock, ask } = connect({ roots: () => answer.promise });
  ask('a', 'roots/list');
  ask('b', 'roots/list');
  channel.receive({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'a' } });
  answer.resolve([]);
  await clock.advance(0);
  expect(channel.sent).toEqual([{ jsonrpc: '2.0', id: 'b', result: { roots: [] } }]);
});

test('an answer that comes after the end of the session is dropped', async () => {
  const answer = createDeferred<[]>();
  const { channel, clock, ask } = connect({ roots: () => answer.promise });
  ask('a', 'roots/list');
  channel.drop();
  answer.resolve([]);
  await clock.advance(0);
  expect(channel.sent).toEqual([]);
});
