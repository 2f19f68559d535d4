// Owns the proof of what becomes of a call whose server is lost under it: sent again only where that can do no harm.

import { describe, expect, test } from 'vitest';
import { invoke } from '../../../src/call/invoke.ts';
import type { ToolCall } from '../../../src/call/pipeline.ts';
import type { RequestOutcome } from '../../../src/connection/session.ts';
import type { CallOptions } from '../../../src/connection/tool-call.ts';
import { Cancellation } from '../../../src/kernel/cancellation.ts';
import { type FailureCode, RuntimeError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import type { ToolAnnotations } from '../../../src/model/tool.ts';
import type { SessionProvider } from '../../../src/servers/sessions.ts';
import { verifies } from '../../verifies.ts';
import { createFakeSession, outage } from '../session.ts';
import { createTappedServer, start } from './journey.ts';
import { callOf, endOf, toolOf, unchecked } from './stages.ts';

const tool = toolOf('files', 'read');
const done: RequestOutcome = { kind: 'result', result: { content: [{ type: 'text', text: 'done' }] } };
const login = new RuntimeError('AUTH_REQUIRED', { server: 'files' });
const lost = (sent: boolean, cause?: unknown): RequestOutcome => ({
  kind: 'lost',
  sent,
  ...(cause !== undefined && { cause }),
});

/** Two sessions, the second of which replaces the first. */
function setUp(first: RequestOutcome, second: RequestOutcome, change: Partial<SessionProvider> = {}) {
  const former = createFakeSession({ callTool: async () => first });
  const next = createFakeSession({ callTool: async () => second });
  const replaced: unknown[] = [];
  const sessions: SessionProvider = {
    open: () => former,
    whenReady: async () => former,
    whenReplaced: async (_, session) => {
      replaced.push(session);
      return next;
    },
    whenListed: async () => undefined,
    waitFailure: (server, afterMs) =>
      new RuntimeError('STARTUP_TIMEOUT', { server, afterMs, reason: 'a call waited for it' }),
    isRepeatable: () => false,
    metaFor: () => undefined,
    maxMessageBytes: () => 1_024,
    callLimits: () => ({ totalMs: 0, silenceMs: 0 }),
    ...change,
  };
  const sends = () => [former.asked.length, next.asked.length];
  return { call: (parts = {}) => invoke(sessions, unchecked)(callOf(tool, parts)), former, replaced, sends };
}

const repeated: Record<string, [first: RequestOutcome, isRepeatable: boolean]> = {
  'was certainly not sent': [lost(false), false],
  'was certainly not sent, because the connection was lost': [lost(false, outage), false],
  'was sent and may be done twice': [lost(true), true],
  'was sent, may be done twice, and was lost on its way': [lost(true, outage), true],
};

for (const [what, [first, isRepeatable]] of Object.entries(repeated)) {
  verifies(
    ['REC-12', 'CAL-13'],
    `a call that ${what} is sent once more, to the next session, and says so`,
    async () => {
      const { call, former, replaced, sends } = setUp(first, done, { isRepeatable: () => isRepeatable });
      expect((await call()).meta).toEqual({
        callId: '',
        server: 'files',
        tool: 'read',
        durationMs: 0,
        attempts: 2,
        fromCache: false,
      });
      expect([replaced, sends()]).toEqual([[former], [1, 1]]);
    },
  );
}

const single: Record<string, [first: RequestOutcome, isRepeatable: boolean, code: FailureCode]> = {
  'was sent and might be done twice': [lost(true), false, 'OUTCOME_UNKNOWN'],
  'was sent over a connection that broke': [lost(true, outage), false, 'OUTCOME_UNKNOWN'],
  'was refused for want of a login': [lost(false, login), false, 'AUTH_REQUIRED'],
  'was refused, although it may be repeated': [lost(false, login), true, 'AUTH_REQUIRED'],
  'was seen, and only then refused': [lost(true, login), false, 'OUTCOME_UNKNOWN'],
  'was answered with a no': [{ kind: 'lost', sent: false, cause: outage, status: 429 }, true, 'CONNECTION_LOST'],
  'cannot be written as JSON': [lost(false, new TypeError('circular')), true, 'ARGUMENTS_BAD'],
  'got an answer over the limit': [{ kind: 'oversized' }, true, 'MESSAGE_TOO_LARGE'],
};

for (const [what, [first, isRepeatable, code]] of Object.entries(single)) {
  verifies(['REC-12', 'EXT-06'], `a call that ${what} is never sent again`, async () => {
    const { call, replaced, sends } = setUp(first, done, { isRepeatable: () => isRepeatable });
    const failure: unknown = await call().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code });
    if (code === 'AUTH_REQUIRED') expect(failure, 'as it came').toBe(login);
    expect([replaced, sends()]).toEqual([[], [1, 0]]);
  });
}

