// Owns the proof of a server's status: a fine word and a simple one, since when, what failed at which stage, and the next retry.

import { describe, expect, test } from 'vitest';
import { type ServerStatus, type StatusDeps, statusOf } from '../../../src/connection/status.ts';
import { type FailureCode, RuntimeError } from '../../../src/model/errors.ts';
import type { ServerDefinition } from '../../../src/model/server.ts';
import { verifies } from '../../verifies.ts';
import { createFakeSession, definitionOf, outage } from '../session.ts';
import { setUp } from './driver.ts';

type Driven = ReturnType<typeof setUp>;

function tell({ connection, clock }: Driven, change: Partial<StatusDeps> = {}): ServerStatus {
  const definition = definitionOf('files');
  const listing = { isListed: true, toolCount: 2, hiddenCount: 0, problems: [] };
  return statusOf({
    definition,
    connection,
    listing,
    redact: (text) => text,
    now: clock.now(),
    extent: 'whole',
    ...change,
  });
}

const login = new RuntimeError('AUTH_REQUIRED', { server: 's' });
const untrusted = new RuntimeError('SERVER_UNTRUSTED', { server: 's', command: 'x' });
const missing = new RuntimeError('SPAWN_FAILED', { server: 's', reason: 'none', command: 'x', culprit: 'command' });
const exhaust = async ({ fail, clock }: Driven) => {
  for (const delay of [500, 1_000, 2_000, 4_000, 0]) {
    await fail();
    await clock.advance(delay);
  }
};

const message = (error: RuntimeError) => error.message;

/** What happens to a server that was woken, the two words for its status then, and the reason where it is not ready. */
const words: Record<string, [act: (driven: Driven) => unknown, state: string, status: string, reason?: string]> = {
  'is on its way for the first time': [
    () => undefined,
    'connecting',
    'connecting',
    'It is being started and has not answered yet. It may take 60 s (startup_timeout_sec).',
  ],
  'is there': [({ succeed }) => succeed(), 'connected', 'connected'],
  'waits for its next attempt': [
    ({ fail }) => fail(),
    'reconnecting',
    'connecting',
    `${message(outage)} Plexus tries again in 500 ms.`,
  ],
  'is on its way again': [
    async ({ fail, clock }) => {
      await fail();
      await clock.advance(500);
    },
    'reconnecting',
    'connecting',
    `${message(outage)} Plexus is trying again (attempt 2).`,
  ],
  'is started at the wish of a person': [
    async ({ fail, connection }) => {
      await fail(login);
      connection.reconnect();
    },
    'connecting',
    'connecting',
    'It is being started and has not answered yet. It may take 60 s (startup_timeout_sec).',
  ],
  'is given up': [
    exhaust,
    'failed',
    'failed',
    `${message(outage)} Plexus gave up after 5 attempts; reconnect("files") starts it anew.`,
  ],
  'needs a login': [({ fail }) => fail(login), 'needs-auth', 'disconnected', login.message],
  'had its login refused': [
    ({ fail }) => fail(new RuntimeError('AUTH_FAILED', { server: 's', reason: 'expired' })),
    'needs-auth',
    'disconnected',
    new RuntimeError('AUTH_FAILED', { server: 's', reason: 'expired' }).message,
  ],
  'needs an approval': [({ fail }) => fail(untrusted), 'needs-approval', 'disconnected', untrusted.message],
  'cannot be started': [({ fail }) => fail(missing), 'blocked', 'failed', missing.message],
  'was stopped because it had no calls': [
    async ({ succeed, connection }) => {
      await succeed();
      connection.idleStop();
    },
    'idle',
    'disconnected',
    'It is not running now. The next call starts it.',
  ],
  'was closed': [
    async ({ succeed, connection }) => {
      await succeed();
      await connection.close();
    },
    'stopped',
    'disconnected',
    'It was disconnected. reconnect("files") starts it again.',
  ],
};

for (const [what, [act, state, status, reason]] of Object.entries(words)) {
  verifies(['LIF-03', 'LIF-04'], `a server that ${what} is ${state}, in short ${status}`, async () => {
    const driven = setUp();
    await driven.wake();
    await act(driven);
    const told = tell(driven);
    expect([told.state, told.status, told.reason]).toEqual([state, status, reason]);
  });
}

