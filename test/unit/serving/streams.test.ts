// Owns the proof of what a client gets besides its answers: streams that can be resumed, changes, logs and progress; and of the
// queues and limits that keep one client from taking all.

import { request as httpRequest, type IncomingMessage } from 'node:http';
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { CallPlaces, SharedPlaces } from '../../../src/serving/call-places.ts';
import { createMcpServer } from '../../../src/serving/mcp-server.ts';
import { LOG, Outbox, type Outgoing } from '../../../src/serving/outbox.ts';
import { createOwnService, type OwnTool } from '../../../src/serving/own-service.ts';
import type { ServedCall } from '../../../src/serving/service.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';
import { echoService, eventsIn, initialize, modernMeta, type ServedHttp, serveHttp, servePipes } from './served.ts';

/** A stream as it comes in. */
interface Opened {
  readonly response: IncomingMessage;
  text(): string;
  events(): readonly JsonObject[];
  readonly ended: Promise<void>;
  close(): void;
}

function openStream(
  { url }: ServedHttp,
  headers: Readonly<Record<string, string>>,
  body?: JsonObject,
): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const accept = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const method = body === undefined ? 'GET' : 'POST';
    const sending = httpRequest(url, { method, headers: { ...accept, ...headers }, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      const ended = new Promise<void>((done) => response.on('close', () => done()).on('error', () => done()));
      resolve({ response, text: () => text, events: () => eventsIn(text), ended, close: () => sending.destroy() });
    });
    onTestFinished(() => {
      sending.destroy();
    });
    sending.on('error', reject).end(body && JSON.stringify(body));
  });
}

/** One tool, `run`, whose calls the test holds in its hands. */
function held() {
  const calls: { readonly call: ServedCall; finish(text: string): void }[] = [];
  const run: OwnTool = {
    description: 'Held by the test.',
    run: (_, call) => new Promise((finish) => calls.push({ call, finish })),
  };
  return {
    calls,
    service: createOwnService({ name: 'held', version: '1', tools: { run }, prompts: {}, resources: {} }),
  };
}

const run = (id: number | string, meta: JsonObject = {}) => ({
  ...{ jsonrpc: '2.0', id, method: 'tools/call' },
  params: { name: 'run', arguments: {}, _meta: meta },
});

describe('a legacy stream', () => {
  test('begins with an empty event, numbers its events, and goes on where the client lost it', async () => {
    const { calls, service } = held();
    const served = await serveHttp({ service });
    const headers = await served.open();
    const opening = openStream(served, headers, run(1, { progressToken: 'p' }));
    const { call, finish } = await waitFor(() => calls[0] ?? expect.fail());
    call.progress({ progress: 1 });
    const first = await opening;
    await waitFor(() => expect(first.events()).toHaveLength(1));
    expect(first.text()).toMatch(/^id: s1\.0\nretry: \d+\ndata: \n\nevent: message\nid: s1\.1\ndata: \{/);
    first.close();
    call.progress({ progress: 2 });
    finish('done');
    const second = await openStream(served, { ...headers, 'last-event-id': 's1.0' });
    await second.ended;
    expect(second.events()).toMatchObject([
      { params: { progressToken: 'p', progress: 1 } },
      { params: { progress: 2 } },
      { id: 1, result: { content: [{ text: 'done' }] } },
    ]);
  });

  test('opens by itself for a call that takes a second, and is kept alive by comments', async () => {
    const clock = createFakeClock();
    const { calls, service } = held();
    const served = await serveHttp({ service, clock });
    const headers = await served.open();
    const opening = openStream(served, headers, run(1));
    const { finish } = await waitFor(() => calls[0] ?? expect.fail());
    await clock.advance(2_000);
    const stream = await opening;
    await clock.advance(20_000);
    await waitFor(() => expect(stream.text()).toContain(': keep-alive'));
    finish('late');
    await stream.ended;
    expect(stream.events()).toMatchObject([{ id: 1 }]);
    expect(stream.response.headers).toMatchObject({ 'x-accel-buffering': 'no', 'content-type': 'text/event-stream' });
  });

  test('of a session carries changes and updates to the newest connection, also those from before it was opened', async () => {
    const served = await serveHttp();
    const headers = await served.open();
    const subscribe = { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: 'note://1' } };
    expect((await served.send({ headers, body: subscribe })).message).toMatchObject({ result: {} });
    served.server.listChanged('tools');
    const [old, recent] = [await openStream(served, headers), await openStream(served, headers)];
    await waitFor(() => expect(old.events()).toMatchObject([{ method: 'notifications/tools/list_changed' }]));
    served.server.resourceUpdated('note://1');
    served.server.resourceUpdated('note://2');
    served.server.listChanged('prompts', ({ era }) => era === 'modern');
    served.server.listChanged('prompts');
    await waitFor(() =>
      expect(recent.events()).toMatchObject([
        { method: 'notifications/resources/updated', params: { uri: 'note://1' } },
        { method: 'notifications/prompts/list_changed' },
      ]),
    );
    expect(old.events()).toHaveLength(1);
  });

  test('is refused with 429 when the session has too many', async () => {
    const served = await serveHttp({ limits: { streams: 2 } });
    const headers = await served.open();
    await openStream(served, headers);
    await openStream(served, headers);
    const refused = await served.send({ method: 'GET', headers });
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '5' } });
  });
});

