// Owns the proof that a call ends when its time is up, that a sign of life gives it more, and that the server hears of it.

import { expect, test } from 'vitest';
import { deadline } from '../../../src/call/deadline.ts';
import type { ToolCall } from '../../../src/call/pipeline.ts';
import { defineServer } from '../../../src/config/define.ts';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import type { Message } from '../../../src/model/server.ts';
import { createFakeClock, type FakeClock } from '../../../src/testing/fake-clock.ts';
import type { TurnCallOptions } from '../../../src/turn.ts';
import { verifies } from '../../verifies.ts';
import { registryOf } from '../servers/registry.ts';
import { definitionOf } from '../session.ts';
import { createTappedServer, type Journey, start, type TappedServer } from './journey.ts';
import { callOf, endOf, toolOf } from './stages.ts';

const hanging = () => createTappedServer({ hang: { run: () => new Promise(() => undefined) } });

interface Calling {
  readonly server: TappedServer;
  readonly journey: Journey;
  readonly end: () => unknown;
  readonly done: Promise<void>;
}

async function call(
  settings: Record<string, unknown> = {},
  options: Parameters<typeof start>[1] = {},
  calling: TurnCallOptions = {},
): Promise<Calling> {
  const server = hanging();
  const journey = await start({ files: { ...server.entry, ...settings } }, options);
  let end: unknown;
  const done = journey.runtime
    .turn()
    .call('mcp__files__hang', {}, calling)
    .then(
      () => undefined,
      (error: unknown) => {
        end = error;
      },
    );
  await journey.clock.advance(0);
  return { server, journey, end: () => end, done };
}

const progressOn = (request: Message, progress: number): Message => ({
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken: (request['params'] as { _meta: { progressToken: unknown } })._meta.progressToken, progress },
});

verifies(
  ['CAL-05', 'CAL-06'],
  'a call ends after 100 000 000 ms by default, is cancelled on the server, and says that the outcome is unknown',
  async () => {
    const { server, journey, end, done } = await call();
    await journey.clock.advance(99_999_999);
    expect(end()).toBeUndefined();
    await journey.clock.advance(1);
    await done;
    expect(end()).toMatchObject({
      code: 'CALL_TIMEOUT',
      data: { server: 'files', tool: 'hang', afterMs: 100_000_000, silence: false },
      message: expect.stringContaining(
        'took longer than 100000 s and was cancelled; whether it took effect is unknown',
      ),
    });
    const { id } = server.receivedLast('tools/call');
    expect(server.receivedLast('notifications/cancelled')).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: id, reason: expect.any(String) },
    });
    expect(journey.clock.pending()).toBe(0);
  },
);

verifies('CAL-05', 'a server may have a limit of its own, and 0 turns it off', async () => {
  const short = await call({ toolTimeoutMs: 500 });
  await short.journey.clock.advance(500);
  await short.done;
  expect(short.end()).toMatchObject({ code: 'CALL_TIMEOUT', data: { afterMs: 500 } });
  const endless = await call({ toolTimeoutMs: 0 });
  await endless.journey.clock.advance(1_000_000_000);
  expect(endless.end()).toBeUndefined();
});

verifies('CAL-05', 'a call that is silent for too long ends, and each progress gives it as long again', async () => {
  const { server, journey, end, done } = await call({ toolIdleTimeoutMs: 300_000 });
  const request = server.receivedLast('tools/call');
  for (let progress = 1; progress <= 3; progress++) {
    await journey.clock.advance(299_999);
    expect(end()).toBeUndefined();
    await server.say(progressOn(request, progress));
    await journey.clock.advance(0);
  }
  await journey.clock.advance(299_999);
  expect(end()).toBeUndefined();
  await journey.clock.advance(1);
  await done;
  expect(end()).toMatchObject({
    code: 'CALL_TIMEOUT',
    data: { server: 'files', tool: 'hang', afterMs: 300_000, silence: true },
  });
  expect(journey.clock.pending()).toBe(0);
});

verifies('CAL-05', 'progress of another call gives nobody more time', async () => {
  const { server, journey, end, done } = await call({ toolIdleTimeoutMs: 300_000 });
  const { id } = server.receivedLast('tools/call');
  await journey.clock.advance(299_999);
  const params = { progressToken: Number(id) + 1, progress: 1 };
  await server.say({ jsonrpc: '2.0', method: 'notifications/progress', params });
  await journey.clock.advance(1);
  await done;
  expect(end()).toMatchObject({ code: 'CALL_TIMEOUT' });
});

const logged: Message = {
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level: 'info', data: 'still at it' },
};

verifies('CAL-05', 'what a server logs during a call is a sign of life as well', async () => {
  const { server, journey, end, done } = await call({ toolIdleTimeoutMs: 300_000 });
  for (let sign = 1; sign <= 3; sign++) {
    await journey.clock.advance(299_999);
    await server.say(logged);
    await journey.clock.advance(0);
    expect(end()).toBeUndefined();
  }
  await journey.clock.advance(299_999);
  expect(end()).toBeUndefined();
  await journey.clock.advance(1);
  await done;
  expect(end()).toMatchObject({ code: 'CALL_TIMEOUT', data: { silence: true } });
  expect(journey.clock.pending()).toBe(0);
});

