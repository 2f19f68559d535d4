// Owns a connection that a test drives: the test decides when it opens and fails, and moves the clock.

import { expect, onTestFinished } from 'vitest';
import { reconnectPolicy } from '../../../src/config/reconnect.ts';
import { Connection, type ConnectionOptions } from '../../../src/connection/connection.ts';
import { createRecovery } from '../../../src/connection/recovery.ts';
import type { Session } from '../../../src/connection/session.ts';
import { createDeferred, type Deferred } from '../../../src/kernel/deferred.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { createFakeSession, type FakeSession, outage } from '../session.ts';

interface DriverOptions extends Partial<ConnectionOptions> {
  readonly isRemote?: boolean;
  readonly reconnect?: Parameters<typeof reconnectPolicy>[0];
}

export function setUp({ isRemote = false, reconnect = 'steady', ...change }: DriverOptions = {}) {
  const clock = createFakeClock();
  const openings: { at: number; signal: AbortSignal; result: Deferred<Session> }[] = [];
  const changes: string[] = [];
  const connection = new Connection({
    server: 's',
    open: (signal) => {
      const result = createDeferred<Session>();
      openings.push({ at: clock.now(), signal, result });
      return result.promise;
    },
    recovery: () => createRecovery(reconnectPolicy(reconnect), isRemote, () => 0.5),
    isProcess: () => !isRemote,
    renewCredentials: async () => false,
    callWaitMs: () => 60_000,
    isPersonAsked: () => false,
    watchSession: () => () => undefined,
    clock,
    onChange: (state) => changes.push(state.kind),
    onError: (error) => expect.fail(String(error)),
    ...change,
  });
  onTestFinished(() => {
    for (const { result } of openings) result.reject(outage);
    return connection.close();
  });
  const opening = (at: number) => {
    const found = openings.at(at);
    if (found === undefined) throw new Error(`there was no opening ${at}`);
    return found;
  };
  const openedAt = () => openings.map(({ at }) => at);
  /** The latest opening succeeds with this session. */
  const succeed = async (session = createFakeSession()): Promise<FakeSession> => {
    opening(-1).result.resolve(session);
    await clock.advance(0);
    return session;
  };
  const fail = async (cause: unknown = outage) => {
    opening(-1).result.reject(cause);
    await clock.advance(0);
  };
  const wake = async () => {
    connection.wake();
    await clock.advance(0);
  };
  return { clock, connection, changes, opening, openings, openedAt, succeed, fail, wake };
}

/** What a promise has settled to so far. */
export function follow<Value>(work: Promise<Value>): { ending: 'open' | Value | unknown } {
  const followed: { ending: unknown } = { ending: 'open' };
  const settle = (ending: unknown) => {
    followed.ending = ending;
  };
  work.then(settle, settle);
  return followed;
}
