// Owns the proof that a server inside the host is talked to as any other.

import { expect, test } from 'vitest';
import type { Channel, Message } from '../../../src/model/server.ts';
import { openInProcess } from '../../../src/transport/in-process.ts';

function log(channel: Channel): unknown[] {
  const heard: unknown[] = [];
  channel.onmessage = (message) => heard.push(message['id']);
  channel.onclose = () => heard.push('closed');
  channel.onerror = (error) => heard.push(error.message);
  return heard;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const numbered = (id: number): Message => ({ jsonrpc: '2.0', id });

/** Both ends, once `serve` has got the server's end. */
async function open() {
  let far: Channel | undefined;
  const near = openInProcess((channel) => {
    far = channel;
  }, 'inner');
  await near.start();
  await turn();
  if (far === undefined) throw new Error('the server was given no end');
  return { near, far };
}

test('messages arrive in order and never while they are being sent', async () => {
  const { near, far } = await open();
  const heard = [log(near), log(far)];
  for (const id of [1, 2, 3]) void near.send(numbered(id));
  void far.send(numbered(4));
  expect(heard).toEqual([[], []]);
  await turn();
  expect(heard).toEqual([[4], [1, 2, 3]]);
});

test('what is sent before anyone listens waits until someone does', async () => {
  const { near, far } = await open();
  await near.send(numbered(1));
  await turn();
  const heard = log(far);
  await far.start();
  await turn();
  expect(heard).toEqual([1]);
});

test('either end closes both; the other one still hears what was sent before', async () => {
  const { near, far } = await open();
  const heard = [log(near), log(far)];
  void far.send(numbered(1));
  void near.send(numbered(2));
  await far.close();
  await near.close();
  await turn();
  expect(heard).toEqual([[1, 'closed'], ['closed']]);
  await expect(near.send(numbered(3))).rejects.toMatchObject({
    code: 'CONNECTION_LOST',
    data: { server: 'inner', reason: 'it was closed' },
  });
});

test('a server function that fails closes the line and says why', async () => {
  for (const serve of [() => Promise.reject(new Error('no disk')), () => fail('no disk')]) {
    const near = openInProcess(serve, 'inner');
    const heard = log(near);
    await near.start();
    await turn();
    expect(heard).toEqual([expect.stringContaining('no disk'), 'closed']);
    expect(near.report?.()).toEqual({ reason: 'its server function failed: no disk' });
  }
});

test('a listener that throws is told of it and hears the next message', async () => {
  const { near, far } = await open();
  const heard = log(far);
  far.onmessage = (message) => fail(`message ${message['id']}`);
  await near.send(numbered(1));
  await near.send(numbered(2));
  await turn();
  expect(heard).toEqual([expect.stringContaining('message 1'), expect.stringContaining('message 2')]);
});

function fail(problem: string): never {
  throw new Error(problem);
}

test('a server function that fails has not been sent what it did not read, and no request is taken for the cause', async () => {
  const near = openInProcess(async () => {
    throw new Error('no licence');
  }, 'inner');
  const failed: unknown[] = [];
  near.onfailed = (id, { sent, cause }) => failed.push([id, sent, cause.code, cause.message.includes('no licence')]);
  const heard = log(near);
  await near.start();
  await near.send({ ...numbered(1), method: 'server/discover' });
  await near.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  await turn();
  expect([heard, failed]).toEqual([
    [expect.stringContaining('no licence'), 'closed'],
    [[1, false, 'CONNECTION_LOST', true]],
  ]);
});