verifies('CAL-05', 'one tool may have limits of its own, by name or pattern, and the closest counts', async () => {
  const limited = (tools: Record<string, unknown>) => call({ toolTimeoutMs: 500, toolIdleTimeoutMs: 400, tools });
  const longer = await limited({ hang: { toolTimeoutMs: 5_000, toolIdleTimeoutMs: 0 }, 'h*': { toolTimeoutMs: 1 } });
  await longer.journey.clock.advance(4_999);
  expect(longer.end()).toBeUndefined();
  await longer.journey.clock.advance(1);
  await longer.done;
  expect(longer.end()).toMatchObject({ code: 'CALL_TIMEOUT', data: { afterMs: 5_000, silence: false } });
  const quicker = await limited({ '*': { toolIdleTimeoutMs: 100 } });
  await quicker.journey.clock.advance(100);
  await quicker.done;
  expect(quicker.end()).toMatchObject({ code: 'CALL_TIMEOUT', data: { afterMs: 100, silence: true } });
  const other = await limited({ other: { toolTimeoutMs: 1 } });
  await other.journey.clock.advance(399);
  expect(other.end()).toBeUndefined();
});

verifies(
  ['CAL-02', 'CAL-05'],
  'one call may have a limit of its own, shorter or longer than the configured one',
  async () => {
    for (const [settings, timeoutMs] of [
      [{}, 700],
      [{ toolTimeoutMs: 100 }, 700],
    ] as const) {
      const { server, journey, end, done } = await call(settings, {}, { timeoutMs });
      await journey.clock.advance(timeoutMs - 1);
      expect(end()).toBeUndefined();
      await journey.clock.advance(1);
      await done;
      expect(end()).toMatchObject({
        code: 'CALL_TIMEOUT',
        data: { afterMs: timeoutMs, silence: false, isOwn: true },
        message: expect.stringContaining('the caller set this time limit'),
      });
      expect(server.receivedLast('notifications/cancelled')).toBeDefined();
    }
  },
);

verifies(
  'CAL-02',
  'a limit of 0 is none, less than nothing is the shortest, and what is no number counts for nothing',
  async () => {
    for (const timeoutMs of [0, Number.POSITIVE_INFINITY]) {
      const { journey, end } = await call({ toolTimeoutMs: 100 }, {}, { timeoutMs });
      await journey.clock.advance(1_000_000_000);
      expect(end()).toBeUndefined();
    }
    for (const [timeoutMs, afterMs] of [
      [-5, 1],
      [Number.NaN, 100],
    ] as const) {
      const { journey, end, done } = await call({ toolTimeoutMs: 100 }, {}, { timeoutMs });
      await journey.clock.advance(afterMs);
      await done;
      expect(end()).toMatchObject({ code: 'CALL_TIMEOUT', data: { afterMs } });
    }
  },
);

const limited = (toolTimeoutMs: number, toolIdleTimeoutMs: number) =>
  registryOf({ definitions: [definitionOf('files', { toolTimeoutMs, toolIdleTimeoutMs })] });

test('neither limit runs while a person is asked, and silence begins anew with the answer', async () => {
  const clock = createFakeClock();
  const tool = toolOf('files', 'hang');
  let timed: ToolCall | undefined;
  const perform = deadline(
    limited(1_000, 400),
    clock,
  )((given) => {
    timed = given;
    return given.cancellation.race(new Promise<never>(() => undefined));
  });
  const end = endOf(perform(callOf(tool)));
  await clock.advance(300);
  timed?.timer?.onWaiting(true);
  timed?.timer?.onWaiting(true);
  await clock.advance(250_000);
  timed?.timer?.onSign();
  expect(timed?.cancellation.cancelled).toBe(false);
  timed?.timer?.onWaiting(false);
  await clock.advance(250_000);
  expect(timed?.cancellation.cancelled, 'another is asked still').toBe(false);
  timed?.timer?.onWaiting(false);
  await clock.advance(399);
  timed?.timer?.onSign();
  await clock.advance(300);
  expect(timed?.cancellation.cancelled).toBe(false);
  await clock.advance(1);
  expect(timed?.cancellation.reason).toMatchObject({ data: { afterMs: 1_000, silence: false } });
  expect(await end).toBe('CALL_TIMEOUT');
  timed?.timer?.onWaiting(true);
  timed?.timer?.onWaiting(false);
  expect(clock.pending(), 'nothing is set going after the end').toBe(0);
});

/** A call that hangs, with a limit of a second and a person who may be asked. */
function startAskable(clock: FakeClock) {
  let timed: ToolCall | undefined;
  const perform = deadline(
    limited(1_000, 0),
    clock,
  )((given) => {
    timed = given;
    return given.cancellation.race(new Promise<never>(() => undefined));
  });
  const { elicit } = { elicit: async () => ({ action: 'decline' as const }) };
  const call = callOf(toolOf('files', 'hang'));
  const end = endOf(perform({ ...call, caller: { ...call.caller, handlers: { elicit } } }));
  return { timed, end };
}

