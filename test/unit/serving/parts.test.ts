// Owns the proof of the parts by themselves: a call's life, a session's messages and streams, bodies, and which modules are loaded.

import { getEventListeners } from 'node:events';
import { createServer, ServerResponse, request as sendRequest } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { withoutToken } from '../../../src/serving/access.ts';
import { Dispatcher } from '../../../src/serving/dispatcher.ts';
import { EventStream } from '../../../src/serving/event-stream.ts';
import { HttpEndpoint } from '../../../src/serving/http-endpoint.ts';
import { listenHttp } from '../../../src/serving/http-listener.ts';
import { HttpSession } from '../../../src/serving/http-session.ts';
import { LegacySession } from '../../../src/serving/legacy-session.ts';
import { readBody } from '../../../src/serving/request-body.ts';
import { type CallReply, isWanted, RunningCall } from '../../../src/serving/running-call.ts';
import type { Peer } from '../../../src/serving/service.ts';
import { withDefaults } from '../../../src/serving/serving-limits.ts';
import { ServingRoom } from '../../../src/serving/serving-room.ts';
import { StateSeal } from '../../../src/serving/state-seal.ts';
import { StdioEndpoint } from '../../../src/serving/stdio-endpoint.ts';
import { SuspendedCalls, SuspendedPlaces } from '../../../src/serving/suspended-calls.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { importedFile, nodesOf, readSources } from '../../sources.ts';
import { echoService, initialize, sendTo } from './served.ts';

const peer: Peer = {
  ...{ era: 'modern', protocolVersion: '2026-07-28', principal: { id: 'me' }, client: undefined, session: undefined },
  capabilities: { elicitation: {} },
};

const request = (method: string, params: JsonObject = {}) => ({ kind: 'request', id: 1, method, params }) as const;

function reply(): CallReply & { readonly sent: JsonObject[] } {
  const sent: JsonObject[] = [];
  return {
    sent,
    notify: (message) => void sent.push(message),
    ask: (message) => sent.push(message) > 0,
    closeStream: () => undefined,
  };
}

const dispatcherOf = (service = echoService()) =>
  new Dispatcher({
    ...{ service, room: new ServingRoom(withDefaults()), clock: createFakeClock(), seal: new StateSeal() },
    report: (error) => expect.fail(String(error)),
  });

describe('a running call', () => {
  const start = (to = reply()) =>
    new RunningCall(request('tools/call', { _meta: { progressToken: 'p' } }), {
      ...{ peer, reply: to },
      ask: () => expect.fail(),
    });

  test('is cancelled once, with its reason as the answer, whatever the handler does', async () => {
    const call = start();
    let hasEnded = false;
    const answer = call.run(
      () => new Promise(() => undefined),
      () => {
        hasEnded = true;
      },
    );
    call.cancel('first');
    call.cancel('second');
    await expect(answer).rejects.toBe('first');
    expect([call.signal.aborted, call.signal.reason, hasEnded]).toEqual([true, 'first', false]);
    expect(() =>
      start().run(
        () => expect.fail('not run'),
        () => undefined,
      ),
    ).toThrow('not run');
  });

  test('says nothing after its answer', async () => {
    const to = reply();
    const call = start(to);
    await call.run(
      async () => ({}),
      () => undefined,
    );
    call.progress({ progress: 1 });
    call.notify('x', {});
    call.cancel('late');
    expect([to.sent, call.isCancelled]).toEqual([[], false]);
  });

  test('a log message is wanted from its level on', () => {
    expect([isWanted('info', 'warning'), isWanted('error', 'warning'), isWanted('debug', undefined)]).toEqual([
      false,
      true,
      true,
    ]);
  });
});

test('questions asked at once are sent together, and those of other requests are refused', async () => {
  const clock = createFakeClock();
  const suspended = new SuspendedCalls({
    seal: new StateSeal(),
    clock,
    questionMs: 1_000,
    places: new SuspendedPlaces(10),
  });
  const call = new RunningCall(request('tools/call'), { peer, reply: reply(), ask: suspended.ask });
  const question = { message: '?', requestedSchema: {} };
  const answer = call.run(
    async () => {
      const [a, b] = await Promise.all(['a', 'b'].map((key) => call.ask('elicitation/create', question, { key })));
      return { a, b };
    },
    () => undefined,
  );
  const { inputRequests, requestState } = await answer;
  expect(Object.keys(inputRequests as object)).toEqual(['a', 'b']);
  const no = { action: 'decline' };
  const woken = suspended.wake(
    request('tools/call', { requestState, inputResponses: { a: no, b: no } }),
    peer.principal,
    reply(),
  );
  expect(await woken.answer).toEqual({ a: no, b: no });
  const listing = new RunningCall(request('tools/list'), { peer, reply: reply(), ask: suspended.ask });
  await expect(listing.ask('roots/list', {})).rejects.toThrow('cannot be asked while it is answered tools/list');
  expect(clock.pending()).toBe(0);
});

