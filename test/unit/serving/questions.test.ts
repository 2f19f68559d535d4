// Owns the proof that a handler asks in the same way in both eras, and that a suspended call wakes for its own client only.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { createOwnService } from '../../../src/serving/own-service.ts';
import { faultOfAnswer, lackingFor } from '../../../src/serving/questions.ts';
import { StateSeal } from '../../../src/serving/state-seal.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { waitFor } from '../../wait-for.ts';
import { eventsIn, initialize, type ServedHttp, serveHttp, servePipes } from './served.ts';

const canBeAsked = { capabilities: { elicitation: {} } };
const yes = { action: 'accept', content: { ok: true } };
const ask = { name: 'ask', arguments: {} };

describe('a legacy client', () => {
  test('is asked on the stream of its call, and its answer wakes the handler', async () => {
    const { send, open, url } = await serveHttp();
    const headers = await open({ elicitation: {} });
    const answering = answerOnStream(
      url,
      headers,
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: ask },
      (question) => send({ headers, body: { jsonrpc: '2.0', id: question['id'], result: yes } }),
    );
    const [question, answer] = await answering;
    expect(question).toMatchObject({ method: 'elicitation/create', params: { message: 'Sure?' } });
    expect(answer).toMatchObject({ id: 1, result: { content: [{ text: 'accept {"ok":true}' }] } });
  });

  test('is asked over pipes', async () => {
    const { write, answer, said } = servePipes();
    write(initialize({ elicitation: {} }));
    await answer('init');
    write({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: ask });
    const question = await waitFor(() => said.find(({ method }) => method === 'elicitation/create') ?? expect.fail());
    write({ jsonrpc: '2.0', id: question['id'], result: { action: 'decline' } });
    expect(await answer(1)).toMatchObject({ result: { content: [{ text: 'decline undefined' }] } });
  });

  test('without the capability is not asked: the call ends at once', async () => {
    const { send, open } = await serveHttp();
    const answered = await send({
      headers: await open(),
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: ask },
    });
    expect(answered.message).toMatchObject({ error: { code: -32021 } });
  });

  test('that answers nonsense or an error fails the question', async () => {
    for (const answer of [{ result: { action: 'maybe' } }, { error: { code: -1, message: 'no' } }]) {
      const { write, answer: answered, said } = servePipes();
      write(initialize({ elicitation: {} }));
      write({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: ask });
      const question = await waitFor(() => said.find(({ method }) => method === 'elicitation/create') ?? expect.fail());
      write({ jsonrpc: '2.0', id: question['id'], ...answer });
      expect(await answered(1)).toMatchObject({ error: { code: 'error' in answer ? -1 : -32602 } });
    }
  });

  test('that leaves a question unanswered has its handler cancelled, and its call answered once, with an error', async () => {
    const clock = createFakeClock();
    const reasons: unknown[] = [];
    const { write, answer, said } = servePipes({ clock, service: askingService((reason) => reasons.push(reason)) });
    write(initialize({ elicitation: {} }));
    write({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: ask });
    const question = await waitFor(() => said.find(({ method }) => method === 'elicitation/create') ?? expect.fail());
    await clock.advance(599_999);
    expect(reasons).toEqual([]);
    await clock.advance(1);
    expect(await answer(1)).toMatchObject({ error: { code: -32603, message: expect.stringContaining('in time') } });
    expect(reasons).toMatchObject([{ name: 'TimeoutError' }]);
    const afterwards = said.slice(said.indexOf(question) + 1);
    expect(afterwards.filter(({ method }) => method === 'notifications/cancelled')).toMatchObject([
      { params: { requestId: question['id'] } },
    ]);
    write({ jsonrpc: '2.0', id: question['id'], result: yes });
    write({ jsonrpc: '2.0', id: 2, method: 'ping' });
    await answer(2);
    expect(said.filter(({ id }) => id === 1)).toHaveLength(1);
  });
});

