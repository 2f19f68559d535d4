// Owns a gateway for tests that serves an echo over links, and a client on pipes behind a shim. They end with the test.

import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import { identify, type Origin, originOf } from '../../../src/gateway/access.ts';
import { openLink } from '../../../src/gateway/connect/link.ts';
import { ClientShim } from '../../../src/gateway/connect/shim.ts';
import { Links } from '../../../src/gateway/links.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { byToken, loopbackHosts } from '../../../src/serving/access.ts';
import { createMcpServer, type McpServer, type McpServerOptions } from '../../../src/serving/mcp-server.ts';
import type { Service } from '../../../src/serving/service.ts';
import { waitFor } from '../../wait-for.ts';
import { echoService, TOKEN } from '../serving/served.ts';

export interface TestGateway {
  readonly port: number;
  readonly links: Links;
  readonly server: McpServer;
  /** The clients that were served. */
  readonly clients: readonly Pick<Origin, 'workspace' | 'client'>[];
  /** Takes no new connection; resolves when the open ones have ended. */
  close(): Promise<void>;
  /** Every connection is cut at once, and no new one is taken. */
  die(): Promise<void>;
}

export async function serveLinks(
  service: Service = echoService(),
  options: McpServerOptions = {},
): Promise<TestGateway> {
  const server = createMcpServer(service, options);
  const clients: Pick<Origin, 'workspace' | 'client'>[] = [];
  const links = new Links({
    authenticate: byToken(TOKEN, { id: 'connect', details: { mayNameWorkspace: true } }),
    mark: 'gateway-1',
    hosts: loopbackHosts,
    onError: (error) => {
      throw error;
    },
    serve(request, caller, pipes) {
      if (request.url !== '/mcp') return { status: 404, sentence: 'There is none.' };
      const principal = identify(caller, request);
      if (typeof principal === 'string') return { status: 403, sentence: principal };
      const { workspace, client } = originOf(principal);
      clients.push({ workspace, client });
      return server.stdio(pipes, { principal });
    },
  });
  const http = createServer().on('upgrade', links.accept);
  const sockets = new Set<Socket>();
  http.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    http.listen(0, '127.0.0.1', resolve);
  });
  const close = () => new Promise<void>((resolve) => http.close(() => resolve()));
  const die = () => {
    for (const socket of sockets) socket.resetAndDestroy();
    return close();
  };
  onTestFinished(die);
  onTestFinished(() => server.close({ drainMs: 0 }));
  return { port: (http.address() as AddressInfo).port, links, server, clients, close, die };
}

export const target = (port: number) => ({
  ...{ host: '127.0.0.1', port, path: '/mcp', token: TOKEN, workspace: '/work/a b', client: 'client-1', behind: '' },
});

export interface ShimClient {
  readonly said: readonly JsonObject[];
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly shim: ClientShim;
  readonly ended: Promise<void>;
  write(message: unknown): void;
  answer(id: unknown): Promise<JsonObject>;
}

/** `port` is asked whenever the shim looks for a gateway. */
export function shimClient(port: () => number | Promise<number>): ShimClient {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const said: JsonObject[] = [];
  let rest = '';
  output.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    said.push(...lines.map((line) => JSON.parse(line)));
  });
  const shim = new ClientShim({ input, output, join: async () => openLink(target(await port())) });
  const ended = shim.run();
  onTestFinished(() => {
    input.end();
  });
  return {
    ...{ said, input, output, shim, ended },
    write: (message) => input.write(`${JSON.stringify(message)}\n`),
    answer: (id) =>
      waitFor(() => {
        const found = said.find((message) => message['id'] === id && message['method'] === undefined);
        if (found === undefined) throw new Error(`no answer to ${String(id)} among ${JSON.stringify(said)}`);
        return found;
      }),
  };
}
