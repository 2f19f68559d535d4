// Owns the processes of a run: contestants, their HTTP server, and programs that are timed. One signal ends them all.

import { execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const fileOf = (path) => fileURLToPath(new URL(path, import.meta.url));
const runFile = promisify(execFile);

/** Node's own variables are left out: extra certificates alone double the start of every process, on some machines only. */
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('NODE_')));

export function environmentIn(home) {
  const folders = { CACHE: 'cache', STATE: 'state', CONFIG: '.config' };
  const xdg = Object.entries(folders).map(([name, folder]) => [`XDG_${name}_HOME`, join(home, folder)]);
  return { ...environment, HOME: home, USERPROFILE: home, ...Object.fromEntries(xdg) };
}

/**
 * One job of one contestant in a fresh process. Each has an empty home, so that no cache helps it, unless a prepared home is
 * given. A contestant that fails has written the reason on stderr; what libraries chatter there is not printed otherwise.
 */
export async function runContestant(file, job, options, { signal, folder, place }) {
  const { home, cwd } = place ?? { home: await mkdtemp(join(folder, 'home-')) };
  const args = ['--expose-gc', '--no-warnings', fileOf('./contestant.mjs'), fileOf(file), job, JSON.stringify(options)];
  const child = spawn(process.execPath, args, {
    env: environmentIn(home),
    cwd: cwd ?? home,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  });
  const closed = once(child, 'close');
  const [found, complaint] = await Promise.all([text(child.stdio[3]), text(child.stderr), closed]);
  if (found === '') throw new Error(`${file} failed at "${job}":\n${complaint.slice(-2_000)}`);
  return JSON.parse(found);
}

/** Starts the HTTP server, and passes its addresses to `use`. */
export async function withHttpServer({ signal }, use) {
  const child = fork(fileOf('./echo-http-server.mjs'), { env: environment, signal, killSignal: 'SIGKILL' });
  const exited = new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
  try {
    const [origins] = await once(child, 'message', { signal });
    return await use(origins);
  } finally {
    if (child.connected) child.disconnect();
    await exited;
  }
}

/** What a Node process with these arguments prints, and how long it takes; in a prepared home, if one is given. */
export async function timeNode(args, { signal, place }) {
  const env = place?.home === undefined ? environment : environmentIn(place.home);
  const options = { env, cwd: place?.cwd, signal, killSignal: 'SIGKILL', maxBuffer: Number.POSITIVE_INFINITY };
  const from = performance.now();
  const { stdout, stderr } = await runFile(process.execPath, args, options);
  return { wallMs: performance.now() - from, stdout, stderr };
}

/** Also the CPU time, which the process itself prints when it exits. */
export async function timeNodeAndCpu(args, bench) {
  const { wallMs, stderr } = await timeNode(['--require', fileOf('./cost-at-exit.cjs'), ...args], bench);
  return { wallMs, cpuMs: Number(/^cpu (\d+)$/m.exec(stderr)[1]) / 1_000 };
}