test('a call that asks again and again keeps nothing of the questions that were answered', async () => {
  const suspended = new SuspendedCalls({
    ...{ seal: new StateSeal(), clock: createFakeClock(), questionMs: 1_000, places: new SuspendedPlaces(10) },
  });
  const call = new RunningCall(request('tools/call'), { peer, reply: reply(), ask: suspended.ask });
  const listening: number[] = [];
  const ask = async () => {
    for (let at = 0; at < 3; at++) {
      await call.ask('elicitation/create', { message: '?', requestedSchema: {} }, { key: 'again' });
      listening.push(getEventListeners(call.signal, 'abort').length);
    }
    return {};
  };
  let answer = await call.run(ask, () => undefined);
  for (let round = 0; round < 3; round++) {
    const params = { requestState: answer['requestState'], inputResponses: { again: { action: 'decline' } } };
    answer = await suspended.wake(request('tools/call', params), peer.principal, reply()).answer;
  }
  expect([answer, listening]).toEqual([{}, [0, 0, 0]]);
});

test('a dispatcher answers with the words of the era, and never throws', async () => {
  const dispatcher = dispatcherOf();
  const answer = (method: string, params?: JsonObject) =>
    dispatcher.answer({ request: request(method, params), peer, reply: reply() });
  expect(JSON.parse((await answer('server/discover')).text)).toMatchObject({
    ...{ id: 1, result: { supportedVersions: ['2026-07-28'], capabilities: { tools: { listChanged: true } } } },
  });
  expect(await answer('ping')).toMatchObject({ code: -32601, isHandedOn: false });
  expect(await answer('tools/call', { name: 'none' })).toMatchObject({ code: -32602, isHandedOn: true });
  expect(dispatcher.hasMethod('ping')).toBe(true);
});

