// Owns the proof that the shell around the state machine opens, waits, releases and tells, and leaves nothing behind.

import { expect, test } from 'vitest';
import { Connection } from '../../../src/connection/connection.ts';
import type { Session } from '../../../src/connection/session.ts';
import { createBackoff } from '../../../src/kernel/backoff.ts';
import { createDeferred, type Deferred } from '../../../src/kernel/deferred.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';

const outage = new RuntimeError('CONNECTION_LOST', { server: 's', reason: 'gone' });

interface FakeSession extends Session {
  readonly lose: (cause: RuntimeError) => void;
  closed: boolean;
}

function createSession(): FakeSession {
  const ended = createDeferred<RuntimeError>();
  const session: FakeSession = {
    era: 'legacy',
    protocolVersion: '2025-11-25',
    capabilities: {},
    instructions: undefined,
    pid: undefined,
    request: async () => ({ kind: 'lost', sent: false }),
    callTool: async () => ({ kind: 'lost', sent: false }),
    ended: ended.promise,
    report: () => ({ reason: 'gone' }),
    closed: false,
    async close() {
      session.closed = true;
    },
    lose: ended.resolve,
  };
  return session;
}

function setUp() {
  const clock = createFakeClock();
  const openings: { signal: AbortSignal; result: Deferred<Session> }[] = [];
  const changes: string[] = [];
  const connection = new Connection({
    server: 's',
    open: (signal) => {
      const result = createDeferred<Session>();
      openings.push({ signal, result });
      return result.promise;
    },
    delayFor: createBackoff(limits.reconnect, () => 0.5),
    clock,
    onChange: (state) => changes.push(state.kind),
    onError: (error) => expect.fail(String(error)),
  });
  const opening = (at: number) => {
    const found = openings[at];
    if (found === undefined) throw new Error(`there was no opening ${at}`);
    return found;
  };
  return { clock, connection, changes, opening, openings };
}

verifies('LIF-06', 'whoever asks while it connects gets the same session from the same attempt', async () => {
  const { connection, opening, openings, clock } = setUp();
  const both = [connection.whenReady(), connection.whenReady()];
  connection.wake();
  await clock.advance(0);
  const session = createSession();
  opening(0).result.resolve(session);
  expect(await Promise.all(both)).toEqual([session, session]);
  expect(openings).toHaveLength(1);
  await connection.close();
});

verifies('LIF-14', 'a session that opens after the close is closed, and is never seen', async () => {
  const { connection, opening, changes, clock } = setUp();
  connection.wake();
  await clock.advance(0);
  const closing = connection.close();
  expect(opening(0).signal.aborted).toBe(true);
  const late = createSession();
  opening(0).result.resolve(late);
  await closing;
  expect({ late: late.closed, changes, seen: connection.session }).toEqual({
    late: true,
    changes: ['connecting', 'closed'],
    seen: undefined,
  });
});

verifies('LIF-13', 'since when it is up is known while it is up, and cleared when it is lost', async () => {
  const { connection, opening, clock } = setUp();
  connection.wake();
  await clock.advance(100);
  const session = createSession();
  opening(0).result.resolve(session);
  await clock.advance(50);
  expect(connection.state).toEqual({ kind: 'ready', since: 100, attempt: 1 });
  session.lose(outage);
  await clock.advance(0);
  expect(connection.state).toEqual({ kind: 'waiting', attempt: 1, retryAt: 650, cause: outage });
  await connection.close();
});

test('a lost session is closed, the retry comes when it is due, and the new one is handed out', async () => {
  const { connection, opening, changes, clock } = setUp();
  connection.wake();
  await clock.advance(0);
  const first = createSession();
  opening(0).result.resolve(first);
  await clock.advance(0);
  first.lose(outage);
  await clock.advance(499);
  expect(changes).toEqual(['connecting', 'ready', 'waiting']);
  await clock.advance(1);
  const second = createSession();
  opening(1).result.resolve(second);
  expect(await connection.whenReady()).toBe(second);
  expect(first.closed).toBe(true);
  await connection.close();
});

test('a call that arrives while it waits pulls the retry forward, and hears when that attempt fails', async () => {
  const { connection, opening, clock } = setUp();
  connection.wake();
  await clock.advance(0);
  opening(0).result.reject(outage);
  await clock.advance(0);
  const asked = connection.whenReady();
  await clock.advance(0);
  const again = new RuntimeError('STARTUP_TIMEOUT', { server: 's', afterMs: 1, reason: 'silent' });
  opening(1).result.reject(again);
  await expect(asked).rejects.toBe(again);
  await connection.close();
});

test('what blocks it is told to whoever asks, and unblocking opens it', async () => {
  const { connection, opening, openings, clock } = setUp();
  const asked = connection.whenReady();
  await clock.advance(0);
  const blocked = new RuntimeError('SERVER_UNTRUSTED', { server: 's', command: 'x' });
  opening(0).result.reject(blocked);
  await expect(asked).rejects.toBe(blocked);
  await expect(connection.whenReady()).rejects.toBe(blocked);
  connection.unblock();
  await clock.advance(0);
  expect(openings).toHaveLength(2);
  opening(1).result.reject(blocked);
  await connection.close();
});

test('an error that is nobody else’s is ours: it blocks and is never retried', async () => {
  const { connection, opening, clock } = setUp();
  connection.wake();
  await clock.advance(0);
  opening(0).result.reject(new TypeError('oops'));
  await clock.advance(60_000);
  expect(connection.state).toMatchObject({ kind: 'blocked', cause: { code: 'INTERNAL' } });
  await connection.close();
});

verifies('TDN-02', 'a close waits for the session to be gone and leaves no timer', async () => {
  const { connection, opening, clock } = setUp();
  connection.wake();
  await clock.advance(0);
  const gone = createDeferred<void>();
  const session = { ...createSession(), close: () => gone.promise };
  opening(0).result.resolve(session);
  await clock.advance(0);
  let closed = false;
  const closing = connection.close().then(() => {
    closed = true;
  });
  await clock.advance(0);
  expect(closed).toBe(false);
  gone.resolve();
  await closing;
  expect(clock.pending()).toBe(0);
});

test('the next process starts only when the former one is gone', async () => {
  const { connection, opening, openings, clock } = setUp();
  connection.wake();
  await clock.advance(0);
  const gone = createDeferred<void>();
  opening(0).result.resolve({ ...createSession(), close: () => gone.promise });
  await clock.advance(0);
  connection.reconnect();
  await clock.advance(1_000);
  expect(openings).toHaveLength(1);
  gone.resolve();
  await clock.advance(0);
  expect(openings).toHaveLength(2);
  opening(1).result.resolve(createSession());
  await clock.advance(0);
  await connection.close();
});
