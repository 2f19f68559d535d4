// Owns the proof of what becomes of a call whose server asks a person for something first, message by message.

import { expect } from 'vitest';
import type { ViewHandlers } from '../../../src/connection/client-handlers.ts';
import type { ElicitationEvent } from '../../../src/connection/elicitation/events.ts';
import type { ElicitAnswer, ElicitRequest } from '../../../src/connection/elicitation/request.ts';
import { LeaseHandlers } from '../../../src/connection/lease-handlers.ts';
import { ServerRequestRouter } from '../../../src/connection/requests.ts';
import { type CallOptions, performCall } from '../../../src/connection/tool-call.ts';
import { Wire } from '../../../src/connection/wire.ts';
import { Cancellation } from '../../../src/kernel/cancellation.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { createScriptedTransport } from '../../../src/testing/scripted-transport.ts';
import { verifies } from '../../verifies.ts';

type Answering = (request: ElicitRequest) => Promise<ElicitAnswer>;

function setUp(elicit?: Answering, mayWait?: CallOptions['mayWait']) {
  const channel = createScriptedTransport();
  const clock = createFakeClock();
  const wire = new Wire(channel, clock);
  const asked: ElicitRequest[] = [];
  const events: ElicitationEvent[] = [];
  const waiting: boolean[] = [];
  const repeats: number[] = [];
  const handlers: ViewHandlers = {
    ...(elicit && {
      elicit: (request: ElicitRequest) => {
        asked.push(request);
        return elicit(request);
      },
    }),
    emit: (event) => events.push(event),
  };
  const router = new ServerRequestRouter({ server: 'files', clock, advertised: handlers, leases: new LeaseHandlers() });
  wire.onnotification = (_, { elicitationId }) => router.completions.record(elicitationId);
  wire.onclose = () => router.close();
  const cancellation = new Cancellation();
  const options: CallOptions = {
    cancellation,
    handlers,
    onProgress: () => undefined,
    onWaiting: (isWaiting) => waiting.push(isWaiting),
    onRepeat: () => repeats.push(clock.now()),
    ...(mayWait && { mayWait }),
  };
  const sent = () => channel.sent.filter(({ method }) => method === 'tools/call').map(({ params }) => params);
  return {
    channel,
    clock,
    cancellation,
    asked,
    events,
    waiting,
    sent,
    repeats,
    call: performCall({ wire, router, clock, owner: undefined }, 'tools/call', { name: 'read' }, options),
    answer: (answer: JsonObject) =>
      channel.receive({ jsonrpc: '2.0', id: channel.request('tools/call')['id'], ...answer }),
    complete: (elicitationId: unknown) =>
      channel.receive({ jsonrpc: '2.0', method: 'notifications/elicitation/complete', params: { elicitationId } }),
  };
}

const pageOf = (elicitationId: string) => ({
  mode: 'url',
  message: 'Log in',
  elicitationId,
  url: `https://a.example/${elicitationId}`,
});
const refusal = (...elicitations: readonly unknown[]) => ({
  error: { code: -32042, message: 'This tool needs a login', data: { elicitations } },
});
const done = { result: { content: [] } };
const accept: Answering = async () => ({ action: 'accept' });
const never: Answering = () => new Promise(() => undefined);

const rateLimited = (waitMs?: number) => ({
  sent: false,
  status: 429,
  cause: new RuntimeError('RATE_LIMITED', { server: 'files', reason: 'no', ...(waitMs !== undefined && { waitMs }) }),
});

verifies(
  'EXT-30',
  'a call refused with 429 waits as long as the server says, if it may, and is sent again once',
  async () => {
    for (const [named, waitMs] of [
      [3_000, 3_000],
      [undefined, limits.rateLimit.defaultMs],
    ] as const) {
      const asked: number[] = [];
      const { channel, call, answer, clock, sent, repeats } = setUp(undefined, (ms) => asked.push(ms) === 1);
      const refuse = () => channel.onfailed?.(channel.request('tools/call')['id'] as number, rateLimited(named));
      refuse();
      await clock.advance(waitMs - 1);
      expect([asked, sent().length, repeats.length]).toEqual([[waitMs], 1, 0]);
      await clock.advance(1);
      expect([sent().length, repeats.length]).toEqual([2, 1]);
      answer(done);
      expect([await call, clock.pending()]).toEqual([{ kind: 'result', result: done.result }, 0]);
    }
  },
);

verifies('EXT-30', 'a call that may not wait, or is refused again, ends with the refusal', async () => {
  const { channel, call, clock, sent } = setUp(undefined, () => false);
  channel.onfailed?.(channel.request('tools/call')['id'] as number, rateLimited(9_000));
  expect(await call).toMatchObject({ kind: 'lost', sent: false, cause: { code: 'RATE_LIMITED' } });
  expect([sent().length, clock.pending()]).toEqual([1, 0]);

  const again = setUp(undefined, () => true);
  const refuse = () =>
    again.channel.onfailed?.(again.channel.request('tools/call')['id'] as number, rateLimited(1_000));
  refuse();
  await again.clock.advance(1_000);
  refuse();
  expect(await again.call).toMatchObject({ kind: 'lost', cause: { code: 'RATE_LIMITED' } });
  expect([again.sent().length, again.clock.pending()]).toEqual([2, 0]);
});

