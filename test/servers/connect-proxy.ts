// Owns a real HTTP proxy for tests: it opens tunnels, records the requests, and resolves every name to this machine.

import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { Certificate } from './certificates.ts';

interface ProxyOptions {
  /** The response to send instead of opening a tunnel. */
  readonly answer?: string;
  readonly certificate?: Certificate;
}

export interface ConnectProxy {
  readonly url: string;
  /** The requests for a tunnel, as they came. */
  readonly asked: { readonly target: string; readonly headers: IncomingMessage['headers'] }[];
}

export async function startProxy({ answer, certificate }: ProxyOptions = {}): Promise<ConnectProxy> {
  const asked: ConnectProxy['asked'] = [];
  const sockets = new Set<Duplex>();
  const server = certificate ? createSecureServer(certificate) : createServer();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)));
    socket.on('error', () => socket.destroy());
  });
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    asked.push({ target: request.url ?? '', headers: request.headers });
    if (answer !== undefined) {
      client.end(answer);
      return;
    }
    const target = connect(Number(request.url?.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n');
      target.write(head);
      target.pipe(client).pipe(target);
    });
    sockets.add(target.once('close', () => client.destroy()));
    for (const socket of [client, target]) socket.on('error', () => socket.destroy());
    client.once('close', () => target.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `${certificate ? 'https' : 'http'}://127.0.0.1:${port}`, asked };
}