describe('a modern client', () => {
  const begin = async (served: ServedHttp, options: object = canBeAsked) => {
    const { message } = await served.modern('tools/call', ask, options);
    return message['result'] as JsonObject;
  };
  const retry = (served: ServedHttp, requestState: unknown, params: JsonObject = ask) =>
    served.modern('tools/call', { ...params, requestState, inputResponses: { sure: yes } }, canBeAsked);

  test('is answered input_required, and its retry wakes the handler', async () => {
    const served = await serveHttp();
    const first = await begin(served);
    expect(first).toMatchObject({
      resultType: 'input_required',
      inputRequests: { sure: { method: 'elicitation/create', params: { message: 'Sure?' } } },
    });
    expect(served.server.counts()).toMatchObject({ running: 0, suspended: 1 });
    const { message } = await retry(served, first['requestState']);
    expect(message['result']).toMatchObject({ resultType: 'complete', content: [{ text: 'accept {"ok":true}' }] });
    expect(served.server.counts()).toMatchObject({ running: 0, suspended: 0 });
  });

  test('gets -32602 for a state that is used up, forged, of another request or of another client', async () => {
    const served = await serveHttp({
      http: { authenticate: ({ headers }) => ({ id: String(headers['x-caller'] ?? 'one') }) },
    });
    const { requestState } = await begin(served);
    const foreign = await served.modern(
      'tools/call',
      { ...ask, requestState, inputResponses: { sure: yes } },
      { ...canBeAsked, headers: { 'x-caller': 'two' } },
    );
    const refused = [
      foreign,
      await retry(served, `${requestState}x`),
      await retry(served, 'p1.AAAA'),
      await retry(served, 7),
      await retry(served, requestState, { ...ask, arguments: { other: 1 } }),
      await served.modern('prompts/get', { name: 'hello', requestState }, canBeAsked),
    ];
    for (const { status, message } of refused)
      expect([status, message]).toMatchObject([400, { error: { code: -32602 } }]);
    expect((await retry(served, requestState)).message).toHaveProperty('result');
    expect((await retry(served, requestState)).message).toMatchObject({ error: { code: -32602 } });
  });

  test('is asked again for what it left out, with a new state', async () => {
    const served = await serveHttp();
    const { requestState } = await begin(served);
    const again = await served.modern('tools/call', { ...ask, requestState, inputResponses: { sure: 7 } }, canBeAsked);
    const asked = again.message['result'] as JsonObject;
    expect(asked).toMatchObject({ resultType: 'input_required', inputRequests: { sure: {} } });
    expect((await retry(served, requestState)).message).toMatchObject({ error: { code: -32602 } });
    expect((await retry(served, asked['requestState'])).message).toHaveProperty('result');
  });

  test('that does not come back within ten minutes has its handler cancelled', async () => {
    const clock = createFakeClock();
    const reasons: unknown[] = [];
    const served = await serveHttp({ clock, service: askingService((reason) => reasons.push(reason)) });
    const { requestState } = await begin(served);
    await clock.advance(599_999);
    expect(served.server.counts().suspended).toBe(1);
    await clock.advance(1);
    expect(served.server.counts()).toMatchObject({ suspended: 0, running: 0 });
    expect(reasons).toMatchObject([{ name: 'TimeoutError' }]);
    expect((await retry(served, requestState)).message).toMatchObject({ error: { code: -32602 } });
  });

  test('beyond the limit the oldest suspended call ends as cancelled', async () => {
    const reasons: unknown[] = [];
    const served = await serveHttp({
      limits: { suspendedCalls: 2 },
      service: askingService((reason) => reasons.push(reason)),
    });
    const states = [];
    for (let at = 0; at < 3; at++) states.push((await begin(served))['requestState']);
    expect([served.server.counts().suspended, reasons.length]).toEqual([2, 1]);
    expect((await retry(served, states[0])).message).toMatchObject({ error: { code: -32602 } });
    expect((await retry(served, states[2])).message).toHaveProperty('result');
  });

  test('without the capability gets -32021 with status 400', async () => {
    const served = await serveHttp();
    const { status, message } = await served.modern('tools/call', ask);
    expect([status, message]).toMatchObject([
      400,
      { error: { code: -32021, data: { requiredCapabilities: { elicitation: {} } } } },
    ]);
  });

  test('that closes the stream cancels the handler', async () => {
    const reasons: unknown[] = [];
    const served = await serveHttp({ service: askingService((reason) => reasons.push(reason)) });
    await expect(closeAfter(served, { name: 'hang', arguments: {} })).resolves.toBeUndefined();
    await waitFor(() => expect(reasons).toMatchObject([{ name: 'AbortError' }]));
    await waitFor(() => expect(served.server.counts().running).toBe(0));
  });
});

