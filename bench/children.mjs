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

/** Lends a contestant to `use`, and ends it whatever happens. Each lives in an empty home: none knows anything from before. */
export async function withContestant(kind, { signal, folder }, use) {
  const home = await mkdtemp(join(folder, `${kind}-`));
  const env = { ...environment, HOME: home, XDG_CACHE_HOME: join(home, 'cache'), XDG_STATE_HOME: join(home, 'state') };
  const options = { env, signal, killSignal: 'SIGKILL', execArgv: ['--expose-gc', '--no-warnings'] };
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

/** How long Node takes with these arguments, from the outside, and what it printed. */
export async function timeNode(args, { signal }) {
  const from = performance.now();
  const { stdout } = await runFile(process.execPath, args, { env: environment, signal, killSignal: 'SIGKILL' });
  return { wallMs: performance.now() - from, stdout };
}
