// Owns the proof of what a server of the older era hears when it asks something by itself.

import { expect, test } from 'vitest';
import { answerFrom } from '../../../src/connection/questions.ts';
import { InputDesk, type InputHandlers } from '../../../src/connection/requests.ts';
import { Wire } from '../../../src/connection/wire.ts';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { createScriptedTransport } from '../../../src/testing/scripted-transport.ts';
import { verifies } from '../../verifies.ts';

function connect(inputs: InputHandlers) {
  const channel = createScriptedTransport();
  const clock = createFakeClock();
  const wire = new Wire(channel, clock);
  const desk = new InputDesk('s', clock);
  desk.hold(inputs);
  wire.onrequest = answerFrom(desk, inputs);
  wire.release();
  const ask = (id: string, method: string, params?: unknown) =>
    channel.receive({ jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) });
  return { channel, clock, ask };
}

verifies('LIF-10', 'a server hears that we are there, and the answers of the handlers it was told of', async () => {
  const { channel, clock, ask } = connect({ roots: async () => [{ uri: 'file:///work' }] });
  ask('p', 'ping');
  ask('r', 'roots/list');
  ask('e', 'elicitation/create', { message: 'Who?', requestedSchema: {} });
  ask('x', 'tools/list');
  await clock.advance(0);
  const declined = (method: string) => ({ code: -32601, message: `nobody here answers ${method}` });
  expect(Object.fromEntries(channel.sent.map(({ id, result, error }) => [id, result ?? error]))).toEqual({
    p: {},
    r: { roots: [{ uri: 'file:///work' }] },
    e: declined('elicitation/create'),
    x: declined('tools/list'),
  });
});

test('a handler that fails is an error for the server, with its own code where it has one', async () => {
  const failures = [new Error('no disk'), Object.assign(new Error('not now'), { code: -1 }), 'nonsense'];
  const { channel, clock, ask } = connect({ roots: () => Promise.reject(failures.shift()) });
  for (const id of ['a', 'b', 'c']) ask(id, 'roots/list');
  await clock.advance(0);
  expect(channel.sent.map(({ error }) => error)).toEqual([
    { code: -32603, message: 'no disk' },
    { code: -1, message: 'not now' },
    { code: -32603, message: 'Internal error' },
  ]);
});

test('what a server takes back is not answered', async () => {
  const answer = createDeferred<[]>();
  const { channel, clock, ask } = connect({ roots: () => answer.promise });
  ask('a', 'roots/list');
  ask('b', 'roots/list');
  channel.receive({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'a' } });
  answer.resolve([]);
  await clock.advance(0);
  expect(channel.sent).toEqual([{ jsonrpc: '2.0', id: 'b', result: { roots: [] } }]);
});

test('an answer that comes after the end harms nobody', async () => {
  const answer = createDeferred<[]>();
  const { channel, clock, ask } = connect({ roots: () => answer.promise });
  ask('a', 'roots/list');
  channel.drop();
  answer.resolve([]);
  await clock.advance(0);
  expect(channel.sent).toEqual([]);
});
