// Owns the proof of what becomes of an elicitation put to a person: when a person is asked, which answers count, and which events are emitted.

import { expect } from 'vitest';
import type { ClientHandlers, ElicitationPolicy } from '../../../../src/connection/client-handlers.ts';
import { completed, elicit } from '../../../../src/connection/elicitation/elicit.ts';
import type { ElicitationEvent } from '../../../../src/connection/elicitation/events.ts';
import type { ElicitAnswer, Elicitation } from '../../../../src/connection/elicitation/request.ts';
import { limits } from '../../../../src/model/limits.ts';
import { createFakeClock } from '../../../../src/testing/fake-clock.ts';
import { verifies } from '../../../verifies.ts';

const form: Elicitation = {
  mode: 'form',
  server: 'files',
  message: 'Who?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  asksForSecret: false,
};
const page: Elicitation = {
  mode: 'url',
  server: 'files',
  message: 'Log in',
  url: 'https://a.example/?token=x',
  host: 'a.example',
  awaitsCompletion: false,
};

function setUp(handler: ClientHandlers['elicit'] | undefined, policy: ElicitationPolicy = 'ask') {
  const clock = createFakeClock();
  const events: ElicitationEvent[] = [];
  const errors: unknown[] = [];
  const controller = new AbortController();
  const handlers = {
    ...(handler && { elicit: handler }),
    emit: (event: ElicitationEvent) => void events.push(event),
    onError: (error: unknown) => void errors.push(error),
  };
  const ask = (asked: Elicitation) => elicit(asked, { handlers, policy, clock, controller });
  return { ask, clock, events, errors, controller };
}

const answering = (answer: unknown) => async () => answer as ElicitAnswer;

const answers: Record<string, [asked: Elicitation, answer: unknown, elicited: unknown, errors: number]> = {
  'that fits its form is sent': [
    form,
    { action: 'accept', content: { name: 'Ada', more: 1 } },
    { action: 'accept', because: 'answered', content: { name: 'Ada' } },
    0,
  ],
  'of no is sent without any content': [
    form,
    { action: 'decline', content: { name: 'Ada' } },
    { action: 'decline', because: 'answered' },
    0,
  ],
  'of neither yes nor no is sent': [form, { action: 'cancel' }, { action: 'cancel', because: 'answered' }, 0],
  'that does not fit its form is a no': [
    form,
    { action: 'accept', content: { name: 7 } },
    { action: 'decline', because: 'bad-answer' },
    1,
  ],
  'that lacks a required field is a decline': [
    form,
    { action: 'accept' },
    { action: 'decline', because: 'bad-answer' },
    1,
  ],
  'with an unknown action is a decline': [form, { action: 'maybe' }, { action: 'decline', because: 'bad-answer' }, 1],
  'of nothing is a no': [form, undefined, { action: 'decline', because: 'bad-answer' }, 1],
  'to a page is sent without any content': [
    page,
    { action: 'accept', content: { name: 'Ada' } },
    { action: 'accept', because: 'answered' },
    0,
  ],
  'to a page may say that it is done': [
    page,
    { action: 'accept', isDone: true },
    { action: 'accept', because: 'answered', isDone: true },
    0,
  ],
};

for (const [sentence, [asked, answer, elicited, complaints]] of Object.entries(answers))
  verifies('EXT-02', `an answer ${sentence}`, async () => {
    const { ask, clock, errors } = setUp(answering(answer));
    expect(await ask(asked)).toEqual(elicited);
    expect([errors.length, clock.pending()]).toEqual([complaints, 0]);
  });

verifies('EXT-02', 'a handler that throws has said neither yes nor no, at once or later', async () => {
  const failure = new Error('no window');
  for (const handler of [
    () => Promise.reject(failure),
    () => {
      throw failure;
    },
  ]) {
    const { ask, clock, errors } = setUp(handler);
    expect(await ask(form)).toEqual({ action: 'cancel', because: 'failed' });
    expect([errors, clock.pending()]).toEqual([[failure], 0]);
  }
});

verifies('EXT-02', 'a handler that never answers has said neither, when the time is up', async () => {
  const signals: AbortSignal[] = [];
  const { ask, clock } = setUp(({ signal }) => {
    signals.push(signal);
    return new Promise(() => undefined);
  });
  const asked = ask(form);
  await clock.advance(limits.approvalMs - 1);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  await clock.advance(1);
  expect(await asked).toEqual({ action: 'cancel', because: 'silence' });
  expect([signals.map(({ aborted }) => aborted), clock.pending()]).toEqual([[true], 0]);
});

verifies(
  'EXT-02',
  'an elicitation that is withdrawn is a cancel, and one whose page is complete an accept',
  async () => {
    const never = () => new Promise<ElicitAnswer>(() => undefined);
    const [moot, done] = [setUp(never), setUp(never)];
    const asked = [moot.ask(form), done.ask(page)];
    moot.controller.abort();
    done.controller.abort(completed);
    expect(await Promise.all(asked)).toEqual([
      { action: 'cancel', because: 'withdrawn' },
      { action: 'accept', because: 'completed', isDone: true },
    ]);
    expect([moot.clock.pending(), done.clock.pending()]).toEqual([0, 0]);
    expect(await moot.ask(form), 'also before anybody was asked').toEqual({ action: 'cancel', because: 'withdrawn' });
  },
);

verifies('EXT-02', 'without a handler, or with a policy of decline, no person is asked', async () => {
  expect(await setUp(undefined).ask(form)).toEqual({ action: 'decline', because: 'nobody' });
  const asked: unknown[] = [];
  const handler = async (request: unknown) => {
    asked.push(request);
    return { action: 'accept' } as const;
  };
  expect(await setUp(handler, 'decline').ask(form)).toEqual({ action: 'decline', because: 'policy' });
  expect(asked).toEqual([]);
});

verifies('EXT-02', 'an elicitation emits a pair of events, without its answer or the address of its page', async () => {
  const { ask, events } = setUp(answering({ action: 'accept', content: { name: 'Ada' } }));
  await ask(form);
  await ask(page);
  const [first, second] = [events[0]?.questionId, events[2]?.questionId];
  expect(first).not.toBe(second);
  const settled = { type: 'elicitation.settled', server: 'files', action: 'accept', because: 'answered' };
  expect(events).toEqual([
    { type: 'elicitation.requested', server: 'files', questionId: first, mode: 'form', message: 'Who?' },
    { ...settled, questionId: first, mode: 'form' },
    {
      type: 'elicitation.requested',
      server: 'files',
      questionId: second,
      mode: 'url',
      message: 'Log in',
      host: 'a.example',
    },
    { ...settled, questionId: second, mode: 'url' },
  ]);
});