describe('a session', () => {
  const options = (send: (message: JsonObject) => void = () => undefined) => ({
    ...{
      id: 's',
      principal: { id: 'me' },
      protocolVersion: '2025-11-25',
      clock: createFakeClock(),
      questionMs: 1_000,
      send,
    },
    introduction: { capabilities: { roots: {} }, clientInfo: { name: 'c' } },
  });

  test('gets log messages from its level on, and none before it has said which', () => {
    const sent: JsonObject[] = [];
    const session = new LegacySession(options((message) => sent.push(message)));
    session.notify('notifications/message', { level: 'error', data: 1 });
    session.level = 'warning';
    session.notify('notifications/message', { level: 'info', data: 2 });
    session.notify('notifications/message', { level: 'error', data: 3 });
    session.notify('notifications/other', {});
    expect(sent).toMatchObject([{ params: { data: 3 } }, { method: 'notifications/other' }]);
  });

  test('is asked outside of a call, until it ends', async () => {
    const sent: JsonObject[] = [];
    const session = new LegacySession(options((message) => sent.push(message)));
    const roots = session.ask('roots/list', {});
    session.questions.settle({ kind: 'answer', id: sent[0]?.['id'] as string, result: { roots: [] } });
    expect(await roots).toEqual({ roots: [] });
    const open = session.ask('roots/list', {});
    session.end('over');
    await expect(open).rejects.toBe('over');
    await expect(session.ask('elicitation/create', {})).rejects.toThrow('capability');
  });

  test('finds the stream that an event id names, and keeps finished ones within limits', () => {
    const session = new HttpSession(options(), withDefaults());
    const first = session.openStream();
    expect(session.resume('s1.7')).toEqual({ stream: first, after: 7 });
    expect([session.resume('s2.1'), session.resume('s1.x'), session.resume('')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    first?.finish();
    for (let at = 0; at < 33; at++) session.openStream()?.finish();
    expect(session.resume('s1.7')).toBeUndefined();
    expect(session.resume('s34.0')).toBeDefined();
  });
});

test('an event stream keeps the last events it sent, in numbers and characters', () => {
  const kept = { events: 2, chars: 40 };
  const stream = new EventStream({ name: 's', waiting: 10, kept, retryMs: 1 });
  stream.attach(new ServerResponse({ method: 'GET' } as never));
  for (let at = 0; at < 5; at++) stream.push(JSON.stringify({ at }));
  expect(stream.keptChars).toBe('{"at":3}{"at":4}'.length);
  stream.push(JSON.stringify({ long: 'x'.repeat(60) }));
  expect(stream.keptChars).toBe(71);
});

describe('a body', () => {
  const body = (headers: object) =>
    Object.assign(new PassThrough(), { headers }) as never as PassThrough & { headers: object };

  test('is read whole, refused when too large or too slow, and lost with its client', async () => {
    const clock = createFakeClock();
    const whenLate = (giveUp: () => void) => clock.after(1_000, giveUp);
    const read = (stream: unknown) => readBody(stream as never, { messageBytes: 10, whenLate });
    const whole = body({});
    whole.write('ab');
    whole.end('ä');
    expect(await read(whole)).toEqual({ kind: 'read', text: 'abä' });
    expect(await read(body({ 'content-length': '11' }))).toEqual({ kind: 'too-large' });
    const long = body({});
    long.write('x'.repeat(11));
    expect(await read(long)).toEqual({ kind: 'too-large' });
    const slow = read(body({}));
    await clock.advance(1_000);
    expect(await slow).toEqual({ kind: 'too-slow' });
    const lost = body({});
    const reading = read(lost);
    lost.destroy();
    expect(await reading).toEqual({ kind: 'lost' });
    expect(clock.pending()).toBe(0);
  });
});

test('a host mounts the endpoint in its own server', async () => {
  const endpoint = new HttpEndpoint(dispatcherOf(), { authenticate: withoutToken, hosts: ['127.0.0.1'], origins: [] });
  const host = createServer((incoming, response) => void endpoint.handle(incoming, response));
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void host.close());
  const { port } = host.address() as { port: number };
  expect((await sendTo(`http://127.0.0.1:${port}/anywhere`, { body: initialize() })).status).toBe(200);
  expect(endpoint.sessions).toBe(1);
  endpoint.stop();
});

test('a taken port is told, never silently another one', async () => {
  const listen = (port: number) =>
    listenHttp({
      ...{ host: '127.0.0.1', port, path: '/mcp', limits: withDefaults() },
      route: () => undefined,
    });
  const first = await listen(0);
  onTestFinished(() => first.close());
  await expect(listen(first.port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

test('an endpoint on pipes ends with its input', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const running = new StdioEndpoint(dispatcherOf(), { input, output }).run();
  input.end();
  await running;
});

test('the serving side and the client side load nothing of each other', () => {
  const sources = new Map(readSources().map((source) => [source.path, source]));
  const loadedFrom = (entry: string) => {
    const loaded = new Set<string>();
    const open = [entry];
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      const source = sources.get(path);
      if (source === undefined || loaded.has(path)) continue;
      loaded.add(path);
      open.push(...nodesOf(source).flatMap((node) => importedFile(node, source) ?? []));
    }
    return [...loaded].filter((path) => !/^src\/(kernel|model)\//.test(path));
  };
  const served = loadedFrom('src/serving/door.ts').filter((path) => !path.startsWith('src/serving/'));
  expect(served.sort()).toEqual(['src/transport/id-scanner.ts', 'src/transport/pieces.ts']);
  expect(loadedFrom('src/index.ts').filter((path) => path.startsWith('src/serving/'))).toEqual([]);
});

test('a client that offers HTTP/2 is answered as if it had not; one that asks for our protocol has the connection', async () => {
  const asked: string[] = [];
  const listener = await listenHttp({
    ...{ host: '127.0.0.1', port: 0, path: '/mcp', limits: withDefaults() },
    route: () => async (request, response) => {
      const body = await readBody(request, { messageBytes: 1_000, whenLate: () => () => undefined });
      asked.push(`${request.method} ${body.kind === 'read' ? body.text : body.kind}`);
      response.end('as usual');
    },
    upgrade: { protocol: 'ours', accept: (_, socket) => socket.end('HTTP/1.1 101 Ours\r\n\r\n') },
  });
  onTestFinished(() => listener.close());
  const send = (protocol: string) =>
    new Promise<string>((resolve, reject) => {
      const upgrade = { connection: 'Upgrade, HTTP2-Settings', upgrade: protocol, 'http2-settings': 'AAEA' };
      const sent = sendRequest(listener.url, { method: 'POST', headers: { ...upgrade, 'content-length': 5 } });
      sent.on('response', ({ statusCode }) => resolve(String(statusCode)));
      sent.on('error', reject).end('hello');
    });
  expect(await send('h2c')).toBe('200');
  expect(await send('ours')).toBe('101');
  expect(asked).toEqual(['POST hello']);
});