/** `ask` as usual, and `hang`; both tell the reason for which they were cancelled. */
function askingService(onCancelled: (reason: unknown) => void) {
  return createOwnService({
    ...{ name: 'asking', version: '1' },
    tools: {
      ask: {
        description: 'Asks.',
        async run(_, call) {
          call.signal.addEventListener('abort', () => onCancelled(call.signal.reason));
          await call.ask('elicitation/create', { message: 'Sure?', requestedSchema: {} }, { key: 'sure' });
          return 'done';
        },
      },
      hang: {
        description: 'Hangs.',
        run: (_, call) =>
          new Promise((_resolve, reject) => {
            call.progress({ progress: 1 });
            call.signal.addEventListener('abort', () => {
              onCancelled(call.signal.reason);
              reject(call.signal.reason);
            });
          }),
      },
    },
  });
}

/** Calls a tool and closes the connection with the first event. */
async function closeAfter({ url }: ServedHttp, params: JsonObject): Promise<void> {
  const gone = new AbortController();
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    progressToken: 'p',
  };
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': String(params['name']),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, _meta: meta } }),
    signal: gone.signal,
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  gone.abort();
}

/** Sends a call, answers the question on its stream, and gives the question and the answer. */
async function answerOnStream(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: JsonObject,
  answer: (question: JsonObject) => Promise<unknown>,
): Promise<readonly JsonObject[]> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify(body),
  });
  let text = '';
  let isAnswered = false;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString();
    const question = eventsIn(text).find(({ method }) => method !== undefined);
    if (question === undefined || isAnswered) continue;
    isAnswered = true;
    await answer(question);
  }
  return eventsIn(text);
}

test('which capability a question needs', () => {
  const table: readonly (readonly [Parameters<typeof lackingFor>, JsonObject | undefined])[] = [
    [['roots/list', {}, {}], { roots: {} }],
    [['roots/list', {}, { roots: {} }], undefined],
    [['sampling/createMessage', {}, { sampling: {} }], undefined],
    [['sampling/createMessage', { tools: [] }, { sampling: {} }], { sampling: { tools: {} } }],
    [['elicitation/create', {}, { elicitation: {} }], undefined],
    [['elicitation/create', {}, { elicitation: { url: {} } }], { elicitation: { form: {} } }],
    [['elicitation/create', { mode: 'url' }, { elicitation: {} }], { elicitation: { url: {} } }],
    [['elicitation/create', { mode: 'url' }, { elicitation: { url: {} } }], undefined],
  ];
  for (const [given, lacking] of table) expect([given, lackingFor(...given)]).toEqual([given, lacking]);
});

test('which answers count', () => {
  const form = { requestedSchema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } };
  expect(faultOfAnswer('elicitation/create', form, { action: 'accept', content: { n: 1 } })).toBeUndefined();
  expect(faultOfAnswer('elicitation/create', form, { action: 'decline' })).toBeUndefined();
  expect(faultOfAnswer('elicitation/create', { mode: 'url' }, { action: 'accept' })).toBeUndefined();
  expect(faultOfAnswer('roots/list', {}, { roots: [] })).toBeUndefined();
  expect(faultOfAnswer('sampling/createMessage', {}, { content: { type: 'text' } })).toBeUndefined();
  expect(faultOfAnswer('elicitation/create', form, { action: 'accept', content: { n: 'x' } })).toBeDefined();
  expect(faultOfAnswer('elicitation/create', form, { action: 'accept' })).toBeDefined();
  expect(faultOfAnswer('elicitation/create', form, { action: 'later' })).toBeDefined();
  expect(faultOfAnswer('roots/list', {}, {})).toBeDefined();
  expect(faultOfAnswer('sampling/createMessage', {}, 7)).toBeDefined();
});

test('a seal opens its own states only, in their one spelling', () => {
  const [seal, other] = [new StateSeal(), new StateSeal()];
  const state = seal.seal({ a: 1 });
  expect(seal.open(state)).toEqual({ ok: true, value: { a: 1 } });
  for (const wrong of [other.seal({ a: 1 }), `${state}=`, state.slice(0, -1), `${state} `, 'p1.', '', 'p1.AAAA'])
    expect([wrong, seal.open(wrong).ok]).toEqual([wrong, false]);
});