verifies(['LIF-03', 'LIF-04'], 'every state of a connection has its words here, and all but one a reason', () => {
  const fine = Object.values(words).map(([, state]) => state);
  // `invalid` and `disabled` servers have no connection.
  const all: Record<Exclude<ServerStatus['state'], 'invalid' | 'disabled'>, boolean> = {
    ...{ blocked: true, 'needs-approval': true, 'needs-auth': true, idle: true, connecting: true, connected: false },
    ...{ reconnecting: true, failed: true, stopped: true },
  };
  expect([...new Set(fine)].sort()).toEqual(Object.keys(all).sort());
  for (const [, state, , reason] of Object.values(words)) expect(Boolean(reason), state).toBe(all[state as never]);
  // @ts-expect-error a server that is not ready must say why
  const silent: ServerStatus = { ...tell(setUp()), status: 'failed', state: 'failed', reason: undefined };
  // @ts-expect-error an empty reason is none
  const empty: ServerStatus = { ...tell(setUp()), status: 'failed', state: 'failed', reason: '' };
  expect([silent.reason, empty.reason]).toEqual([undefined, '']);
});

verifies(
  'LIF-04',
  'a server whose session has not listed its tools yet is on its way, also after a reconnect',
  async () => {
    const driven = setUp();
    await driven.wake();
    await driven.succeed(createFakeSession({ pid: 7 }));
    const listing = { isListed: false, toolCount: 2, hiddenCount: 0, problems: [] };
    const reason = 'It is up, and has not listed its tools yet.';
    expect(tell(driven, { listing })).toMatchObject({ state: 'connecting', status: 'connecting', reason, pid: 7 });
    expect(tell(driven, { listing })).not.toHaveProperty('connectedSinceMs');
    driven.connection.session?.markLost('it fell');
    await driven.clock.advance(500);
    await driven.succeed();
    expect(tell(driven, { listing })).toMatchObject({ state: 'reconnecting', status: 'connecting', reason });
    expect(tell(driven)).toMatchObject({ state: 'connected', status: 'connected' });
  },
);

verifies(
  'LIF-04',
  'the reason tells a remote server, one without a limit and one that is started by hand apart',
  async () => {
    const driven = setUp({ isRemote: true });
    const byHand = definitionOf('my files', { lifecycle: 'manual' });
    expect(tell(driven, { definition: byHand }).reason).toBe(
      'It is started by hand only (lifecycle = "manual"): reconnect("my files") starts it.',
    );
    await driven.wake();
    const launch = { kind: 'http', url: 'https://a.example', headers: {} } as const;
    const remote = { ...definitionOf('files', { startupTimeoutMs: 0 }), launch };
    expect(tell(driven, { definition: remote }).reason).toBe('It is being connected and has not answered yet.');
    expect(tell(driven, { installer: 'npx' })).toMatchObject({
      reason: 'npx is still installing it',
      installer: 'npx',
    });
    await exhaust(driven);
    expect(tell(driven).reason).toBe(`${message(outage)} Plexus gave up after 5 attempts and tries again in 15 s.`);
  },
);

verifies(['LIF-03', 'LIF-04'], 'a server that is not in use is disabled, and says why', () => {
  const driven = setUp();
  expect(tell(driven, { connection: undefined })).toMatchObject({
    state: 'disabled',
    status: 'disconnected',
    reason: 'It is disabled in its configuration: enabled = true there starts it.',
  });
  expect(tell(driven, { connection: undefined, refusal: 'a list says so' })).toMatchObject({
    state: 'disabled',
    stage: 'config',
    reason: expect.stringContaining('is not in use: a list says so'),
    error: { code: 'SERVER_DENIED', data: { server: 'files', because: 'a list says so' } },
  });
});

verifies('LIF-13', 'since when it is up, and for how long, is told while it is up and gone once it drops', async () => {
  const driven = setUp();
  const { clock, succeed } = driven;
  await clock.advance(1_000);
  await driven.wake();
  const session = await succeed(createFakeSession({ pid: 77, era: 'modern', protocolVersion: '2026-07-28' }));
  await clock.advance(5_000);
  expect(tell(driven)).toEqual({
    name: 'files',
    status: 'connected',
    state: 'connected',
    transport: 'stdio',
    toolCount: 2,
    scope: 'host',
    label: 'mcp:files via host',
    since: 1_000,
    connectedSinceMs: 5_000,
    protocol: '2026-07-28',
    stderrTail: 'last words',
    era: 'modern',
    pid: 77,
  });
  session.end(outage);
  await clock.advance(100);
  const { connectedSinceMs, protocol, era, pid, since } = tell(driven);
  expect([connectedSinceMs, protocol, era, pid, since]).toEqual([undefined, undefined, undefined, undefined, 6_000]);
});

