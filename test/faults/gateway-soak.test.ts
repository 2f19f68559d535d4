// Owns the run of the gateway's soak: many clients and servers of both eras, servers that die in the middle of calls, and a heap that
// does not grow.

import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { createFolder } from '../e2e/runtimes.ts';
import { isLong, seed } from '../effort.ts';
import { startGateway } from '../servers/gateway.mjs';
import { waitFor } from '../wait-for.ts';
import { createLedgerServers, soakGateway } from './gateway-soak.ts';

const reporter = fileURLToPath(new URL('../servers/report-heap.mjs', import.meta.url));
/** `PLEXUS_SOAK_MINUTES=30` is the whole run, by hand: `.ci/run` has two minutes. */
const minutes = Number(process.env['PLEXUS_SOAK_MINUTES'] ?? 2);
const isWhole = isLong || 'PLEXUS_SOAK_MINUTES' in process.env;
const extent = isWhole
  ? { clients: 200, servers: 50, ms: minutes * 60_000, callsOfEach: 100, callsToKill: 200 }
  : { clients: 20, servers: 8, ms: 0, callsOfEach: 40, callsToKill: 150 };
const timeoutMs = extent.ms + 280_000;

test(
  'no call is lost, doubled or answered to the wrong client while servers are killed, and memory stays flat',
  async () => {
    const folder = createFolder();
    const servers = createLedgerServers(folder, extent.servers);
    const heapFile = join(folder, 'heap');
    const gateway = await startGateway({
      servers: Object.fromEntries(servers.map(({ name, entry }) => [name, entry])),
      node: ['--expose-gc', '--import', reporter],
      env: { PLEXUS_HEAP_FILE: heapFile },
    });
    onTestFinished(async () => void (await gateway.stop()));
    const heapMb = async () => {
      rmSync(heapFile, { force: true });
      process.kill(gateway.pid ?? 0, 'SIGUSR2');
      return waitFor(() => Number(readFileSync(heapFile, 'utf8')) / 1_048_576);
    };
    let quarterMb = 0;
    const counts = await soakGateway({
      ...{ seed, url: `${gateway.origin}/mcp`, ...extent, servers },
      onQuarter: async () => {
        quarterMb = await heapMb();
      },
    });
    if (isWhole) console.log(`gateway soak: ${JSON.stringify({ ...counts, problems: counts.problems.length })}`);
    expect(counts.problems).toEqual([]);
    expect(counts.restarts).toBeGreaterThan(0);
    // Only calls in flight with a server that dies, or that come before it is up again, may fail.
    expect(counts.answered / counts.calls).toBeGreaterThan(0.5);
    expect((await heapMb()) / quarterMb).toBeLessThan(1.15);
  },
  timeoutMs,
);