describe('a modern client', () => {
  test('gets progress and wanted logs on the stream of its call, and unwanted logs not', async () => {
    const tool: OwnTool = {
      description: 'Talks.',
      run(_, call) {
        call.log('debug', 'quiet');
        call.log('error', 'loud', 'me');
        call.progress({ progress: 1, total: 2, message: 'half' });
        return 'done';
      },
    };
    const { modern } = await serveHttp({
      service: createOwnService({ name: 'x', version: '1', tools: { talk: tool } }),
    });
    const params = { name: 'talk', arguments: {} };
    const meta = { progressToken: 7, 'io.modelcontextprotocol/logLevel': 'warning' };
    expect((await modern('tools/call', params, { meta })).events).toMatchObject([
      { method: 'notifications/message', params: { level: 'error', data: 'loud', logger: 'me' } },
      { method: 'notifications/progress', params: { progressToken: 7, progress: 1, total: 2, message: 'half' } },
      { id: 1, result: { resultType: 'complete' } },
    ]);
    const plain = await modern('tools/call', params);
    expect([plain.headers['content-type'], plain.message]).toMatchObject(['application/json', { id: 1 }]);
  });

  test('listens to exactly what it asked for, until the server stops', async () => {
    const told: string[] = [];
    const served = await serveHttp({
      service: echoService({
        onSubscribed: (uri) => void told.push(`+${uri}`),
        onUnsubscribed: (uri) => void told.push(`-${uri}`),
      }),
    });
    const notifications = { toolsListChanged: true, resourceSubscriptions: ['note://1'], madeUp: true };
    const stream = await openStream(
      served,
      { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
      { jsonrpc: '2.0', id: 9, method: 'subscriptions/listen', params: { notifications, _meta: modernMeta() } },
    );
    served.server.listChanged('prompts');
    served.server.resourceUpdated('note://2');
    served.server.listChanged('tools');
    served.server.resourceUpdated('note://1');
    await waitFor(() => expect(stream.events()).toHaveLength(3));
    await served.server.close();
    await stream.ended;
    const tag = { _meta: { 'io.modelcontextprotocol/subscriptionId': 9 } };
    expect(stream.events()).toMatchObject([
      {
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: { toolsListChanged: true, resourceSubscriptions: ['note://1'] }, ...tag },
      },
      { method: 'notifications/tools/list_changed', params: tag },
      { method: 'notifications/resources/updated', params: { uri: 'note://1', ...tag } },
      { id: 9, result: { resultType: 'complete', ...tag } },
    ]);
    expect(told).toEqual(['+note://1', '-note://1']);
  });
});

