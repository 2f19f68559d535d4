// Owns the processes of a run: contestants that are asked, a server for them, and programs that are timed. One signal ends them all.

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
 * Lends a contestant to `use`, and ends it whatever happens. Each lives in an empty home, so that none knows anything from
 * before, unless it is given the place of a person who does.
 */
export async function withContestant(kind, { signal, folder, place }, use) {
  const { home, cwd } = place ?? { home: await mkdtemp(join(folder, `${kind}-`)) };
  const execArgv = ['--expose-gc', '--no-warnings'];
  const options = { env: environmentIn(home), cwd, signal, killSignal: 'SIGKILL', execArgv };
  const child = fork(fileOf('./contestant.mjs'), [kind], options);
  return lend(child, () => use((job, given) => ask(child, { job, ...given })));
}

/** Lends the address of a server over HTTP to `use`. */
export async function withHttpServer({ signal }, use) {
  const child = fork(fileOf('./echo-http-server.mjs'), { env: environment, signal, killSignal: 'SIGKILL' });
  return lend(child, async () => use(await answerOf(child, 'telling its address')));
}

async function lend(child, use) {
  const exited = new Promise((resolve) => {
    child.once('exit', resolve);
    // One that could not be started has no exit; an aborted one has.
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

/** One that dies instead of answering has said on stderr why. */
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

/** How long Node takes with these arguments, from the outside, and what it printed; at the place of a person, if there is one. */
export async function timeNode(args, { signal, place }) {
  const env = place?.home === undefined ? environment : environmentIn(place.home);
  const options = { env, cwd: place?.cwd, signal, killSignal: 'SIGKILL', maxBuffer: Number.POSITIVE_INFINITY };
  const from = performance.now();
  const { stdout, stderr } = await runFile(process.execPath, args, options);
  return { wallMs: performance.now() - from, stdout, stderr };
}

/** Also what it cost, as it tells itself at its end. */
export async function timeNodeAndCpu(args, bench) {
  const { wallMs, stderr } = await timeNode(['--require', fileOf('./cpu-at-exit.cjs'), ...args], bench);
  return { wallMs, cpuMs: Number(/^cpu (\d+)$/m.exec(stderr)[1]) / 1_000 };
}
