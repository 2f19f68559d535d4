// Owns the proof of when a quiet server is pinged, when a missing answer counts against it, and when no ping is sent.

import { expect, test } from 'vitest';
import { healthPolicy } from '../../../src/config/health.ts';
import { watchHealth } from '../../../src/connection/health.ts';
import type { RequestOutcome, Session } from '../../../src/connection/session.ts';
import type { HealthPolicy } from '../../../src/model/server.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { createFakeSession } from '../session.ts';

type Reply = RequestOutcome | 'silence';

interface Circumstances {
  readonly policy?: HealthPolicy;
  readonly keepAliveMs?: number;
  readonly session?: Partial<Session>;
  readonly reply?: () => Reply;
}

const alive: RequestOutcome = { kind: 'result', result: {} };

/** A remote legacy session that answers every ping, with default settings. */
function setUp({
  policy = healthPolicy('remote'),
  keepAliveMs = 50_000,
  session,
  reply = () => alive,
}: Circumstances = {}) {
  const clock = createFakeClock();
  const pings: number[] = [];
  const watched = createFakeSession({
    transport: 'http',
    request: async (method, _params, { cancellation } = {}) => {
      if (method !== 'ping' || cancellation === undefined) throw new TypeError(`${method} was not expected`);
      pings.push(clock.now());
      const answer = reply();
      if (answer === 'silence') return cancellation.race(new Promise<never>(() => undefined));
      watched.hear();
      return answer;
    },
    ...session,
  });
  let lost: unknown;
  void watched.ended.then(({ data }) => {
    lost = 'reason' in data && [clock.now(), data.reason];
  });
  const stop = watchHealth(watched, { policy, keepAliveMs, clock });
  return { clock, pings, session: watched, stop, lost: () => lost };
}

verifies('REC-16', 'a quiet remote server is pinged every 30 s, and an answer is all it takes', async () => {
  const { clock, pings, lost, stop } = setUp();
  await clock.advance(600_000);
  expect(pings).toEqual(Array.from({ length: 20 }, (_, at) => (at + 1) * 30_000));
  expect(lost()).toBeUndefined();
  stop();
  expect(clock.pending()).toBe(0);
});

verifies('REC-16', 'it has 5 s to answer, and is lost after five misses in a row', async () => {
  const { clock, pings, lost } = setUp({ reply: () => 'silence' });
  await clock.advance(4 * 35_000 + 34_999);
  expect([pings.length, lost()]).toEqual([5, undefined]);
  await clock.advance(1);
  expect(lost()).toEqual([5 * 35_000, 'it did not answer 5 pings in a row']);
  await clock.advance(600_000);
  expect([pings.length, clock.pending()], 'nobody asks any more').toEqual([5, 0]);
});

verifies('REC-16', 'an answer in between starts the count anew', async () => {
  const replies: Reply[] = ['silence', 'silence', 'silence', 'silence', alive];
  const { clock, pings, lost } = setUp({ reply: () => replies[(pings.length - 1) % 5] ?? alive });
  await clock.advance(3_600_000);
  expect([pings.length > 90, lost()]).toEqual([true, undefined]);
});

verifies('REC-16', 'a request that got lost is a miss, and an error is an answer', async () => {
  const { clock, lost } = setUp({ reply: () => ({ kind: 'lost', sent: true }) });
  await clock.advance(150_000);
  expect(lost()).toEqual([150_000, 'it did not answer 5 pings in a row']);
  const failing = setUp({ reply: () => ({ kind: 'error', code: -32603, message: 'out of order' }) });
  await failing.clock.advance(600_000);
  expect([failing.pings.length, failing.lost()]).toEqual([20, undefined]);
});

verifies('REC-16', 'while messages arrive from it, no ping is sent', async () => {
  const { clock, pings, session } = setUp();
  for (let look = 0; look < 10; look++) {
    await clock.advance(29_999);
    session.hear();
    await clock.advance(1);
  }
  expect(pings).toEqual([]);
  await clock.advance(30_000);
  expect(pings).toEqual([330_000]);
});

verifies('REC-16', 'a server that knows no ping is asked once', async () => {
  const { clock, pings, lost } = setUp({ reply: () => ({ kind: 'error', code: -32601, message: 'what?' }) });
  await clock.advance(600_000);
  expect([pings, lost(), clock.pending()]).toEqual([[30_000], undefined, 0]);
});

verifies('REC-16', 'a server of the modern era is never asked: it has no session', async () => {
  for (const mode of ['remote', 'all', 'off'] as const) {
    const { clock, pings } = setUp({ policy: healthPolicy(mode), session: { era: 'modern' } });
    await clock.advance(600_000);
    expect([pings, clock.pending()]).toEqual([[], 0]);
  }
});

verifies('REC-16', 'local servers are asked only where the entry wants all to be', async () => {
  for (const transport of ['stdio', 'in-process'] as const) {
    const { clock, pings } = setUp({ session: { transport } });
    expect(clock.pending()).toBe(0);
    const all = setUp({ policy: healthPolicy('all'), session: { transport }, reply: () => 'silence' });
    await all.clock.advance(600_000);
    expect([pings.length, all.pings.length, all.lost()]).toEqual([
      0,
      5,
      [175_000, 'it did not answer 5 pings in a row'],
    ]);
  }
});

verifies('REC-16', 'an entry may change all of it', async () => {
  const policy: HealthPolicy = { mode: 'remote', intervalMs: 1_000, timeoutMs: 100, failures: 2 };
  const { clock, pings, lost } = setUp({ policy, reply: () => 'silence' });
  await clock.advance(10_000);
  expect([pings, lost()]).toEqual([
    [1_000, 2_100],
    [2_200, 'it did not answer 2 pings in a row'],
  ]);
});

verifies(
  'REC-17',
  'without a health check a remote session is still pinged after 50 s of silence, and nothing counts',
  async () => {
    const { clock, pings, lost, stop } = setUp({ policy: healthPolicy('off'), reply: () => 'silence' });
    await clock.advance(50_000);
    expect(pings).toEqual([50_000]);
    await clock.advance(3_600_000);
    expect([pings.length > 50, lost()]).toEqual([true, undefined]);
    stop();
  },
);

verifies(
  'REC-17',
  'a session is never left alone for longer than that, however seldom its health is asked for',
  async () => {
    const policy: HealthPolicy = { ...healthPolicy('remote'), intervalMs: 600_000 };
    const { clock, pings } = setUp({ policy });
    await clock.advance(150_000);
    expect(pings).toEqual([50_000, 100_000, 150_000]);
  },
);

verifies('REC-17', 'nothing keeps a local session alive, nor one that is to be left alone', async () => {
  for (const parts of [
    { policy: healthPolicy('off'), keepAliveMs: 0 },
    { policy: healthPolicy('off'), session: { transport: 'stdio' as const } },
  ]) {
    const { clock, pings } = setUp(parts);
    await clock.advance(600_000);
    expect([pings, clock.pending()]).toEqual([[], 0]);
  }
});

test('a check that is stopped during a ping ignores its outcome', async () => {
  const { clock, pings, lost, stop } = setUp({
    policy: { mode: 'remote', intervalMs: 1_000, timeoutMs: 100, failures: 1 },
    reply: () => 'silence',
  });
  await clock.advance(1_050);
  stop();
  await clock.advance(600_000);
  expect([pings, lost(), clock.pending()]).toEqual([[1_000], undefined, 0]);
});
