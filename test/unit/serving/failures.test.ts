// Owns the proof that one request, one handler or one client that misbehaves costs nobody else anything: its failure is its own
// answer, its queues are bounded, and what it leaves behind is taken back.

import { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { PassThrough, Writable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { inHostHeader } from '../../../src/serving/access.ts';
import { EventStream } from '../../../src/serving/event-stream.ts';
import { createMcpServer } from '../../../src/serving/mcp-server.ts';
import { createOwnService, type OwnTool } from '../../../src/serving/own-service.ts';
import { readBody } from '../../../src/serving/request-body.ts';
import type { ServedCall } from '../../../src/serving/service.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { waitFor } from '../../wait-for.ts';
import { echoService, initialize, MODERN, modernMeta, serveHttp, servePipes } from './served.ts';

const canBeAsked = { capabilities: { elicitation: {} } };
const yes = { action: 'accept', content: {} };
const form = { message: 'Sure?', requestedSchema: {} };

const toolsOf = (tools: Record<string, OwnTool['run']>) =>
  createOwnService({
    ...{ name: 'test', version: '1' },
    tools: Object.fromEntries(
      Object.entries(tools).map(([name, run]) => [name, { description: name, inputSchema: {}, run }]),
    ),
  });

const callOf = (name: string, id: number | string = 1, meta: JsonObject = {}) => ({
  ...{ jsonrpc: '2.0', id, method: 'tools/call' },
  params: { name, arguments: {}, _meta: meta },
});

/** One tool, `run`, whose calls the test holds in its hands. */
function held() {
  const calls: { readonly call: ServedCall; finish(text: string): void }[] = [];
  const service = toolsOf({ run: (_, call) => new Promise((finish) => calls.push({ call, finish })) });
  return { calls, service, at: (index: number) => waitFor(() => calls[index] ?? expect.fail()) };
}

describe('a failure is the answer to its own request', () => {
  test('of a call with parameters too deep to compare, when its tool asks', async () => {
    const served = await serveHttp();
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const params = `{"name":"ask","arguments":{},"x":${deep},"_meta":${JSON.stringify(modernMeta({ elicitation: {} }))}}`;
    const { message } = await served.send({
      headers: { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'ask' },
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`,
    });
    expect(message).toMatchObject({ id: 1, result: { isError: true } });
    expect((await served.modern('tools/list')).status).toBe(200);
  });

  const odd = toolsOf({
    odd: async (_, call) => {
      call.progress({ progress: 1 });
      return { structuredContent: { n: 1n } };
    },
  });

  test('of a result that is no JSON, over pipes and as one answer or a stream over HTTP', async () => {
    const errors: unknown[] = [];
    const { write, answer, input, done } = servePipes({ service: odd, onError: (error) => errors.push(error) });
    write(initialize());
    write(callOf('odd'));
    expect(await answer(1)).toMatchObject({ error: { code: -32603 } });
    write({ jsonrpc: '2.0', id: 2, method: 'ping' });
    expect(await answer(2)).toHaveProperty('result');
    input.end();
    await done;
    expect(errors).toMatchObject([{ name: 'TypeError' }]);
    const served = await serveHttp({ service: odd });
    const headers = await served.open();
    for (const meta of [{}, { progressToken: 'p' }])
      expect((await served.send({ headers, body: callOf('odd', 1, meta) })).message).toMatchObject({
        ...{ id: 1, error: { code: -32603 } },
      });
  });

  test('of a notification that the service fails at: the next request is answered', async () => {
    const errors: unknown[] = [];
    const service = echoService({
      onNotification() {
        throw new Error('no');
      },
    });
    const { write, answer } = servePipes({ service, onError: (error) => errors.push(error) });
    write(initialize());
    write({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' });
    write({ jsonrpc: '2.0', id: 1, method: 'ping' });
    expect(await answer(1)).toHaveProperty('result');
    expect(errors).toMatchObject([{ message: 'no' }]);
  });

  test('of initialize, which leaves no session, and of a schema', async () => {
    const closed: string[] = [];
    const service = echoService({
      offer: async () => {
        throw new Error('no offer');
      },
      inputSchema: async () => {
        throw new Error('no schema');
      },
      onSessionClosed: ({ session }) => closed.push(session?.id ?? ''),
    });
    const served = await serveHttp({ service });
    expect(await served.send({ body: initialize() })).toMatchObject({
      ...{ status: 500, message: { id: 'init', error: { code: -32603 } } },
    });
    expect(served.server.counts().sessions).toBe(0);
    const call = await served.modern('tools/call', { name: 'echo', arguments: { text: 'x' } }, { id: 7 });
    expect(call).toMatchObject({ status: 500, message: { id: 7, error: { code: -32603 } } });
    const { write, answer } = servePipes({ service });
    write(initialize());
    expect(await answer('init')).toMatchObject({ error: { code: -32603 } });
    write(callOf('echo'));
    expect(await answer(1)).toMatchObject({ error: { code: -32600 } });
    expect(closed).toEqual([expect.any(String)]);
  });
});

describe('the end', () => {
  test('of a server waits until the answers of its last calls are sent', async () => {
    const { at, service } = held();
    const served = await serveHttp({ service });
    const headers = await served.open();
    const answering = served.send({ headers, body: callOf('run', 1, { progressToken: 'p' }) });
    const { call, finish } = await at(0);
    call.progress({ progress: 1 });
    const closing = served.server.close();
    finish('done');
    await closing;
    expect((await answering).message).toMatchObject({ id: 1, result: { content: [{ text: 'done' }] } });
  });

  test("of a caller's access cancels its modern calls and subscriptions", async () => {
    const { at, service } = held();
    const served = await serveHttp({ service });
    const call = served.modern('tools/call', { name: 'run', arguments: {} });
    const listening = served.modern('subscriptions/listen', { notifications: { toolsListChanged: true } }, { id: 2 });
    await at(0);
    served.server.endSessions(() => false);
    const { message } = await served.modern('tools/list', {}, { id: 3 });
    expect(message).toHaveProperty('result');
    served.server.endSessions(() => true);
    expect((await call).message).toMatchObject({ id: 1, error: { code: -32800 } });
    served.server.listChanged('tools');
    const told = (await listening).events.map(({ method }) => method);
    expect(told).not.toContain('notifications/tools/list_changed');
  });

  test('of a server ends its pipes, and cancels what does not end in time', async () => {
    const { at, service } = held();
    const { server, write, done, said } = servePipes({ service });
    write({ ...callOf('run'), params: { name: 'run', arguments: {}, _meta: modernMeta() } });
    const { call } = await at(0);
    await server.close({ drainMs: 0 });
    await done;
    expect(call.signal.aborted).toBe(true);
    expect(said).toEqual([]);
  });

  test('of the input ends calls that wait for their turn, whatever the running ones do', async () => {
    const clock = createFakeClock();
    const { at, service } = held();
    const { write, input, done } = servePipes({ service, clock, limits: { inFlight: 1 } });
    write(initialize());
    write(callOf('run', 1));
    write(callOf('run', 2));
    await at(0);
    input.end();
    let isDone = false;
    void done.then(() => {
      isDone = true;
    });
    await waitFor(() => expect(clock.pending()).toBeGreaterThan(0));
    await clock.advance(10_000);
    await waitFor(() => expect(isDone).toBe(true));
  });

  test('of the input does not wait for a client that reads no more', async () => {
    const clock = createFakeClock();
    const input = new PassThrough();
    const output = new Writable({ highWaterMark: 1, write: () => undefined });
    let isDone = false;
    const done = createMcpServer(echoService(), { clock }).stdio({ input, output });
    void done.then(() => {
      isDone = true;
    });
    input.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`.repeat(3));
    await waitFor(() => expect(clock.pending()).toBeGreaterThan(0));
    await clock.advance(10_000);
    await waitFor(() => expect(isDone).toBe(true));
  });
});

test('a call that is cancelled while it waits for its turn leaves the queue at once', async () => {
  const { at, service } = held();
  const { write, answer, server } = servePipes({ service, limits: { inFlight: 1, waiting: 1 } });
  write(initialize({}, '2025-03-26'));
  write(callOf('run', 1));
  await at(0);
  // A batch is answered when all its requests have ended.
  write([callOf('run', 2), { jsonrpc: '2.0', id: 3, method: 'ping' }, cancelled(2)]);
  write({ jsonrpc: '2.0', id: 4, method: 'ping' });
  expect(await answer(4)).toHaveProperty('result');
  expect(server.counts().running).toBe(1);
});

const cancelled = (requestId: number) => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });

describe('a client that reads slowly', () => {
  /** An output that takes one message and then nothing until it is told to go on. */
  function slowPipes(service = echoService(), clock = systemClock) {
    const input = new PassThrough();
    const said: JsonObject[] = [];
    let isOpen = false;
    let goOn = (): void => undefined;
    const output = new Writable({
      highWaterMark: 1,
      write(chunk: Buffer, _, done) {
        if (chunk.length > 0)
          said.push(
            ...chunk
              .toString()
              .trim()
              .split('\n')
              .map((line) => JSON.parse(line)),
          );
        if (isOpen) done();
        else goOn = done;
      },
    });
    const server = createMcpServer(service, { clock, limits: { waiting: 4 } });
    const done = server.stdio({ input, output });
    const open = () => {
      isOpen = true;
      goOn();
    };
    return { server, input, said, done, open };
  }

  test('is read from no more until it has taken its answers', async () => {
    let calls = 0;
    const { input, open, done, said } = slowPipes(toolsOf({ count: () => String(++calls) }));
    input.write(`${JSON.stringify(initialize())}\n`);
    await waitFor(() => expect(said).toHaveLength(1));
    for (let id = 1; id <= 50; id++) {
      input.write(`${JSON.stringify(callOf('count', id))}\n`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(calls).toBeLessThan(10);
    open();
    input.end();
    await done;
    expect([calls, said.length]).toEqual([50, 51]);
  });

  test('does not hold up a server that stops', async () => {
    const clock = createFakeClock();
    const { server, input, done } = slowPipes(echoService(), clock);
    let isDone = false;
    void done.then(() => {
      isDone = true;
    });
    for (let id = 1; id <= 20; id++) {
      input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await server.close();
    await waitFor(() => expect(clock.pending()).toBeGreaterThan(0));
    await clock.advance(10_000);
    await waitFor(() => expect(isDone).toBe(true));
  });

  test('is told a change once, in both eras, and every change', async () => {
    const { server, input, said, open, done } = slowPipes();
    const listen = { notifications: { toolsListChanged: true, promptsListChanged: true }, _meta: modernMeta() };
    input.write(`${JSON.stringify(initialize())}\n`);
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 5, method: 'subscriptions/listen', params: listen })}\n`);
    await waitFor(() => expect(said).toHaveLength(1));
    await new Promise((resolve) => setImmediate(resolve));
    for (let at = 0; at < 100; at++) {
      server.listChanged('tools');
      server.listChanged('prompts');
    }
    open();
    await waitFor(() => expect(said.length).toBeGreaterThan(5));
    input.end();
    await done;
    const changes = said.map(({ method }) => String(method)).filter((method) => method.endsWith('list_changed'));
    expect(changes.sort()).toEqual(
      ['prompts', 'prompts', 'tools', 'tools'].map((kind) => `notifications/${kind}/list_changed`),
    );
  });
});

describe('questions', () => {
  test('of legacy clients have a limit: beyond it a call that asks is refused', async () => {
    const { write, answer, said } = servePipes({ limits: { suspendedCalls: 1 } });
    write(initialize({ elicitation: {} }));
    write(callOf('ask', 1));
    const question = await waitFor(() => said.find(({ method }) => method === 'elicitation/create') ?? expect.fail());
    write(callOf('ask', 2));
    expect(await answer(2)).toHaveProperty('error');
    write({ jsonrpc: '2.0', id: question['id'], result: { action: 'decline' } });
    expect(await answer(1)).toHaveProperty('result');
  });

  test("beyond the limit of suspended calls a caller's own oldest ends first", async () => {
    const served = await serveHttp({
      limits: { suspendedCalls: 2 },
      http: { authenticate: ({ headers }) => ({ id: String(headers['x-caller']) }) },
    });
    const by = (caller: string, more: JsonObject = {}) =>
      served.modern(
        'tools/call',
        { name: 'ask', arguments: {}, ...more },
        { ...canBeAsked, headers: { 'x-caller': caller } },
      );
    const first = (await by('one')).message['result'] as JsonObject;
    await by('two');
    await by('two');
    const answers = { sure: { action: 'decline' } };
    const woken = await by('one', { requestState: first['requestState'], inputResponses: answers });
    expect(woken.message).toHaveProperty('result');
  });

  test('with the same key are asked each time, one after the other, and refused at once', async () => {
    const ask = (call: ServedCall) => call.ask('elicitation/create', form, { key: 'sure' });
    const service = toolsOf({
      twice: async (_, call) => `${(await ask(call))['action']} ${(await ask(call))['action']}`,
      both: async (_, call) => String(await Promise.all([ask(call), ask(call)])),
    });
    const served = await serveHttp({ service });
    const call = async (name: string, more: JsonObject = {}) =>
      (await served.modern('tools/call', { name, arguments: {}, ...more }, canBeAsked)).message['result'] as JsonObject;
    const { requestState } = await call('twice');
    const second = await call('twice', { requestState, inputResponses: { sure: yes } });
    expect(second).toMatchObject({ resultType: 'input_required', inputRequests: { sure: {} } });
    const more = { requestState: second['requestState'], inputResponses: { sure: { action: 'decline' } } };
    expect(await call('twice', more)).toMatchObject({ content: [{ text: 'accept decline' }] });
    const { message } = await served.modern('tools/call', { name: 'both', arguments: {} }, canBeAsked);
    expect(message).toMatchObject({ error: { code: -32603 } });
  });

  test('that a handler leaves open do not change how many calls may run', async () => {
    const service = toolsOf({
      leave: (_, call) => {
        void call.ask('elicitation/create', form);
        return 'left';
      },
    });
    const { write, answer, said, server } = servePipes({ service });
    write(initialize({ elicitation: {} }));
    for (const id of [1, 2]) {
      write(callOf('leave', id));
      expect(await answer(id)).toHaveProperty('result');
      expect(server.counts().running).toBe(0);
    }
    for (const { id, method } of [...said]) if (method !== undefined) write({ jsonrpc: '2.0', id, result: yes });
    write({ jsonrpc: '2.0', id: 3, method: 'ping' });
    await answer(3);
    expect(server.counts().running).toBe(0);
  });
});

test('a body that comes byte by byte takes little more memory than its bytes', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const request = Object.assign(new PassThrough(), { headers: {} });
  const reading = readBody(request as never, { messageBytes: 1_000_000, whenLate: () => () => undefined });
  const bytes = 200_000;
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let at = 0; at < bytes; at++) request.emit('data', Buffer.from('x'));
  collect();
  expect((process.memoryUsage().heapUsed - before) / bytes).toBeLessThan(40);
  request.emit('end');
  expect(await reading).toEqual({ kind: 'read', text: 'x'.repeat(bytes) });
});

describe('over HTTP', () => {
  test('a client that accepts only a stream gets its answer once', async () => {
    const served = await serveHttp();
    const headers = { ...(await served.open()), accept: 'text/event-stream' };
    const { events } = await served.send({ headers, body: { jsonrpc: '2.0', id: 1, method: 'ping' } });
    expect(events).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
  });

  test('a request without a Host is refused', async () => {
    const { port } = await serveHttp();
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /mcp HTTP/1.0\r\n\r\n');
    let text = '';
    for await (const chunk of socket) text += chunk;
    expect(text).toMatch(/^HTTP\/1\.1 403 /);
  });

  test('an address of IPv6 is allowed as a Host header names it', () => {
    expect(['FD00::1', '[fd00::1]', 'Host.example'].map(inHostHeader)).toEqual([
      ...['[fd00::1]', '[fd00::1]', 'host.example'],
    ]);
  });

  test('a batch to a session that does not exist is answered 404', async () => {
    const { send } = await serveHttp();
    const body = [{ jsonrpc: '2.0', id: 1, method: 'ping' }];
    expect((await send({ headers: { 'mcp-session-id': 'none' }, body })).status).toBe(404);
    expect((await send({ body })).status).toBe(400);
  });

  test('a new GET stream begins after the last event that was sent', async () => {
    const stream = new EventStream({ name: 'general', waiting: 1, kept: { events: 9, chars: 99 }, retryMs: 1 });
    const written = () => {
      const response = new ServerResponse({ method: 'GET' } as never);
      const texts: string[] = [];
      response.write = (text: unknown) => texts.push(String(text)) > 0;
      stream.attach(response);
      return { texts, ids: () => texts.map((text) => /id: (.*)/.exec(text)?.[1]), response };
    };
    const first = written();
    stream.push('1');
    stream.push('2');
    expect(first.ids()).toEqual(['general.0', 'general.1', 'general.2']);
    first.response.emit('close');
    // While nobody reads, the later progress stands for the earlier: the numbers have neither gap nor disorder.
    for (const text of ['a', 'b', 'c']) stream.push(text, 'progress p');
    stream.push('3');
    expect(written().ids()).toEqual(['general.2', 'general.3', 'general.4']);
  });
});

describe('a subscription', () => {
  test('that is cancelled with the next message ends', async () => {
    const { input, said, done, server } = servePipes();
    const params = { notifications: { toolsListChanged: true }, _meta: modernMeta() };
    const listen = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params };
    input.write(`${JSON.stringify(listen)}\n${JSON.stringify(cancelled(1))}\n`);
    await new Promise((resolve) => setImmediate(resolve));
    server.listChanged('tools');
    input.end();
    await done;
    expect(said).toEqual([]);
  });

  test('is told to the service once, and its end too, also when another one of the request fails', async () => {
    const told: string[] = [];
    const service = echoService({
      async onSubscribed(uri) {
        if (uri === 'note://bad') throw new Error('bad');
        told.push(`+${uri}`);
      },
      onUnsubscribed: (uri) => told.push(`-${uri}`),
    });
    const served = await serveHttp({ service });
    const uris = ['note://1', 'note://1', 'note://bad'];
    const listening = await served.modern('subscriptions/listen', { notifications: { resourceSubscriptions: uris } });
    expect(listening.message).toHaveProperty('error');
    expect(told.splice(0)).toEqual(['+note://1', '-note://1']);
    const headers = await served.open();
    const subscribe = (id: number) => ({
      ...{ jsonrpc: '2.0', id, method: 'resources/subscribe', params: { uri: 'note://1' } },
    });
    await Promise.all([1, 2].map((id) => served.send({ headers, body: subscribe(id) })));
    expect(told).toEqual(['+note://1']);
  });
});
