// Owns the proof of what a host may say about one call, and of what it hears of it: its id, its fields for the server, whether a
// person would be asked, whether a cancelled call was sent.

import { expect, test } from 'vitest';
import { failureAsOutcome, isFailure, type RuntimeError } from '../../../src/index.ts';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import type { Approve } from '../../../src/trust/approval.ts';
import { verifies } from '../../verifies.ts';
import { createTappedServer, start } from './journey.ts';

const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

const ask = { permissions: [{ tool: 'mcp__files__*', action: 'ask' as const }] };

verifies(
  ['EVT-01', 'EVT-02'],
  'the host’s own id stands in every event, in the approval and in the outcome of its call',
  async () => {
    const server = createTappedServer({ read: { run: () => 'done' } });
    const asked: unknown[] = [];
    const approve: Approve = async (request) => {
      if (request.kind === 'tool') asked.push(request.callId);
      return 'once';
    };
    const { runtime, events } = await start({ files: server.entry }, { ...ask, approve });
    const { meta } = await runtime.turn().call('mcp__files__read', {}, { callId: 'toolu_1' });
    const ids = events.flatMap((event) => ('callId' in event ? [[event.type, event.callId]] : []));
    expect([meta.callId, asked]).toEqual(['toolu_1', ['toolu_1']]);
    expect(ids).toEqual([
      ['call.started', 'toolu_1'],
      ['approval.requested', 'toolu_1'],
      ['approval.settled', 'toolu_1'],
      ['call.finished', 'toolu_1'],
    ]);
  },
);

verifies(
  'EVT-02',
  'an id that is in flight is refused without a word or an event, and free again afterwards',
  async () => {
    const gate = createDeferred<string>();
    const server = createTappedServer({ slow: { run: () => gate.promise } });
    const { runtime, clock, events } = await start({ files: server.entry });
    const call = () => runtime.turn().call('mcp__files__slow', {}, { callId: 'one' });
    const first = call();
    await clock.advance(0);
    const second = await failureOf(runtime.view().turn().call('mcp__files__slow', {}, { callId: 'one' }));
    expect(isFailure(second, 'CALL_ID_TAKEN') && second.data.callId).toBe('one');
    expect([server.calls.length, events.filter(({ type }) => type === 'call.started').length]).toEqual([1, 1]);
    gate.resolve('done');
    await first;
    expect((await call()).isError).toBe(false);
  },
);

verifies(
  'EXT-30',
  'the host’s own fields reach the server as _meta, copied, beside what the protocol needs',
  async () => {
    for (const era of ['legacy', 'modern'] as const) {
      const server = createTappedServer({ read: { run: () => 'done' } }, era);
      const { runtime } = await start({ files: server.entry });
      const meta = { traceparent: '00-1', deep: { tenant: 'a' }, progressToken: 'mine' };
      const calling = runtime.turn().call('mcp__files__read', {}, { meta });
      meta.deep.tenant = 'changed while the call was on its way';
      await calling;
      const { id, params } = server.receivedLast('tools/call');
      expect(params).toMatchObject({ _meta: { traceparent: '00-1', deep: { tenant: 'a' }, progressToken: id } });
    }
  },
);

test('fields that are no JSON are refused before anything is sent', async () => {
  const server = createTappedServer({ read: { run: () => 'done' } });
  const { runtime } = await start({ files: server.entry });
  for (const meta of [{ big: 1n }, ['a'] as never]) {
    const failure = (await failureOf(runtime.turn().call('mcp__files__read', {}, { meta }))) as RuntimeError;
    expect([failure.code, failure.message]).toEqual(['ARGUMENTS_BAD', expect.stringContaining('of the option "meta"')]);
  }
  expect(server.calls).toEqual([]);
});

test('an interface without an index signature is taken as arguments', async () => {
  interface Query {
    readonly path: string;
    readonly tags: readonly string[];
  }
  const query: Query = { path: 'a', tags: ['x'] };
  const server = createTappedServer({ read: { run: ({ path }) => String(path) } });
  const { runtime } = await start({ files: server.entry });
  await runtime.turn().call('mcp__files__read', query);
  expect(server.calls).toEqual([{ tool: 'read', arguments: { path: 'a', tags: ['x'] } }]);
});

