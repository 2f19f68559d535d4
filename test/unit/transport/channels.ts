// Owns the helpers of the transport's tests: channels to real processes, and records of their events.

import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { Channel, Message } from '../../../src/model/server.ts';
import type { FakeClock } from '../../../src/testing/fake-clock.ts';
import type { StdioOptions } from '../../../src/transport/stdio.ts';
import { faulty } from '../../servers/faulty.ts';
import { eventually, PATIENCE_MS } from '../../servers/processes.ts';

const MEGABYTES_64 = 64 * 1024 * 1024;

/** The options of `openStdio` for a server that misbehaves as the flags say. */
export function faultyProgram(...flags: string[]): StdioOptions {
  const { command, args } = faulty(...flags);
  return program(command, ...args);
}

export function program(command: string, ...args: string[]): StdioOptions {
  const env = { PATH: process.env['PATH'] ?? '' };
  return { server: 'files', command, args, env, maxMessageBytes: MEGABYTES_64, clock: systemClock };
}

/** Steps the clock until the work is done, with real pauses in which real processes can die. */
export async function drive(clock: FakeClock, work: Promise<unknown>): Promise<void> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  work.then(settle, settle);
  const until = Date.now() + PATIENCE_MS;
  while (!settled && Date.now() < until) {
    await clock.advance(50);
    await wait(5);
  }
  if (!settled) throw new Error(`not done within ${PATIENCE_MS} ms`);
  await work;
}

/** Records every event of the channel from now on. */
export function listen(channel: Channel) {
  const messages: Message[] = [];
  const seen = { messages, closes: 0, oversized: [] as unknown[], errors: [] as Error[] };
  channel.onmessage = (message) => messages.push(message);
  channel.onclose = () => (seen.closes += 1);
  channel.onoversized = (id) => seen.oversized.push(id);
  channel.onerror = (error) => seen.errors.push(error);
  return {
    ...seen,
    get closes() {
      return seen.closes;
    },
    /** Resolves with the answer to this id. */
    answerTo: (id: number) => eventually(() => messages.find((message) => message['id'] === id)),
  };
}

export function call(id: number, name: string, args: object = {}): Message {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } };
}

export function text(id: number, content: string): Message {
  return { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: content }] } };
}