test('why the outcome is unknown is told in the words of whoever knows best', async () => {
  const { call: broken } = setUp(lost(true, outage), done);
  await expect(broken()).rejects.toMatchObject({ data: { server: 'files', tool: 'read', reason: 'gone' } });
  const { call: silent } = setUp(lost(true), done);
  await expect(silent()).rejects.toMatchObject({ data: { reason: 'it said nothing' } });
});

verifies('REC-12', 'the second time is the last, however it ends', async () => {
  const endings: [RequestOutcome, boolean, FailureCode][] = [
    [lost(false), false, 'CONNECTION_LOST'],
    [lost(true), false, 'OUTCOME_UNKNOWN'],
    [lost(true), true, 'OUTCOME_UNKNOWN'],
  ];
  for (const [second, isRepeatable, code] of endings) {
    const { call, sends } = setUp(lost(false), second, { isRepeatable: () => isRepeatable });
    expect([await endOf(call()), sends()]).toEqual([code, [1, 1]]);
  }
});

verifies('EXT-06', 'what was sent once may have been done, whatever became of the second attempt', async () => {
  const isRepeatable = () => true;
  const denied = new RuntimeError('CALL_DENIED', { server: 'files', tool: 'read', because: 'a rule came' });
  const ends = [
    setUp(lost(true), lost(false), { isRepeatable }),
    setUp(lost(true), lost(false, login), { isRepeatable }),
    setUp(lost(true), done, { isRepeatable, whenReplaced: () => Promise.reject(outage) }),
    setUp(lost(true), done, { isRepeatable, whenReplaced: () => Promise.reject(denied) }),
  ].map(({ call }) => endOf(call()));
  expect(await Promise.all(ends)).toEqual(Array.from({ length: 4 }, () => 'OUTCOME_UNKNOWN'));
});

verifies('CAL-13', 'what the session itself sent again counts as well', async () => {
  const session = createFakeSession({
    callTool: async (_tool, _args, options) => {
      options.onRepeat?.();
      options.onRepeat?.();
      return done;
    },
  });
  const { call } = setUp(lost(false), done, { whenReplaced: async () => session });
  expect((await call()).meta.attempts).toBe(4);
});

test('where no other session comes, that is the answer', async () => {
  const { call, sends } = setUp(lost(false), done, { whenReplaced: () => Promise.reject(outage) });
  await expect(call()).rejects.toBe(outage);
  expect(sends()).toEqual([1, 0]);
});

test('an abort is heard while the next session is waited for', async () => {
  const cancellation = new Cancellation();
  const { call } = setUp(lost(false), done, { whenReplaced: () => new Promise(() => undefined) });
  const calling = call({ cancellation });
  setImmediate(() => cancellation.cancel('enough'));
  await expect(calling).rejects.toBe('enough');
});

test('a session is told whether it may repeat the call, and what its server asked to be told', async () => {
  const seen: CallOptions[] = [];
  const session = createFakeSession({
    callTool: async (_, __, options) => {
      seen.push(options);
      return done;
    },
  });
  for (const isRepeatable of [true, false]) {
    const { call } = setUp(done, done, {
      open: () => session,
      isRepeatable: () => isRepeatable,
      metaFor: () => ({ 'x/state': 1 }),
    });
    await call();
  }
  expect(seen.map(({ repeatable, meta, headers }) => ({ repeatable, meta, headers }))).toEqual([
    { repeatable: true, meta: { 'x/state': 1 }, headers: undefined },
    { repeatable: false, meta: { 'x/state': 1 }, headers: undefined },
  ]);
});

test('arguments go along as headers only where the modern era is spoken over HTTP', async () => {
  const inputSchema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
  const mirrored = toolOf('files', 'read', { inputSchema });
  const headersOn = async (era: 'legacy' | 'modern', transport: 'http' | 'stdio') => {
    let headers: unknown;
    const session = createFakeSession({
      era,
      transport,
      callTool: async (_, __, options) => {
        headers = options.headers;
        return done;
      },
    });
    const { call } = setUp(done, done, { open: () => session });
    await call({ tool: mirrored, arguments: { region: 'eu' } });
    return headers;
  };
  expect([
    await headersOn('modern', 'http'),
    await headersOn('modern', 'stdio'),
    await headersOn('legacy', 'http'),
  ]).toEqual([{ 'Mcp-Param-Region': 'eu' }, undefined, undefined]);
});

