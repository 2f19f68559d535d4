// Owns one measurement of `large.mjs`, in a process of its own: one call with a large result, and the longest time that the
// event loop could do nothing else. Usage: large-client.mjs stdio|http|events SHAPE BYTES; prints one line of JSON.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRuntime } from 'plexus';
import { KNOWN_SECRET } from './large-shapes.mjs';

const [transport, shape, bytes] = process.argv.slice(2);
const program = fileURLToPath(new URL('./large-server.mjs', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'plexus-large-'));

/** How long the main thread has run, in ms: other programs on the machine do not count. `undefined` where the system does not tell. */
function threadMs() {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ', 1)[0]) / 1e6;
  } catch {
    return undefined;
  }
}

/** A timer of one millisecond comes late by as long as the loop was blocked. */
function watchLoop() {
  let last = { at: performance.now(), ran: threadMs() };
  const longest = { ms: 0, ranMs: 0 };
  const look = () => {
    const now = { at: performance.now(), ran: threadMs() };
    longest.ms = Math.max(longest.ms, now.at - last.at);
    longest.ranMs = Math.max(longest.ranMs, now.ran - last.ran || 0);
    last = now;
  };
  const timer = setInterval(look, 1);
  return () => {
    look();
    clearInterval(timer);
    return longest;
  };
}

async function entry() {
  if (transport === 'stdio')
    return {
      command: process.execPath,
      args: [program, transport, shape, bytes],
      env: { BENCH_TOKEN: KNOWN_SECRET },
    };
  const server = fork(program, [transport, shape, bytes]);
  server.unref();
  const [url] = await once(server, 'message');
  server.channel.unref();
  return { url, transport: 'http', headers: { 'X-Bench-Token': KNOWN_SECRET } };
}

const mcp = await createRuntime({
  discover: false,
  home,
  env: { ...process.env, XDG_CACHE_HOME: join(home, 'cache') },
  servers: { large: await entry() },
  permissions: [{ tool: '*', action: 'allow' }],
  startup: { whenUncached: 'wait' },
  onEvent: () => undefined,
});
await mcp.ready();
const turn = mcp.turn();
const stop = watchLoop();
const began = performance.now();
const cpu = process.cpuUsage();
const failure = await turn.call('mcp__large__large', {}).then(
  ({ truncated }) => (truncated === undefined || truncated.file ? undefined : 'the whole text was not kept'),
  (error) => error.message,
);
const tookMs = performance.now() - began;
const longest = stop();
const { user, system } = process.cpuUsage(cpu);
const memoryMb = process.resourceUsage().maxRSS / 1024;
console.log(JSON.stringify({ ...longest, tookMs, cpuMs: (user + system) / 1000, memoryMb, failure }));
await mcp.close();
rmSync(home, { recursive: true, force: true });
process.exit();
