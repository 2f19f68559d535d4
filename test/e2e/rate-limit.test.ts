// Owns the proof of what a caller learns of a rate limit, from the HTTP response to the outcome.

import { expect } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { eventually } from '../servers/processes.ts';
import { everyDoor, textOf } from '../unit/adapters/every-door.ts';
import type { Answering } from '../unit/transport/http-servers.ts';
import { status } from '../unit/transport/http-servers.ts';
import { verifies } from '../verifies.ts';
import { createFolder, start } from './runtimes.ts';
import { serveMcp } from './web.ts';

const refusingCalls =
  (answer: Answering): Answering =>
  (received, response) =>
    received.message['method'] === 'tools/call' && answer(received, response);

const calls = (server: { posts(): readonly { message: Readonly<Record<string, unknown>> }[] }) =>
  server.posts().filter(({ message }) => message['method'] === 'tools/call').length;

async function open(retryAfter: string, settings = {}) {
  const server = await serveMcp(refusingCalls(status(429, '', { 'retry-after': retryAfter })));
  const clock = createFakeClock();
  const servers = { web: { url: server.url, transport: 'http' as const, ...settings } };
  const runtime = await start(createFolder(), { servers, clock, startup: { whenUncached: 'wait' } });
  return { server, clock, runtime };
}

verifies('EXT-30', 'a wait that is longer than the time of the call is told at once, with its time', async () => {
  const { server, runtime } = await open('4');
  const call = runtime.turn().call('mcp__web__echo', {}, { timeoutMs: 4_000 });
  await expect(call).rejects.toMatchObject({ code: 'RATE_LIMITED', data: { server: 'web', waitMs: 4_000 } });
  expect(calls(server)).toBe(1);
  expect(runtime.events.some(({ type }) => type === 'call.rate-limited')).toBe(false);
});

verifies('EXT-30', 'a wait that the call has the time for is announced, and the call is sent once more', async () => {
  const { server, runtime, clock } = await open('4');
  const call = runtime.turn().call('mcp__web__echo', {}, { timeoutMs: 4_001 });
  call.catch(() => undefined);
  await eventually(() => runtime.events.some(({ type }) => type === 'call.rate-limited'));
  expect(runtime.events.find(({ type }) => type === 'call.rate-limited')).toMatchObject({
    name: 'mcp__web__echo',
    tool: { server: 'web', tool: 'echo' },
    waitMs: 4_000,
  });
  await clock.advance(4_000);
  await expect(call).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  expect(calls(server)).toBe(2);
});

verifies('EXT-30', 'a tool that may be repeated waits no longer than any other, and no more often', async () => {
  for (const [retryAfter, sent] of [
    ['6', 1],
    ['4', 2],
  ] as const) {
    const { server, runtime, clock } = await open(retryAfter, { trustHints: true });
    const call = runtime.turn().call('mcp__web__look');
    call.catch(() => undefined);
    if (sent === 2) {
      await eventually(() => runtime.events.some(({ type }) => type === 'call.rate-limited'));
      await clock.advance(4_000);
    }
    const waitMs = Number(retryAfter) * 1_000;
    await expect(call).rejects.toMatchObject({ code: 'RATE_LIMITED', data: { server: 'web', waitMs } });
    expect(calls(server)).toBe(sent);
  }
});

verifies(['EXT-30', 'REC-18'], 'a rate limit is no outage: the breaker never opens for it', async () => {
  const { server, runtime } = await open('60');
  for (let call = 0; call <= limits.breaker.outages; call += 1)
    await expect(runtime.turn().call('mcp__web__echo')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  expect(calls(server)).toBe(limits.breaker.outages + 1);
  expect(runtime.status()[0]).toMatchObject({ state: 'connected' });
  expect(runtime.status()[0]).not.toHaveProperty('breaker');
});

verifies('EXT-30', 'through every adapter the model is told of a longer wait, with its time', async () => {
  const { server, runtime } = await open('60');
  const doors = Object.entries(everyDoor);
  for (const [title, openDoor] of doors) {
    const text = textOf(await openDoor(runtime).call('mcp__web__echo', {}));
    expect(text, title).toMatch(/RATE_LIMITED.*60 s/s);
  }
  expect(calls(server)).toBe(doors.length);
});
