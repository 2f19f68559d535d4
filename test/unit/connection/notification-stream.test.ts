// Owns the proof that the notification stream of a modern server is kept open, and that legacy servers get none.

import { expect, test } from 'vitest';
import { keepListChangedStream } from '../../../src/connection/notification-stream.ts';
import type { RequestOutcome, Session } from '../../../src/connection/session.ts';
import { createDeferred, type Deferred } from '../../../src/kernel/deferred.ts';
import { limits } from '../../../src/model/limits.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { createFakeSession } from '../session.ts';

const changing = { tools: { listChanged: true }, prompts: { listChanged: true }, resources: {} };

function setUp(change: Partial<Session> = {}) {
  const clock = createFakeClock();
  const streams: { at: number; stream: Deferred<RequestOutcome> }[] = [];
  const session = createFakeSession({
    era: 'modern',
    capabilities: changing,
    request: (_method, _params, { cancellation } = {}) => {
      const stream = createDeferred<RequestOutcome>();
      streams.push({ at: clock.now(), stream });
      return cancellation ? cancellation.race(stream.promise) : stream.promise;
    },
    ...change,
  });
  const missed: string[] = [];
  const stop = keepListChangedStream(session, clock, (method) => missed.push(method));
  /** Ends the latest stream. */
  const end = async (outcome: RequestOutcome) => {
    streams.at(-1)?.stream.resolve(outcome);
    await clock.advance(0);
  };
  return { clock, session, missed, stop, end, openedAt: () => streams.map(({ at }) => at) };
}

const dropped: RequestOutcome = { kind: 'lost', sent: true };

verifies('EXT-01', 'a modern server is asked once for the list changes it reports', async () => {
  const { clock, session, stop } = setUp();
  await clock.advance(3_600_000);
  expect(session.asked).toEqual([
    {
      method: 'subscriptions/listen',
      params: { notifications: { toolsListChanged: true, promptsListChanged: true } },
    },
  ]);
  stop();
  await clock.advance(0);
  expect(clock.pending()).toBe(0);
});

verifies('EXT-01', 'a stream that drops is opened again after 1, 2, 4 … 60 s', async () => {
  const { clock, end, openedAt } = setUp();
  for (const pause of [1, 2, 4, 8, 16, 32, 60, 60]) {
    await end(dropped);
    await clock.advance(pause * 1_000 - 1);
    const before = openedAt().length;
    await clock.advance(1);
    expect(openedAt().length - before, `after ${pause} s`).toBe(1);
  }
});

verifies('EXT-01', 'a stream that lasted begins with 1 s again, also one that its server ended', async () => {
  const { clock, end, openedAt } = setUp();
  for (const pause of [1_000, 2_000, 4_000]) {
    await end(dropped);
    await clock.advance(pause);
  }
  await clock.advance(limits.stableMs);
  await end({ kind: 'result', result: {} });
  await clock.advance(1_000);
  expect(openedAt()).toEqual([0, 1_000, 3_000, 7_000, 7_000 + limits.stableMs + 1_000]);
});

verifies(
  'EXT-01',
  'lists that may have changed while the stream was down count as changed, once it is open again',
  async () => {
    const { clock, session, missed, end, stop } = setUp();
    const acknowledge = () => session.say('notifications/subscriptions/acknowledged');
    acknowledge();
    expect(missed).toEqual([]);
    await end(dropped);
    await clock.advance(1_000);
    expect(missed).toEqual([]);
    acknowledge();
    acknowledge();
    expect(missed).toEqual(['notifications/tools/list_changed', 'notifications/prompts/list_changed']);
    await end(dropped);
    stop();
    acknowledge();
    expect(missed).toHaveLength(2);
  },
);

verifies('EXT-01', 'a server that refuses is not asked again', async () => {
  for (const refusal of [
    { kind: 'error', code: -32601, message: 'what?' },
    { kind: 'error', code: -32602, message: 'no' },
  ] as const) {
    const { clock, end, openedAt } = setUp();
    await end(refusal);
    await clock.advance(3_600_000);
    expect([openedAt(), clock.pending()]).toEqual([[0], 0]);
  }
});

test('no stream is opened to a legacy server, nor to one that reports no changes', () => {
  const quiet: Partial<Session>[] = [
    { era: 'legacy' },
    { capabilities: {} },
    { capabilities: { tools: {} } },
    { capabilities: { tools: { listChanged: 'yes' }, prompts: true } },
  ];
  for (const change of quiet) {
    const { session, clock, stop } = setUp(change);
    stop();
    expect([session.asked, clock.pending()]).toEqual([[], 0]);
  }
});

test('a stopped stream leaves neither a request nor a timer', async () => {
  const listening = setUp();
  listening.stop();
  await listening.clock.advance(3_600_000);
  expect([listening.openedAt(), listening.clock.pending()]).toEqual([[0], 0]);
  const pausing = setUp();
  await pausing.end(dropped);
  expect(pausing.clock.pending()).toBe(1);
  pausing.stop();
  await pausing.clock.advance(3_600_000);
  expect([pausing.openedAt(), pausing.clock.pending()]).toEqual([[0], 0]);
});

test('an acknowledgement of another stream of the same server is ignored', async () => {
  const streams: Deferred<RequestOutcome>[] = [];
  const { clock, session, missed } = setUp({
    request: (_method, _params, { cancellation, onId } = {}) => {
      const stream = createDeferred<RequestOutcome>();
      streams.push(stream);
      onId?.(7);
      return cancellation ? cancellation.race(stream.promise) : stream.promise;
    },
  });
  const acknowledge = (id: unknown) =>
    session.say('notifications/subscriptions/acknowledged', {
      _meta: { 'io.modelcontextprotocol/subscriptionId': id },
    });
  streams.at(-1)?.resolve(dropped);
  await clock.advance(limits.listenAgainMs);
  acknowledge(8);
  expect([streams.length, missed]).toEqual([2, []]);
  acknowledge('7');
  expect(missed).toEqual(['notifications/tools/list_changed', 'notifications/prompts/list_changed']);
});
