// Owns the proof of who answers what a server asks for: the caller in flight, else whoever holds the session alone, else nobody.

import { expect, test } from 'vitest';
import { capabilitiesOf, InputDesk, type InputHandlers, type InputMethod } from '../../../src/connection/requests.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';

const person = (name: string): Required<InputHandlers> => ({
  elicit: async () => ({ action: 'accept', content: { name } }),
  sample: async () => ({ model: name }),
  roots: async () => [{ uri: `file:///${name}` }],
});
const [ada, bob] = [person('ada'), person('bob')];

function setUp() {
  const clock = createFakeClock();
  const desk = new InputDesk('files', clock);
  /** Who answered, in one word. */
  const ask = async (method: InputMethod) => {
    try {
      return JSON.stringify(await desk.answerUnaddressed(method, {})).match(/ada|bob|decline/)?.[0];
    } catch (error) {
      return error instanceof Error && 'code' in error ? error.code : error;
    }
  };
  const askAll = async () => [
    await ask('elicitation/create'),
    await ask('sampling/createMessage'),
    await ask('roots/list'),
  ];
  return { clock, desk, ask, askAll };
}

const NOBODY = ['decline', -32601, -32601];

verifies('LIF-10', 'only what has a handler is advertised', () => {
  expect(capabilitiesOf({})).toEqual({});
  expect(capabilitiesOf(ada)).toEqual({ elicitation: { form: {}, url: {} }, sampling: {}, roots: {} });
  expect(capabilitiesOf({ roots: ada.roots })).toEqual({ roots: {} });
});

test('without a call, whoever holds the session alone answers', async () => {
  const { desk, askAll } = setUp();
  expect(await askAll()).toEqual(NOBODY);
  const letGo = desk.hold(ada);
  expect(await askAll()).toEqual(['ada', 'ada', 'ada']);
  letGo();
  expect(await askAll()).toEqual(NOBODY);
});

verifies('EXT-13', 'of two who share a session neither is asked, but for their roots, which are the same', async () => {
  const { desk, askAll } = setUp();
  desk.hold(ada);
  const letGo = desk.hold(bob);
  expect(await askAll()).toEqual(['decline', -32601, 'ada']);
  letGo();
  expect(await askAll()).toEqual(['ada', 'ada', 'ada']);
});

verifies('EXT-13', 'during a call its caller is asked, whoever else holds the session', async () => {
  const { desk, askAll } = setUp();
  desk.hold(ada);
  desk.hold(bob);
  desk.enter(bob);
  desk.enter(bob);
  expect(await askAll()).toEqual(['bob', 'bob', 'bob']);
  desk.leave(bob);
  expect(await askAll(), 'one of its calls still runs').toEqual(['bob', 'bob', 'bob']);
  desk.enter(ada);
  expect(await askAll(), 'whose call it is cannot be told').toEqual(['decline', -32601, 'ada']);
  desk.leave(bob);
  expect(await askAll()).toEqual(['ada', 'ada', 'ada']);
});

test('how busy it is, since when it is quiet and what it has served is known', async () => {
  const { clock, desk } = setUp();
  await clock.advance(5);
  expect([desk.isBusy, desk.quietSince]).toEqual([false, 0]);
  desk.enter(ada);
  await clock.advance(10);
  expect(desk.isBusy).toBe(true);
  desk.leave(ada);
  expect([desk.isBusy, desk.quietSince]).toEqual([false, 15]);
});

const requestedSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'Ada' },
    age: { type: 'integer', default: 0 },
    isSure: { type: 'boolean', default: false },
    city: { type: 'string' },
    odd: 'no schema',
  },
};

const forms: Record<string, [answer: Awaited<ReturnType<Required<InputHandlers>['elicit']>>, sent: unknown]> = {
  'fields left out of an accepted form get the defaults of the server': [
    { action: 'accept', content: { name: 'Bob' } },
    { action: 'accept', content: { name: 'Bob', age: 0, isSure: false } },
  ],
  'a form accepted as it is consists of them': [
    { action: 'accept' },
    { action: 'accept', content: { name: 'Ada', age: 0, isSure: false } },
  ],
  'a form that was declined has none': [{ action: 'decline' }, { action: 'decline' }],
  'a form that was cancelled has none': [{ action: 'cancel' }, { action: 'cancel' }],
};

for (const [sentence, [answer, sent]] of Object.entries(forms)) {
  test(sentence, async () => {
    const { desk } = setUp();
    const params = { message: 'Who?', requestedSchema };
    expect(await desk.answer('elicitation/create', params, { elicit: async () => answer })).toEqual(sent);
  });
}

test('a page to visit has no fields', async () => {
  const { desk } = setUp();
  const asked: unknown[] = [];
  const elicit: InputHandlers['elicit'] = async (request) => {
    asked.push(request);
    return { action: 'accept' };
  };
  const params = { mode: 'url', message: 'Go', url: 'https://a.example', requestedSchema };
  expect(await desk.answer('elicitation/create', params, { elicit })).toEqual({ action: 'accept' });
  expect(asked).toEqual([{ server: 'files', mode: 'url', message: 'Go', url: 'https://a.example', requestedSchema }]);
});

test('whatever a server asks with, the person sees a form of the known shape', async () => {
  const { desk } = setUp();
  const asked: unknown[] = [];
  const elicit: InputHandlers['elicit'] = async (request) => {
    asked.push(request);
    return { action: 'accept', content: {} };
  };
  for (const params of [{}, { mode: 7, message: null, requestedSchema: null, url: {} }])
    expect(await desk.answer('elicitation/create', params, { elicit })).toEqual({ action: 'accept', content: {} });
  expect(asked).toEqual([
    { server: 'files', mode: 'form', message: '' },
    { server: 'files', mode: 'form', message: '' },
  ]);
});
