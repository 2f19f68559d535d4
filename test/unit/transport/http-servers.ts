// Owns the helpers for tests of the HTTP transports: real servers that answer as a test says, and channels that record.
// After each test no socket may be left on the server and no timer on the clock.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createRawServer, type Server, type Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { expect, onTestFinished } from 'vitest';
import type { Channel, Message, MessageId, RequestFailure } from '../../../src/model/server.ts';
import { createFakeClock, type FakeClock } from '../../../src/testing/fake-clock.ts';
import { openHttp } from '../../../src/transport/http.ts';
import type { RemoteChannelOptions } from '../../../src/transport/http-options.ts';
import { eventually } from '../../servers/processes.ts';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  readonly body: string;
  readonly message: Message;
  /** Whether the client has closed the connection. */
  readonly isGone: () => boolean;
}

export type Answering = (received: Received, response: ServerResponse) => void;

/** Answers the first request with the first answer, and so on; the last answer serves all further requests. */
export async function serve(answers: Answering | readonly Answering[], tls?: TlsOptions) {
  const received: Received[] = [];
  const answerings = typeof answers === 'function' ? [answers] : answers;
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { method = '', url: path = '', headers, rawHeaders, socket } = request;
    const message = body === '' ? {} : (JSON.parse(body) as Message);
    const one = { method, path, headers, rawHeaders, body, message, isGone: () => socket.destroyed };
    const answer = answerings[Math.min(received.push(one), answerings.length) - 1];
    answer?.(one, response);
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse) =>
    void take(request, response).catch(() => response.destroy());
  const server = tls ? createSecureServer(tls, onRequest) : createServer(onRequest);
  const { port, sockets, stop } = await listening(server);
  const origin = `${tls ? 'https' : 'http'}://127.0.0.1:${port}`;
  return { url: `${origin}/mcp`, origin, port, received, sockets, stop, posts: () => received.filter(isPost) };
}

const isPost = ({ method }: Received) => method === 'POST';

/** Writes these bytes to every client that connects and sends something. */
export async function serveRaw(answer: (socket: Socket, said: Buffer) => void) {
  const { port, sockets } = await listening(
    createRawServer((socket) => socket.on('data', (said) => answer(socket, said))),
  );
  return { url: `http://127.0.0.1:${port}/mcp`, port, sockets };
}

async function listening(server: Server) {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)));
    socket.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  /** Stops listening; open connections stay open. */
  const stop = async () => void server.close();
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { port, sockets, stop };
}

/** An address at which nothing listens. */
export async function nobody(): Promise<string> {
  const server = createRawServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}/mcp`;
}

export const json =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Answering =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));

export const status =
  (code: number, body = '', headers: Record<string, string> = {}): Answering =>
  (_, response) =>
    response.writeHead(code, headers).end(body);

/** The JSON-RPC answer to the request. */
export const answer: Answering = ({ message: { id, method } }, response) => {
  if (method !== undefined && id !== undefined) json(result(id as number))(undefined as never, response);
  else response.writeHead(method === undefined ? 405 : 202).end();
};

export const events =
  (...texts: string[]): Answering =>
  (_, response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(texts.join(''));

export const event = (value: unknown, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: message\ndata: ${JSON.stringify(value)}\n\n`;

export const hangUp: Answering = (_, response) => response.destroy();

export const result = (id: MessageId, text = 'fine'): Message => ({ jsonrpc: '2.0', id, result: { text } });

/** A server of the older era: it answers the handshake, then as the test says. */
export function older(rest: Answering = answer, { session = 's-1', get = status(405) } = {}): Answering {
  return (received, response) => {
    const { method, id } = received.message;
    if (received.method === 'GET') get(received, response);
    else if (received.method === 'DELETE') response.writeHead(200).end();
    else if (method === 'initialize') {
      const headers: Record<string, string> = session === '' ? {} : { 'mcp-session-id': session };
      json({ jsonrpc: '2.0', id, result: { protocolVersion: '2025-06-18' } }, 200, headers)(received, response);
    } else if (method === 'notifications/initialized') response.writeHead(202).end();
    else rest(received, response);
  };
}

export const request = (id: MessageId, method = 'tools/call', params: object = { name: 'add' }): Message => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

export type Options = Partial<RemoteChannelOptions> & { readonly clock?: FakeClock };

/** A started channel that records its events; closed after the test. */
export async function connect(url: string, options: Options = {}, open = openHttp) {
  const { channel, heard, clock } = prepare(url, options, open);
  await channel.start();
  return { channel, heard, clock };
}

export function prepare(url: string, options: Options = {}, open = openHttp) {
  const clock = options.clock ?? createFakeClock(Date.UTC(2026, 0, 1));
  const noise: string[] = [];
  const common = { server: 'files', url, headers: {}, network: { env: {}, cwd: '/' }, maxMessageBytes: 1_000_000 };
  const channel = open({ ...common, ...options, clock, onNoise: (text) => noise.push(text) });
  const heard = { ...listen(channel), noise };
  onTestFinished(async () => {
    await drive(clock, channel.close());
    expect(clock.pending()).toBe(0);
    expect(heard.closes()).toBe(1);
  });
  return { channel, heard, clock };
}

function listen(channel: Channel) {
  const messages: Message[] = [];
  const failures = new Map<MessageId, RequestFailure>();
  const errors: Error[] = [];
  const oversized: unknown[] = [];
  let closes = 0;
  channel.onmessage = (message) => messages.push(message);
  channel.onfailed = (id, failure) => {
    expect(failures.has(id)).toBe(false);
    failures.set(id, failure);
  };
  channel.onerror = (error) => errors.push(error);
  channel.onoversized = (id) => oversized.push(id);
  channel.onclose = () => (closes += 1);
  return {
    ...{ messages, failures, errors, oversized },
    closes: () => closes,
    answerTo: (id: MessageId) => eventually(() => messages.find((message) => message['id'] === id)),
    failureOf: (id: MessageId) => eventually(() => failures.get(id)),
  };
}

/** Steps the clock until the work is done, with real pauses in which sockets can close. */
export async function drive<Value>(clock: FakeClock, work: Promise<Value>): Promise<Value> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  work.then(settle, settle);
  await eventually(() => {
    if (!settled) void clock.advance(50);
    return settled;
  });
  return work;
}

/** Waits until so many requests have arrived and the last one waits for its retry: one timer beside the idle watch. */
export const pausing = (server: { received: readonly unknown[] }, clock: FakeClock, requests: number) =>
  eventually(() => server.received.length === requests && clock.pending() === 2);

/** A channel after the handshake of the older era. */
export async function initialize({ channel, heard }: Awaited<ReturnType<typeof connect>>): Promise<void> {
  await channel.send(request(0, 'initialize', { protocolVersion: '2025-06-18' }));
  await heard.answerTo(0);
  await channel.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
}

export const lost = (reason: unknown) => ({
  code: 'CONNECTION_LOST',
  data: { server: 'files', reason, isRemote: true },
});

export const broken = (reason: unknown) => ({ ...lost(reason), code: 'PROTOCOL_BROKEN' });

export const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => 'no failure',
    (error: unknown) => error,
  );
