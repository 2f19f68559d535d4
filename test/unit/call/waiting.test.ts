// Owns the proof that a call of a tool whose server is not up waits for it: as long as a start may take, and no longer than anybody wants.

import { expect } from 'vitest';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { Channel } from '../../../src/model/server.ts';
import { verifies } from '../../verifies.ts';
import { createTappedServer, start } from './journey.ts';
import { endOf } from './stages.ts';

/** A server whose next start waits until it is let in. */
function gated() {
  const server = createTappedServer({ read: { run: () => 'done' } });
  let gate = createDeferred<void>();
  gate.resolve();
  return {
    server,
    entry: {
      serve: async (channel: Channel) => {
        await gate.promise;
        return server.entry.serve(channel);
      },
    },
    shut: () => {
      gate = createDeferred<void>();
    },
    letIn: () => gate.resolve(),
  };
}

/** Its tools are known, and it is down: the next start waits. */
async function known(settings: JsonObject = {}) {
  const { server, entry, shut, letIn } = gated();
  const journey = await start({ files: { ...entry, ...settings } });
  const turn = journey.runtime.turn();
  shut();
  await server.crash();
  await journey.clock.advance(0);
  return { ...journey, server, turn, letIn };
}

verifies('CAL-09', 'a call of a known tool waits for its server, and is made when it is there', async () => {
  const { server, turn, clock, letIn } = await known();
  const calling = turn.call('mcp__files__read');
  await clock.advance(30_000);
  expect(server.calls).toEqual([]);
  letIn();
  expect(await calling).toMatchObject({ isError: false, meta: { attempts: 1 } });
  expect(clock.pending()).toBe(0);
});

verifies('CAL-09', 'it waits no longer than the start may take, says why, and nothing was sent', async () => {
  const { server, turn, clock } = await known({ startupTimeoutMs: 2_000 });
  const calling = turn.call('mcp__files__read').catch((error: unknown) => error);
  await clock.advance(1_999);
  expect(clock.pending()).toBeGreaterThan(0);
  await clock.advance(1);
  expect(await calling).toMatchObject({ code: 'STARTUP_TIMEOUT', data: { server: 'files', afterMs: 2_000 } });
  expect(server.calls).toEqual([]);
});

verifies(
  'CAL-09',
  'the limit of the call holds during the wait as well, and is not told as an effect that is unknown',
  async () => {
    const { server, turn, clock } = await known();
    const calling = turn.call('mcp__files__read', {}, { timeoutMs: 500 }).catch((error: unknown) => error);
    await clock.advance(500);
    expect(await calling).toMatchObject({ code: 'STARTUP_TIMEOUT', data: { reason: 'a call waited for it' } });
    expect(server.calls).toEqual([]);
  },
);

/** Its tools are known, it fails to start, and its next attempt is `delayMs` away: a call has hurried one already. */
async function waiting(settings: JsonObject = {}, delayMs = 300_000) {
  const server = createTappedServer({ read: { run: () => 'done' } });
  const reconnect = { delaysMs: [delayMs, delayMs], jitter: 0 };
  const journey = await start({ files: { ...server.entry, reconnect, startupTimeoutMs: 2_000, ...settings } });
  const turn = journey.runtime.turn();
  server.fails = true;
  await server.crash();
  await journey.clock.advance(0);
  const hurrying = endOf(turn.call('mcp__files__read'));
  await journey.clock.advance(0);
  expect(await hurrying, 'the attempt that the call hurried').toBe('CONNECTION_LOST');
  expect(journey.runtime.status()).toMatchObject([{ state: 'reconnecting', nextRetryInMs: delayMs }]);
  return { ...journey, server, turn };
}

const ends = (calling: Promise<unknown>) => {
  const followed: { error?: unknown } = {};
  calling.catch((error: unknown) => {
    followed.error = error;
  });
  return followed;
};

