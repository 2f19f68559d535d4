// Owns the proof that a connection runs the effects of its state machine: it opens, waits, closes and reports, and leaves nothing behind.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../../src/connection/session.ts';
import { createDeferred, type Deferred } from '../../../src/kernel/deferred.ts';
import { type FailureCode, type FailureData, RuntimeError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import { runs } from '../../effort.ts';
import { verifies } from '../../verifies.ts';
import { createFakeSession, type FakeSession, outage } from '../session.ts';
import { follow, setUp } from './driver.ts';

/** A schedule with one more attempt. */
const once: NonNullable<Parameters<typeof setUp>[0]>['reconnect'] = { delaysMs: [1], jitter: 0, background: false };

verifies(
  ['LIF-06', 'REC-10'],
  'calls that arrive while it connects get the same session from the same attempt',
  async () => {
    const { connection, openings, clock, succeed } = setUp();
    const both = [connection.whenReady(), connection.whenReady()];
    connection.wake();
    await clock.advance(0);
    const session = await succeed();
    expect(await Promise.all(both)).toEqual([session, session]);
    expect(openings).toHaveLength(1);
  },
);

verifies('REC-10', 'all calls to a lost server share one attempt to reconnect', async () => {
  const { connection, openings, clock, succeed, wake } = setUp();
  await wake();
  const former = await succeed();
  former.end(outage);
  await clock.advance(0);
  const asked = [connection.whenReady(), connection.whenReplaced(former), connection.whenReady()];
  await clock.advance(0);
  const next = await succeed();
  expect(await Promise.all(asked)).toEqual([next, next, next]);
  expect(openings).toHaveLength(2);
});

verifies('LIF-05', 'it is seen as connecting before anything was awaited', () => {
  const { connection, changes } = setUp();
  connection.wake();
  expect([connection.state, changes]).toEqual([{ kind: 'connecting', attempt: 1, hurried: false }, ['connecting']]);
});

describe('an attempt that is no longer wanted', () => {
  verifies('LIF-14', 'is closed when it succeeds after the close, and is never seen', async () => {
    const { connection, opening, changes, wake } = setUp();
    await wake();
    const closing = connection.close();
    expect(opening(0).signal.aborted).toBe(true);
    const late = createFakeSession();
    opening(0).result.resolve(late);
    await closing;
    expect({ late: late.closed(), changes, seen: connection.session }).toEqual({
      late: 1,
      changes: ['connecting', 'closed'],
      seen: undefined,
    });
  });

  verifies('LIF-14', 'is closed when it succeeds after a reconnect, and the next one waits for that', async () => {
    const { connection, opening, openings, clock, succeed, wake } = setUp();
    await wake();
    const asked = connection.whenReady();
    connection.reconnect();
    await clock.advance(0);
    expect([opening(0).signal.aborted, openings.length]).toEqual([true, 1]);
    const late = createFakeSession();
    opening(0).result.resolve(late);
    await clock.advance(0);
    expect([late.closed(), openings.length]).toEqual([1, 2]);
    const session = await succeed();
    expect(await asked).toBe(session);
  });

  verifies('LIF-14', 'is not begun where it had to wait for another to end', async () => {
    const former = createDeferred<void>();
    const { connection, openings, wake } = setUp({ former: former.promise });
    await wake();
    const closing = connection.close();
    former.resolve();
    await closing;
    expect(openings).toEqual([]);
  });

  verifies('LIF-14', 'says nothing when it fails', async () => {
    const { connection, opening, changes, clock, wake } = setUp();
    await wake();
    connection.reconnect();
    opening(0).result.reject(outage);
    await clock.advance(0);
    expect([changes, connection.lastFailure]).toEqual([['connecting', 'connecting'], undefined]);
    opening(1).result.reject(outage);
  });

  verifies('LIF-14', 'cannot end the session that came after it', async () => {
    const { connection, clock, succeed, wake } = setUp();
    await wake();
    const former = await succeed();
    connection.reconnect();
    await clock.advance(0);
    const session = await succeed();
    former.end(outage);
    await clock.advance(0);
    expect([connection.session, connection.state.kind]).toEqual([session, 'ready']);
  });
});

verifies('LIF-13', 'since when it is up is known while it is up, and cleared when it is lost', async () => {
  const { connection, clock, succeed } = setUp();
  connection.wake();
  await clock.advance(100);
  const session = await succeed();
  await clock.advance(50);
  expect([connection.state, connection.since]).toEqual([{ kind: 'ready', since: 100, attempt: 1 }, 100]);
  session.end(outage);
  await clock.advance(0);
  expect([connection.state, connection.since]).toEqual([
    { kind: 'waiting', attempt: 1, retryAt: 650, cause: outage, hurried: false },
    150,
  ]);
  expect(connection.lastFailure).toEqual({ cause: outage, at: 150, wasUp: true });
});

verifies('REC-07', 'a session that ends unexpectedly is closed, tried again when it is due, and replaced', async () => {
  const { connection, changes, clock, succeed, wake } = setUp();
  await wake();
  const first = await succeed();
  first.end(outage);
  await clock.advance(499);
  expect([changes, first.closed()]).toEqual([['connecting', 'ready', 'waiting'], 1]);
  await clock.advance(1);
  const second = await succeed();
  expect(await connection.whenReady()).toBe(second);
});

verifies('REC-07', 'a close that was asked for starts nothing, though the session ends of it', async () => {
  for (const stop of ['close', 'idleStop'] as const) {
    const { connection, openings, changes, clock, succeed, wake } = setUp();
    await wake();
    const session = await succeed();
    const stopping = connection[stop]();
    session.end(outage);
    await clock.advance(600_000);
    await stopping;
    expect([openings.length, changes.at(-1), clock.pending()]).toEqual([1, stop === 'close' ? 'closed' : 'idle', 0]);
  }
});

verifies('REC-08', 'a first attempt that fails for want of a connection is made again', async () => {
  const causes = [
    outage,
    new RuntimeError('STARTUP_TIMEOUT', { server: 's', afterMs: 1, reason: 'silent' }),
    new RuntimeError('PROTOCOL_BROKEN', { server: 's', reason: 'odd' }),
  ];
  for (const cause of causes) {
    const { connection, openedAt, clock, fail, succeed, wake } = setUp();
    await wake();
    await fail(cause);
    expect(connection.state).toMatchObject({ kind: 'waiting', retryAt: 500, cause });
    await clock.advance(500);
    await succeed();
    expect([openedAt(), connection.state.kind]).toEqual([[0, 500], 'ready']);
  }
});

const final: { [Code in FailureCode]?: FailureData<Code> } = {
  SERVER_UNTRUSTED: { server: 's', command: 'x' },
  SERVER_DENIED: { server: 's', because: 'of a list' },
  AUTH_REQUIRED: { server: 's' },
  AUTH_FAILED: { server: 's', reason: 'expired' },
  LOGIN_FAILED: { server: 's', fault: { kind: 'cancelled' } },
  CONFIG_INVALID: { problem: 'odd' },
  CONFIG_UNREADABLE: { file: 'f', problem: 'odd' },
  ENV_MISSING: { server: 's', variable: 'X' },
  INPUT_MISSING: { server: 's', input: 'x' },
  SPAWN_FAILED: { server: 's', reason: 'none', command: 'x', culprit: 'command' },
};

for (const [code, data] of Object.entries(final)) {
  verifies('REC-08', `an attempt that fails with ${code} is never made again by itself`, async () => {
    const { connection, openings, clock, fail, wake } = setUp({ isRemote: true });
    await wake();
    const cause = new RuntimeError(code as FailureCode, data as never);
    await fail(cause);
    await clock.advance(3_600_000);
    expect([connection.state, openings.length, clock.pending()]).toEqual([{ kind: 'blocked', cause }, 1, 0]);
    await expect(connection.whenReady(), 'whoever asks is told').rejects.toBe(cause);
  });
}

test('an unknown error counts as internal: it blocks and is never retried', async () => {
  const { connection, clock, fail, wake } = setUp();
  await wake();
  await fail(new TypeError('oops'));
  await clock.advance(60_000);
  expect(connection.state).toMatchObject({ kind: 'blocked', cause: { code: 'INTERNAL' } });
});

test('a call to a blocked connection gets the reason, and unblocking opens it', async () => {
  const { connection, openings, clock, fail } = setUp();
  const asked = connection.whenReady();
  await clock.advance(0);
  const blocked = new RuntimeError('SERVER_UNTRUSTED', { server: 's', command: 'x' });
  const told = expect(asked).rejects.toBe(blocked);
  await fail(blocked);
  await told;
  await expect(connection.whenReady()).rejects.toBe(blocked);
  connection.unblock();
  await clock.advance(0);
  expect(openings).toHaveLength(2);
  await fail(blocked);
});

describe('a call that needs a server which is not there', () => {
  verifies('REC-12', 'pulls the next attempt forward, and hears how that one fails', async () => {
    const { connection, openedAt, clock, fail, wake } = setUp();
    await wake();
    await fail();
    const asked = connection.whenReady();
    await clock.advance(0);
    const again = new RuntimeError('STARTUP_TIMEOUT', { server: 's', afterMs: 1, reason: 'silent' });
    const told = expect(asked).rejects.toBe(again);
    await fail(again);
    await told;
    expect(openedAt()).toEqual([0, 0]);
  });

  /** The first call hurried an attempt that failed; a second call waits. */
  const failTwice = async () => {
    const driver = setUp();
    const { connection, clock, fail, wake } = driver;
    await wake();
    await fail();
    void connection.whenReady().catch(() => 'told elsewhere');
    await clock.advance(0);
    await fail();
    return { ...driver, second: follow(connection.whenReady()) };
  };

  verifies(
    'REC-12',
    'does so once in an outage: the next call waits for the timer, and gets the result of that attempt',
    async () => {
      const { openedAt, clock, succeed, second } = await failTwice();
      await clock.advance(999);
      expect([openedAt(), second.ending]).toEqual([[0, 0], 'open']);
      await clock.advance(1);
      const session = await succeed();
      expect([openedAt(), second.ending]).toEqual([[0, 0, 1_000], session]);
    },
  );

  verifies('REC-12', 'that waits for the timer hears when that attempt fails, and is not kept longer', async () => {
    const { clock, fail, second } = await failTwice();
    await clock.advance(1_000);
    await fail();
    expect(second.ending).toBe(outage);
  });

  /** An attempt of the timer is under way, and a call joins it. */
  const joinRetry = async (options: Parameters<typeof setUp>[0] = {}) => {
    const driver = setUp(options);
    await driver.wake();
    await driver.fail();
    await driver.clock.advance(500);
    return { ...driver, joined: follow(driver.connection.whenReady()) };
  };

  verifies(
    'REC-12',
    'gets an attempt of its own if that of the timer, which it joined, was too early for a server that came back meanwhile',
    async () => {
      const { openedAt, fail, succeed, joined } = await joinRetry();
      await fail();
      expect([openedAt(), joined.ending]).toEqual([[0, 500, 500], 'open']);
      expect([await succeed(), openedAt().length]).toEqual([joined.ending, 3]);
    },
  );

  verifies('REC-12', 'gets no more than that one, and shares it with those that come meanwhile', async () => {
    const { connection, openedAt, fail, joined } = await joinRetry();
    await fail();
    const late = follow(connection.whenReady());
    await fail();
    expect([joined.ending, late.ending, openedAt()]).toEqual([outage, outage, [0, 500, 500]]);
  });

  verifies(
    'REC-12',
    'waits for the timer instead, where a call has brought an attempt of this outage forward',
    async () => {
      const { connection, openedAt, clock, fail, succeed, joined } = await joinRetry();
      await fail();
      await fail();
      await clock.advance(2_000);
      const next = follow(connection.whenReady());
      await fail();
      expect([joined.ending, next.ending, openedAt()]).toEqual([outage, 'open', [0, 500, 500, 2_500]]);
      await clock.advance(4_000);
      expect([await succeed(), openedAt().at(-1)]).toEqual([next.ending, 6_500]);
    },
  );

  verifies('REC-12', 'is told at once that the attempt which it joined ended in what no waiting cures', async () => {
    const { connection, openings, fail, joined } = await joinRetry();
    const cause = new RuntimeError('AUTH_REQUIRED', { server: 's' });
    await fail(cause);
    expect([joined.ending, openings.length, connection.state.kind]).toEqual([cause, 2, 'blocked']);
  });

  verifies('REC-12', 'gets it also from a server that has been given up meanwhile', async () => {
    const reconnect = { delaysMs: [500], jitter: 0, background: false as const };
    const { openedAt, fail, succeed, joined } = await joinRetry({ reconnect });
    await fail();
    expect([openedAt(), joined.ending]).toEqual([[0, 500, 500], 'open']);
    expect(await succeed()).toBe(joined.ending);
  });

  test('gets one attempt from a server that has been given up, and its failure', async () => {
    const { connection, openings, clock, fail, wake } = setUp({ reconnect: once });
    await wake();
    await fail();
    await clock.advance(1);
    await fail();
    expect(connection.state.kind).toBe('failed');
    for (const attempt of [3, 4]) {
      const asked = follow(connection.whenReady());
      await clock.advance(0);
      await fail();
      expect([asked.ending, openings.length, connection.state.kind]).toEqual([outage, attempt, 'failed']);
    }
    expect(clock.pending()).toBe(0);
  });

  test('brings a server that has been given up back, when it is there again', async () => {
    const { connection, clock, fail, succeed, wake } = setUp({ reconnect: once });
    await wake();
    await fail();
    await clock.advance(1);
    await fail();
    const asked = connection.whenReady();
    await clock.advance(0);
    const session = await succeed();
    expect(await asked).toBe(session);
  });

  verifies('REC-05', 'gets the failure, and no attempt, where the schedule has none', async () => {
    const { connection, openings, clock, fail, wake } = setUp({ reconnect: 'none' });
    await wake();
    await fail();
    await expect(connection.whenReady()).rejects.toBe(outage);
    await clock.advance(limits.startBurst.windowMs);
    expect([openings.length, connection.state.kind, clock.pending()]).toEqual([1, 'failed', 0]);
  });

  test('is told that it was closed, when it was', async () => {
    const { connection } = setUp();
    await connection.close();
    await expect(connection.whenReady()).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
  });
});

describe('a call that lost its session', () => {
  test('gets the next one, also when its end is noticed only a moment later', async () => {
    const { connection, clock, succeed, wake } = setUp();
    await wake();
    const former = await succeed();
    const replaced = follow(connection.whenReplaced(former));
    await clock.advance(limits.lossMs - 1);
    former.end(outage);
    await clock.advance(0);
    const next = await succeed();
    expect([replaced.ending, clock.pending()]).toEqual([next, 0]);
  });

  test('gets the same one when it did not end after all', async () => {
    const { connection, clock, succeed, wake } = setUp();
    await wake();
    const session = await succeed();
    const replaced = follow(connection.whenReplaced(session));
    await clock.advance(limits.lossMs - 1);
    expect(replaced.ending).toBe('open');
    await clock.advance(1);
    expect([replaced.ending, clock.pending()]).toEqual([session, 0]);
  });

  test('does not wait where it has been replaced already', async () => {
    const { connection, clock, succeed, wake } = setUp();
    await wake();
    const former = await succeed();
    former.end(outage);
    await clock.advance(500);
    const next = await succeed();
    expect(await connection.whenReplaced(former)).toBe(next);
  });
});

verifies(
  'REC-14',
  'when its attempts are used up it is failed, and a remote server says when it is tried next',
  async () => {
    for (const isRemote of [false, true]) {
      const { connection, clock, fail, wake, openedAt } = setUp({ isRemote });
      await wake();
      for (const delay of [500, 1_000, 2_000, 4_000]) {
        await fail();
        await clock.advance(delay);
      }
      await fail();
      expect(connection.state).toEqual({
        kind: 'failed',
        attempt: 5,
        cause: outage,
        ...(isRemote && { retryAt: 7_500 + 15_000 }),
      });
      await clock.advance(15_000);
      expect(openedAt()).toEqual([0, 500, 1_500, 3_500, 7_500, ...(isRemote ? [22_500] : [])]);
    }
  },
);

verifies('REC-03', 'a remote server that has been given up comes back by itself when it is there again', async () => {
  const { connection, clock, fail, succeed, wake } = setUp({ isRemote: true, reconnect: 'steady' });
  await wake();
  for (const delay of [500, 1_000, 2_000, 4_000, 15_000, 30_000]) {
    await fail();
    await clock.advance(delay);
  }
  const session = await succeed();
  expect([connection.session, connection.state]).toEqual([session, { kind: 'ready', since: 52_500, attempt: 7 }]);
});

verifies(['REC-15', 'TDN-02'], 'no timer outlives a close, whatever it was doing', async () => {
  const stations: Record<string, (parts: ReturnType<typeof setUp>) => Promise<unknown>> = {
    connecting: async () => undefined,
    ready: ({ succeed }) => succeed(),
    waiting: ({ fail }) => fail(),
    failed: async ({ fail, clock }) => {
      for (const delay of [500, 1_000, 2_000, 4_000, 0]) {
        await fail();
        await clock.advance(delay);
      }
    },
  };
  for (const [kind, reach] of Object.entries(stations)) {
    const parts = setUp({ isRemote: true });
    const { connection, clock, openings, wake } = parts;
    await wake();
    await reach(parts);
    expect(connection.state.kind).toBe(kind);
    const closing = connection.close();
    if (kind === 'connecting') parts.opening(-1).result.reject(outage);
    await closing;
    const before = openings.length;
    await clock.advance(600_000);
    expect([clock.pending(), openings.length, connection.state.kind], kind).toEqual([0, before, 'closed']);
  }
});

verifies('TDN-02', 'a close waits for the session to be gone', async () => {
  const { connection, clock, succeed, wake } = setUp();
  await wake();
  const gone = createDeferred<void>();
  await succeed({ ...createFakeSession(), close: () => gone.promise });
  const closing = follow(connection.close());
  await clock.advance(0);
  expect(closing.ending).toBe('open');
  gone.resolve();
  await clock.advance(0);
  expect(closing.ending).toBe(undefined);
});

test('an error while closing is reported, and holds nothing up', async () => {
  const told: unknown[] = [];
  const { connection, succeed, wake } = setUp({ onError: (error) => told.push(error) });
  await wake();
  const failure = new Error('it does not end');
  await succeed({ ...createFakeSession(), close: () => Promise.reject(failure) });
  await connection.close();
  expect(told).toEqual([failure]);
});

test('the next process starts only when the former one is gone, and when an earlier connection’s is', async () => {
  const earlier = createDeferred<void>();
  const { connection, openings, clock, succeed, wake } = setUp({ former: earlier.promise });
  await wake();
  expect(openings).toHaveLength(0);
  earlier.resolve();
  await clock.advance(0);
  expect(openings).toHaveLength(1);
  const gone = createDeferred<void>();
  await succeed({ ...createFakeSession(), close: () => gone.promise });
  connection.reconnect();
  await clock.advance(1_000);
  expect(openings).toHaveLength(1);
  gone.resolve();
  await clock.advance(0);
  expect(openings).toHaveLength(2);
  await succeed();
});

test('a session is attended to for as long as it is up', async () => {
  const attended: string[] = [];
  const { connection, clock, succeed, wake } = setUp({
    watchSession: () => {
      attended.push('began');
      return () => void attended.push('stopped');
    },
  });
  await wake();
  const session = await succeed();
  expect(attended).toEqual(['began']);
  session.end(outage);
  await clock.advance(500);
  expect(attended).toEqual(['began', 'stopped']);
  await succeed();
  await connection.close();
  expect(attended).toEqual(['began', 'stopped', 'began', 'stopped']);
});

describe('a local server that keeps dying', () => {
  /** The server dies and a call restarts it, as often as that is allowed. */
  async function flap(parts: ReturnType<typeof setUp>, times: number): Promise<void> {
    const { connection, clock, succeed } = parts;
    for (let life = 0; life < times; life++) {
      const session = await succeed();
      session.use({ served: 1 });
      session.end(outage);
      await clock.advance(0);
      void connection.whenReady().catch(() => 'told elsewhere');
      await clock.advance(0);
    }
  }

  test('is started again five times in 30 s however many calls ask, and then rests until the window allows', async () => {
    const parts = setUp();
    await parts.wake();
    await flap(parts, 6);
    expect(parts.openedAt()).toEqual([0, 0, 0, 0, 0, 0]);
    expect(parts.connection.state).toMatchObject({ kind: 'waiting', retryAt: limits.startBurst.windowMs });
    const asked = follow(parts.connection.whenReady());
    await parts.clock.advance(limits.startBurst.windowMs - 1);
    expect([parts.openings.length, asked.ending]).toEqual([6, 'open']);
    await parts.clock.advance(1);
    const session = await parts.succeed();
    expect([parts.openings.length, asked.ending]).toEqual([7, session]);
  });

  test('rests also when it has been given up: a call waits, and starts nothing', async () => {
    const parts = setUp({ reconnect: once });
    await parts.wake();
    await flap(parts, 5);
    await parts.succeed();
    parts.openings.length = 0;
    const { connection, clock } = parts;
    connection.session?.markLost('again');
    await clock.advance(0);
    expect(connection.state.kind).toBe('failed');
    void connection.whenReady().catch(() => 'told elsewhere');
    await clock.advance(0);
    expect([connection.state, parts.openings.length]).toEqual([
      expect.objectContaining({ kind: 'waiting', retryAt: limits.startBurst.windowMs }),
      0,
    ]);
    await clock.advance(limits.startBurst.windowMs);
    expect(parts.openings).toHaveLength(1);
    await parts.succeed();
  });

  test('uses up nothing of that by attempts that fail: their schedule has its own end', async () => {
    const parts = setUp({ reconnect: { delaysMs: [1, 1, 1, 1, 1, 1, 1, 1], jitter: 0, background: false } });
    await parts.wake();
    for (let attempt = 0; attempt < 8; attempt++) {
      await parts.fail();
      await parts.clock.advance(1);
    }
    expect(parts.openedAt()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    await parts.succeed();
  });

  test('is another matter than a remote one: an address may be asked as often as calls need it', async () => {
    const parts = setUp({ isRemote: true });
    await parts.wake();
    await flap(parts, 20);
    expect(parts.openings).toHaveLength(21);
    await parts.succeed();
  });

  verifies(
    'REC-21',
    'has a clean record after a reconnect by hand: its starts and its attempts count anew',
    async () => {
      const parts = setUp();
      await parts.wake();
      await flap(parts, 6);
      const { connection, clock } = parts;
      expect(connection.state.kind).toBe('waiting');
      connection.reconnect();
      await clock.advance(0);
      expect(connection.state).toEqual({ kind: 'connecting', attempt: 1, hurried: false });
      await flap(parts, 6);
      expect([parts.openings.length, connection.state.kind]).toEqual([6 + 6, 'waiting']);
    },
  );

  verifies('REC-21', 'that was given up is tried its full schedule again after a reconnect by hand', async () => {
    const parts = setUp();
    const { connection, clock, fail, openedAt } = parts;
    await parts.wake();
    const exhaust = async () => {
      for (const delay of [500, 1_000, 2_000, 4_000, 0]) {
        await fail();
        await clock.advance(delay);
      }
    };
    await exhaust();
    expect([connection.state.kind, openedAt().length]).toEqual(['failed', 5]);
    connection.reconnect();
    await clock.advance(0);
    await exhaust();
    expect([connection.state.kind, openedAt().length]).toEqual(['failed', 10]);
  });
});

describe('waiting for an attempt', () => {
  test('ends with the attempt, well or badly, or at once where there is none', async () => {
    const { connection, clock, fail, wake } = setUp();
    await connection.whenSettled();
    await wake();
    const settled = follow(connection.whenSettled());
    const decided = follow(connection.whenDecided());
    await clock.advance(0);
    expect([settled.ending, decided.ending]).toEqual(['open', 'open']);
    await fail();
    expect([settled.ending, decided.ending]).toEqual([undefined, 'open']);
    await connection.close();
    await clock.advance(0);
    expect(decided.ending).toBe(undefined);
  });

  test('for a decision goes on until it is up, or no further attempt is planned', async () => {
    const up = setUp();
    await up.wake();
    const decided = follow(up.connection.whenDecided());
    await up.fail();
    await up.clock.advance(500);
    expect(decided.ending).toBe('open');
    await up.succeed();
    expect(decided.ending).toBe(undefined);

    const down = setUp({ reconnect: { delaysMs: [10], jitter: 0, background: false } });
    await down.wake();
    const given = follow(down.connection.whenDecided());
    await down.fail();
    await down.clock.advance(10);
    expect(given.ending).toBe('open');
    await down.fail();
    expect(given.ending).toBe(undefined);
  });
});

const happenings = [
  ...['wake', 'call', 'succeed', 'fail', 'refuse', 'end', 'serve and end', 'reconnect', 'idle-stop', 'unblock'],
  ...['a moment', 'a second', 'a minute'],
] as const;

test('whatever happens, one session at most is open, every call gets an end, and nothing is left', async () => {
  const login = new RuntimeError('AUTH_REQUIRED', { server: 's' });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...happenings), { maxLength: 30 }),
      fc.boolean(),
      async (story, isRemote) => {
        const { connection, clock, openings, opening } = setUp({ isRemote });
        const sessions: FakeSession[] = [];
        const calls: { ending: unknown }[] = [];
        const waits = { 'a moment': 10, 'a second': 1_000, 'a minute': 60_000 };
        let settled = 0;
        /** The latest opening, if it is still open. */
        const settle = (end: (result: Deferred<Session>) => void): boolean => {
          if (openings.length === settled) return false;
          settled = openings.length;
          end(opening(-1).result);
          return true;
        };
        const acts: Record<Exclude<(typeof happenings)[number], keyof typeof waits>, () => unknown> = {
          wake: () => connection.wake(),
          call: () => calls.push(follow(connection.whenReady())),
          succeed: () => {
            const session = createFakeSession();
            if (settle((result) => result.resolve(session))) sessions.push(session);
          },
          fail: () => settle((result) => result.reject(outage)),
          refuse: () => settle((result) => result.reject(login)),
          end: () => sessions.at(-1)?.end(outage),
          'serve and end': () => {
            sessions.at(-1)?.use({ served: 1 });
            sessions.at(-1)?.end(outage);
          },
          reconnect: () => connection.reconnect(),
          'idle-stop': () => connection.idleStop(),
          unblock: () => connection.unblock(),
        };
        for (const each of story) {
          if (each in waits) await clock.advance(waits[each as keyof typeof waits]);
          else acts[each as keyof typeof acts]();
          await clock.advance(0);
          expect(openings.filter(({ signal }) => !signal.aborted).length).toBeLessThanOrEqual(1);
        }
        for (const { result } of openings) result.reject(outage);
        await connection.close();
        await clock.advance(0);
        expect(sessions.map((each) => each.closed())).toEqual(sessions.map(() => 1));
        expect([clock.pending(), calls.filter(({ ending }) => ending === 'open'), connection.session]).toEqual([
          0,
          [],
          undefined,
        ]);
      },
    ),
    { numRuns: runs(100) },
  );
});

