// Owns the proof that no server asks more often than it may: during a call, in a minute, and with time that stands still.

import { expect } from 'vitest';
import type { ClientHandlers } from '../../../src/connection/client-handlers.ts';
import { LeaseHandlers } from '../../../src/connection/lease-handlers.ts';
import { QuestionLimits, QuestionPace } from '../../../src/connection/question-limits.ts';
import { ServerRequestRouter } from '../../../src/connection/requests.ts';
import { Cancellation } from '../../../src/kernel/cancellation.ts';
import { limits } from '../../../src/model/limits.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';

const { perCall, perMinute } = limits.questions;

function setUp() {
  const clock = createFakeClock();
  const pace = new QuestionPace(clock);
  return { clock, pace, questions: new QuestionLimits('files', pace) };
}

const call = () => ({ cancellation: new Cancellation() });

/** How many of so many questions in a row were admitted. */
function ask(questions: QuestionLimits, calls: readonly { readonly cancellation: Cancellation }[], times: number) {
  let admitted = 0;
  for (let at = 0; at < times; at++) {
    try {
      questions.admit(calls);
      admitted += 1;
    } catch (error) {
      expect(error).toMatchObject({ code: -32000, message: expect.stringMatching(/^too many questions: at most/) });
    }
  }
  return admitted;
}

verifies('EXT-02', 'a call whose server asks once too often is ended, and says so', () => {
  const { questions } = setUp();
  const one = call();
  expect(ask(questions, [one], perCall)).toBe(perCall);
  expect(one.cancellation.cancelled).toBe(false);
  expect(ask(questions, [one], 1)).toBe(0);
  expect(one.cancellation.reason).toMatchObject({
    code: 'QUESTIONS_EXCEEDED',
    data: { server: 'files', most: perCall },
  });
});

verifies('EXT-02', 'calls in flight together have ten questions each, and end together', () => {
  const { questions } = setUp();
  const [one, other] = [call(), call()];
  expect(ask(questions, [one, other], 2 * perCall)).toBe(2 * perCall);
  expect([one, other].map(({ cancellation }) => cancellation.cancelled)).toEqual([false, false]);
  expect(ask(questions, [one, other], 1)).toBe(0);
  expect([one, other].map(({ cancellation }) => cancellation.cancelled)).toEqual([true, true]);
  questions.forget(one);
  expect(ask(questions, [one], 1), 'counted anew').toBe(1);
});

verifies('EXT-02', 'without a call as well, so many are answered in a minute, and more in the next', async () => {
  const { clock, questions } = setUp();
  expect(ask(questions, [], 1_000)).toBe(perMinute);
  await clock.advance(59_999);
  expect(ask(questions, [], 1)).toBe(0);
  await clock.advance(1);
  expect(ask(questions, [], 1_000)).toBe(perMinute);
});

verifies('EXT-02', 'the sessions of one server share its minute', () => {
  const { pace, questions } = setUp();
  const another = new QuestionLimits('files', pace);
  expect(ask(questions, [], 20) + ask(another, [], 20)).toBe(perMinute);
});

verifies('EXT-02', 'a clock that is set back silences nobody', () => {
  let now = 1_000_000;
  const pace = new QuestionPace({ now: () => now });
  while (pace.admit());
  now = 0;
  expect(pace.admit()).toBe(true);
});

const form = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } };

verifies(
  'EXT-02',
  'a flood outside of calls reaches no handler, and raises no events where there is none',
  async () => {
    const clock = createFakeClock();
    let reached = 0;
    const reach = <Value>(value: Value) => {
      reached += 1;
      return Promise.resolve(value);
    };
    const handlers: ClientHandlers = {
      elicit: () => reach({ action: 'decline' } as const),
      sample: () => reach({}),
      roots: () => reach([]),
    };
    for (const method of ['elicitation/create', 'sampling/createMessage', 'roots/list'] as const) {
      reached = 0;
      const leases = new LeaseHandlers();
      leases.add(handlers);
      const router = new ServerRequestRouter({ server: 'files', clock, advertised: handlers, leases });
      const refusals: unknown[] = [];
      for (let at = 0; at < 100; at++) await router.route(method, form).catch((error: unknown) => refusals.push(error));
      expect([reached, refusals.length], method).toEqual([perMinute, 100 - perMinute]);
      expect(refusals[0]).toMatchObject({
        code: -32000,
        message: `too many questions: at most ${perMinute} a minute are answered`,
      });
    }
    const leases = new LeaseHandlers();
    const router = new ServerRequestRouter({ server: 'files', clock, advertised: {}, leases });
    let events = 0;
    leases.add({ emit: () => events++ });
    for (let at = 0; at < 100; at++) await router.route('elicitation/create', form).catch(() => undefined);
    expect(events).toBe(2 * perMinute);
  },
);

verifies('EXT-02', 'only a person who is asked makes the limits of a call stand still', async () => {
  const clock = createFakeClock();
  const never = () => new Promise<never>(() => undefined);
  const handlers = { elicit: never, sample: never, roots: never };
  const router = new ServerRequestRouter({ server: 'files', clock, advertised: handlers, leases: new LeaseHandlers() });
  const waiting: boolean[] = [];
  const end = router.beginCall({ handlers, onWaiting: (isWaiting) => waiting.push(isWaiting) });
  const asked = (['sampling/createMessage', 'roots/list'] as const).map((method) => router.route(method, {}));
  await clock.advance(5);
  expect(waiting).toEqual([]);
  asked.push(router.route('elicitation/create', form));
  await clock.advance(5);
  expect(waiting).toEqual([true]);
  end();
  await Promise.allSettled(asked);
  expect(clock.pending()).toBe(0);
});