describe('queues', () => {
  verifies(
    'SRV-01',
    'beyond 128 waiting messages progress is merged and logs are dropped, counted; answers stay in order',
    () => {
      const written: string[] = [];
      let isOpen = false;
      const outbox = new Outbox<Outgoing>(128, ({ text }) => written.push(text) > 0 && isOpen);
      outbox.push({ text: 'first' });
      for (let at = 0; at < 127; at++) outbox.push({ text: `answer ${at}` });
      outbox.push({ text: 'progress 1', mergeKey: 'p' });
      outbox.push({ text: 'progress 2', mergeKey: 'p' });
      outbox.push({ text: 'log', mergeKey: LOG });
      outbox.push({ text: 'progress of another', mergeKey: 'q' });
      outbox.push({ text: 'last answer' });
      expect([written, outbox.waiting, outbox.dropped]).toEqual([['first'], 129, 3]);
      isOpen = true;
      outbox.resume();
      const answers = Array.from({ length: 127 }, (_, at) => `answer ${at}`);
      expect(written).toEqual(['first', ...answers, 'progress 2', 'last answer']);
    },
  );

  verifies('SRV-01', 'the reader stops at 128 waiting requests and goes on when there is room', async () => {
    const { calls, service } = held();
    const { write, answer, input, said } = servePipes({ service, limits: { inFlight: 2, waiting: 3 } });
    write(initialize());
    await answer('init');
    for (let id = 0; id < 10; id++) write(run(id));
    await waitFor(() => expect(calls).toHaveLength(2));
    // Two run, three wait; the sixth is held back by the reader, so a cancellation behind it is not read yet.
    write({ jsonrpc: '2.0', id: 'ping', method: 'ping' });
    for (let at = 0; at < 10; at++) (await waitFor(() => calls[at] ?? expect.fail())).finish(`done ${at}`);
    await answer('ping');
    for (let id = 0; id < 10; id++)
      expect(await answer(id)).toMatchObject({ result: { content: [{ text: `done ${id}` }] } });
    expect(said).toHaveLength(12);
    input.end();
  });

  verifies('SRV-01', 'the end of input drains: running calls are answered, then the server ends', async () => {
    const { calls, service } = held();
    const { write, input, said, done } = servePipes({ service });
    write(initialize());
    write(run(1));
    input.end(JSON.stringify(run(2)));
    const [one, two] = await waitFor(() => (calls.length === 2 ? calls : expect.fail()));
    let isDone = false;
    void done.then(() => {
      isDone = true;
    });
    two?.finish('second');
    await waitFor(() => expect(said).toHaveLength(2));
    expect(isDone).toBe(false);
    one?.finish('first');
    await done;
    expect(said.map(({ id }) => id)).toEqual(['init', 2, 1]);
  });

  test('over HTTP one request too many is 429 with Retry-After, and was not handed on', async () => {
    const { calls, service } = held();
    const served = await serveHttp({ service, limits: { inFlight: 1, waiting: 1 } });
    const headers = await served.open();
    const first = served.send({ headers, body: run(1) });
    await waitFor(() => expect(calls).toHaveLength(1));
    const second = served.send({ headers, body: run(2) });
    const refused = await waitFor(async () => {
      const answer = await served.modern('tools/call', { name: 'run', arguments: {} }, { id: 3 });
      expect(answer.status).toBe(429);
      return answer;
    });
    expect(refused).toMatchObject({ headers: { 'retry-after': '1' }, message: { id: 3, error: { code: -32000 } } });
    calls[0]?.finish('one');
    (await waitFor(() => calls[1] ?? expect.fail())).finish('two');
    expect([(await first).status, (await second).status, calls.length]).toEqual([200, 200, 2]);
  });

  test('a call that asks gives its place away, so that its answer can be read', async () => {
    const { write, answer, said } = servePipes({ limits: { inFlight: 1, waiting: 1 } });
    write(initialize({ elicitation: {} }));
    for (const id of [1, 2, 3, 4]) write({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'ask' } });
    const questions = await waitFor(() => {
      const asked = said.filter(({ method }) => method === 'elicitation/create');
      expect(asked).toHaveLength(4);
      return asked;
    });
    for (const { id } of questions) write({ jsonrpc: '2.0', id, result: { action: 'cancel' } });
    for (const id of [1, 2, 3, 4]) expect(await answer(id)).toHaveProperty('result');
  });

  test('places are counted right when calls come back from questions', async () => {
    const places = new CallPlaces(new SharedPlaces(1, 1));
    const { signal } = new AbortController();
    const enter = () => places.enter({ signal });
    expect(enter()).toBeUndefined();
    const waiting = enter();
    expect(enter).toThrow('Too many requests');
    places.leave();
    await waiting;
    places.reenter();
    expect(places.running).toBe(2);
    const next = enter();
    places.leave();
    places.leave();
    await next;
    expect(places.running).toBe(1);
    places.leave();
    await places.whenIdle();
    expect([places.running, places.isFull]).toEqual([0, false]);
  });
});

