// Owns the proof that requests need the token, come to our own name, and from no foreign web page; and that a session belongs to
// the token that opened it.

import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bearerToken, byToken, faultOfNames, readOrCreateToken, withoutToken } from '../../../src/serving/access.ts';
import { createMcpServer } from '../../../src/serving/mcp-server.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { removeFolder } from '../../remove-folder.ts';
import { waitFor } from '../../wait-for.ts';
import { echoService, initialize, serveHttp, servePipes, TOKEN, tokenAccess } from './served.ts';

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'plexus-token-'));
  onTestFinished(() => removeFolder(made));
  return made;
}

describe('the token file', () => {
  test('is made at the first start for its owner only, once for all who start at the same time', async () => {
    const file = join(folder(), 'deep', 'token');
    const tokens = await Promise.all(Array.from({ length: 20 }, () => readOrCreateToken(file)));
    expect(new Set(tokens).size).toBe(1);
    expect(tokens[0]).toHaveLength(43);
    expect(readFileSync(file, 'utf8')).toBe(`${tokens[0]}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await readOrCreateToken(file)).toBe(tokens[0]);
  });

  test('is closed to others if it was open, and refused if it holds no token', async () => {
    const file = join(folder(), 'token');
    writeFileSync(file, TOKEN);
    chmodSync(file, 0o644);
    expect(await readOrCreateToken(file)).toBe(TOKEN);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    writeFileSync(file, 'short');
    await expect(readOrCreateToken(file)).rejects.toThrow('holds no token');
  });
});

test('a token is read from the Authorization header and from nowhere else', () => {
  const read = (authorization?: string) => bearerToken({ headers: { authorization } as never });
  expect([read(`Bearer ${TOKEN}`), read(`bearer  ${TOKEN} `)]).toEqual([TOKEN, TOKEN]);
  expect([read(), read(TOKEN), read(`Basic ${TOKEN}`), read('Bearer a b')]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test('every request needs the token, on loopback too, and learns nothing without it', async () => {
  const { send, url } = await serveHttp({ http: { authenticate: tokenAccess } });
  const body = initialize();
  for (const headers of [{}, { authorization: 'Bearer wrong' }, { authorization: `Bearer ${TOKEN}x` }])
    for (const method of ['POST', 'GET', 'DELETE'])
      expect(await send({ method, headers, body })).toMatchObject({
        status: 401,
        headers: { 'www-authenticate': 'Bearer' },
      });
  expect((await send({ path: `${new URL(url).pathname}?token=${TOKEN}`, body })).status).toBe(401);
  expect((await send({ headers: { authorization: `Bearer ${TOKEN}` }, body })).status).toBe(200);
});

test('a service can tell clients apart: each token and each pipe is a principal of its own, that of a token for good', async () => {
  const principals: string[] = [];
  const service = echoService({ onSessionOpened: ({ principal }) => principals.push(principal.id) });
  const tokens = ['1'.repeat(40), '2'.repeat(40), '1'.repeat(40)];
  for (const token of tokens) {
    const { send } = await serveHttp({ service, http: { authenticate: byToken(token) } });
    await send({ headers: { authorization: `Bearer ${token}` }, body: initialize() });
  }
  for (let pipe = 0; pipe < 2; pipe++) {
    const { write, answer } = servePipes({ service });
    write(initialize());
    await answer('init');
  }
  const [one, , again] = principals;
  expect(again).toBe(one);
  expect([principals.length, new Set(principals).size]).toEqual([5, 4]);
  expect(principals.join()).not.toMatch(/1{8}|2{8}/);
});

test('a session belongs to the token that opened it: for others it does not exist', async () => {
  const tokens = { one: byToken('1'.repeat(40), { id: 'one' }), two: byToken('2'.repeat(40), { id: 'two' }) };
  const { send, server } = await serveHttp({
    http: { authenticate: (request) => tokens.one(request) ?? tokens.two(request) },
  });
  const one = { authorization: `Bearer ${'1'.repeat(40)}` };
  const two = { authorization: `Bearer ${'2'.repeat(40)}` };
  const session = String((await send({ headers: one, body: initialize() })).headers['mcp-session-id']);
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const sent = (headers: Record<string, string>, method = 'POST') =>
    send({ method, headers: { ...headers, 'mcp-session-id': session }, ...(method === 'POST' && { body: ping }) });
  for (const method of ['POST', 'GET', 'DELETE']) expect((await sent(two, method)).status).toBe(404);
  expect((await sent(one)).status).toBe(200);
  server.endSessions(({ id }) => id === 'one');
  expect((await sent(one)).status).toBe(404);
});

test('a session without a request for its time is over, and one that waits for an answer or listens is not', async () => {
  const clock = createFakeClock();
  const closed: string[] = [];
  const service = echoService({ onSessionClosed: ({ session }) => closed.push(session?.id ?? '') });
  const { url, send, open, server } = await serveHttp({ service, clock, limits: { sessionIdleMs: 60_000 } });
  const [idle, used, waiting, listening] = [await open(), await open(), await open(), await open()];
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const status = async (headers: Readonly<Record<string, string>>) => (await send({ headers, body: ping })).status;
  // Without a stream, which would keep its session by itself.
  const calling = { ...waiting, accept: 'application/json' };
  const hanging = send({ headers: calling, body: { ...ping, id: 2, method: 'tools/call', params: { name: 'hang' } } });
  await waitFor(() => expect(server.counts().running).toBe(1));
  const leaving = new AbortController();
  const stream = { headers: { ...listening, accept: 'text/event-stream' }, signal: leaving.signal };
  expect((await fetch(url, stream)).status).toBe(200);
  await clock.advance(59_000);
  expect(await status(used)).toBe(200);
  await clock.advance(2_000);
  expect(closed).toEqual([idle['mcp-session-id']]);
  expect([await status(idle), await status(used), await status(waiting), await status(listening)]).toEqual([
    404, 200, 200, 200,
  ]);
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } };
  expect((await send({ headers: waiting, body: cancelled })).status).toBe(202);
  await hanging;
  leaving.abort();
  await waitFor(() => expect(server.counts()).toMatchObject({ running: 0, unanswered: 0 }));
  await waitFor(async () => {
    await clock.advance(61_000);
    expect(server.counts().sessions).toBe(0);
  });
});

test('access that is withdrawn while a body is on its way, or a session is being opened, counts for that request too', async () => {
  const admitted: string[] = [];
  const offers: (() => void)[] = [];
  const service = echoService();
  const { offer } = service;
  const { port, send, modern, server } = await serveHttp({
    service: { ...service, offer: (peer) => new Promise((resolve) => offers.push(() => resolve(offer(peer)))) },
    http: {
      authenticate({ headers }) {
        const id = String(headers.authorization);
        admitted.push(id);
        return { id };
      },
    },
  });
  const begin = async (authorization: string) => {
    const body = JSON.stringify(initialize());
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const head = `Host: 127.0.0.1\r\nAuthorization: ${authorization}\r\nContent-Type: application/json`;
    socket.write(`POST /mcp HTTP/1.1\r\n${head}\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 9)}`);
    await waitFor(() => expect(admitted).toContain(authorization));
    return async () => {
      socket.write(body.slice(9));
      return String((await once(socket, 'data'))[0]).split('\r\n');
    };
  };
  const [revoked, other] = [await begin('revoked'), await begin('other')];
  const opening = send({ headers: { authorization: 'revoked' }, body: initialize() });
  await waitFor(() => expect(offers).toHaveLength(1));
  server.endSessions(({ id }) => id === 'revoked');
  expect(await revoked()).toEqual(expect.arrayContaining(['HTTP/1.1 401 Unauthorized', 'www-authenticate: Bearer']));
  const opened = other();
  await waitFor(() => expect(offers).toHaveLength(2));
  for (const answer of offers) answer();
  expect((await opening).status).toBe(401);
  expect((await opened)[0]).toBe('HTTP/1.1 200 OK');
  expect(server.counts()).toMatchObject({ sessions: 1, unanswered: 0 });
  const call = await modern('tools/call', { name: 'echo', arguments: { text: 'x' } });
  expect(call.status, 'what was withdrawn does not count for later requests').toBe(200);
});

test('access that is withdrawn while a call waits for the schema of its tool counts for that call too', async () => {
  const schemas: (() => void)[] = [];
  const ran: unknown[] = [];
  const service = echoService();
  const { modern, server } = await serveHttp({
    service: {
      ...service,
      inputSchema: () => new Promise((resolve) => schemas.push(() => resolve({ type: 'object' }))),
      methods: { ...service.methods, 'tools/call': ({ params }) => ({ content: [], ran: ran.push(params['name']) }) },
    },
    http: { authenticate: ({ headers }) => ({ id: String(headers.authorization) }) },
  });
  const call = (authorization: string) =>
    modern('tools/call', { name: 'echo', arguments: {} }, { headers: { authorization } });
  const calls = [call('revoked'), call('other')];
  await waitFor(() => expect(schemas).toHaveLength(2));
  server.endSessions(({ id }) => id === 'revoked');
  for (const answer of schemas) answer();
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([401, 200]);
  expect(ran).toEqual(['echo']);
});

test('other names and foreign pages are refused before anything else', () => {
  const fault = (host: string | undefined, origin?: string) =>
    faultOfNames(
      { headers: { host, origin } as never },
      { hosts: ['localhost', '[::1]'], origins: ['https://app.example'] },
    );
  for (const host of ['localhost', 'localhost:80', 'LOCALHOST:1', '[::1]:9'])
    expect([host, fault(host)]).toEqual([host, undefined]);
  for (const host of [
    undefined,
    '',
    'evil.example',
    'localhost.evil.example',
    'localhost@evil.example',
    '::1',
    'localhost:x',
  ])
    expect(fault(host)).toBe('The Host of the request is not allowed');
  expect(fault('localhost:80', 'https://app.example')).toBeUndefined();
  expect(fault('localhost:80', 'http://localhost:80')).toBeUndefined();
  for (const origin of ['null', 'http://localhost:81', 'https://evil.example', 'https://app.example.evil.example', ''])
    expect([origin, fault('localhost:80', origin)]).toEqual([origin, 'The Origin of the request is not allowed']);
});

test('only a listed page gets CORS headers, and its preflight an answer without a token', async () => {
  const { send } = await serveHttp({ http: { authenticate: tokenAccess, origins: ['https://app.example'] } });
  const preflight = { 'access-control-request-headers': 'authorization,content-type', origin: 'https://app.example' };
  expect(await send({ method: 'OPTIONS', headers: preflight })).toMatchObject({
    status: 204,
    headers: {
      'access-control-allow-origin': 'https://app.example',
      'access-control-allow-headers': 'authorization,content-type',
    },
  });
  expect((await send({ method: 'OPTIONS', headers: { ...preflight, origin: 'https://evil.example' } })).status).toBe(
    403,
  );
  const own = await send({ headers: { authorization: `Bearer ${TOKEN}` }, body: initialize() });
  expect(own.headers).not.toHaveProperty('access-control-allow-origin');
  expect((await send({ headers: { host: 'evil.example' }, body: initialize() })).status).toBe(403);
});

test('without a token a server listens on loopback only', async () => {
  const server = createMcpServer(echoService());
  await expect(server.listen({ host: '0.0.0.0', port: 0, authenticate: withoutToken })).rejects.toThrow(
    'loopback only',
  );
  await server.close();
});
