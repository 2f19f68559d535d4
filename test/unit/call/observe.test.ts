// Owns the proof that the outside hears of every call twice, a beginning and an end, and can disturb none.

import { expect } from 'vitest';
import type { RuntimeEvent } from '../../../src/events.ts';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import { verifies } from '../../verifies.ts';
import { createTappedServer, heardOfCalls, type Journey, start } from './journey.ts';
import { endOf } from './stages.ts';

const tools = () =>
  createTappedServer({
    read: { run: () => 'done' },
    fail: {
      run: () => {
        throw new Error('it does not work');
      },
    },
    strict: { inputSchema: { type: 'object', required: ['path'] }, run: () => 'done' },
    garbage: { run: () => ({ content: 'none' }) },
    hang: { run: () => new Promise(() => undefined) },
    denied: { run: () => 'done' },
    asked: { run: () => 'done' },
  });

const permissions = [
  { tool: 'mcp__files__denied', action: 'deny' },
  { tool: 'mcp__files__asked', action: 'ask' },
  { tool: 'mcp__*', action: 'allow' },
] as const;

const about = (tool: string) => ({ name: `mcp__files__${tool}`, tool: { server: 'files', tool } });
const begin = (tool: string) => ({ call: 1, type: 'call.started', ...about(tool) });
const finish = (tool: string, end: unknown, tookMs = 0) => ({
  call: 1,
  type: 'call.finished',
  ...about(tool),
  tookMs,
  end,
});
const failed = (code: string, remedy: string) => ({ kind: 'failed', code, message: expect.any(String), remedy });
const answered = (isError: boolean, text: string) => ({
  kind: 'answered',
  isError,
  result: expect.stringContaining(text),
});

type Case = readonly [run: (journey: Journey) => Promise<unknown>, heard: unknown[]];

const call =
  (tool: string) =>
  ({ runtime }: Journey) =>
    endOf(runtime.turn().call(`mcp__files__${tool}`));

const cases: Record<string, Case> = {
  'an answer': [call('read'), [begin('read'), finish('read', answered(false, '\ndone\n'))]],
  'an error of the tool': [call('fail'), [begin('fail'), finish('fail', answered(true, 'it does not work'))]],
  'an unknown tool': [
    call('nope'),
    [
      { call: 1, type: 'call.started', name: 'mcp__files__nope' },
      {
        call: 1,
        type: 'call.finished',
        name: 'mcp__files__nope',
        tookMs: 0,
        end: failed('TOOL_UNKNOWN', 'fix-call'),
      },
    ],
  ],
  'bad arguments': [call('strict'), [begin('strict'), finish('strict', failed('ARGUMENTS_BAD', 'fix-call'))]],
  'a broken answer': [call('garbage'), [begin('garbage'), finish('garbage', failed('RESULT_BROKEN', 'check-first'))]],
  'a denial': [call('denied'), [begin('denied'), finish('denied', failed('CALL_DENIED', 'ask-user'))]],
  'a refusal': [
    call('asked'),
    [
      begin('asked'),
      { call: 1, type: 'approval.requested', tool: about('asked').tool, because: expect.any(String) },
      { call: 1, type: 'approval.settled', tool: about('asked').tool, answer: 'no' },
      finish('asked', failed('APPROVAL_REFUSED', 'ask-user')),
    ],
  ],
  'a timeout': [
    async (journey) => {
      const calling = call('hang')(journey);
      await journey.clock.advance(5_000);
      await calling;
    },
    [begin('hang'), finish('hang', failed('CALL_TIMEOUT', 'check-first'), 5_000)],
  ],
  'an abort': [
    async ({ runtime, clock }) => {
      const controller = new AbortController();
      const calling = endOf(runtime.turn().call('mcp__files__hang', {}, { signal: controller.signal }));
      await clock.advance(70);
      controller.abort();
      await calling;
    },
    [begin('hang'), finish('hang', { kind: 'cancelled', wasSent: true }, 70)],
  ],
  'a lost connection': [
    async ({ runtime, clock }) => {
      const calling = endOf(runtime.turn().call('mcp__files__hang'));
      await clock.advance(0);
      await runtime.disconnect('files');
      await calling;
    },
    [begin('hang'), finish('hang', failed('OUTCOME_UNKNOWN', 'check-first'))],
  ],
};

for (const [what, [run, heard]] of Object.entries(cases)) {
  verifies(['EVT-01', 'EVT-02'], `${what} is heard as one beginning and one end, with the same id`, async () => {
    const journey = await start({ files: { ...tools().entry, toolTimeoutMs: 5_000 } }, { permissions });
    await run(journey);
    expect(heardOfCalls(journey.events)).toEqual(heard);
  });
}

verifies(['EVT-01', 'EVT-02'], 'a call that was aborted before it began is not heard of', async () => {
  const { runtime, events } = await start({ files: tools().entry });
  const signal = AbortSignal.abort();
  expect(await endOf(runtime.turn().call('mcp__files__read', {}, { signal }))).toBe(signal.reason.code);
  expect(heardOfCalls(events)).toEqual([]);
});

verifies(['EVT-01', 'EVT-02'], 'calls that run beside each other each have an id of their own', async () => {
  const gates = [createDeferred<string>(), createDeferred<string>()];
  let next = 0;
  const server = createTappedServer({ read: { run: () => gates[next++]?.promise ?? 'none' } });
  const { runtime, events, clock } = await start({ files: server.entry });
  const turn = runtime.turn();
  const calling = [turn.call('mcp__files__read'), turn.call('mcp__files__read')];
  await clock.advance(0);
  gates[1]?.resolve('second');
  await calling[1];
  gates[0]?.resolve('first');
  await calling[0];
  expect(heardOfCalls(events)).toEqual([
    begin('read'),
    { ...begin('read'), call: 2 },
    { ...finish('read', answered(false, 'second')), call: 2 },
    finish('read', answered(false, 'first')),
  ]);
});