describe('a session whose login is refused', () => {
  const refused = new RuntimeError('AUTH_FAILED', { server: 's', reason: 'no', status: 401 });

  verifies(
    ['CFG-21', 'REC-08'],
    'is opened again at once where there are other credentials, without a schedule',
    async () => {
      const renewal = createDeferred<boolean>();
      const { connection, clock, changes, succeed, wake } = setUp({
        reconnect: 'none',
        renewCredentials: () => renewal.promise,
      });
      await wake();
      const former = await succeed();
      former.end(refused);
      const next = connection.whenReplaced(former);
      await clock.advance(limits.lossMs * 2);
      expect(connection.state.kind, 'while the command runs').toBe('ready');
      renewal.resolve(true);
      await clock.advance(0);
      const session = await succeed();
      expect(await next).toBe(session);
      expect([changes, former.closed()]).toEqual([['connecting', 'ready', 'connecting', 'ready'], 1]);
    },
  );

  verifies(['CFG-21', 'LIF-03'], 'is blocked where there are none, and what waited learns why', async () => {
    const { connection, clock, succeed, wake } = setUp();
    await wake();
    const former = await succeed();
    former.end(refused);
    const next = connection.whenReplaced(former).catch((error: unknown) => error);
    await clock.advance(0);
    expect([connection.state.kind, await next]).toEqual(['blocked', refused]);
  });

  verifies('CFG-21', 'lets the calls in flight come to their end, for a while', async () => {
    for (const endsByItself of [true, false]) {
      const quiet = createDeferred<void>();
      const { connection, clock, succeed, wake } = setUp({ renewCredentials: async () => true });
      await wake();
      const former = await succeed(createFakeSession({ whenQuiet: () => quiet.promise }));
      former.end(refused);
      await clock.advance(limits.expiredDrainMs - 1);
      expect([connection.state.kind, former.closed()]).toEqual(['ready', 0]);
      if (endsByItself) quiet.resolve();
      await clock.advance(endsByItself ? 0 : 1);
      expect([connection.state.kind, former.closed()]).toEqual(['connecting', 1]);
    }
  });

  verifies('CFG-21', 'is renewed once in a row, unless it did its work or was stable', async () => {
    for (const [prove, isRenewed] of [
      [() => undefined, false],
      [(session: FakeSession) => session.use({ served: 1 }), true],
      [(_: FakeSession, clock: { advance(ms: number): Promise<unknown> }) => clock.advance(limits.stableMs), true],
    ] as const) {
      const { connection, clock, succeed, wake } = setUp({ renewCredentials: async () => true });
      await wake();
      (await succeed()).end(refused);
      await clock.advance(0);
      const second = await succeed();
      await prove(second, clock);
      second.end(refused);
      await clock.advance(0);
      expect(connection.state.kind).toBe(isRenewed ? 'connecting' : 'blocked');
    }
  });

  test('is not opened again by credentials that come after the connection was closed', async () => {
    const renewal = createDeferred<boolean>();
    const { connection, openings, clock, succeed, wake } = setUp({ renewCredentials: () => renewal.promise });
    await wake();
    (await succeed()).end(refused);
    await clock.advance(0);
    await connection.close();
    renewal.resolve(true);
    await clock.advance(0);
    expect([connection.state.kind, openings.length]).toEqual(['closed', 1]);
  });
});

