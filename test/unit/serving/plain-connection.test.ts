// Owns the proof that a connection with plain requests is answered as Node answers it, and goes to Node with the first other request:
// over real sockets, with the port of a served echo or with a handler of the test.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { HttpHandler } from '../../../src/serving/http-exchange.ts';
import { listenHttp } from '../../../src/serving/http-listener.ts';
import { PlainConnection } from '../../../src/serving/plain-connection.ts';
import { PlainConnections, type PlainConnectionsOptions } from '../../../src/serving/plain-connections.ts';
import { PlainRequest } from '../../../src/serving/plain-request.ts';
import { PlainResponse } from '../../../src/serving/plain-response.ts';
import type { Service } from '../../../src/serving/service.ts';
import { withDefaults } from '../../../src/serving/serving-limits.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { waitFor } from '../../wait-for.ts';
import { MODERN, modernMeta, serveHttp } from './served.ts';

/** A request that says nothing of its connection is plain; with `te` it is not, and means the same. */
const OF_NODE = { te: 'trailers' };

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

function textOf({ method = 'POST', path = '/mcp', headers = {}, body = '' }: Asked): string {
  const all = {
    host: '127.0.0.1',
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(method === 'POST' && { 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

interface Told {
  readonly status: string;
  readonly headers: readonly string[];
  readonly body: string;
}

/** A client on a bare socket: what it is told is kept as text. */
async function openClient(port: number) {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  let text = '';
  let isClosed = false;
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket
    .on('error', () => undefined)
    .on('close', () => {
      isClosed = true;
    });
  return {
    socket,
    text: () => text,
    isClosed: () => isClosed,
    write: (asked: Asked | string) => void socket.write(typeof asked === 'string' ? asked : textOf(asked)),
    /** Takes the next whole answer from what was told. */
    next: () =>
      waitFor(() => {
        const [told, length] = firstIn(text) ?? expect.fail(`no whole answer: ${text}`);
        text = text.slice(length);
        return told;
      }),
  };
}

function firstIn(text: string): readonly [Told, number] | undefined {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [status = '', ...headers] = text.slice(0, headEnd).split('\r\n');
  const bodyAt = headEnd + 4;
  const length = headers.flatMap((line) => /^content-length: (\d+)$/i.exec(line)?.[1] ?? []).map(Number)[0];
  const isChunked = headers.some((line) => /^transfer-encoding: chunked$/i.test(line));
  const end = isChunked ? text.indexOf('0\r\n\r\n', bodyAt) + 5 : bodyAt + (length ?? 0);
  if (end < bodyAt + 5 && isChunked) return undefined;
  return text.length < end ? undefined : [{ status, headers, body: text.slice(bodyAt, end) }, end];
}

/** Names in small letters, without the time. */
const headersOf = ({ headers }: Told) =>
  headers
    .map((line) => line.replace(/^[^:]+/, (name) => name.toLowerCase()))
    .filter((line) => !line.startsWith('date: '))
    .sort();

async function listenWith(handler: HttpHandler) {
  const listener = await listenHttp({
    ...{ host: '127.0.0.1', port: 0, path: '/mcp', limits: withDefaults() },
    route: (path) => (path === '/mcp' ? handler : undefined),
  });
  onTestFinished(() => listener.close());
  return listener;
}

/** A handler that says which requests Node has read, and answers when it is told to. */
function held() {
  const requests: { readonly isPlain: boolean; readonly url: string | undefined; answer(body: string): void }[] = [];
  const handler: HttpHandler = (request, response) => {
    const isPlain = !('httpVersion' in request);
    const answer = (body: string) => void response.writeHead(200, { 'content-length': body.length }).end(body);
    requests.push({ isPlain, url: request.url, answer });
  };
  return { requests, handler };
}

const call = (id: number, text: string) =>
  JSON.stringify({
    ...{ jsonrpc: '2.0', id, method: 'tools/call' },
    params: { name: 'echo', arguments: { text }, _meta: modernMeta() },
  });
const modern = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'echo' };

describe('a plain request is told what Node would tell it:', () => {
  const cases: Readonly<Record<string, Asked>> = {
    'a result': { headers: modern, body: call(1, 'hé 日本') },
    'a header that disagrees': { headers: { ...modern, 'mcp-name': 'other' }, body: call(1, 'a') },
    'a notification': { body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/x' }) },
    'no JSON': { body: 'nonsense' },
    'another type of body': { headers: { 'content-type': 'text/plain' }, body: '{}' },
    'a host that is not ours': { headers: { host: 'evil.example' }, body: '{}' },
    'a page that is not ours': { headers: { origin: 'https://evil.example' }, body: '{}' },
    'a page that is ours': { headers: { ...modern, origin: 'https://app.example' }, body: call(1, 'a') },
    'an unknown session': { headers: { 'mcp-session-id': 'none' }, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' },
    'an unknown address': { path: '/other', body: '{}' },
    'an empty body': {},
    'a body that is too large': { body: `"${'a'.repeat(3_000)}"` },
    'a client that takes nothing': { headers: { ...modern, accept: 'text/html' }, body: call(1, 'a') },
  };
  test.each(Object.entries(cases))('%s', async (_, asked) => {
    const { port } = await serveHttp({ limits: { messageBytes: 2_000 }, http: { origins: ['https://app.example'] } });
    const tell = async (headers: Readonly<Record<string, string>>) => {
      const client = await openClient(port);
      client.write({ ...asked, headers: { ...asked.headers, ...headers } });
      return client.next();
    };
    const [here, there] = [await tell({}), await tell(OF_NODE)];
    expect([here.status, here.body]).toEqual([there.status, there.body.replace(/^0\r\n\r\n$/, '')]);
    // Node sends an answer without a body in chunks, of which there is none.
    const sized = (told: Told) =>
      headersOf(told).filter((line) => !/^transfer-encoding: |^content-length: 0$/.test(line));
    expect(sized(here)).toEqual(sized(there));
  });
});

test('a session is opened, and its requests are told to be its', async () => {
  const { port } = await serveHttp();
  const client = await openClient(port);
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  client.write({ body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }) });
  const id = /mcp-session-id: (\S+)/.exec((await client.next()).headers.join('\n'))?.[1] ?? expect.fail('no session');
  client.write({ headers: { 'mcp-session-id': id }, body: '{"jsonrpc":"2.0","id":2,"method":"ping"}' });
  expect(await client.next()).toMatchObject({
    status: 'HTTP/1.1 200 OK',
    body: '{"jsonrpc":"2.0","id":2,"result":{}}',
  });
});

describe('one connection', () => {
  test('takes one request after the other, and goes to Node for good with the first that is not plain', async () => {
    const { requests, handler } = held();
    const { port } = await listenWith(handler);
    const client = await openClient(port);
    const asked: readonly (readonly [Asked, boolean])[] = [
      [{ path: '/mcp?1', body: 'a' }, true],
      [{ path: '/mcp?2', body: 'b' }, true],
      [{ path: '/mcp?3', method: 'GET' }, false],
      [{ path: '/mcp?4', body: 'c' }, false],
    ];
    for (const [at, [request, isPlain]] of asked.entries()) {
      client.write(request);
      const got = await waitFor(() => requests[at] ?? expect.fail('not there yet'));
      expect([got.url, got.isPlain]).toEqual([request.path, isPlain]);
      got.answer(`answer ${at}`);
      expect((await client.next()).body).toBe(`answer ${at}`);
    }
  });

  test('reads a request that comes in pieces', async () => {
    const { requests, handler } = held();
    const { port } = await listenWith(handler);
    const client = await openClient(port);
    const text = textOf({ body: 'in pieces' });
    client.write(text.slice(0, 30));
    await waitFor(() => expect(client.socket.bytesWritten).toBe(30));
    client.write(text.slice(30));
    (await waitFor(() => requests[0] ?? expect.fail('not there yet'))).answer('whole');
    expect((await client.next()).body).toBe('whole');
  });

  test('answers in order what is sent before the last answer has come', async () => {
    const { requests, handler } = held();
    const { port } = await listenWith(handler);
    const client = await openClient(port);
    client.write({ path: '/mcp?1', body: 'a' });
    const first = await waitFor(() => requests[0] ?? expect.fail('not there yet'));
    client.write({ path: '/mcp?2', body: 'b' });
    client.write(textOf({ path: '/mcp?3', body: 'c' }) + textOf({ path: '/mcp?4', body: 'd' }));
    await new Promise((resolve) => setImmediate(resolve));
    expect(requests.length).toBe(1);
    first.answer('1');
    for (const at of [1, 2, 3]) (await waitFor(() => requests[at] ?? expect.fail('not there yet'))).answer(`${at + 1}`);
    const bodies = [];
    for (let at = 0; at < 4; at++) bodies.push((await client.next()).body);
    expect([bodies, requests.map(({ url }) => url)]).toEqual([
      ['1', '2', '3', '4'],
      ['/mcp?1', '/mcp?2', '/mcp?3', '/mcp?4'],
    ]);
  });

  test('streams an answer that comes in parts, and goes on with the next request', async () => {
    const { server, port } = await serveHttp({
      service: {
        info: { name: 'streams', version: '1' },
        offer: () => Promise.resolve({ capabilities: { tools: {} } }),
        methods: {
          'tools/call': async (served) => {
            for (let progress = 1; progress <= 3; progress++) served.progress({ progress });
            return { content: [] };
          },
        },
      },
    });
    const client = await openClient(port);
    const params = { name: 'echo', _meta: { ...modernMeta(), progressToken: 'p' } };
    for (const id of [1, 2]) {
      const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
      client.write({ headers: modern, body });
      const told = await client.next();
      expect(headersOf(told)).toContain('content-type: text/event-stream');
      expect(told.body.match(/"progress":\d/g)).toEqual(['"progress":1', '"progress":2', '"progress":3']);
      expect(told.body).toContain(`"id":${id},"result"`);
    }
    expect([client.isClosed(), server.counts().unanswered]).toEqual([false, 0]);
  });

  test('streams no faster than its client reads, for a page that may ask', async () => {
    const text = 'x'.repeat(1_048_576);
    const service: Service = {
      info: { name: 'streams', version: '1' },
      offer: () => Promise.resolve({ capabilities: { tools: {} } }),
      methods: {
        'tools/call': async (served) => {
          for (let at = 0; at < 32; at++) served.notify('notifications/x', { text });
          return { content: [] };
        },
      },
    };
    const { port } = await serveHttp({ service, http: { origins: ['https://app.example'] } });
    const client = await openClient(port);
    client.socket.pause();
    client.write({ headers: { ...modern, origin: 'https://app.example' }, body: call(1, 'a') });
    await waitFor(() => expect(client.socket.bytesRead).toBeGreaterThan(0));
    client.socket.resume();
    const told = await client.next();
    expect(headersOf(told)).toContain('access-control-allow-origin: https://app.example');
    expect([told.body.split(text).length, told.body.includes('"id":1,"result"')]).toEqual([33, true]);
  });

  test('that its client closes ends the call that it waited for', async () => {
    const { server, port } = await serveHttp();
    const client = await openClient(port);
    const params = { name: 'hang', _meta: modernMeta() };
    client.write({
      headers: { ...modern, 'mcp-name': 'hang' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    await waitFor(() => expect(server.counts().running).toBe(1));
    client.socket.destroy();
    await waitFor(() => expect(server.counts()).toMatchObject({ running: 0, unanswered: 0 }));
  });

  test('is closed with its client’s half of it', async () => {
    const { handler } = held();
    const { port } = await listenWith(handler);
    const client = await openClient(port);
    client.write({ body: 'a' });
    client.socket.end();
    await waitFor(() => expect(client.isClosed()).toBe(true));
    expect(client.text()).toBe('');
  });

  test('is not read while its client does not read', async () => {
    const requests: string[] = [];
    const sockets: Socket[] = [];
    const { port } = await listenWith((request, response) => {
      requests.push(request.url ?? '');
      sockets.push(request.socket);
      response.writeHead(200).end('x'.repeat(16 * 1_048_576));
    });
    const client = await openClient(port);
    client.socket.pause();
    client.write({ path: '/mcp?1', body: 'a' });
    await waitFor(() => expect(requests.length).toBe(1));
    client.write({ path: '/mcp?2', body: 'b' });
    await waitFor(() => expect(sockets[0]?.isPaused()).toBe(true));
    expect(requests).toEqual(['/mcp?1']);
    client.socket.resume();
    await waitFor(() => expect(requests).toEqual(['/mcp?1', '/mcp?2']));
  });
});

describe('the connections of a port', () => {
  /** A port that has only plain requests; Node’s are told. */
  async function openPort(options: Partial<PlainConnectionsOptions> = {}) {
    const toNode: string[] = [];
    const clock = createFakeClock();
    const connections = new PlainConnections({
      answer: (_, response) => void response.writeHead(200).end('ok'),
      handOver: (socket, chunk) => {
        toNode.push(chunk.toString());
        socket.destroy();
      },
      ...{ headersMs: 10_000, clock, ...options },
    });
    const server = createServer(connections.take).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    return { connections, toNode, clock, port: (server.address() as AddressInfo).port };
  }

  test('are closed when they are idle, and new ones when nothing comes', async () => {
    const { clock, port } = await openPort();
    const [idle, fresh] = [await openClient(port), await openClient(port)];
    idle.write({ body: 'a' });
    const told = await idle.next();
    expect(headersOf(told)).toContain('keep-alive: timeout=5');
    await clock.advance(5_000);
    idle.write({ body: 'a' });
    await idle.next();
    await clock.advance(5_000);
    idle.write({ body: 'a' });
    await idle.next();
    await clock.advance(1_000);
    await waitFor(() => expect([idle.isClosed(), fresh.isClosed()]).toEqual([false, true]));
    await clock.advance(5_000);
    await waitFor(() => expect(idle.isClosed()).toBe(true));
  });

  test('are not idle while a client still takes its answer, also when the port closes', async () => {
    const body = 'x'.repeat(16 * 1_048_576);
    const { connections, clock, port } = await openPort({
      answer: (_, response) => void response.writeHead(200).end(body),
    });
    const client = await openClient(port);
    client.socket.pause();
    client.write({ body: 'a' });
    await waitFor(() => expect(client.socket.bytesRead).toBeGreaterThan(0));
    await clock.advance(60_000);
    connections.close(false);
    client.socket.resume();
    expect((await client.next()).body.length).toBe(body.length);
    expect(client.isClosed()).toBe(false);
    connections.close(false);
    await waitFor(() => expect(client.isClosed()).toBe(true));
  });

  test('end with an answer that says so', async () => {
    const { port } = await openPort({
      answer: (_, response) => void response.setHeader('connection', 'close').writeHead(200).end('the last'),
    });
    const client = await openClient(port);
    client.write({ body: 'a' });
    const told = await client.next();
    expect([told.body, headersOf(told).filter((line) => line.startsWith('connection'))]).toEqual([
      'the last',
      ['connection: close'],
    ]);
    await waitFor(() => expect(client.isClosed()).toBe(true));
  });

  test('tell the time, to the second', async () => {
    const { clock, port } = await openPort();
    const client = await openClient(port);
    const dateOf = (told: Told) => told.headers.find((line) => line.startsWith('Date: '));
    client.write({ body: 'a' });
    expect(dateOf(await client.next())).toBe(`Date: ${new Date(clock.now()).toUTCString()}`);
    await clock.advance(1_000);
    client.write({ body: 'a' });
    expect(dateOf(await client.next())).toBe(`Date: ${new Date(clock.now()).toUTCString()}`);
  });

  test('end with the port: idle ones at once, the others with their answer or when it is late', async () => {
    const answers: (() => void)[] = [];
    const { connections, port } = await openPort({
      answer: (_, response) => void answers.push(() => response.writeHead(200).end('ok')),
    });
    const clients = [await openClient(port), await openClient(port), await openClient(port)];
    const [idle, answered, late] = clients as [(typeof clients)[0], (typeof clients)[0], (typeof clients)[0]];
    answered.write({ body: 'a' });
    late.write({ body: 'b' });
    await waitFor(() => expect(answers.length).toBe(2));
    connections.close(false);
    await waitFor(() => expect(idle.isClosed()).toBe(true));
    for (const answer of answers.slice(0, 1)) answer();
    await Promise.race([answered.next(), late.next()]);
    connections.close(false);
    await waitFor(() => expect([answered, late].filter((each) => each.isClosed()).length).toBe(1));
    connections.close(true);
    await waitFor(() => expect(clients.every((each) => each.isClosed())).toBe(true));
  });

  test('keep no port open, whatever their requests do', async () => {
    const { requests, handler } = held();
    const listener = await listenWith(handler);
    const [idle, open] = [await openClient(listener.port), await openClient(listener.port)];
    open.write({ body: 'a' });
    await waitFor(() => expect(requests.length).toBe(1));
    await listener.close();
    await waitFor(() => expect([idle.isClosed(), open.isClosed()]).toEqual([true, true]));
  });

  test('leave every request with a doubt to Node, with all of its bytes', async () => {
    const { toNode, port } = await openPort();
    const client = await openClient(port);
    const text = textOf({ body: 'a', headers: OF_NODE });
    client.write(text);
    await waitFor(() => expect(toNode).toEqual([text]));
  });
});

test('a connection with an open request is not idle', async () => {
  const answers: PlainResponse[] = [];
  const connections: PlainConnection[] = [];
  const server = createServer((socket) => {
    const answer = (_: unknown, response: PlainResponse) => void answers.push(response);
    const refuse = () => expect.fail('it is plain');
    connections.push(
      new PlainConnection(socket, { answer, handOver: refuse, onLeft: () => undefined, date: () => '' }),
    );
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const client = await openClient((server.address() as AddressInfo).port);
  client.write({ body: 'a' });
  const response = await waitFor(() => answers[0] ?? expect.fail('not there yet'));
  connections[0]?.endIfIdle();
  response.writeHead(204).end();
  expect(await client.next()).toMatchObject({ status: 'HTTP/1.1 204 No Content', body: '' });
  connections[0]?.endIfIdle();
  await waitFor(() => expect(client.isClosed()).toBe(true));
});

describe('a response', () => {
  function open() {
    const socket = new PassThrough();
    const ended: boolean[] = [];
    const head = { text: '', url: '/mcp', headers: {}, bodyBytes: 0 };
    const request = new PlainRequest(head, Buffer.alloc(0), socket as unknown as Socket);
    const response = new PlainResponse({ request, date: () => 'now', onEnd: (isLast) => void ended.push(isLast) });
    return { response, ended, text: () => String(socket.read()) };
  }

  test('is written at once, and says when the connection ends with it', () => {
    const { response, ended, text } = open();
    response.setHeader('connection', 'close').setHeader('x-a', '1');
    expect([response.hasHeader('x-a'), response.hasHeader('x-b'), response.headersSent]).toEqual([true, false, false]);
    response.writeHead(429, { 'x-b': 2 }).end('é');
    const lines = [
      'HTTP/1.1 429 Too Many Requests',
      'x-a: 1',
      'x-b: 2',
      'content-length: 2',
      'Date: now',
      'Connection: close',
    ];
    expect([text(), ended, response.headersSent]).toEqual([`${lines.join('\r\n')}\r\n\r\né`, [true], true]);
  });

  test('takes no value that would forge a header', () => {
    const { response, text } = open();
    const forged = { 'x-a': 'a\r\nx-b: b' };
    const refused = expect.objectContaining({ code: 'ERR_INVALID_CHAR' });
    expect(() => response.setHeader('x-a', forged['x-a'])).toThrow(refused);
    expect(() => response.writeHead(200, forged)).toThrow(refused);
    expect([text(), response.headersSent]).toEqual(['null', false]);
  });
});