describe('limits and ends', () => {
  test('one session too many is 503, and an idle one ends after its hour', async () => {
    const clock = createFakeClock();
    const closed: string[] = [];
    const service = echoService({ onSessionClosed: ({ session }) => void closed.push(String(session?.id)) });
    const served = await serveHttp({ clock, service, limits: { sessions: 1 } });
    const headers = await served.open();
    expect(await served.send({ body: initialize() })).toMatchObject({ status: 503, headers: { 'retry-after': '60' } });
    await clock.advance(3_599_000);
    expect(served.server.counts().sessions).toBe(1);
    await clock.advance(2_000);
    expect([served.server.counts().sessions, closed]).toEqual([0, [headers['mcp-session-id']]]);
    expect((await served.send({ body: initialize() })).status).toBe(200);
  });

  test('a stopping server refuses new requests, finishes its calls, and ends its streams', async () => {
    const { calls, service } = held();
    const served = await serveHttp({ service });
    const headers = await served.open();
    const stream = await openStream(served, headers);
    const running = served.send({ headers, body: run(1) });
    const { finish } = await waitFor(() => calls[0] ?? expect.fail());
    const closed = served.server.close();
    expect((await served.send({ headers, body: run(2) })).status).toBe(503);
    finish('done');
    expect((await running).message).toMatchObject({ result: { content: [{ text: 'done' }] } });
    await closed;
    await stream.ended;
  });

  test('a stopping server waits no longer than it was told, and cancels what still runs', async () => {
    const { calls, service } = held();
    const served = await serveHttp({ service });
    const headers = await served.open();
    const running = served.send({ headers, body: run(1) });
    const { call } = await waitFor(() => calls[0] ?? expect.fail());
    await served.server.close({ drainMs: 0 });
    expect(call.signal.aborted).toBe(true);
    await running;
  });

  test('a client that reads no more over pipes has its calls cancelled', async () => {
    const { calls, service } = held();
    const input = new PassThrough();
    const output = new Writable({
      write(_chunk, _encoding, done) {
        done(calls.length > 0 ? new Error('EPIPE') : null);
      },
    });
    const done = createMcpServer(service).stdio({ input, output });
    input.write(`${JSON.stringify(initialize())}\n${JSON.stringify(run(1, { progressToken: 1 }))}\n`);
    const { call } = await waitFor(() => calls[0] ?? expect.fail());
    call.progress({ progress: 1 });
    await done;
    expect(call.signal.aborted).toBe(true);
  });

  test('a cancelled legacy call has no answer over pipes, and its handler learns it', async () => {
    const { calls, service } = held();
    const { write, answer, said } = servePipes({ service });
    write(initialize());
    write(run(1));
    const { call } = await waitFor(() => calls[0] ?? expect.fail());
    write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1, reason: 'enough' } });
    write({ jsonrpc: '2.0', id: 2, method: 'ping' });
    await answer(2);
    expect(call.signal.aborted).toBe(true);
    expect(said.map(({ id }) => id)).toEqual(['init', 2]);
  });
});
