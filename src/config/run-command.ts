// Owns running a command for its output, such as a `!command` of the user's own file: limited in time and size, and ended with
// everything it started.

import { type SpawnOptions, spawn } from 'node:child_process';
import type { Clock } from '../kernel/clock.ts';
import type { EnvironmentVariables } from '../model/environment-variables.ts';
import { limits } from '../model/limits.ts';

export type CommandOutput =
  | { readonly ok: true; readonly output: string }
  | { readonly ok: false; readonly problem: string };

export interface CommandOptions {
  readonly cwd: string;
  readonly env: EnvironmentVariables;
  readonly platform: NodeJS.Platform;
  readonly clock: Clock;
  /** Aborting it ends the command. */
  readonly signal?: AbortSignal | undefined;
}

/** Resolves whatever happens. The command's stderr is not reported, since it may hold the secret that the command was run for. */
export const runCommand = (command: string, options: CommandOptions): Promise<CommandOutput> =>
  run(() => startShell(command, options), limits.helper.ms, options);

/** Runs one program with its arguments, without a shell. */
export const runProgram = (
  [program, ...args]: readonly [string, ...string[]],
  ms: number,
  options: CommandOptions,
): Promise<CommandOutput> => run(() => start(program, args, options), ms, options);

async function run(start: () => Child, ms: number, options: CommandOptions): Promise<CommandOutput> {
  if (options.signal?.aborted) return notStarted;
  try {
    return await outputOf(start(), ms, options);
  } catch (error) {
    // `spawn` itself throws for a NUL byte, too many arguments, or a folder that does not exist.
    if (error instanceof Error && 'code' in error) return notStarted;
    throw error;
  }
}

const notStarted: CommandOutput = { ok: false, problem: 'it could not be started' };

type Child = ReturnType<typeof start>;

function startShell(command: string, options: CommandOptions): Child {
  if (options.platform !== 'win32') return start('sh', ['-c', command], options);
  // As Node's own `exec` does it: cmd.exe removes the outer quotes and takes the rest as it is.
  const args = ['/d', '/s', '/c', `"${command}"`];
  return start(options.env['COMSPEC'] ?? 'cmd.exe', args, options, { windowsVerbatimArguments: true });
}

function start(
  program: string,
  args: readonly string[],
  { cwd, env, platform }: CommandOptions,
  more: Pick<SpawnOptions, 'windowsVerbatimArguments'> = {},
) {
  return spawn(program, args, {
    cwd,
    env: { ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: platform !== 'win32',
    windowsHide: true,
    ...more,
  });
}

function outputOf(child: Child, ms: number, options: CommandOptions): Promise<CommandOutput> {
  const { platform, clock, signal: ending } = options;
  return new Promise((resolve) => {
    child.once('error', () => resolve(notStarted));
    if (child.pid === undefined) return;
    const { pid, stdout } = child;
    const chunks: Buffer[] = [];
    let size = 0;
    /** Ends the whole process group: a process that the command left behind may hold the output open long after it has ended. */
    const stop = (problem: string) => {
      unsubscribe();
      kill(platform === 'win32' ? pid : -pid);
      stdout.destroy();
      resolve({ ok: false, problem });
    };
    const cancelTimer = clock.after(ms, () => stop(`it took longer than ${ms / 1000} s`));
    const abort = () => stop('it was no longer wanted');
    ending?.addEventListener('abort', abort, { once: true });
    const unsubscribe = () => {
      cancelTimer();
      ending?.removeEventListener('abort', abort);
    };
    stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > limits.helper.bytes) stop(`it printed more than ${limits.helper.bytes} bytes`);
    });
    child.once('close', (code, signal) => {
      unsubscribe();
      resolve(code === 0 ? { ok: true, output: textOf(chunks) } : { ok: false, problem: endOf(code, signal) });
    });
  });
}

const textOf = (chunks: readonly Buffer[]) =>
  Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');

const endOf = (code: number | null, signal: NodeJS.Signals | null) =>
  signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;

/** Ignores a process that is gone already, or that runs as another user. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && ['ESRCH', 'EPERM'].includes(String(error.code)))) throw error;
  }
}
