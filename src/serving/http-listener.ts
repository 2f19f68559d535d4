// Owns a port of our own for the HTTP endpoint, with limits on slow clients.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../kernel/clock.ts';
import { limits } from '../model/limits.ts';
import type { ServingLimits } from './serving-limits.ts';

export interface ListeningServer {
  readonly url: string;
  readonly port: number;
  /** Ends all connections. */
  close(): Promise<void>;
}

export interface ListenHttpOptions {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly limits: ServingLimits;
  readonly clock: Clock;
}

/** How often Node looks for connections whose headers or bodies are late. */
const LATE_CHECK_MS = 1_000;

export async function listenHttp({
  host,
  port,
  path,
  handle,
  limits: given,
  clock,
}: ListenHttpOptions): Promise<ListeningServer> {
  const { headersMs, bodyMs } = given;
  const timeouts = {
    headersTimeout: headersMs,
    requestTimeout: headersMs + bodyMs,
    connectionsCheckingInterval: LATE_CHECK_MS,
  };
  const open = new Set<ServerResponse>();
  const server = createServer(timeouts, (request, response) => {
    open.add(response);
    response.on('close', () => open.delete(response));
    if ((request.url ?? '').split('?', 1)[0] === path) void handle(request, response);
    else response.writeHead(404).end();
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
        // The last answers may still be on their way out.
        const stopTimer = clock.after(limits.served.flushMs, () => server.closeAllConnections());
        server.close(() => {
          stopTimer();
          resolve();
        });
        server.on('request', (_, response) => response.destroy());
        for (const response of open) response.on('finish', () => server.closeIdleConnections());
        server.closeIdleConnections();
      }),
  };
}
