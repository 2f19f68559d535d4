// Owns a port of our own for the HTTP endpoint, with limits on slow clients.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type CancelTimer, systemClock } from '../kernel/clock.ts';
import { limits } from '../model/limits.ts';
import type { ServingLimits } from './serving-limits.ts';

export interface ListeningServer {
  readonly url: string;
  readonly port: number;
  /** Ends all connections. */
  close(): Promise<void>;
}

export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

export interface ListenHttpOptions {
  readonly host: string;
  readonly port: number;
  /** The path of the address that is told. */
  readonly path: string;
  /** Answers the requests for a path; `undefined` is 404. */
  readonly route: (path: string) => HttpHandler | undefined;
  /** Takes over a connection whose client asks for another protocol; without it such a request is an ordinary one. */
  readonly upgrade?: ((request: IncomingMessage, socket: Duplex, head: Buffer) => void) | undefined;
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
    connectionsCheckingInterval: LATE_CHECK_MS,
  };
  const server = createServer(timeouts, (request, response) => {
    const { url = '' } = request;
    const query = url.indexOf('?');
    const handle = route(query < 0 ? url : url.slice(0, query));
    if (handle === undefined) response.writeHead(404).end();
    else void handle(request, response);
  });
  server.maxConnections = connections;
  if (upgrade !== undefined) server.on('upgrade', upgrade);
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
          if (systemClock.now() - begunAt < limits.served.flushMs) server.closeIdleConnections();
          else server.closeAllConnections();
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
