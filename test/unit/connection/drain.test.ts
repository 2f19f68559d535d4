// Owns the proof of how a session that is replaced ends: after its calls, after its time, or at once.

import { describe, expect, test } from 'vitest';
import { drainSession } from '../../../src/connection/drain.ts';
import { limits } from '../../../src/model/limits.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { createFakeSession, outage } from '../session.ts';
import { follow, setUp as setUpConnection } from './driver.ts';

function setUp(calls: number) {
  const clock = createFakeClock();
  const reasons: unknown[] = [];
  const session = createFakeSession({ close: async (reason) => void reasons.push(reason) });
  session.carry(calls);
  const cut = new AbortController();
  const drained = follow(drainSession(session, { clock, signal: cut.signal }));
  return { clock, session, reasons, cut, drained };
}

describe('a session that is replaced', () => {
  verifies('LIF-07', 'ends at once without calls, and after the last of them', async () => {
    const quiet = setUp(0);
    await quiet.clock.advance(0);
    expect([quiet.drained.ending, quiet.reasons]).toEqual([0, [undefined]]);
    const { clock, session, drained, reasons } = setUp(2);
    await clock.advance(1_000);
    session.carry(1);
    await clock.advance(1_000);
    expect(drained.ending).toBe('open');
    session.carry(0);
    await clock.advance(0);
    expect([drained.ending, reasons, clock.pending()]).toEqual([0, [undefined], 0]);
  });

  verifies('LIF-07', 'waits for a call that was sent while the last one ended', async () => {
    const { clock, session, drained } = setUp(1);
    session.carry(0);
    session.carry(1);
    await clock.advance(0);
    expect(drained.ending).toBe('open');
    session.carry(0);
    await clock.advance(0);
    expect(drained.ending).toBe(0);
  });

  verifies('LIF-07', 'is cut after its time, and its calls are told why', async () => {
    const { clock, drained, reasons } = setUp(3);
    await clock.advance(limits.restartDrainMs - 1);
    expect(drained.ending).toBe('open');
    await clock.advance(1);
    expect([drained.ending, reasons]).toEqual([
      3,
      ['its entry or its approval was changed, and it was restarted 30 s later'],
    ]);
  });

  test('is cut at once on request, and its own end is the end', async () => {
    const { clock, drained, cut, reasons } = setUp(1);
    cut.abort();
    await clock.advance(0);
    expect([drained.ending, reasons, clock.pending()]).toEqual([1, [undefined], 0]);
    const dying = setUp(1);
    dying.session.end(outage);
    await dying.clock.advance(0);
    expect([dying.drained.ending, dying.reasons, dying.clock.pending()]).toEqual([1, [undefined], 0]);
  });
});

describe('a connection that restarts', () => {
  verifies(['LIF-07', 'LIF-14'], 'opens the next session when the former has ended, whoever waits', async () => {
    const stopped: string[] = [];
    const drains: unknown[] = [];
    const { connection, clock, openings, succeed, wake, changes } = setUpConnection({
      watchSession: () => () => stopped.push('watch'),
      onDrain: (progress) => drains.push(progress),
    });
    await wake();
    const former = await succeed();
    former.carry(1);
    connection.restart();
    const waiting = follow(connection.whenReady());
    await clock.advance(10_000);
    expect([connection.draining, openings.length, stopped, former.closed()]).toEqual([1, 1, [], 0]);
    connection.restart();
    former.carry(0);
    await clock.advance(0);
    expect([connection.draining, openings.length, stopped, former.closed()]).toEqual([0, 2, ['watch'], 1]);
    const next = await succeed();
    expect([waiting.ending, connection.session, changes]).toEqual([
      next,
      next,
      ['connecting', 'ready', 'connecting', 'connecting', 'ready'],
    ]);
    expect(drains).toEqual([
      { kind: 'started', calls: 1 },
      { kind: 'ended', calls: 1, cut: 0 },
    ]);
  });

  verifies(
    ['LIF-07', 'CAL-09'],
    'keeps no call from waiting as long as a start may take, once that begins',
    async () => {
      const { connection, clock, succeed, wake } = setUpConnection({ callWaitMs: () => 2_000 });
      await wake();
      const former = await succeed();
      former.carry(1);
      connection.restart();
      const [waiting, other] = [follow(connection.whenReady()), follow(connection.whenReady())];
      await clock.advance(limits.restartDrainMs - 1);
      expect(waiting.ending).toBe('open');
      former.carry(0);
      await clock.advance(1_999);
      expect(waiting.ending).toBe('open');
      await clock.advance(1 + limits.startFailureMs);
      expect([waiting.ending, other.ending]).toEqual([
        expect.objectContaining({ code: 'STARTUP_TIMEOUT', data: expect.objectContaining({ afterMs: 2_000 }) }),
        expect.objectContaining({ code: 'STARTUP_TIMEOUT' }),
      ]);
    },
  );

  verifies('CAL-09', 'leaves no timer of a call that waited for a drain and was answered', async () => {
    const { connection, clock, succeed, wake } = setUpConnection({ callWaitMs: () => 2_000 });
    await wake();
    const former = await succeed();
    former.carry(1);
    connection.restart();
    const waiting = follow(connection.whenReady());
    void connection.close();
    await clock.advance(0);
    expect([waiting.ending, clock.pending()]).toEqual([expect.objectContaining({ code: 'CONNECTION_LOST' }), 0]);
  });

  verifies('LIF-07', 'ends what drains when it is closed, reconnected, or told to', async () => {
    for (const end of ['close', 'reconnect', 'endDrain'] as const) {
      const { connection, clock, succeed, wake } = setUpConnection();
      await wake();
      const former = await succeed();
      former.carry(1);
      connection.restart();
      await clock.advance(0);
      expect(former.closed()).toBe(0);
      void connection[end]();
      await clock.advance(0);
      expect(former.closed(), end).toBe(1);
    }
  });

  verifies('LIF-07', 'retires after its calls, and opens nothing', async () => {
    const { connection, clock, succeed, wake, openings } = setUpConnection();
    await wake();
    const former = await succeed();
    former.carry(1);
    const retired = follow(connection.retire());
    await clock.advance(1_000);
    expect([retired.ending, connection.state.kind]).toEqual(['open', 'closed']);
    former.carry(0);
    await clock.advance(0);
    expect([retired.ending, former.closed(), openings.length]).toEqual([undefined, 1, 1]);
  });
});
