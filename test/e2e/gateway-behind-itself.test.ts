// Owns the proof that no gateway runs behind itself, whichever way leads back to it: a pipe, or an address of this machine.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect, onTestFinished } from 'vitest';
import { initialize } from '../unit/serving/served.ts';
import { verifies } from '../verifies.ts';
import { waitFor } from '../wait-for.ts';
import { program, Sandbox } from './plexus.ts';
import { serve } from './running-gateway.ts';

verifies(
  'EXT-45',
  'a gateway over pipes that one of its own servers starts is refused, before it starts any',
  async () => {
    const sandbox = new Sandbox();
    onTestFinished(() => sandbox.remove());
    const marks = sandbox.path('marks');
    const script = `echo "$PLEXUS_GATEWAY" >> ${marks}; exec ${process.execPath} ${program} serve --stdio`;
    sandbox.write('~/.config/plexus/mcp.toml', `[mcp_servers.loop]\ncommand = 'sh'\nargs = ['-c', '${script}']\n`);
    const gateway = sandbox.spawn(['serve', '--stdio'], { keepsStdinOpen: true });
    const said = () => gateway.seen.out;
    gateway.child.stdin.write(`${JSON.stringify(initialize())}\n`);
    let asked = 0;
    await waitFor(() => {
      const params = { name: 'plexus_status', arguments: {} };
      gateway.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++asked, method: 'tools/call', params })}\n`);
      expect(said()).toContain('behind itself');
    });
    gateway.child.stdin.end();
    expect((await gateway.done).code).toBe(0);
    // Each start is by the first gateway: the one that it starts has started none.
    const [mark = '', ...others] = readFileSync(marks, 'utf8').trim().split('\n');
    expect(mark).toMatch(/^[0-9a-f]{16}$/);
    expect(new Set([mark, ...others])).toEqual(new Set([mark]));
  },
);

verifies(
  'EXT-45',
  'a server on this machine is told by whom it is asked, by whichever address it is reached',
  async () => {
    const told: Record<string, unknown> = {};
    const listener = createServer((request, response) => {
      told[request.headers.host?.replace(/:\d+$/, '') ?? ''] = request.headers['plexus-gateway'];
      response.writeHead(404).end();
    }).listen(0);
    onTestFinished(() => void listener.close());
    await waitFor(() => expect(listener.listening).toBe(true));
    const { port } = listener.address() as AddressInfo;
    const cards = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    const own = cards.flatMap(({ address, family, internal }) => (family === 'IPv4' && !internal ? [address] : []));
    const hosts = ['127.0.0.1', 'localhost', '0.0.0.0', ...own];
    const entries = hosts.map((host, at) => `[mcp_servers.s${at}]\nurl = 'http://${host}:${port}/mcp'\n`);
    await serve(`[plexus.serving]\nport = 0\n${entries.join('')}`);
    const mark = expect.stringMatching(/^[0-9a-f]{16}$/);
    await waitFor(() => expect(told).toEqual(Object.fromEntries(hosts.map((host) => [host, mark]))));
  },
);