verifies(
  'EVT-02',
  'the result in an event is what the model reads, at most 1 MiB of it, and no half characters',
  async () => {
    for (const unit of ['x', 'é', '語', '🎈']) {
      const server = createTappedServer({ read: { run: () => unit.repeat(1_200_000 / unit.length) } });
      const { runtime, events } = await start({
        files: { ...server.entry, maxResultChars: 5_000_000, maxResultTokens: 5_000_000 },
      });
      const { text } = await runtime.turn().call('mcp__files__read');
      const end = events.find((event) => event.type === 'call.finished')?.end;
      const result = end?.kind === 'answered' ? end.result : '';
      expect(text.startsWith(result)).toBe(true);
      expect(Buffer.byteLength(result), unit).toBeLessThanOrEqual(1024 * 1024);
      expect(Buffer.byteLength(result), unit).toBeGreaterThan(256 * 1024);
      expect(/\p{Surrogate}/u.test(result)).toBe(false);
    }
  },
);

verifies('EVT-02', 'a listener that throws or rejects is never felt, and is reported', async () => {
  const thrown = new Error('the listener broke');
  const heard: RuntimeEvent[] = [];
  const { runtime, errors } = await start({ files: tools().entry });
  runtime.on(() => {
    throw thrown;
  });
  runtime.on(async () => {
    throw thrown;
  });
  runtime.on((event) => heard.push(event));
  expect(await runtime.turn().call('mcp__files__read')).toMatchObject({ isError: false });
  expect(heardOfCalls(heard)).toEqual([begin('read'), finish('read', answered(false, 'done'))]);
  expect(errors).toEqual([thrown, thrown, thrown, thrown]);
});

verifies('EVT-02', 'who has unsubscribed hears nothing more', async () => {
  const heard: RuntimeEvent[] = [];
  const { runtime } = await start({ files: tools().entry });
  const leave = runtime.on((event) => heard.push(event));
  leave();
  await runtime.turn().call('mcp__files__read');
  expect(heard).toEqual([]);
});

const progressed = (events: readonly RuntimeEvent[]) =>
  events.flatMap((event) => {
    if (event.type !== 'call.progressed') return [];
    const { type: _, callId: __, name: ___, tool: ____, ...rest } = event;
    return [rest];
  });

verifies('CAL-07', 'a call that runs in silence is heard of every 30 s, and no timer is left after it', async () => {
  const gate = createDeferred<string>();
  const server = createTappedServer({ slow: { run: () => gate.promise } });
  const { runtime, clock, events } = await start({ files: { ...server.entry, toolTimeoutMs: 0 } });
  const heard: unknown[] = [];
  const calling = runtime.turn().call('mcp__files__slow', {}, { onProgress: (progress) => heard.push(progress) });
  await clock.advance(29_999);
  expect(progressed(events)).toEqual([]);
  await clock.advance(60_001);
  expect(progressed(events)).toEqual([30_000, 60_000, 90_000].map((elapsedMs) => ({ progress: 0, elapsedMs })));
  gate.resolve('done');
  await calling;
  await clock.advance(1_000_000);
  expect([progressed(events).length, clock.pending(), heard]).toEqual([3, 0, []]);
});

verifies(
  'CAL-07',
  'progress is told at once with how long the call has run, and the next word comes 30 s later at the latest',
  async () => {
    const gate = createDeferred<string>();
    const server = createTappedServer({ slow: { run: () => gate.promise } });
    const { runtime, clock, events } = await start({ files: { ...server.entry, toolTimeoutMs: 0 } });
    const calling = runtime.turn().call('mcp__files__slow');
    await clock.advance(20_000);
    const progressToken = server.receivedLast('tools/call')['id'];
    const params = { progressToken, progress: 4, total: 9, message: 'four' };
    await server.say({ jsonrpc: '2.0', method: 'notifications/progress', params });
    await clock.advance(29_999);
    const latest = { progress: 4, total: 9, message: 'four' };
    expect(progressed(events)).toEqual([{ ...latest, elapsedMs: 20_000 }]);
    await clock.advance(1);
    expect(progressed(events)).toEqual([
      { ...latest, elapsedMs: 20_000 },
      { ...latest, elapsedMs: 50_000 },
    ]);
    gate.resolve('done');
    await calling;
  },
);

verifies('CAL-07', 'many calls share one timer, and each is heard of in its own time', async () => {
  const gate = createDeferred<string>();
  const server = createTappedServer({ slow: { run: () => gate.promise } });
  const { runtime, clock, events } = await start({ files: { ...server.entry, toolTimeoutMs: 0 } });
  const turn = runtime.turn();
  const calls: Promise<unknown>[] = [];
  for (let at = 0; at < 5; at++) {
    calls.push(turn.call('mcp__files__slow'));
    await clock.advance(10_000);
  }
  expect(clock.pending()).toBe(1);
  await clock.advance(70_000);
  const times = events.flatMap((event) => (event.type === 'call.progressed' ? [event.elapsedMs] : []));
  expect(times.filter((ms) => ms % 30_000 !== 0)).toEqual([]);
  expect(times).toHaveLength(4 + 3 + 3 + 3 + 2);
  gate.resolve('done');
  await Promise.all(calls);
  expect(clock.pending()).toBe(0);
});
