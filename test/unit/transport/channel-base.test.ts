// Owns the proof of what all channels do alike: they open once, close once, and send only in between.

import { expect, test } from 'vitest';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import type { Message } from '../../../src/model/server.ts';
import { ChannelBase } from '../../../src/transport/channel-base.ts';

const MESSAGE: Message = { jsonrpc: '2.0', method: 'ping' };

/** A channel whose opening and closing a test completes by hand. */
class ManualChannel extends ChannelBase {
  readonly opening = createDeferred<void>();
  readonly steps: string[] = [];
  isUp = false;

  constructor() {
    super('files');
  }

  report() {
    return { reason: this.isClosing ? 'it was closed' : 'it has not answered' };
  }

  protected async open(): Promise<void> {
    this.steps.push('open');
    await this.opening.promise;
    this.isUp = true;
  }

  protected canSend(): boolean {
    return this.isUp;
  }

  protected handOn(message: Message): undefined {
    this.steps.push(JSON.stringify(message));
  }

  protected interrupt(): void {
    this.steps.push('interrupt');
  }

  protected async shutDown(): Promise<void> {
    this.steps.push('shut down');
    this.finish();
    this.finish();
  }
}

const lost = (reason: string) => ({ code: 'CONNECTION_LOST', data: { server: 'files', reason } });

async function started(): Promise<ManualChannel> {
  const channel = new ManualChannel();
  channel.opening.resolve();
  await channel.start();
  return channel;
}

test('two starts open once, and both learn why the opening failed', async () => {
  const channel = new ManualChannel();
  const starts = [channel.start(), channel.start()];
  channel.opening.reject(new Error('no such program'));
  for (const start of starts) await expect(start).rejects.toThrow('no such program');
  expect(channel.steps).toEqual(['open']);
});

test('a message is handed on only between start and close', async () => {
  const channel = new ManualChannel();
  await expect(channel.send(MESSAGE)).rejects.toMatchObject(lost('it has not answered'));
  channel.opening.resolve();
  await channel.start();
  await channel.send(MESSAGE);
  const closed = channel.close();
  await expect(channel.send(MESSAGE)).rejects.toMatchObject(lost('it was closed'));
  await closed;
  expect(channel.steps).toEqual(['open', JSON.stringify(MESSAGE), 'interrupt', 'shut down']);
});

test('a message that cannot be written rejects its own send and nothing else', async () => {
  const channel = await started();
  await expect(channel.send({ value: 1n })).rejects.toThrow(TypeError);
  await expect(channel.send(MESSAGE)).resolves.toBeUndefined();
});

test('a close during the opening waits for it, and the start says that the channel was closed', async () => {
  const channel = new ManualChannel();
  const start = channel.start();
  const closes = [channel.close(), channel.close()];
  expect(channel.steps).toEqual(['open', 'interrupt']);
  channel.opening.reject(new Error('interrupted'));
  await expect(start).rejects.toMatchObject(lost('it was closed'));
  await Promise.all(closes);
  expect(channel.steps).toEqual(['open', 'interrupt', 'shut down']);
});

test('a channel that was closed does not open any more', async () => {
  const channel = new ManualChannel();
  await channel.close();
  await expect(channel.start()).rejects.toMatchObject(lost('it was closed'));
  expect(channel.steps).toEqual(['interrupt', 'shut down']);
});

test('after a close only the close itself is reported, and only once', async () => {
  const channel = await started();
  const events: string[] = [];
  channel.onmessage = () => events.push('message');
  channel.onerror = () => events.push('error');
  channel.onclose = () => events.push('close');
  const closed = channel.close();
  channel.tell(channel.onmessage, MESSAGE);
  await closed;
  expect(events).toEqual(['close']);
});

test('an error that a listener throws is reported and does not reach the channel', async () => {
  const channel = await started();
  const errors: Error[] = [];
  channel.onerror = (error) => errors.push(error);
  channel.tell(() => {
    throw new Error('a mistake of the host');
  }, MESSAGE);
  expect(errors).toMatchObject([{ data: { problem: 'a mistake of the host' } }]);
});