verifies(['EXT-30', 'CAL-08'], 'a call that is called off while it waits is not sent again', async () => {
  const { channel, call, clock, cancellation, sent } = setUp(undefined, () => true);
  channel.onfailed?.(channel.request('tools/call')['id'] as number, rateLimited(1_000));
  await clock.advance(500);
  cancellation.cancel('enough');
  await expect(call).rejects.toBe('enough');
  await clock.advance(1_000);
  expect([sent().length, clock.pending()]).toEqual([1, 0]);
});

verifies(
  'EXT-02',
  'a call refused until pages were visited is sent again, once, when the server says that they were',
  async () => {
    const { call, answer, complete, clock, asked, sent, waiting, events } = setUp(accept);
    answer(refusal(pageOf('1'), pageOf('2')));
    await clock.advance(10);
    expect(asked).toMatchObject([
      { mode: 'url', url: 'https://a.example/1', host: 'a.example', awaitsCompletion: true },
      { mode: 'url', url: 'https://a.example/2', host: 'a.example', awaitsCompletion: true },
    ]);
    complete('2');
    complete('unknown');
    complete(7);
    await clock.advance(10);
    expect([sent().length, waiting]).toEqual([1, [true]]);
    complete('1');
    await clock.advance(0);
    expect([sent().length, waiting]).toEqual([2, [true, false]]);
    answer(done);
    expect(await call).toEqual({ kind: 'result', result: done.result });
    expect(events.map(({ type }) => type)).toEqual([
      ...['elicitation.requested', 'elicitation.settled'],
      ...['elicitation.requested', 'elicitation.settled'],
    ]);
    expect(clock.pending()).toBe(0);
  },
);

verifies(
  'EXT-02',
  'a page may be reported as complete early, while the person is asked, or by the person',
  async () => {
    const early = setUp(never);
    early.answer(refusal(pageOf('1')));
    early.complete('1');
    await early.clock.advance(0);
    expect([early.sent().length, early.asked.length], 'nobody need be asked').toEqual([2, 0]);

    const meanwhile = setUp(never);
    meanwhile.answer(refusal(pageOf('1')));
    await meanwhile.clock.advance(10);
    expect([meanwhile.sent().length, meanwhile.asked.map(({ signal }) => signal.aborted)]).toEqual([1, [false]]);
    meanwhile.complete('1');
    await meanwhile.clock.advance(0);
    expect([meanwhile.sent().length, meanwhile.asked.map(({ signal }) => signal.aborted)]).toEqual([2, [true]]);
    expect(meanwhile.events.at(-1)).toMatchObject({ action: 'accept', because: 'completed' });

    const byPerson = setUp(async () => ({ action: 'accept', isDone: true }));
    byPerson.answer(refusal(pageOf('1')));
    await byPerson.clock.advance(0);
    expect(byPerson.sent()).toHaveLength(2);
    for (const { answer, call, clock, repeats } of [early, meanwhile, byPerson]) {
      answer(done);
      expect(await call).toMatchObject({ kind: 'result' });
      expect(repeats).toHaveLength(1);
      expect(clock.pending()).toBe(0);
    }
  },
);

verifies('EXT-02', 'a server that never says so is asked again when the time is up, and not a third time', async () => {
  const { call, answer, clock, asked, sent } = setUp(accept);
  answer(refusal(pageOf('1')));
  await clock.advance(limits.approvalMs - 1);
  expect(sent()).toHaveLength(1);
  await clock.advance(1);
  answer(refusal(pageOf('1')));
  expect(await call).toMatchObject({ kind: 'error', code: -32042, message: 'This tool needs a login' });
  expect([sent().length, asked.length, clock.pending()]).toEqual([2, 1, 0]);
});

const refusals: Record<string, [elicit: Answering | undefined, words: string]> = {
  'declined by the person': [async () => ({ action: 'decline' }), 'and that was declined'],
  'not shown, for want of a handler': [undefined, 'nobody can be asked here'],
  'put to a handler that fails': [() => Promise.reject(new Error('no window')), 'it could not be shown'],
};
for (const [what, [elicit, words]] of Object.entries(refusals))
  verifies('EXT-02', `a call whose page was ${what} is not sent again, and says so`, async () => {
    const { call, answer, clock, sent } = setUp(elicit);
    answer(refusal(pageOf('1'), pageOf('2')));
    const message = expect.stringMatching(new RegExp(`^a page of a\\.example has to be visited first, .*${words}`));
    expect(await call).toMatchObject({ kind: 'error', code: -32042, message });
    expect([sent().length, clock.pending()]).toEqual([1, 0]);
  });