verifies('CAL-09', 'a call does not give up while a person is asked, and has its whole time afterwards', async () => {
  let isAsked = true;
  const { connection, clock } = setUp({ callWaitMs: () => 2_000, isPersonAsked: () => isAsked });
  const waiting = follow(connection.whenReady());
  await clock.advance(10_000);
  isAsked = false;
  await clock.advance(2_000 + limits.startFailureMs - 1);
  expect(waiting.ending).toBe('open');
  await clock.advance(1);
  expect(waiting.ending).toMatchObject({ code: 'STARTUP_TIMEOUT', data: { reason: 'a call waited for it' } });
});

verifies('CAL-09', 'a call waits for the next attempt no longer than for a start without an installation', async () => {
  const callWaitMs = (isStarting: boolean) => (isStarting ? 300_000 : 2_000);
  const reconnect = { delaysMs: [500_000, 500_000], jitter: 0, background: false as const };
  const { connection, clock, fail, wake } = setUp({ callWaitMs, reconnect });
  await wake();
  await fail(outage);
  const hurrying = follow(connection.whenReady());
  await clock.advance(0);
  await fail(outage);
  expect([hurrying.ending, connection.state.kind]).toEqual([outage, 'waiting']);
  const waiting = follow(connection.whenReady());
  expect(connection.state.kind, 'a call hurries it only once').toBe('waiting');
  await clock.advance(1_999);
  expect(waiting.ending).toBe('open');
  await clock.advance(1);
  expect(waiting.ending).toMatchObject({ code: 'STARTUP_TIMEOUT', data: { afterMs: 2_000 } });
});

verifies(
  'CAL-09',
  'a start whose time is up with that of the call is heard out: its own failure says more',
  async () => {
    const { connection, clock, fail } = setUp({ callWaitMs: () => 2_000 });
    const waiting = follow(connection.whenReady());
    await clock.advance(2_000 + limits.startFailureMs - 1);
    expect(waiting.ending).toBe('open');
    await fail(outage);
    expect([waiting.ending, clock.pending()], 'only the timer of the retry is left').toEqual([outage, 1]);
  },
);
