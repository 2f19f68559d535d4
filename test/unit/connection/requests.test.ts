// Owns the proof of which handlers answer a server request: those of the call in flight, else of the only lease, else none.

import { expect, test } from 'vitest';
import {
  type ClientHandlers,
  capabilitiesOf,
  permittedHandlers,
  type ServerRequestMethod,
  type ViewHandlers,
} from '../../../src/connection/client-handlers.ts';
import type { ElicitationEvent } from '../../../src/connection/elicitation/events.ts';
import { LeaseHandlers } from '../../../src/connection/lease-handlers.ts';
import { RequestTarget } from '../../../src/connection/request-target.ts';
import { type CallInFlight, type RouterDeps, ServerRequestRouter } from '../../../src/connection/requests.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';

const person = (name: string): Required<ClientHandlers> => ({
  elicit: async () => ({ action: 'accept', content: { name } }),
  sample: async () => ({ model: name }),
  roots: async () => [{ uri: `file:///${name}` }],
});
const [ada, bob] = [person('ada'), person('bob')];

const form = { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };

function setUp(change: Partial<RouterDeps> = {}) {
  const clock = createFakeClock();
  const leases = new LeaseHandlers();
  const router = new ServerRequestRouter({ server: 'files', clock, advertised: ada, leases, ...change });
  /** The name of the person who answered, `decline`, or the error code. */
  const ask = async (method: ServerRequestMethod) => {
    try {
      return JSON.stringify(await router.route(method, form)).match(/ada|bob|decline/)?.[0];
    } catch (error) {
      return error instanceof Error && 'code' in error ? error.code : error;
    }
  };
  const askAll = async () => [
    await ask('elicitation/create'),
    await ask('sampling/createMessage'),
    await ask('roots/list'),
  ];
  return { clock, router, leases, ask, askAll };
}

const NOBODY = ['decline', -32601, -32601];

verifies('LIF-10', 'only what has a handler is advertised', () => {
  expect(capabilitiesOf({})).toEqual({});
  expect(capabilitiesOf(ada)).toEqual({ elicitation: { form: {}, url: {} }, sampling: {}, roots: {} });
  expect(capabilitiesOf({ roots: ada.roots })).toEqual({ roots: {} });
});

test('without a call, the only lease of the session answers', async () => {
  const { leases, askAll } = setUp();
  expect(await askAll()).toEqual(NOBODY);
  const remove = leases.add(ada);
  expect(await askAll()).toEqual(['ada', 'ada', 'ada']);
  remove();
  expect(await askAll()).toEqual(NOBODY);
});

verifies(
  'EXT-13',
  'of two leases that share a session neither is asked, except for their roots, which are the same',
  async () => {
    const { leases, askAll } = setUp();
    leases.add(ada);
    const remove = leases.add(bob);
    expect(await askAll()).toEqual(['decline', -32601, 'ada']);
    remove();
    expect(await askAll()).toEqual(['ada', 'ada', 'ada']);
  },
);

verifies('EXT-13', 'during a call its view is asked, whatever leases the session has', async () => {
  const { router, leases, askAll } = setUp();
  leases.add(ada);
  leases.add(bob);
  const [endFirst, endSecond] = [router.beginCall({ handlers: bob }), router.beginCall({ handlers: bob })];
  expect(await askAll()).toEqual(['bob', 'bob', 'bob']);
  endFirst();
  expect(await askAll(), 'one of its calls still runs').toEqual(['bob', 'bob', 'bob']);
  router.beginCall({ handlers: ada });
  expect(await askAll(), 'whose call it is cannot be told').toEqual(['decline', -32601, 'ada']);
  endSecond();
  expect(await askAll()).toEqual(['ada', 'ada', 'ada']);
});

test('the router knows whether calls are in flight, and when the last one ended', async () => {
  const { clock, router } = setUp();
  await clock.advance(5);
  expect([router.isBusy, router.quietSince]).toEqual([false, 0]);
  const endCall = router.beginCall({ handlers: ada });
  await clock.advance(10);
  expect(router.isBusy).toBe(true);
  endCall();
  expect([router.isBusy, router.quietSince]).toEqual([false, 15]);
});

