// Owns a port of our own for the HTTP endpoint, with limits on slow clients. Requests that arrive plainly are read here, all others
// by Node.

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type CancelTimer, systemClock } from '../kernel/clock.ts';
import { limits } from '../model/limits.ts';
import type { HttpHandler, ServedRequest, ServedResponse } from './http-exchange.ts';
import { PlainConnections } from './plain-connections.ts';
import type { ServingLimits } from './serving-limits.ts';

export interface ListeningServer {
  readonly url: string;
  readonly port: number;
  /** Ends all connections. */
  close(): Promise<void>;
}

/** Takes over a connection whose client asks for this protocol. */
export interface HttpUpgrade {
  readonly protocol: string;
  readonly accept: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

export interface ListenHttpOptions {
  readonly host: string;
  readonly port: number;
  /** The path of the address that is told. */
  readonly path: string;
  /** Answers the requests for a path; `undefined` is 404. */
  readonly route: (path: string) => HttpHandler | undefined;
  readonly upgrade?: HttpUpgrade | undefined;
  readonly limits: ServingLimits;
}

/** How often Node looks for connections whose headers or bodies are late. */
const LATE_CHECK_MS = 1_000;
/** How often a closing server looks for connections that have become idle. */
const LOOK_MS = 10;

export async function listenHttp({
  host,
  port,
  path,
  route,
  upgrade,
  limits: given,
}: ListenHttpOptions): Promise<ListeningServer> {
  const { headersMs, bodyMs, connections } = given;
  const timeouts = {
    headersTimeout: headersMs,
    requestTimeout: headersMs + bodyMs,
    keepAliveTimeout: limits.served.idleConnectionMs,
    connectionsCheckingInterval: LATE_CHECK_MS,
  };
  const answer = (request: ServedRequest, response: ServedResponse) => {
    const { url = '' } = request;
    const query = url.indexOf('?');
    const handle = route(query < 0 ? url : url.slice(0, query));
    if (handle === undefined) response.writeHead(404).end();
    else void handle(request, response);
  };
  const server = createServer(timeouts, answer);
  server.maxConnections = connections;
  const [readByNode] = server.listeners('connection') as [(socket: Socket) => void];
  const plain = new PlainConnections({
    answer,
    headersMs,
    handOver(socket, chunk) {
      readByNode.call(server, socket);
      socket.unshift(chunk);
    },
  });
  server.off('connection', readByNode).on('connection', plain.take);
  if (upgrade !== undefined)
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (request.headers.upgrade === upgrade.protocol) upgrade.accept(request, socket, head);
      else {
        // Java's client offers HTTP/2 with each request: a server that has none answers as if it were not offered.
        socket.unshift(Buffer.concat([headWithoutUpgrade(request), head]));
        readByNode.call(server, socket as Socket);
      }
    });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host.replace(/^\[|\]$/g, ''), resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${taken}${path}`,
    port: taken,
    close: () =>
      new Promise((resolve) => {
        // The last answers may still be on their way out: connections end when they are idle, or when the time is up.
        const begunAt = systemClock.now();
        let stopLooking: CancelTimer | undefined;
        const look = () => {
          const isLate = systemClock.now() - begunAt >= limits.served.flushMs;
          if (isLate) server.closeAllConnections();
          else server.closeIdleConnections();
          plain.close(isLate);
          stopLooking = systemClock.after(LOOK_MS, look);
        };
        server.close(() => {
          stopLooking?.();
          resolve();
        });
        look();
      }),
  };
}

const UPGRADE_HEADERS: readonly string[] = ['connection', 'upgrade', 'http2-settings'];

function headWithoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (!UPGRADE_HEADERS.includes(String(rawHeaders[at]).toLowerCase()))
      lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}