const wrong: Record<string, readonly unknown[]> = {
  'names no pages': [],
  'names too many pages': Array.from({ length: 6 }, (_, at) => pageOf(`${at}`)),
  'names a page that runs': [{ ...pageOf('1'), url: 'javascript:alert(1)' }],
  'names a page without an id': [{ mode: 'url', message: 'Log in', url: 'https://a.example' }],
  'names a form': [
    { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} }, elicitationId: '1' },
  ],
  'names nothing of the kind': [null, 7],
};
for (const [what, elicitations] of Object.entries(wrong))
  verifies('EXT-02', `a refusal that ${what} is an error, and no person is asked`, async () => {
    const { call, answer, asked, sent } = setUp(accept);
    answer(refusal(...elicitations));
    expect(await call).toMatchObject({ kind: 'error', code: -32602 });
    expect([asked.length, sent().length]).toEqual([0, 1]);
  });

verifies(
  'EXT-02',
  'a call that is cancelled meanwhile takes its question back, and leaves nothing behind',
  async () => {
    for (const elicit of [never, accept]) {
      const { call, answer, clock, cancellation, asked, sent, waiting } = setUp(elicit);
      const reason = new Error('enough');
      answer(refusal(pageOf('1')));
      await clock.advance(10);
      cancellation.cancel(reason);
      await expect(call).rejects.toBe(reason);
      expect(asked.map(({ signal }) => signal.aborted)).toEqual([elicit === never]);
      await clock.advance(0);
      expect([sent().length, waiting, clock.pending()]).toEqual([1, [true, false], 0]);
    }
  },
);

verifies(
  'EXT-02',
  'a session that ends meanwhile takes the question back, and the call is certainly not sent again',
  async () => {
    const { call, answer, clock, channel, asked } = setUp(never);
    answer(refusal(pageOf('1')));
    await clock.advance(10);
    channel.drop();
    expect(await call).toMatchObject({ kind: 'error', code: -32042 });
    expect([asked.map(({ signal }) => signal.aborted), clock.pending()]).toEqual([[true], 0]);
    const accepted = setUp(accept);
    accepted.answer(refusal(pageOf('1')));
    await accepted.clock.advance(10);
    accepted.channel.drop();
    expect(await accepted.call).toEqual({ kind: 'lost', sent: false });
    expect(accepted.clock.pending()).toBe(0);
  },
);

const question = (params: JsonObject) => ({
  result: { resultType: 'input_required', inputRequests: { who: { method: 'elicitation/create', params } } },
});
const form = { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };

verifies(
  'EXT-02',
  'a modern call that waits for a person knows it, and takes its question back when it is cancelled',
  async () => {
    const { call, answer, clock, cancellation, asked, waiting, events } = setUp(never);
    answer(question(form));
    await clock.advance(10);
    expect(waiting).toEqual([true]);
    cancellation.cancel('enough');
    await expect(call).rejects.toBe('enough');
    expect([waiting, asked.map(({ signal }) => signal.aborted)]).toEqual([[true, false], [true]]);
    await clock.advance(0);
    expect([events.length, clock.pending()]).toEqual([2, 0]);
  },
);

verifies('EXT-02', 'a modern call sends a person to a page with only the action as the answer', async () => {
  const { call, answer, clock, sent, asked } = setUp(async () => ({
    action: 'accept',
    content: { a: 1 },
    isDone: true,
  }));
  answer(question({ mode: 'url', message: 'Log in', url: 'https://a.example' }));
  await clock.advance(0);
  expect(asked).toMatchObject([{ host: 'a.example', awaitsCompletion: false }]);
  expect(sent()[1]).toMatchObject({ inputResponses: { who: { action: 'accept' } } });
  answer(done);
  expect(await call).toEqual({ kind: 'result', result: done.result });
});

verifies('EXT-02', 'a modern call whose input request the protocol does not allow ends with that error', async () => {
  const { call, answer, asked } = setUp(accept);
  answer(question({ mode: 'url', message: 'Log in', url: 'file:///etc/passwd' }));
  expect(await call).toEqual({
    kind: 'error',
    code: -32602,
    message: 'it asked for input, but url must begin with https:, or with http: where it leads to this machine',
  });
  expect(asked).toEqual([]);
});

verifies('EXT-02', 'a modern server that was told of no person to ask is answered with how to have one', async () => {
  const { call, answer } = setUp();
  const data = { requiredCapabilities: { elicitation: { form: {} } } };
  answer({ error: { code: -32021, message: 'It cannot ask', data } });
  const message =
    'It cannot ask; it has a question, and nobody can be asked here: tell the user, who can make the call in a terminal or in a host that shows questions';
  expect(await call).toEqual({ kind: 'error', code: -32021, message, data });
});
