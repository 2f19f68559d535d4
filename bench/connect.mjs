// Owns what `plexus connect` costs beside `node -e 0`: every agent of a machine starts one and keeps it. A gateway runs already; the client
// of each sample introduces itself, gets its answer and ends.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { environmentIn } from './children.mjs';
import { cli } from './fleet-home.mjs';

const atExit = fileURLToPath(new URL('./cost-at-exit.cjs', import.meta.url));
const MB = 1_024 * 1_024;
const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1.0.0' } };
const introduction = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`;

/** `use` gets how to make a sample of either; the gateway ends with it. */
export async function withConnect(bench, use) {
  const home = await mkdtemp(join(bench.folder, 'connect-'));
  await mkdir(join(home, '.config', 'plexus'), { recursive: true });
  await writeFile(join(home, '.config', 'plexus', 'mcp.toml'), '[plexus.serving]\nport = 0\n');
  const run = { home, signal: bench.signal };
  const connect = () => sampleOf([cli, 'connect'], { ...run, input: introduction });
  try {
    await connect();
    return await use({ node: () => sampleOf(['-e', '0'], run), plexus: connect });
  } finally {
    const gateway = await readFile(join(home, 'state', 'plexus', 'gateway', 'gateway.json'), 'utf8');
    process.kill(JSON.parse(gateway).pid, 'SIGTERM');
  }
}

async function sampleOf(words, { home, signal, input }) {
  const stdio = ['pipe', 'pipe', 'pipe'];
  const how = { env: environmentIn(home), cwd: home, stdio, signal, killSignal: 'SIGKILL' };
  const child = spawn(process.execPath, ['--require', atExit, ...words], how);
  const closed = once(child, 'close');
  let said = '';
  let cost = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    cost += chunk;
  });
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    said += chunk;
    if (said.includes('\n')) child.stdin.end();
  });
  if (input === undefined) child.stdin.end();
  else child.stdin.write(input);
  await closed;
  if (input !== undefined && !said.includes('"serverInfo"')) throw new Error(`plexus connect failed: ${said}${cost}`);
  const [, cpu, rss] = /^cpu (\d+)\nrss (\d+)$/m.exec(cost);
  return { cpuMs: Number(cpu) / 1_000, memoryMb: Number(rss) / MB };
}
