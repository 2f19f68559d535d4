// Owns the proof that the wire settles its requests, tells what servers send by themselves, and survives a misbehaving server.

import { expect, test } from 'vitest';
import { Wire } from '../../../src/connection/wire.ts';
import { Cancellation } from '../../../src/kernel/cancellation.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import type { Channel, Message, MessageId } from '../../../src/model/server.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { createScriptedTransport } from '../../../src/testing/scripted-transport.ts';
import { verifies } from '../../verifies.ts';

function setUp(change: Partial<Channel> = {}) {
  const clock = createFakeClock();
  const channel = Object.assign(createScriptedTransport(), change);
  const wire = new Wire(channel, clock);
  return { clock, channel, wire };
}

verifies('TRN-01', 'answers find their requests by id, in any order', async () => {
  const { channel, wire } = setUp();
  const first = wire.request('tools/call', { name: 'a' });
  const second = wire.request('tools/call', { name: 'b' });
  const [a, b] = channel.sent.map((message) => message['id']);
  channel.receive({ jsonrpc: '2.0', method: 'notifications/message', params: {} });
  channel.receive({ jsonrpc: '2.0', id: b, result: 'B' });
  channel.receive({ jsonrpc: '2.0', id: a, error: { code: -32602, message: 'no', data: 1 } });
  expect(await Promise.all([first, second])).toEqual([
    { kind: 'error', code: -32602, message: 'no', data: 1 },
    { kind: 'result', result: 'B' },
  ]);
});

test('a response with an unknown id, or a second response, is ignored', async () => {
  const { channel, wire } = setUp();
  const asked = wire.request('tools/call', {});
  const id = channel.request('tools/call')['id'] as number;
  channel.receive({ jsonrpc: '2.0', id: id + 7, result: 'stranger' });
  channel.receive({ jsonrpc: '2.0', id, result: 'first' });
  channel.receive({ jsonrpc: '2.0', id, result: 'second' });
  expect(await asked).toEqual({ kind: 'result', result: 'first' });
});

verifies(
  'CAL-05',
  'a sign on a stream reaches its own request, a log message all that wait, and none once it is answered',
  async () => {
    const { channel, wire } = setUp();
    const signs: string[] = [];
    const first = wire.request('tools/call', {}, { onSign: () => signs.push('first') });
    const a = channel.request('tools/call')['id'] as number;
    const second = wire.request('tools/call', {}, { onSign: () => signs.push('second') });
    const b = channel.request('tools/call')['id'] as number;
    channel.onsign?.(a);
    channel.onsign?.(b + 1);
    channel.receive({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 1 } });
    channel.receive({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    channel.receive({ jsonrpc: '2.0', id: a, result: {} });
    channel.onsign?.(a);
    channel.receive({ jsonrpc: '2.0', method: 'notifications/message', params: {} });
    channel.receive({ jsonrpc: '2.0', id: b, result: {} });
    await Promise.all([first, second]);
    expect(signs).toEqual(['first', 'first', 'second', 'second']);
  },
);

test('every request asks for progress, and progress reaches its own request only', async () => {
  const { channel, wire } = setUp();
  const heard: unknown[] = [];
  const asked = wire.request('tools/call', {}, { onProgress: (progress) => heard.push(progress) });
  const { id, params } = channel.request('tools/call');
  expect(params).toEqual({ _meta: { progressToken: id } });
  const report = (progressToken: unknown, progress: unknown) =>
    channel.receive({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken, progress, total: 4 },
    });
  report(id, 1);
  report((id as number) + 1, 2);
  report(id, 'odd');
  channel.receive({ jsonrpc: '2.0', id, result: {} });
  await asked;
  report(id, 3);
  expect(heard).toEqual([
    { progress: 1, total: 4 },
    { progress: 0, total: 4 },
  ]);
});

test('a cancelled request tells the server and rejects with the reason; one cancelled before is never sent', async () => {
  const { channel, wire } = setUp();
  const cancellation = new Cancellation();
  const asked = wire.request('tools/call', {}, { cancellation });
  const { id } = channel.request('tools/call');
  const reason = new Error('enough');
  cancellation.cancel(reason);
  await expect(asked).rejects.toBe(reason);
  expect(channel.request('notifications/cancelled')['params']).toEqual({ requestId: id, reason: 'cancelled' });
  const sent = channel.sent.length;
  await expect(wire.request('tools/call', {}, { cancellation })).rejects.toBe(reason);
  expect(channel.sent).toHaveLength(sent);
});

