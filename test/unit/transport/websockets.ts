// Owns the helpers for tests of the WebSocket transport: real servers that misbehave, and channels that record.

import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createRawServer, type Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { onTestFinished } from 'vitest';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { RemoteChannelOptions } from '../../../src/transport/http-options.ts';
import { openWebSocket } from '../../../src/transport/websocket.ts';
import { eventually } from '../../servers/processes.ts';
import { listen } from './channels.ts';

export interface Peer {
  readonly websocket: WebSocket;
  readonly received: string[];
}

interface Serving extends Pick<ServerOptions, 'handleProtocols' | 'verifyClient'> {
  readonly tls?: TlsOptions;
  readonly greet?: (websocket: WebSocket) => void;
}

/** A real server; `peers` are its ends of the connections. Closed after the test. */
export async function serve({ tls, greet, ...options }: Serving = {}) {
  const requests: IncomingMessage[] = [];
  const peers: Peer[] = [];
  const http = tls ? createSecureServer(tls) : createServer();
  const server = new WebSocketServer({ server: http, handleProtocols: () => 'mcp', ...options });
  server.on('connection', (websocket, request) => {
    requests.push(request);
    const received: string[] = [];
    websocket.on('message', (data) => received.push(String(data)));
    websocket.on('error', () => websocket.terminate());
    peers.push({ websocket, received });
    greet?.(websocket);
  });
  const port = await listening(http);
  onTestFinished(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  const url = `${tls ? 'wss' : 'ws'}://127.0.0.1:${port}/mcp`;
  return { url, port, requests, peers, peer: () => eventually(() => peers.at(-1)) };
}

/** Answers every request with these bytes, or with nothing at all. */
export async function serveRaw(answer?: (socket: Socket) => void) {
  const sockets: Socket[] = [];
  const server = createRawServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => socket.destroy());
    socket.once('data', () => answer?.(socket));
  });
  const port = await listening(server);
  const isQuiet = () => sockets.every(({ destroyed }) => destroyed);
  return { url: `ws://127.0.0.1:${port}/`, port, sockets, isQuiet };
}

type Listening = Pick<ReturnType<typeof createRawServer>, 'listen' | 'address' | 'close' | 'on'>;

async function listening(server: Listening): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket.once('close', () => sockets.delete(socket))));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

export function optionsFor(url: string, more: Partial<RemoteChannelOptions> = {}): RemoteChannelOptions {
  const network = { env: {}, cwd: '/' };
  return { server: 'files', url, headers: {}, network, maxMessageBytes: 1024 * 1024, clock: systemClock, ...more };
}

/** Closed after the test, if the test does not close it. */
export function openChannel(url: string, more: Partial<RemoteChannelOptions> = {}) {
  const channel = openWebSocket(optionsFor(url, more));
  onTestFinished(() => channel.close());
  return { channel, heard: listen(channel) };
}

export async function start(url: string, more: Partial<RemoteChannelOptions> = {}) {
  const opened = openChannel(url, more);
  await opened.channel.start();
  return opened;
}

export const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no failure',
    (error: unknown) => error,
  );
