// Owns the proof, with the built library in a process of its own, that whatever waits for a better time keeps no host alive.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { nobody } from '../unit/transport/http-servers.ts';
import { verifies } from '../verifies.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));

const host = (url: string) => `
  import { createRuntime } from 'plexus';
  const runtime = await createRuntime({
    discover: false,
    interactive: false,
    servers: {
      away: { url: ${JSON.stringify(url)}, transport: 'http', reconnect: { delaysMs: [3_600_000], jitter: 0 } },
      dies: { command: process.execPath, args: ['-e', 'process.exit(3)'], reconnect: { delaysMs: [3_600_000], jitter: 0 } },
      inside: {
        idleStopMs: 3_600_000,
        serve: async (channel) => {
          const results = {
            initialize: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'i', version: '1' } },
          };
          channel.onmessage = ({ id, method }) => {
            const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: 'no' } };
            if (id !== undefined) void channel.send({ jsonrpc: '2.0', id, ...answer });
          };
          await channel.start();
        },
      },
    },
  });
  console.log(JSON.stringify(runtime.status().map(({ name, state, nextRetryInMs = 0 }) => [name, state, nextRetryInMs > 0])));
`;

verifies('REC-15', 'a host that has nothing else to do ends, though servers wait to be tried again', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', host(await nobody())], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = child.stdout.toArray();
  const code = await new Promise((resolve) => child.once('exit', resolve));
  expect([code, JSON.parse(Buffer.concat(await said).toString())]).toEqual([
    0,
    [
      ['away', 'reconnecting', true],
      ['dies', 'reconnecting', true],
      ['inside', 'connected', false],
    ],
  ]);
});
