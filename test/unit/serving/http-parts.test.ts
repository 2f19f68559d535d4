// Owns the proof of the parts of an HTTP endpoint by themselves, each behind a real server: who gets in, sessions, and the calls of
// one POST.

import { createServer, request as httpRequest, type RequestListener } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import { loopbackHosts } from '../../../src/serving/access.ts';
import { Dispatcher } from '../../../src/serving/dispatcher.ts';
import { HttpAdmission } from '../../../src/serving/http-admission.ts';
import { acceptedBy, refuse, type Visit } from '../../../src/serving/http-answers.ts';
import { HttpCalls } from '../../../src/serving/http-calls.ts';
import { HttpSessions } from '../../../src/serving/http-sessions.ts';
import { readMessage } from '../../../src/serving/message.ts';
import { invalidRequest } from '../../../src/serving/protocol.ts';
import type { Offer, Peer } from '../../../src/serving/service.ts';
import { withDefaults } from '../../../src/serving/serving-limits.ts';
import { ServingRoom } from '../../../src/serving/serving-room.ts';
import { StateSeal } from '../../../src/serving/state-seal.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { echoService, initialize, MODERN, modernMeta, sendTo, serveHttp, TOKEN, tokenAccess } from './served.ts';

const principal = { id: 'me' };
const OFFER: Offer = { capabilities: {} };

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  return `http://127.0.0.1:${port}/mcp`;
}

const dispatcherOf = (service = echoService()) =>
  new Dispatcher({
    ...{ service, room: new ServingRoom(withDefaults()), clock: createFakeClock(), seal: new StateSeal() },
    report: (error) => expect.fail(String(error)),
  });

test('a request gets in by its Host, its Origin and its token, and is answered where it does not', async () => {
  const admission = new HttpAdmission({
    ...{ authenticate: tokenAccess, hosts: ['127.0.0.1'], origins: ['https://app.example'] },
  });
  const url = await listen((request, response) => {
    const admitted = admission.admit(request, response);
    if (admitted !== undefined) response.end(JSON.stringify({ admitted: admitted.id }));
  });
  const authorization = `Bearer ${TOKEN}`;
  const origin = 'https://app.example';
  expect((await sendTo(url, { headers: { authorization } })).message).toHaveProperty('admitted');
  // The name that was allowed last does not let other names in.
  expect((await sendTo(url, { headers: { authorization, host: 'evil.example' } })).status).toBe(403);
  expect((await sendTo(url, { headers: { authorization, origin: 'https://evil.example' } })).status).toBe(403);
  expect(await sendTo(url, {})).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } });
  expect(await sendTo(url, { headers: { authorization, origin } })).toMatchObject({
    ...{ status: 200, headers: { 'access-control-allow-origin': origin, vary: 'Origin' } },
  });
  expect(await sendTo(url, { method: 'OPTIONS', headers: { origin } })).toMatchObject({ status: 204 });
  expect(await sendTo(url, { method: 'OPTIONS' })).toMatchObject({
    status: 405,
    headers: { allow: 'POST, GET, DELETE' },
  });
});

test('an answer is given once: what was refused is not refused again', async () => {
  const url = await listen((_, response) => {
    refuse(response, 400, invalidRequest('first'));
    refuse(response, 500, invalidRequest('second'));
  });
  expect(await sendTo(url, {})).toMatchObject({ status: 400, message: { id: null, error: { message: 'first' } } });
  const accepts = (accept?: string) => acceptedBy({ headers: accept === undefined ? {} : { accept } } as never);
  expect([accepts(), accepts('text/event-stream'), accepts('application/json'), accepts('text/html')]).toEqual([
    { events: true, json: true },
    { events: true, json: false },
    { events: false, json: true },
    { events: false, json: false },
  ]);
});

