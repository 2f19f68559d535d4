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