verifies('REC-14', 'a server that is given up says so, and when it is tried next if it is', async () => {
  for (const isRemote of [true, false]) {
    const driven = setUp({ isRemote });
    await driven.wake();
    await driven.fail();
    await driven.clock.advance(100);
    expect(tell(driven)).toMatchObject({ nextRetryInMs: 400, error: outage });
    expect(tell(driven)).not.toHaveProperty('gaveUp');
    await driven.clock.advance(400);
    for (const delay of [1_000, 2_000, 4_000, 5_000]) {
      await driven.fail();
      await driven.clock.advance(delay);
    }
    const { gaveUp, nextRetryInMs, state } = tell(driven);
    expect({ gaveUp, nextRetryInMs, state }).toEqual({
      gaveUp: true,
      nextRetryInMs: isRemote ? 10_000 : undefined,
      state: 'failed',
    });
  }
});

describe('what went wrong', () => {
  test('is told with its time, also when it has been overcome', async () => {
    const driven = setUp();
    await driven.wake();
    await driven.fail();
    await driven.clock.advance(500);
    await driven.succeed();
    const status = tell(driven);
    expect([status.error, status.stage, status.lastError]).toEqual([
      undefined,
      undefined,
      { code: 'CONNECTION_LOST', message: outage.message, at: 0 },
    ]);
  });

  const stages: [cause: RuntimeError, stage: string][] = [
    [new RuntimeError('ENV_MISSING', { server: 's', variable: 'X' }), 'config'],
    [new RuntimeError('INPUT_MISSING', { server: 's', input: 'x' }), 'config'],
    [new RuntimeError('CONFIG_INVALID', { problem: 'odd' }), 'config'],
    [untrusted, 'trust'],
    [login, 'login'],
    [missing, 'start'],
    [outage, 'handshake'],
    [new RuntimeError('STARTUP_TIMEOUT', { server: 's', afterMs: 1, reason: 'silent' }), 'handshake'],
  ];

  test('is told with the station at which it did', async () => {
    for (const [cause, stage] of stages) {
      const driven = setUp();
      await driven.wake();
      await driven.fail(cause);
      expect([tell(driven).stage, tell(driven).error]).toEqual([stage, cause]);
    }
    const running = setUp();
    await running.wake();
    (await running.succeed()).end(outage);
    await running.clock.advance(0);
    expect(tell(running).stage).toBe('running');
    await running.clock.advance(500);
    await running.fail();
    expect(tell(running).stage, 'it did not come up again').toBe('handshake');
  });

  verifies('ERR-04', 'with its list leaves a server connected, and is told as that', async () => {
    const driven = setUp();
    await driven.wake();
    await driven.succeed();
    const error = new RuntimeError('PROTOCOL_BROKEN', { server: 'files', reason: 'odd' });
    expect(
      tell(driven, {
        listing: { isListed: true, toolCount: 0, hiddenCount: 0, problems: ['a tool was left out'], error },
      }),
    ).toMatchObject({
      status: 'connected',
      state: 'connected',
      stage: 'list',
      error,
      warnings: ['a tool was left out'],
    });
  });

  test('is written for others as code, message and remedy', async () => {
    const driven = setUp();
    await driven.wake();
    await driven.fail(login);
    expect(JSON.parse(JSON.stringify(tell(driven))).error).toEqual({
      code: 'AUTH_REQUIRED' satisfies FailureCode,
      message: login.message,
      remedy: 'log-in',
    });
  });
});

test('its origin, title, description and breaker are passed on unchanged', () => {
  const definition: ServerDefinition = {
    ...definitionOf('files', { title: 'Files', description: 'Of mine.', lifecycle: 'lazy' }),
    launch: { kind: 'auto', url: 'https://a.example', headers: {} },
    provenance: { scope: 'imported', provider: 'editor', file: '/home/a.json', key: [] },
  };
  const breaker = { state: 'open', retryInMs: 5 } as const;
  expect(tell(setUp(), { definition, breaker })).toEqual({
    name: 'files',
    status: 'disconnected',
    state: 'idle',
    reason: 'It is not running now. The next call starts it.',
    transport: 'auto',
    toolCount: 2,
    since: 0,
    ...{ scope: 'imported', label: 'mcp:files via editor', provider: 'editor', source: '/home/a.json' },
    title: 'Files',
    description: 'Of mine.',
    lifecycle: 'lazy',
    breaker,
  });
});
