// Owns what is measured of gateways: calls per second with 32 in flight, what they add to the time of a single call, and their processor
// time and memory, with the same stdio server behind each of them. Every sample comes from a fresh process with an empty home.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, readlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect as connectPipes } from '../hand-pipes.mjs';
import { interleave, row } from '../measures.mjs';
import { serversOf } from '../servers.mjs';
import { gateways } from './gateways.mjs';
import { openSession } from './load.mjs';

const ownSessions = fileURLToPath(new URL('./own-sessions.mjs', import.meta.url));
const IN_FLIGHT = 32;
const { 'echo-0': server } = serversOf('echo', 1);

export const measures = {
  gateway: async (bench) => {
    const runs = Object.fromEntries(
      Object.entries(gateways).map(([name, each]) => [name, () => sampleOf(each, bench)]),
    );
    const samples = await interleave({ ...runs, direct: () => directSample(bench) }, bench.rounds);
    const { direct, ...through } = samples;
    for (const rounds of Object.values(through))
      for (const [round, sample] of rounds.entries()) sample.addedMicros = sample.p50Micros - direct[round].p50Micros;
    return {
      rate: row('a gateway, 32 in flight: calls', '/s', through, 'perSecond'),
      added: row('a gateway: what it adds to one call (p50)', 'µs', through, 'addedMicros'),
      cpu: row('a gateway, 32 in flight: CPU a call', 'µs', through, 'cpuMicros'),
      memory: row('a gateway: memory after the load', 'MB', through, 'memoryMb'),
    };
  },
};

/** One call at a time to the server itself, over its pipes. */
async function directSample({ calls }) {
  const { request, notify, close } = connectPipes(server);
  await request('initialize', { protocolVersion: '2025-06-18' });
  notify('notifications/initialized');
  const took = [];
  for (let call = 0; call < calls; call += 1) {
    const from = performance.now();
    await request('tools/call', { name: 'echo', arguments: { text: 'how do you do?', size: 5 } });
    took.push(performance.now() - from);
  }
  await close();
  return { p50Micros: medianMicros(took.slice(calls >> 1)) };
}

async function sampleOf({ start, path, tool, sse }, { folder, calls, signal }) {
  const home = await mkdtemp(join(folder, 'gateway-'));
  const port = await freePort();
  const words = ['--import', ownSessions, ...start({ port: String(port), home, server })];
  const child = spawn(process.execPath, words, { cwd: home, env: environmentIn(home), stdio: 'ignore', signal });
  child.on('error', () => undefined);
  try {
    const session = await whenUp(child, async () => {
      const opened = await openSession({ port, path, tool, sse });
      await opened.call(1, 1);
      return opened;
    });
    await session.call(calls, IN_FLIGHT);
    const before = await usageIn(home);
    const from = performance.now();
    await session.call(calls, IN_FLIGHT);
    const tookMs = performance.now() - from;
    const after = await usageIn(home);
    const one = await session.call(calls >> 2, 1);
    session.close();
    return {
      perSecond: (calls * 1_000) / tookMs,
      cpuMicros: ((after.cpuMs - before.cpuMs) * 1_000) / calls,
      memoryMb: after.memoryMb,
      p50Micros: medianMicros(one),
    };
  } finally {
    const left = await processesIn(home);
    child.kill('SIGKILL');
    for (const pid of left) killIfThere(pid);
  }
}

const medianMicros = (took) => took.toSorted((a, b) => a - b)[took.length >> 1] * 1_000;

/** Every process of a gateway knows its home: also a daemon that it left its group for. */
const environmentIn = (home) => ({
  ...{ PATH: process.env['PATH'], HOME: home, USERPROFILE: home, TMPDIR: home },
  ...{
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CACHE_HOME: join(home, 'cache'),
  },
});

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  return port;
}

/** Gateways differ in how they say that they are up: the first session that can call the tool counts. */
async function whenUp(child, open) {
  for (let attempt = 0; ; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`${child.spawnargs.join(' ')} ended with ${child.exitCode}`);
    try {
      return await open();
    } catch (error) {
      if (attempt > 300) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** The processes with this home, the server behind included. Only Linux tells. */
async function processesIn(home) {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
      return environment.includes(home) && (await readlink(`/proc/${pid}/exe`).catch(() => '')) !== '' ? [pid] : [];
    }),
  );
  return found.flat();
}

const TICK_MS = 10;

/** Of the gateway alone: what the server behind it takes is the same for all. */
async function usageIn(home) {
  const usage = { cpuMs: 0, memoryMb: 0 };
  for (const pid of await processesIn(home)) {
    const [words, stat, status] = await Promise.all(
      ['cmdline', 'stat', 'status'].map((name) => readFile(`/proc/${pid}/${name}`, 'latin1').catch(() => '')),
    );
    if (stat === '' || /(?:^|\0)\S*echo-server\.mjs/.test(words.split('\0').slice(1, 2).join())) continue;
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13);
    usage.cpuMs += (Number(user) + Number(system)) * TICK_MS;
    usage.memoryMb += Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1_024;
  }
  return usage;
}

function killIfThere(pid) {
  try {
    process.kill(Number(pid), 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