/** A handler that does not answer until the elicitation is withdrawn. */
function thinker() {
  const signals: AbortSignal[] = [];
  const events: ElicitationEvent[] = [];
  const handlers: ViewHandlers = {
    elicit: ({ signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    },
    emit: (event) => events.push(event),
  };
  return { handlers, events, aborted: () => signals.map((signal) => signal.aborted) };
}

/** A call that records when the server waits for an answer. */
function waiting(handlers: ViewHandlers) {
  const told: boolean[] = [];
  return { handlers, told, onWaiting: (isWaiting: boolean) => told.push(isWaiting) } satisfies CallInFlight & {
    told: boolean[];
  };
}

verifies(
  'EXT-02',
  'while a person is asked, the calls of that view know that the server waits for an answer',
  async () => {
    const { clock, router } = setUp();
    const answers: (() => void)[] = [];
    const handlers: ViewHandlers = {
      elicit: () => new Promise((resolve) => answers.push(() => resolve({ action: 'decline' }))),
    };
    const [first, second, other] = [waiting(handlers), waiting(handlers), waiting(ada)];
    const endCall = router.beginCall(first);
    const asked = [router.route('elicitation/create', form), router.route('elicitation/create', form)];
    await clock.advance(0);
    router.beginCall(second);
    router.beginCall(other);
    expect([first.told, second.told, other.told]).toEqual([[true], [true], []]);
    endCall();
    answers[0]?.();
    await clock.advance(0);
    expect(second.told, 'one question is still open').toEqual([true]);
    answers[1]?.();
    await Promise.all(asked);
    expect([first.told, second.told, other.told], 'a call that has ended is not told').toEqual([
      [true],
      [true, false],
      [],
    ]);
  },
);

verifies('EXT-02', 'an elicitation is withdrawn when the last call of its view has ended', async () => {
  const { clock, router } = setUp();
  const { handlers, aborted, events } = thinker();
  const [first, second] = [waiting(handlers), waiting(handlers)];
  const [endFirst, endSecond] = [router.beginCall(first), router.beginCall(second)];
  const asked = router.route('elicitation/create', form);
  await clock.advance(5);
  endFirst();
  expect(aborted()).toEqual([false]);
  endSecond();
  expect(await asked).toEqual({ action: 'cancel' });
  expect([aborted(), clock.pending(), events.at(-1)]).toMatchObject([[true], 0, { because: 'withdrawn' }]);
});

verifies('EXT-02', 'an elicitation is withdrawn with its lease, and with the session', async () => {
  const { clock, router, leases } = setUp();
  const [alone, calling] = [thinker(), thinker()];
  const remove = leases.add(alone.handlers);
  const first = router.route('elicitation/create', form);
  await clock.advance(5);
  remove();
  expect([await first, alone.aborted()]).toEqual([{ action: 'cancel' }, [true]]);
  router.beginCall({ handlers: calling.handlers });
  const second = router.route('elicitation/create', form);
  await clock.advance(5);
  router.close();
  expect([await second, calling.aborted(), clock.pending()]).toEqual([{ action: 'cancel' }, [true], 0]);
});

verifies(
  'EXT-02',
  'a server whose settings decline elicitations is not told of them, and no person is asked',
  async () => {
    const events: ElicitationEvent[] = [];
    const handlers: ViewHandlers = { ...ada, emit: (event) => events.push(event) };
    const advertised = permittedHandlers(handlers, 'decline');
    expect(capabilitiesOf(advertised)).toEqual({ sampling: {}, roots: {} });
    expect(permittedHandlers(handlers, 'ask')).toBe(handlers);
    const { router, ask } = setUp({ advertised, policy: 'decline' });
    router.beginCall({ handlers });
    expect(await ask('elicitation/create'), 'in the older era').toBe('decline');
    expect(
      await router.answer({ method: 'elicitation/create', params: form }, new RequestTarget(handlers)),
      'in the modern one',
    ).toEqual({
      action: 'decline',
    });
    expect(events.map((event) => ('because' in event ? event.because : event.message))).toEqual([
      ...['Who?', 'policy'],
      ...['Who?', 'policy'],
    ]);
  },
);

verifies('EXT-02', 'without a handler the server gets an error, and the host an event of what was missed', async () => {
  const events: ElicitationEvent[] = [];
  const handlers: ViewHandlers = { emit: (event) => events.push(event) };
  const { router, ask } = setUp({ advertised: {} });
  router.beginCall({ handlers });
  expect(await ask('elicitation/create'), 'in the older era').toBe(-32601);
  expect(
    await router.answer({ method: 'elicitation/create', params: form }, new RequestTarget(handlers)),
    'in the modern one',
  ).toEqual({
    action: 'decline',
  });
  const settled = { type: 'elicitation.settled', action: 'decline', because: 'nobody' };
  expect(events).toMatchObject([{ message: 'Who?' }, settled, { message: 'Who?' }, settled]);
});

test('an elicitation that the protocol does not allow reaches no handler', async () => {
  const { router } = setUp();
  const { handlers, events } = thinker();
  for (const params of [{}, { ...form, mode: 'voice' }, { ...form, message: 7 }, { ...form, requestedSchema: [] }])
    await expect(
      router.answer({ method: 'elicitation/create', params }, new RequestTarget(handlers)),
    ).rejects.toMatchObject({
      code: -32602,
    });
  expect(events).toEqual([]);
});