test('a client that left before its initialize was answered leaves no session behind', async () => {
  const [asked, offered, left, over] = [
    createDeferred<void>(),
    createDeferred<Offer>(),
    createDeferred<void>(),
    createDeferred<void>(),
  ];
  const opened: Peer[] = [];
  const offer = () => {
    asked.resolve();
    return offered.promise;
  };
  const sessions = new HttpSessions(
    dispatcherOf(echoService({ offer, onSessionOpened: (peer) => void opened.push(peer) })),
    new HttpAdmission({ authenticate: () => principal, hosts: loopbackHosts, origins: [] }),
  );
  const message = readMessage(initialize());
  const url = await listen((request, response) => {
    response.on('close', () => left.resolve());
    if (message.kind === 'request')
      void sessions.open({ request, response, principal }, message).then(() => over.resolve());
  });
  const sending = httpRequest(url, { method: 'POST' }).on('error', () => undefined);
  sending.end();
  await asked.promise;
  sending.destroy();
  await left.promise;
  offered.resolve(OFFER);
  await over.promise;
  expect([sessions.size, opened]).toEqual([0, []]);
});

test('a server that stops opens no session any more, also for an initialize that it has begun to answer', async () => {
  const [asked, offered] = [createDeferred<void>(), createDeferred<Offer>()];
  const opened: Peer[] = [];
  const offer = () => {
    asked.resolve();
    return offered.promise;
  };
  const service = echoService({ offer, onSessionOpened: (peer) => void opened.push(peer) });
  const { server, send } = await serveHttp({ service });
  const answered = send({ body: initialize() });
  await asked.promise;
  const closed = server.close();
  offered.resolve(OFFER);
  expect(await answered).toMatchObject({ status: 503, message: { id: 'init' }, headers: { 'retry-after': '5' } });
  await closed;
  expect([server.counts().sessions, opened]).toEqual([0, []]);
});

test('a request whose body came while the server began to stop is not handed on', async () => {
  const asked: string[] = [];
  const list = () => {
    asked.push('tools/list');
    return { tools: [] };
  };
  const begun = createDeferred<void>();
  const authenticate = () => {
    begun.resolve();
    return principal;
  };
  const { server, url } = await serveHttp({
    ...{ service: echoService({ methods: { 'tools/list': list } }), http: { authenticate } },
  });
  const headers = {
    ...{ 'content-type': 'application/json', 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list' },
  };
  const sending = httpRequest(url, { method: 'POST', headers });
  const answered = new Promise<number | undefined>((resolve, reject) => {
    sending.on('response', ({ statusCode }) => resolve(statusCode)).on('error', reject);
  });
  sending.flushHeaders();
  await begun.promise;
  const closed = server.close();
  sending.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: modernMeta() } }));
  expect(await answered).toBe(503);
  await closed;
  expect(asked).toEqual([]);
});

test('the calls of one POST are answered over one reply, each by its own id', async () => {
  const calls = new HttpCalls(dispatcherOf());
  const peer: Peer = {
    ...{ era: 'modern', protocolVersion: '2026-07-28', principal, client: undefined, session: undefined },
    capabilities: {},
  };
  const answerAs = (values: readonly unknown[], isBatch: boolean) => (visit: Visit) =>
    calls.answer(visit, { requests: values.map(readMessage), peer, isBatch });
  const list = { jsonrpc: '2.0', method: 'tools/list' };
  const answers = new Map([
    ['/one', answerAs([{ ...list, id: 1 }], false)],
    [
      '/batch',
      answerAs(
        [
          { ...list, id: 2 },
          { ...list, id: true },
        ],
        true,
      ),
    ],
  ]);
  const url = await listen((request, response) => {
    void answers.get(request.url ?? '')?.({ request, response, principal });
  });
  expect(await sendTo(url, { path: '/one' })).toMatchObject({ status: 200, message: { id: 1, result: {} } });
  expect(JSON.parse((await sendTo(url, { path: '/batch' })).body)).toMatchObject([
    { id: 2, result: {} },
    { id: null, error: { code: -32600 } },
  ]);
  expect((await sendTo(url, { path: '/one', headers: { accept: 'text/html' } })).status).toBe(406);
});