verifies(
  'CAL-09',
  'a server that waits for its next attempt is waited for no longer than a start may take; the failure says why and until when',
  async () => {
    const { server, turn, clock, runtime } = await waiting();
    const calling = ends(turn.call('mcp__files__read'));
    await clock.advance(1_999);
    expect(calling).toEqual({});
    await clock.advance(1);
    expect(calling.error).toMatchObject({
      code: 'STARTUP_TIMEOUT',
      remedy: 'retry-later',
      data: { server: 'files', afterMs: 2_000, before: expect.stringMatching(/out of order/), retryInMs: 298_000 },
      message: expect.stringMatching(
        /^Server "files" did not become ready within 2 s: it waits for its next attempt, after a failure \(.*out of order.*\)\. Plexus tries again in 298 s; call again then, or reconnect it: runtime\.reconnect\("files"\)$/,
      ),
    });
    server.fails = false;
    await clock.advance(298_000);
    expect(runtime.status(), 'the attempt itself comes as planned').toMatchObject([{ state: 'connected' }]);
    expect(server.calls).toEqual([]);
    expect(await turn.call('mcp__files__read')).toMatchObject({ isError: false });
  },
);

verifies('CAL-09', 'the limit of a call ends the wait for the next attempt too, with the same reasons', async () => {
  const { turn, clock } = await waiting();
  const calling = ends(turn.call('mcp__files__read', {}, { timeoutMs: 500 }));
  await clock.advance(500);
  expect(calling.error).toMatchObject({
    code: 'STARTUP_TIMEOUT',
    data: { afterMs: 500, reason: 'it waits for its next attempt', retryInMs: 299_500 },
  });
});

verifies('CAL-09', 'an attempt that begins during the wait does not make it longer', async () => {
  const { server, turn, clock } = await waiting({}, 1_500);
  server.fails = false;
  server.hangs = true;
  const calling = ends(turn.call('mcp__files__read'));
  await clock.advance(1_999);
  expect([server.starts(), calling]).toEqual([3, {}]);
  await clock.advance(1);
  expect(calling.error).toMatchObject({
    code: 'STARTUP_TIMEOUT',
    data: { afterMs: 2_000, reason: 'a call waited for it', before: expect.stringMatching(/out of order/) },
  });
});

verifies('CAL-09', 'without a startup timeout the next attempt is waited for, however late it comes', async () => {
  const { server, turn, clock } = await waiting({ startupTimeoutMs: 0 });
  server.fails = false;
  const calling = turn.call('mcp__files__read');
  await clock.advance(300_000);
  expect(await calling).toMatchObject({ isError: false });
});

verifies('CAL-09', 'a connection of a view’s own is waited for no longer either', async () => {
  const server = createTappedServer({ read: { run: () => 'done' } });
  const reconnect = { delaysMs: [300_000, 300_000], jitter: 0 };
  const { runtime, clock } = await start({ files: { ...server.entry, reconnect, startupTimeoutMs: 2_000 } });
  const turn = runtime.view({ perClient: true }).turn();
  server.fails = true;
  for (const which of ['the first attempt', 'the one that a call hurries'])
    expect(await endOf(turn.call('mcp__files__read')), which).toBe('CONNECTION_LOST');
  const whole = ends(turn.call('mcp__files__read'));
  const own = ends(turn.call('mcp__files__read', {}, { timeoutMs: 700 }));
  await clock.advance(2_000);
  expect([whole.error, own.error]).toMatchObject([
    { code: 'STARTUP_TIMEOUT', data: { afterMs: 2_000, retryInMs: 298_000 } },
    { code: 'STARTUP_TIMEOUT', data: { afterMs: 700, retryInMs: 299_300 } },
  ]);
  expect([server.calls, runtime.status()]).toMatchObject([[], [{ state: 'connected' }]]);
});

verifies(
  ['CAL-08', 'CAL-09'],
  'an abort ends the wait with its own reason, and the server that comes later is not called',
  async () => {
    const { server, turn, clock, letIn } = await known();
    const wish = new AbortController();
    const calling = endOf(turn.call('mcp__files__read', {}, { signal: wish.signal }));
    await clock.advance(10);
    wish.abort('enough');
    expect(await calling).toBe('enough');
    letIn();
    await clock.advance(10);
    expect(server.calls).toEqual([]);
  },
);