test('a channel that goes down settles every request as lost, sent or unsent', async () => {
  const { channel, wire } = setUp();
  const sent = wire.request('tools/call', {});
  channel.drop();
  expect(await sent).toEqual({ kind: 'lost', sent: true });
  expect(await wire.request('tools/call', {})).toEqual({ kind: 'lost', sent: false });
});

test('a message over the limit costs the request it answered, and the next one works', async () => {
  const { channel, wire } = setUp();
  const big = wire.request('tools/call', {});
  const other = wire.request('tools/call', {});
  const [bigId, otherId] = channel.sent.map((message) => message['id'] as number);
  channel.onoversized?.(bigId);
  expect(await big).toEqual({ kind: 'oversized' });
  channel.receive({ jsonrpc: '2.0', id: otherId, result: 1 });
  expect(await other).toEqual({ kind: 'result', result: 1 });
  const alone = wire.request('tools/call', {});
  channel.onoversized?.(undefined);
  expect(await alone).toEqual({ kind: 'oversized' });
});

verifies('LIF-09', 'a request of the handshake goes out as it is, and can be given up without a word', async () => {
  const abandoned: unknown[] = [];
  const { channel, wire } = setUp({ abandon: (id) => abandoned.push(id) });
  wire.envelope = { version: 'x' };
  let id: MessageId = -1;
  const onId = (given: MessageId) => {
    id = given;
  };
  const params = { a: 1 };
  void wire.request('initialize', params, { isHandshake: true, onId });
  await wire.announce('notifications/initialized');
  expect(channel.sent).toEqual([
    { jsonrpc: '2.0', id, method: 'initialize', params },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
  ]);
  wire.abandon(id);
  wire.abandon(id);
  expect([abandoned, channel.sent.length]).toEqual([[id], 2]);
  const alone = wire.request('tools/call', {});
  channel.onoversized?.(undefined);
  expect(await alone, 'the one given up is no longer in flight').toEqual({ kind: 'oversized' });
});

test('a message of the handshake that cannot be sent is lost once the channel has reported its end, or had the time to', async () => {
  const refuse = async () => {
    throw new Error('EPIPE');
  };
  const ending = setUp({ send: refuse });
  const asked = ending.wire.request('initialize', {}, { isHandshake: true });
  await ending.clock.advance(limits.lossMs - 1);
  ending.channel.drop();
  expect(await asked).toEqual({ kind: 'lost', sent: true });
  const staying = setUp({ send: refuse });
  const both = Promise.allSettled([
    staying.wire.request('initialize', {}, { isHandshake: true }),
    staying.wire.announce('notifications/initialized'),
  ]);
  await staying.clock.advance(limits.lossMs);
  expect(await both).toEqual([
    { status: 'fulfilled', value: { kind: 'lost', sent: false, cause: new Error('EPIPE') } },
    { status: 'rejected', reason: new Error('EPIPE') },
  ]);
  const http = setUp({ send: refuse, hasRequestStreams: true });
  expect(await http.wire.request('initialize', {}, { isHandshake: true })).toMatchObject({ kind: 'lost', sent: false });
});

test('a modern request carries the envelope, and so does its cancellation', async () => {
  const { channel, wire } = setUp();
  wire.envelope = { version: 'x' };
  const cancellation = new Cancellation();
  const asked = wire.request('tools/call', { name: 'a', _meta: { mine: 1 } }, { cancellation });
  const { id, params } = channel.request('tools/call');
  expect(params).toEqual({ name: 'a', _meta: { mine: 1, progressToken: id, version: 'x' } });
  cancellation.cancel(new Error('enough'));
  await expect(asked).rejects.toThrow('enough');
  expect(channel.request('notifications/cancelled')['params']).toMatchObject({ _meta: { version: 'x' } });
});

const cancelWith = async (era: 'legacy' | 'modern', hasRequestStreams: boolean) => {
  const abandoned: unknown[] = [];
  const { channel, wire } = setUp({ hasRequestStreams, abandon: (id) => abandoned.push(id) });
  if (era === 'modern') wire.envelope = { version: 'x' };
  const cancellation = new Cancellation();
  const asked = wire.request('tools/call', {}, { cancellation });
  const { id } = channel.request('tools/call');
  cancellation.cancel('enough');
  await expect(asked).rejects.toBe('enough');
  expect(abandoned, 'what is open for it is closed').toEqual([id]);
  return channel.sent.some(({ method }) => method === 'notifications/cancelled') ? 'told' : 'not told';
};

verifies(
  'EXT-01',
  'a cancelled request is told of, unless the end of its own stream says it to a modern server',
  async () => {
    expect([
      await cancelWith('legacy', false),
      await cancelWith('legacy', true),
      await cancelWith('modern', false),
      await cancelWith('modern', true),
    ]).toEqual(['told', 'told', 'told', 'not told']);
  },
);