verifies('EXT-02', 'the limits stand still for ten minutes in all, however often a person is asked', async () => {
  const clock = createFakeClock();
  const { timed, end } = startAskable(clock);
  for (let question = 0; question < 3; question++) {
    timed?.timer?.onWaiting(true);
    await clock.advance(200_000);
    timed?.timer?.onWaiting(false);
    await clock.advance(100);
  }
  expect(timed?.cancellation.cancelled, 'ten minutes').toBe(false);
  timed?.timer?.onWaiting(true);
  await clock.advance(699);
  expect(timed?.cancellation.cancelled).toBe(false);
  await clock.advance(1);
  expect([await end, clock.pending()]).toEqual(['CALL_TIMEOUT', 0]);
});

verifies('EXT-02', 'the limits run on after ten minutes while a person is still asked', async () => {
  const clock = createFakeClock();
  const { timed, end } = startAskable(clock);
  timed?.timer?.onWaiting(true);
  await clock.advance(600_999);
  expect(timed?.cancellation.cancelled).toBe(false);
  await clock.advance(1);
  expect(timed?.cancellation.cancelled).toBe(true);
  expect([await end, clock.pending()]).toEqual(['CALL_TIMEOUT', 0]);
});

test('a clock that somebody sets back gives nobody more than another whole limit', async () => {
  let setBack = 0;
  const clock = createFakeClock();
  const perform = deadline(limited(0, 400), { ...clock, now: () => clock.now() - setBack })((given) => {
    given.timer?.onSign();
    setBack = 10_000_000;
    return given.cancellation.race(new Promise<never>(() => undefined));
  });
  const end = endOf(perform(callOf(toolOf('files', 'hang'))));
  await clock.advance(800);
  expect(await end).toBe('CALL_TIMEOUT');
});

verifies('CAL-05', 'progress never lifts the limit for the whole', async () => {
  const { server, journey, end, done } = await call({ toolIdleTimeoutMs: 300, toolTimeoutMs: 1_000 });
  const request = server.receivedLast('tools/call');
  for (let progress = 1; progress <= 4; progress++) {
    await journey.clock.advance(250);
    await server.say(progressOn(request, progress));
    await journey.clock.advance(0);
  }
  await done;
  expect(end()).toMatchObject({ code: 'CALL_TIMEOUT', data: { afterMs: 1_000, silence: false } });
});

for (const era of ['legacy', 'modern'] as const) {
  verifies('CAL-05', `a ${era} server is always asked for progress, whether the caller listens or not`, async () => {
    const server = createTappedServer({ read: { run: () => 'done' } }, era);
    const { runtime } = await start({ files: server.entry });
    await runtime.turn().call('mcp__files__read');
    const { id, params } = server.receivedLast('tools/call');
    expect(params).toMatchObject({ _meta: { progressToken: id } });
  });
}

verifies('CAL-05', 'only remote servers have a limit for silence by default: 300 s', () => {
  const settingsOf = (value: unknown) =>
    defineServer({ name: 'files', value, provenance: { scope: 'user', key: [] } }, { defaults: {}, mayLoosen: true })
      .definition?.settings;
  expect([{ url: 'https://a.example/mcp' }, { command: 'node' }].map(settingsOf)).toEqual([
    expect.objectContaining({ toolTimeoutMs: 100_000_000, toolIdleTimeoutMs: 300_000 }),
    expect.not.objectContaining({ toolIdleTimeoutMs: expect.anything() }),
  ]);
});

verifies('CAL-05', 'a call that a person approved has its limit as well', async () => {
  const { journey, end, done } = await call({ toolTimeoutMs: 500 }, { permissions: [], approve: async () => 'once' });
  await journey.clock.advance(500);
  await done;
  expect(end()).toMatchObject({ code: 'CALL_TIMEOUT' });
});

test('the time somebody takes to approve is not the time of the call', async () => {
  const answer = createDeferred<'once'>();
  const { server, journey, end, done } = await call(
    { toolTimeoutMs: 500 },
    { permissions: [], approve: () => answer.promise },
  );
  await journey.clock.advance(10_000);
  answer.resolve('once');
  await journey.clock.advance(499);
  expect([end(), server.calls.length]).toEqual([undefined, 1]);
  await journey.clock.advance(1);
  await done;
  expect(end()).toMatchObject({ code: 'CALL_TIMEOUT' });
});

verifies(
  'CAL-05',
  'a call that waits for its server to come back has its limit as well, before and after',
  async () => {
    const server = hanging();
    const journey = await start({ files: { ...server.entry, toolTimeoutMs: 500 } });
    const turn = journey.runtime.turn();
    await server.crash();
    await journey.clock.advance(0);
    const calling = endOf(turn.call('mcp__files__hang'));
    await journey.clock.advance(499);
    expect([server.starts(), server.calls.length]).toEqual([2, 1]);
    await journey.clock.advance(1);
    expect(await calling).toBe('CALL_TIMEOUT');
  },
);