verifies(
  'PER-08',
  'a prompt is told when its answer is no longer wanted: cancelled, or the runtime closes',
  async () => {
    const server = createTappedServer({ read: { run: () => 'done' } });
    for (const end of ['cancelled', 'closed', 'too late'] as const) {
      const signals: AbortSignal[] = [];
      const approve: Approve = (_request, { signal }) => {
        signals.push(signal);
        return new Promise(() => undefined);
      };
      const { runtime, clock, events } = await start({ files: server.entry }, { ...ask, approve });
      const controller = new AbortController();
      const calling = failureOf(runtime.turn().call('mcp__files__read', {}, { signal: controller.signal }));
      await clock.advance(0);
      expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
      if (end === 'cancelled') controller.abort();
      if (end === 'closed') await runtime.close();
      if (end === 'too late') await clock.advance(24 * 60 * 60_000);
      const failure = await calling;
      expect(
        signals.map(({ aborted }) => aborted),
        end,
      ).toEqual([true]);
      expect(server.calls, end).toEqual([]);
      const told = failureAsOutcome(failure, { signal: controller.signal }).text;
      if (end !== 'too late') expect(told, end).toContain('was cancelled; nothing was sent');
      if (end === 'cancelled') expect(events.at(-1)).toMatchObject({ end: { kind: 'cancelled', wasSent: false } });
    }
  },
);

verifies('CAL-10', 'a cancelled call that may have reached its server does not say that nothing was sent', async () => {
  const server = createTappedServer({ slow: { run: () => new Promise(() => undefined) } });
  const { runtime, clock, events } = await start({ files: server.entry });
  const controller = new AbortController();
  const calling = failureOf(runtime.turn().call('mcp__files__slow', {}, { signal: controller.signal }));
  await clock.advance(0);
  controller.abort();
  expect(failureAsOutcome(await calling).text).toContain('whether it took effect is unknown');
  expect(events.at(-1)).toMatchObject({ end: { kind: 'cancelled', wasSent: true } });
});

verifies('EVT-02', 'an id that the runtime makes is never one that a host would give', async () => {
  const gate = createDeferred<string>();
  const server = createTappedServer({ slow: { run: () => gate.promise } });
  const { runtime } = await start({ files: server.entry });
  const call = (callId?: string) => runtime.turn().call('mcp__files__slow', {}, callId === undefined ? {} : { callId });
  const own = Array.from({ length: 200 }, (_, at) => call(`call-${at}`));
  const others = [call(), call()];
  gate.resolve('done');
  expect((await Promise.all([...own, ...others])).every(({ isError }) => !isError)).toBe(true);
});

verifies('CAL-10', 'a call after close() says that the runtime is closed', async () => {
  const server = createTappedServer({ read: { run: () => 'done' } });
  const { runtime } = await start({ files: server.entry });
  const turn = runtime.turn();
  await runtime.close();
  const failure = await failureOf(turn.call('mcp__files__read'));
  expect(failure).toMatchObject({ code: 'RUNTIME_CLOSED', data: { server: 'files', tool: 'read' } });
});

verifies(
  'PER-08',
  'a host can ask whether a call would be asked about, with these arguments, without asking',
  async () => {
    const server = createTappedServer({ read: { run: () => 'done' }, write: { run: () => 'done' } });
    let questions = 0;
    const approve: Approve = async () => {
      questions += 1;
      return 'session';
    };
    const permissions = [
      { tool: 'mcp__files__read', action: 'allow' as const },
      { tool: 'mcp__files__write', action: 'deny' as const, args: { path: { is: 'b' } } },
    ];
    const { runtime } = await start({ files: server.entry }, { permissions, approve });
    const turn = runtime.turn();
    const read = turn.requiresApproval('mcp__files__read');
    const write = turn.requiresApproval('mcp__files__write', { path: 'a' });
    const denied = turn.requiresApproval('mcp__files__write', { path: 'b' });
    expect(await Promise.all([read, write, denied, turn.requiresApproval('nobody')])).toEqual([
      false,
      true,
      false,
      false,
    ]);
    expect(questions).toBe(0);
    // A model's output is not typed.
    for (const odd of [undefined, null, 5, {}]) expect(await turn.requiresApproval(odd as never)).toBe(false);
    await turn.call('mcp__files__write', { path: 'a' });
    expect([questions, await turn.requiresApproval('mcp__files__write', { path: 'a' })]).toEqual([1, false]);
  },
);

verifies('EVT-07', 'stats count calls, and those that failed', async () => {
  const server = createTappedServer({
    read: { run: () => 'done' },
    bad: { run: () => ({ content: [], isError: true }) },
  });
  const { runtime } = await start({ files: server.entry, more: createTappedServer({ read: { run: () => '' } }).entry });
  await runtime.turn().call('mcp__files__read');
  await runtime.turn().call('mcp__files__bad');
  await failureOf(runtime.turn().call('mcp__files__none'));
  expect(runtime.getStats()).toMatchObject({ calls: 3, failedCalls: 2, tools: 3, uniqueTools: 2 });
});