test('a request that is cancelled twice, or after its response, sends one cancellation or none', async () => {
  const abandoned: unknown[] = [];
  const { channel, wire } = setUp({ abandon: (id) => abandoned.push(id) });
  const cancellation = new Cancellation();
  const asked = wire.request('tools/call', {}, { cancellation });
  const { id } = channel.request('tools/call');
  channel.receive({ jsonrpc: '2.0', id, result: 1 });
  cancellation.cancel('too late');
  expect(await asked).toEqual({ kind: 'result', result: 1 });
  expect([abandoned, channel.sent.length]).toEqual([[], 1]);
});

test('a request that the channel could not carry through is lost, with whether it was seen and why', async () => {
  const { channel, wire } = setUp();
  const told: unknown[] = [];
  wire.onfailure = (failure) => told.push(failure);
  const cause = new RuntimeError('CONNECTION_LOST', { server: 's', reason: 'HTTP 503' });
  const asked = [wire.request('tools/call', {}), wire.request('tools/call', {})];
  const ids = channel.sent.map(({ id }) => id as number);
  channel.onfailed?.(ids[0] ?? 0, { sent: false, cause });
  channel.onfailed?.(ids[1] ?? 0, { sent: true, cause, status: 503 });
  channel.onfailed?.(ids[1] ?? 0, { sent: true, cause });
  expect(await Promise.all(asked)).toEqual([
    { kind: 'lost', sent: false, cause },
    { kind: 'lost', sent: true, cause, status: 503 },
  ]);
  expect(told).toHaveLength(3);
});

test('a request that the channel refuses is lost unsent, with the channel’s reason', async () => {
  const { wire } = setUp({ send: () => Promise.reject(new TypeError('circular')) });
  expect(await wire.request('tools/call', {})).toEqual({
    kind: 'lost',
    sent: false,
    cause: new TypeError('circular'),
  });
});

test('headers and leave to repeat go along with the message they are for', async () => {
  const options: unknown[] = [];
  const { wire } = setUp({ send: async (_, given) => void options.push(given) });
  const given = { headers: { 'Mcp-Param-A': '1' }, repeatable: true };
  void wire.request('tools/call', {}, given);
  wire.notify('a', {});
  expect(options).toEqual([given, undefined]);
});

test('the first message of all is told once, whatever it is', async () => {
  const { channel, wire } = setUp();
  let answers = 0;
  wire.onfirstmessage = () => {
    answers += 1;
  };
  channel.receive({ jsonrpc: '2.0', method: 'notifications/message', params: {} });
  channel.receive({ jsonrpc: '2.0', id: 0, result: {} });
  expect(answers).toBe(1);
});

test('any message counts as activity until the flag is reset', () => {
  const { channel, wire } = setUp();
  expect(wire.sawActivity).toBe(false);
  channel.receive({ jsonrpc: '2.0', method: 'notifications/message' });
  expect(wire.sawActivity).toBe(true);
});

test('notifications are passed on, except progress, which belongs to its request', () => {
  const { channel, wire } = setUp();
  const heard: unknown[] = [];
  wire.onnotification = (method, params) => heard.push([method, params]);
  const messages: Message[] = [
    { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
    { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info' } },
    { jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params: {} },
    { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 5 } },
    { jsonrpc: '2.0', method: 'notifications/odd', params: 'no object' },
  ];
  for (const message of messages) channel.receive(message);
  expect(heard).toEqual([
    ['notifications/tools/list_changed', {}],
    ['notifications/message', { level: 'info' }],
    ['notifications/subscriptions/acknowledged', {}],
    ['notifications/odd', {}],
  ]);
});

test('a notification that cannot be sent is a diagnostic, and no failure', async () => {
  const errors: unknown[] = [];
  const { channel, clock, wire } = setUp();
  wire.onerror = (error) => errors.push(error);
  channel.drop();
  wire.notify('notifications/anything', {});
  await clock.advance(0);
  expect(errors).toEqual([new Error('the channel is down')]);
});

verifies('REC-07', 'an error of the channel is a diagnostic: requests in flight go on', async () => {
  const errors: unknown[] = [];
  const { channel, wire } = setUp();
  wire.onerror = (error) => errors.push(error);
  const asked = wire.request('tools/call', {});
  channel.onerror?.(new Error('a hiccup'));
  expect([wire.down, errors]).toEqual([false, [new Error('a hiccup')]]);
  channel.receive({ jsonrpc: '2.0', id: channel.request('tools/call')['id'], result: 1 });
  expect(await asked).toEqual({ kind: 'result', result: 1 });
});
