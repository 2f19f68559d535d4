// Owns the proof that a failing server is left alone for a while, that only outages count, and that one half-open call brings it back.

import { expect, test } from 'vitest';
import { guard } from '../../../src/call/guard.ts';
import { invoke } from '../../../src/call/invoke.ts';
import { attempt, type ToolCall } from '../../../src/call/pipeline.ts';
import type { RequestOutcome } from '../../../src/connection/session.ts';
import { createDeferred, type Deferred } from '../../../src/kernel/deferred.ts';
import { type FailureCode, failures, RuntimeError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import type { ToolOutcome } from '../../../src/model/tool.ts';
import { Breakers } from '../../../src/servers/breakers.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { createTappedServer, start } from './journey.ts';
import { callOf, endOf, outcomeOf, sessionsOf, toolOf, unchecked } from './stages.ts';

const tool = toolOf('files', 'read');
const outage = () => Promise.reject(new RuntimeError('CONNECTION_LOST', { server: 'files', reason: 'it went away' }));
const abort = ({ cancellation }: ToolCall) => {
  cancellation.cancel(new DOMException('enough', 'AbortError'));
  return Promise.reject(cancellation.reason);
};
const success = () => Promise.resolve(outcomeOf(tool, 'done'));
const done = expect.objectContaining({ text: 'done' });

function setUp() {
  const clock = createFakeClock();
  const breakers = new Breakers(clock, limits.breaker);
  let reached = 0;
  const call = (run: (call: ToolCall) => Promise<ToolOutcome>, of = tool) =>
    endOf(
      attempt(
        guard(breakers)((each) => {
          reached += 1;
          return run(each);
        }),
        callOf(of),
      ),
    );
  return { clock, breakers, call, reached: () => reached };
}

async function opened() {
  const parts = setUp();
  for (let failed = 0; failed < 3; failed++) await parts.call(outage);
  return parts;
}

verifies('REC-19', 'after three outages in a row calls fail at once and do not reach the server', async () => {
  const { call, reached } = setUp();
  expect([await call(outage), await call(outage), await call(outage)]).toEqual([
    'CONNECTION_LOST',
    'CONNECTION_LOST',
    'CONNECTION_LOST',
  ]);
  expect([await call(success), await call(success)]).toEqual(['CIRCUIT_OPEN', 'CIRCUIT_OPEN']);
  expect(reached()).toBe(3);
});

verifies('REC-19', 'the failure says how long it lasts and how it is reconnected', async () => {
  const { clock, breakers } = await opened();
  await clock.advance(100_000);
  const refused = attempt(guard(breakers)(success), callOf(tool));
  await expect(refused).rejects.toMatchObject({
    code: 'CIRCUIT_OPEN',
    data: { server: 'files', retryInMs: 200_000 },
    message:
      'Server "files" failed repeatedly; calls to it are refused for another 200 s. Wait, or reconnect it: runtime.reconnect("files")',
  });
});

verifies(
  'REC-19',
  'a success in between starts the count anew, and other servers have a count of their own',
  async () => {
    const { call } = setUp();
    for (const run of [outage, outage, success, outage, outage]) await call(run);
    expect(await call(success)).toEqual(done);
    const other = toolOf('other', 'read');
    for (let failed = 0; failed < 3; failed++) await call(outage, other);
    expect([await call(success, other), await call(success)]).toEqual(['CIRCUIT_OPEN', done]);
  },
);

verifies('REC-18', 'exactly the failures that waiting could cure are counted', async () => {
  const codes = Object.keys(failures) as FailureCode[];
  const counted: FailureCode[] = [];
  for (const code of codes) {
    const { call } = setUp();
    const data = { server: 'files', tool: 'read', nearest: [], problems: [], reason: '', because: '' };
    const fail = () => Promise.reject(new RuntimeError(code, data as never));
    for (let failed = 0; failed < 3; failed++) await call(fail);
    if ((await call(success)) === 'CIRCUIT_OPEN') counted.push(code);
  }
  expect(counted).toEqual([
    'LOGIN_UNAVAILABLE',
    'SPAWN_FAILED',
    'STARTUP_TIMEOUT',
    'CONNECTION_LOST',
    'PROTOCOL_BROKEN',
    'LIST_TOO_LONG',
    'REQUEST_TIMEOUT',
    'CALL_TIMEOUT',
    'OUTCOME_UNKNOWN',
  ]);
});

verifies('REC-18', 'errors of a tool and -3260x answers do not count', async () => {
  const { breakers } = setUp();
  const answers: RequestOutcome[] = [
    { kind: 'result', result: { content: [], isError: true } },
    ...[-32600, -32601, -32602, -32603, -32700].map((code) => ({ kind: 'error', code, message: 'no' }) as const),
  ];
  for (const answer of [...answers, ...answers]) {
    const outcome = await guard(breakers)(invoke(sessionsOf(answer), unchecked))(callOf(tool));
    expect(outcome.isError).toBe(true);
  }
});

verifies('REC-18', 'an outage counts once per call', async () => {
  const server = createTappedServer({ read: { run: () => 'done' } });
  const { runtime, clock } = await start({ files: server.entry });
  const turn = runtime.turn();
  server.fails = true;
  await server.crash();
  await clock.advance(0);
  const ends: unknown[] = [];
  for (let call = 0; call < 4; call++) {
    const ending = endOf(turn.call('mcp__files__read'));
    await clock.advance(5_000);
    ends.push(await ending);
  }
  expect(ends).toEqual(['CONNECTION_LOST', 'CONNECTION_LOST', 'CONNECTION_LOST', 'CIRCUIT_OPEN']);
});

verifies('REC-18', 'one death that ends many calls counts once', async () => {
  const { breakers, call } = setUp();
  const end = createDeferred<ToolOutcome>();
  const together = Array.from({ length: 10 }, () => call(() => end.promise));
  end.reject(new RuntimeError('OUTCOME_UNKNOWN', { server: 'files', tool: 'read', reason: 'it died' }));
  await Promise.all(together);
  expect(breakers.statusOf('files')).toEqual({ state: 'counting', failures: 1 });
  await call(outage);
  expect(breakers.statusOf('files'), 'the next one is another').toEqual({ state: 'counting', failures: 2 });
});

verifies(
  'REC-19',
  'how it stands is told: what counts against a server, for how long it is left alone, and its half-open call',
  async () => {
    const { clock, breakers, call } = setUp();
    expect(breakers.statusOf('files')).toBeUndefined();
    await call(outage);
    await call(outage);
    expect(breakers.statusOf('files')).toEqual({ state: 'counting', failures: 2 });
    await call(outage);
    await clock.advance(1_000);
    expect(breakers.statusOf('files')).toEqual({ state: 'open', retryInMs: limits.breaker.openMs - 1_000 });
    await clock.advance(limits.breaker.openMs);
    expect(breakers.statusOf('files')).toEqual({ state: 'open', retryInMs: 0 });
    const halfOpen = createDeferred<ToolOutcome>();
    const trying = call(() => halfOpen.promise);
    expect(breakers.statusOf('files')).toEqual({ state: 'half-open' });
    halfOpen.resolve(outcomeOf(tool));
    await trying;
    expect(breakers.statusOf('files')).toBeUndefined();
  },
);

verifies('REC-20', 'after five minutes one half-open call passes, and no other while it runs', async () => {
  const { clock, call, reached } = await opened();
  await clock.advance(limits.breaker.openMs - 1);
  expect(await call(success)).toBe('CIRCUIT_OPEN');
  await clock.advance(1);
  const halfOpen = createDeferred<ToolOutcome>();
  const first = call(() => halfOpen.promise);
  expect(await call(success)).toBe('CIRCUIT_OPEN');
  halfOpen.resolve(outcomeOf(tool, 'done'));
  expect([await first, await call(success), await call(success)]).toEqual([done, done, done]);
  expect(reached()).toBe(3 + 3);
});

verifies('REC-20', 'a half-open call that fails opens the breaker for another five minutes', async () => {
  const { clock, call } = await opened();
  await clock.advance(limits.breaker.openMs);
  expect([await call(outage), await call(success)]).toEqual(['CONNECTION_LOST', 'CIRCUIT_OPEN']);
  await clock.advance(limits.breaker.openMs - 1);
  expect(await call(success)).toBe('CIRCUIT_OPEN');
  await clock.advance(1);
  expect(await call(success)).toEqual(done);
});

verifies(
  'REC-20',
  'a half-open call that was aborted proves nothing: no more than one call is let through after it',
  async () => {
    const { clock, call, reached } = await opened();
    await clock.advance(limits.breaker.openMs);
    await call(abort);
    const before = reached();
    const hanging: Deferred<ToolOutcome>[] = [];
    const hang = () => {
      const run = createDeferred<ToolOutcome>();
      hanging.push(run);
      return run.promise;
    };
    const calls = [call(hang), call(hang)];
    await clock.advance(0);
    expect(reached() - before).toBeLessThanOrEqual(1);
    for (const run of hanging) run.resolve(outcomeOf(tool));
    await Promise.all(calls);
  },
);

verifies('REC-18', 'an abort is no answer: it does not wipe out the failures before it', async () => {
  const { call } = setUp();
  await call(outage);
  await call(outage);
  await call(abort);
  await call(outage);
  expect(await call(success)).toBe('CIRCUIT_OPEN');
});

const limited = { toolTimeoutMs: 1_000 };

async function timeOut(parts: Awaited<ReturnType<typeof start>>, times: number): Promise<unknown[]> {
  const turn = parts.runtime.turn();
  const ends: unknown[] = [];
  for (let call = 0; call < times; call++) {
    const calling = endOf(turn.call('mcp__files__hang'));
    await parts.clock.advance(1_000);
    ends.push(await calling);
  }
  return ends;
}

const hanging = () =>
  createTappedServer({ hang: { run: () => new Promise(() => undefined) }, read: { run: () => 'done' } });

verifies('REC-20', 'a reconnect by hand closes the breaker', async () => {
  const server = hanging();
  const journey = await start({ files: { ...server.entry, ...limited } });
  expect(await timeOut(journey, 4)).toEqual(['CALL_TIMEOUT', 'CALL_TIMEOUT', 'CALL_TIMEOUT', 'CIRCUIT_OPEN']);
  const { runtime } = journey;
  expect(await endOf(runtime.turn().call('mcp__files__read'))).toBe('CIRCUIT_OPEN');
  runtime.reconnect('files');
  expect(await endOf(runtime.turn().call('mcp__files__read'))).toMatchObject({ isError: false });
});

verifies('REC-20', 'a reconnect that succeeds by itself closes the breaker', async () => {
  const server = createTappedServer({ read: { run: () => 'done' } });
  const reconnect = { delaysMs: [500, 1_000, 2_000, 4_000], jitter: 0 };
  const { runtime, clock } = await start({ files: { ...server.entry, reconnect } });
  const turn = runtime.turn();
  server.fails = true;
  await server.crash();
  await clock.advance(0);
  for (const wait of [0, 1_000, 2_000]) {
    const failing = endOf(turn.call('mcp__files__read'));
    await clock.advance(wait);
    expect(await failing).toBe('CONNECTION_LOST');
  }
  expect(await endOf(turn.call('mcp__files__read'))).toBe('CIRCUIT_OPEN');
  server.fails = false;
  await clock.advance(10_000);
  expect(runtime.status()[0]?.status).toBe('connected');
  expect(await endOf(turn.call('mcp__files__read'))).toMatchObject({ isError: false });
});

verifies('REC-19', 'a server that dies of every call is left alone after three of them', async () => {
  const server = createTappedServer({
    die: {
      run: async () => {
        await server.crash();
        return 'never heard';
      },
    },
  });
  const { runtime, clock } = await start({ files: server.entry });
  const turn = runtime.turn();
  const ends: unknown[] = [];
  for (let call = 0; call < 4; call++) {
    ends.push(await endOf(turn.call('mcp__files__die')));
    await clock.advance(0);
  }
  expect(ends).toEqual(['OUTCOME_UNKNOWN', 'OUTCOME_UNKNOWN', 'OUTCOME_UNKNOWN', 'CIRCUIT_OPEN']);
  expect(server.calls).toHaveLength(3);
});

test('a server that never failed costs the breakers nothing', async () => {
  const { breakers, call } = setUp();
  await call(success);
  breakers.leave('files', 'answered', breakers.enter('files'));
  breakers.reset('files');
  expect(await call(success)).toEqual(done);
});

test('a caller in a hurry says nothing about the server', async () => {
  const { call } = setUp();
  const hurry = () =>
    Promise.reject(new RuntimeError('CALL_TIMEOUT', { ...tool.id, afterMs: 5, silence: false, isOwn: true }));
  for (let times = 0; times < 10; times++) expect(await call(hurry)).toBe('CALL_TIMEOUT');
  expect(await call(success)).toEqual(done);
});
