// Owns which gateways are measured, and how each is started in front of one stdio server: the program, its files, where clients reach it
// and what the server's tool is called there. All of them run with the Node that runs the bench.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const file = (path) => fileURLToPath(new URL(path, import.meta.url));
const packaged = (path) => file(`./node_modules/${path}`);

function write(path, contents) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(contents));
  return path;
}

/** `start({ port, home, server })` gives the words behind `node`; `sse`: answers come on a stream of their own. */
export const gateways = {
  hand: {
    title: 'hand-written',
    path: '/mcp',
    tool: 'echo',
    start: ({ port, server }) => [file('./hand-gateway.mjs'), port, server.command, ...server.args],
  },
  'mcp-hub': {
    title: 'mcp-hub',
    path: '/mcp',
    tool: 'echo__echo',
    sse: true,
    start: ({ port, home, server }) => {
      const config = write(join(home, 'mcp-hub.json'), { mcpServers: { echo: server } });
      return [packaged('mcp-hub/dist/cli.js'), '--port', port, '--config', config];
    },
  },
  'mcp-proxy': {
    title: 'mcp-proxy',
    path: '/mcp',
    tool: 'echo',
    start: ({ port, server }) => [
      ...[packaged('mcp-proxy/dist/bin/mcp-proxy.mjs'), '--host', '127.0.0.1', '--port', port, '--'],
      ...[server.command, ...server.args],
    ],
  },
  supergateway: {
    title: 'supergateway',
    path: '/mcp',
    tool: 'echo',
    start: ({ port, server }) => [
      ...[packaged('supergateway/dist/index.js'), '--outputTransport', 'streamableHttp', '--stateful'],
      ...['--port', port, '--logLevel', 'none', '--stdio', [server.command, ...server.args].join(' ')],
    ],
  },
  'mcporter-serve': {
    title: 'mcporter serve',
    path: '/mcp/echo',
    tool: 'echo',
    start: ({ port, home, server }) => {
      const config = write(join(home, 'mcporter.json'), {
        mcpServers: { echo: { ...server, lifecycle: 'keep-alive' } },
      });
      return [packaged('mcporter/dist/cli.js'), '--config', config, 'serve', '--http', port];
    },
  },
  plexus: {
    title: 'Plexus',
    path: '/mcp/s/echo',
    tool: 'echo',
    start: ({ port, home, server }) => {
      write(join(home, '.config', 'plexus', 'mcp.json'), {
        mcpServers: { echo: server },
        permissions: { rules: [{ tool: 'mcp__echo__*', action: 'allow' }] },
      });
      return [file('../../dist/cli.cjs'), 'serve', '--no-token', '--port', port];
    },
  },
};

/** What Plexus wants to be ahead of. */
export const rivals = Object.keys(gateways).filter((name) => name !== 'plexus' && name !== 'hand');