/** Its tool takes the server down the first time it is called, and answers the second time. */
function frail(annotations: ToolAnnotations) {
  let calls = 0;
  const server = createTappedServer({
    read: {
      annotations,
      run: async () => {
        calls += 1;
        if (calls === 1) await server.crash();
        return 'done';
      },
    },
  });
  return server;
}

const hints: Record<string, [annotations: ToolAnnotations, trustHints: boolean, isRepeated: boolean]> = {
  'a read is repeated where its hints are trusted': [{ readOnlyHint: true }, true, true],
  'so is what may be done twice': [{ idempotentHint: true }, true, true],
  'nobody else’s word counts': [{ readOnlyHint: true, idempotentHint: true }, false, false],
  'a tool that says nothing may write': [{}, true, false],
  'a tool that says it writes does': [{ readOnlyHint: false, idempotentHint: false }, true, false],
};

for (const [sentence, [annotations, trustHints, isRepeated]] of Object.entries(hints)) {
  verifies('REC-12', `of calls whose server died of them: ${sentence}`, async () => {
    const server = frail(annotations);
    const { runtime } = await start({ files: { ...server.entry, trustHints } });
    const end = await endOf(runtime.turn().call('mcp__files__read'));
    if (isRepeated) expect(end).toMatchObject({ isError: false, meta: { attempts: 2 } });
    else expect(end).toBe('OUTCOME_UNKNOWN');
    expect(server.calls).toHaveLength(isRepeated ? 2 : 1);
  });
}

verifies('REC-12', 'hints that are remembered, or from before the server was lost, are trusted in nobody', async () => {
  const server = frail({ readOnlyHint: true });
  const { runtime, clock } = await start({ files: { ...server.entry, trustHints: true } });
  await server.crash();
  await clock.advance(0);
  const stale = runtime.turn();
  expect(stale.tools.map(({ freshness }) => freshness)).toEqual(['stale']);
  expect([await endOf(stale.call('mcp__files__read')), server.calls.length]).toEqual(['OUTCOME_UNKNOWN', 1]);
});

verifies('REC-12', 'a call to a server that just went away reaches the next one, unseen by the caller', async () => {
  const server = createTappedServer({ read: { run: () => 'done' } });
  const { runtime } = await start({ files: server.entry });
  const turn = runtime.turn();
  await server.crash();
  expect(await turn.call('mcp__files__read')).toMatchObject({ isError: false });
  expect([server.starts(), server.calls.length]).toEqual([2, 1]);
});

describe('a call that was refused with 429', () => {
  const { maxMs } = limits.rateLimit;
  /** Whether the call may wait so long, each time it is asked. */
  const mayWait = async (waits: readonly number[], parts: Partial<ToolCall> = {}, isRepeatable = false) => {
    const answers: (boolean | undefined)[] = [];
    const session = createFakeSession({
      callTool: async (_tool, _args, options) => {
        for (const waitMs of waits) answers.push(options.mayWait?.(waitMs));
        return done;
      },
    });
    await setUp(done, done, { open: () => session, isRepeatable: () => isRepeatable }).call(parts);
    return answers;
  };

  verifies('EXT-30', 'may wait up to five seconds, once, and that is told', async () => {
    const told: number[] = [];
    const onRateLimited = (waitMs: number) => told.push(waitMs);
    const observer = { onProgress: () => undefined, onSent: () => undefined, onRateLimited };
    expect(await mayWait([maxMs + 1, maxMs, 1], { observer })).toEqual([false, true, false]);
    expect(told).toEqual([maxMs]);
  });

  verifies('EXT-30', 'may wait only while it has the time', async () => {
    const timer = { leftMs: () => 2_000, onSign: () => undefined, onWaiting: () => undefined };
    expect(await mayWait([2_000, 1_999], { timer })).toEqual([false, true]);
  });

  verifies('EXT-30', 'waits no longer and no more often where its tool may be repeated', async () => {
    expect(await mayWait([maxMs + 1, maxMs, 1], {}, true)).toEqual([false, true, false]);
  });
});
