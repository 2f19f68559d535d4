// Owns what tests need to start real processes and to look at them from outside.

import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { Message } from '../../../src/model/server.ts';
import type { FakeClock } from '../../../src/testing/fake-clock.ts';
import { runningGroupOf } from '../../../src/transport/proc.ts';
import type { StdioChannel, StdioOptions } from '../../../src/transport/stdio.ts';

export const HOSTILE = fileURLToPath(new URL('../../servers/hostile.mjs', import.meta.url));
const MEGABYTES_64 = 64 * 1024 * 1024;
const PATIENCE_MS = 10_000;

/** What `openStdio` takes, for a server that misbehaves as the flags say. */
export function hostile(...flags: string[]): StdioOptions {
  return program(process.execPath, HOSTILE, ...flags);
}

export function program(command: string, ...args: string[]): StdioOptions {
  const env = { PATH: process.env['PATH'] ?? '' };
  return { server: 'files', command, args, env, maxMessageBytes: MEGABYTES_64, clock: systemClock };
}

export function temporaryFile(name: string): string {
  return join(mkdtempSync(join(tmpdir(), 'plexus-')), name);
}

/** Real processes take the time they take: looks again until it is so, and gives up loudly. */
export async function eventually<Value>(look: () => Value | undefined | false, withinMs = PATIENCE_MS): Promise<Value> {
  const until = Date.now() + withinMs;
  for (;;) {
    const seen = look();
    if (seen !== undefined && seen !== false) return seen;
    if (Date.now() > until) throw new Error(`not within ${withinMs} ms: ${look}`);
    await wait(10);
  }
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

/** A zombie is not running. */
export const isRunning = (pid: number): boolean => runningGroupOf(pid) !== undefined;

/** The pids a server wrote down, once there are so many. */
export function pidsIn(file: string, count: number): Promise<number[]> {
  return eventually(() => {
    const pids = linesOf(file).map(Number);
    return pids.length >= count && pids;
  });
}

export function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

/** Everything that arrives, from now on. */
export function listen(channel: StdioChannel) {
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
    /** The answer to this id, once it is there. */
    answerTo: (id: number) => eventually(() => messages.find((message) => message['id'] === id)),
  };
}

export function call(id: number, name: string, args: object = {}): Message {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } };
}

export function text(id: number, said: string): Message {
  return { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: said }] } };
}
