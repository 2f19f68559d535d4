// Owns the proof that the wire answers its own requests, bounds the probe, and survives a lying peer.

import { expect, test } from 'vitest';
import { Wire } from '../../../src/connection/wire.ts';
import { Cancellation } from '../../../src/kernel/cancellation.ts';
import { limits } from '../../../src/model/limits.ts';
import type { Message } from '../../../src/model/server.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { createScriptedTransport } from '../../../src/testing/scripted-transport.ts';
import { verifies } from '../../verifies.ts';

function setUp() {
  const clock = createFakeClock();
  const channel = createScriptedTransport();
  const wire = new Wire(channel, clock);
  const toSdk: Message[] = [];
  wire.onmessage = (message) => toSdk.push(message);
  return { clock, channel, wire, toSdk };
}

verifies('TRN-01', 'answers find their requests by id, in any order, and never reach the SDK', async () => {
  const { channel, wire, toSdk } = setUp();
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
  expect(toSdk).toEqual([{ jsonrpc: '2.0', method: 'notifications/message', params: {} }]);
});

test('an id nobody asked for, or answered twice, is heard by nobody', async () => {
  const { channel, wire, toSdk } = setUp();
  const asked = wire.request('tools/call', {});
  const id = channel.request('tools/call')['id'] as number;
  channel.receive({ jsonrpc: '2.0', id: id + 7, result: 'stranger' });
  channel.receive({ jsonrpc: '2.0', id, result: 'first' });
  channel.receive({ jsonrpc: '2.0', id, result: 'second' });
  expect(await asked).toEqual({ kind: 'result', result: 'first' });
  expect(toSdk).toEqual([]);
});

test('every request asks for progress, and progress reaches its own request only', async () => {
  const { channel, wire, toSdk } = setUp();
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
  expect(toSdk).toEqual([]);
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

test('a channel that goes down tells who was sent and who was not', async () => {
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

verifies('LIF-09', 'silence on the probe is answered in the server’s place, and a late discovery is kept', async () => {
  const { channel, clock, wire, toSdk } = setUp();
  await wire.send({ jsonrpc: '2.0', id: 'probe', method: 'server/discover' });
  await clock.advance(limits.probeMs - 1);
  expect(toSdk).toEqual([]);
  await clock.advance(1);
  expect(toSdk).toEqual([{ jsonrpc: '2.0', id: 'probe', error: { code: -32601, message: 'Method not found' } }]);
  channel.receive({ jsonrpc: '2.0', id: 'probe', result: { supportedVersions: ['2026-07-28'] } });
  expect(wire.lateDiscovery).toEqual({ supportedVersions: ['2026-07-28'] });
  expect({ heard: toSdk.length, timers: clock.pending() }).toEqual({ heard: 1, timers: 0 });
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
