// Owns the processes of a run: contestants, their HTTP server, and programs that are timed. One signal ends them all.

import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const fileOf = (path) => fileURLToPath(new URL(path, import.meta.url));
const runFile = promisify(execFile);

/** Node's own variables are left out: extra certificates alone double the start of every process, on some machines only. */
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('NODE_')));

function environmentIn(home) {
  const folders = { CACHE: 'cache', STATE: 'state', CONFIG: '.config' };
  const xdg = Object.entries(folders).map(([name, folder]) => [`XDG_${name}_HOME`, join(home, folder)]);
  return { ...environment, HOME: home, USERPROFILE: home, ...Object.fromEntries(xdg) };
}

/**
 * Starts a contestant for `use`, and ends it whatever happens. Each has an empty home, so that no cache helps it, unless a
 * prepared home is given.
 */
export async function withContestant(kind, { signal, folder, place }, use) {
  const { home, cwd } = place ?? { home: await mkdtemp(join(folder, `${kind}-`)) };
  const execArgv = ['--expose-gc', '--no-warnings'];
  const options = { env: environmentIn(home), cwd, signal, killSignal: 'SIGKILL', execArgv };
  const child = fork(fileOf('./contestant.mjs'), [kind], options);
  return lend(child, () => use((job, given) => ask(child, { job, ...given })));
}

/** Starts the HTTP server, and passes its address to `use`. */
export async function withHttpServer({ signal }, use) {
  const child = fork(fileOf('./echo-http-server.mjs'), { env: environment, signal, killSignal: 'SIGKILL' });
  return lend(child, async () => use(await answerOf(child, 'telling its address')));
}

async function lend(child, use) {
  const exited = new Promise((resolve) => {
    child.once('exit', resolve);
    // A child that could not be started emits no exit; an aborted one does.
    child.on('error', () => child.pid === undefined && resolve());
  });
  try {
    return await use();
  } finally {
    if (child.connected) child.disconnect();
    await exited;
  }
}

async function ask(child, request) {
  child.send(request);
  return answerOf(child, `doing "${request.job}"`);
}

/** A contestant that dies instead of answering has written the reason on stderr. */
async function answerOf(child, doing) {
  const settled = new AbortController();
  const { signal } = settled;
  try {
    const died = once(child, 'exit', { signal }).then(([code, by]) => {
      throw new Error(`a process ended with ${code ?? by} instead of ${doing}`);
    });
    const [answer] = await Promise.race([once(child, 'message', { signal }), died]);
    return answer;
  } finally {
    settled.abort();
  }
}

/** How long a Node process with these arguments takes, and its output; in a prepared home, if one is given. */
export async function timeNode(args, { signal, place }) {
  const env = place?.home === undefined ? environment : environmentIn(place.home);
  const options = { env, cwd: place?.cwd, signal, killSignal: 'SIGKILL', maxBuffer: Number.POSITIVE_INFINITY };
  const from = performance.now();
  const { stdout, stderr } = await runFile(process.execPath, args, options);
  return { wallMs: performance.now() - from, stdout, stderr };
}

/** Also the CPU time, which the process itself prints when it exits. */
export async function timeNodeAndCpu(args, bench) {
  const { wallMs, stderr } = await timeNode(['--require', fileOf('./cpu-at-exit.cjs'), ...args], bench);
  return { wallMs, cpuMs: Number(/^cpu (\d+)$/m.exec(stderr)[1]) / 1_000 };
}
