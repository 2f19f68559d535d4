// Owns a child process and all its descendants, started and ended as one. `stdio.ts` reads and writes their messages.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { lstatSync, readFileSync } from 'node:fs';
import type { Clock } from '../kernel/clock.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { errorCode } from './error-code.ts';
import type { Family, Leader } from './family.ts';
import { createGroup, createLinuxFamily } from './group-family.ts';
import { guardInstallation, type InstallGuard } from './install-guard.ts';
import { createMark, MARK_VARIABLE } from './mark.ts';
import { type SpawnAttempt, spawnFailure } from './spawn-failure.ts';
import { createTreeFamily, createWindowsFamily } from './tree-family.ts';
import { standBy, standDown, unwatch, watch } from './watchdog.ts';
import { type Program, resolveWindowsCommand } from './windows-command.ts';

export interface GroupOptions extends SpawnAttempt {
  readonly args: readonly string[];
  /** The complete environment; only the mark is added. */
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** The program may install something first: how long it may go on with that when its host ends. */
  readonly installLimitMs?: number | undefined;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly afterMs: number;
  /** The host had sent a signal before the exit. */
  readonly forced: boolean;
}

interface GroupOrigin {
  readonly pid: number;
  readonly mark: string;
  readonly clock: Clock;
  readonly installLimitMs: number | undefined;
}

/** Resolves once the program runs. Rejects if it could not be started; no process is left then. */
export function openProcessGroup(options: GroupOptions): Promise<ProcessGroup> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(error instanceof RuntimeError ? error : spawnFailure(error, options));
    const failUnstarted = (error: unknown) => void standDown().then(() => fail(error));
    const { clock, installLimitMs } = options;
    const mark = createMark();
    try {
      const { file, args, windowsVerbatimArguments = false } = programOf(options, process.platform);
      standBy();
      const child = spawn(file, [...args], {
        cwd: options.cwd,
        env: { ...options.env, [MARK_VARIABLE]: mark },
        detached: leadsGroup(process.platform),
        stdio: 'pipe',
        windowsHide: true,
        windowsVerbatimArguments,
      });
      if (child.pid === undefined) {
        child.once('error', failUnstarted);
        return;
      }
      child.once('error', fail);
      const group = new ProcessGroup(child, { pid: child.pid, mark, clock, installLimitMs });
      child.once('spawn', () => {
        // From now on the exit event reports failures; removing `fail` frees the options and their environment.
        child.on('error', ignore).off('error', fail);
        resolve(group);
      });
    } catch (error) {
      failUnstarted(error);
    }
  });
}

const ignore = (): void => undefined;

/** On platforms other than Windows the system finds the program and takes the arguments unchanged. */
export function programOf(options: Omit<GroupOptions, 'clock'>, platform: NodeJS.Platform): Program {
  const { command, args, cwd = '' } = options;
  if (platform !== 'win32') return { file: command, args };
  return resolveWindowsCommand({ ...options, cwd, isFile, readText: (path) => readFileSync(path, 'utf8') });
}

/** Does not follow links: the app aliases of Windows point nowhere and can be started nevertheless. */
function isFile(path: string): boolean {
  try {
    return !lstatSync(path).isDirectory();
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return false;
  }
}

/** On macOS a program in its own session cannot prompt the user for permissions; Windows has no process groups. */
export function leadsGroup(platform: NodeJS.Platform): boolean {
  return platform !== 'darwin' && platform !== 'win32';
}

export class ProcessGroup {
  readonly child: ChildProcessWithoutNullStreams;
  readonly pid: number;
  readonly #clock: Clock;
  readonly #family: Family;
  #exit: ProcessExit | undefined;
  #forced = false;
  #ending: Promise<void> | undefined;
  #wake: (() => void) | undefined;

  /** Set while the program may be installing. */
  #guard: InstallGuard | undefined;
  #isLeft = false;

  constructor(child: ChildProcessWithoutNullStreams, { pid, mark, clock, installLimitMs }: GroupOrigin) {
    this.child = child;
    this.pid = pid;
    this.#clock = clock;
    this.#family = createFamily({ pid, mark, hasExited: () => this.#exit !== undefined }, process.platform);
    if (installLimitMs !== undefined)
      this.#guard = guardInstallation(child, { group: pid, mark, limitMs: installLimitMs });
    if (this.#guard === undefined) watch(pid);
    // Where the watchdog has no other group, it was there for the moment before the guard.
    else void standDown();
    const startedAt = clock.now();
    // It comes once anyway; `once` would keep 200 bytes more for each server.
    child.on('exit', (code, signal) => {
      this.#exit = { code, signal, afterMs: clock.now() - startedAt, forced: this.#forced };
      this.#wake?.();
      if (this.#isLeft) this.#guard?.forget();
      // End the family at once, while the group's number cannot belong to others. Descendants that outlive the leader end too.
      void this.end();
    });
    // A program that no longer reads gets no more requests. A program that is exiting looks the same from here.
    child.stdin.on('error', () => void this.end());
  }

  /** How the program ended; `undefined` while it runs. */
  get exit(): ProcessExit | undefined {
    return this.#exit;
  }

  /** Called when the server has answered: from now on it ends with its host. */
  installed(): void {
    if (this.#guard === undefined || this.#isLeft) return;
    watch(this.pid);
    this.#guard.dismiss();
    this.#guard = undefined;
  }

  /** Leaves a program that is installing to its guard, with its input closed. Returns whether it was. */
  leave(): boolean {
    if (this.#guard === undefined || this.#ending !== undefined) return false;
    if (!this.#isLeft) {
      this.#isLeft = true;
      const { stdin, stdout, stderr } = this.child;
      stdin.end();
      // The guard has both outputs as well, and reads them once it has taken over.
      for (const stream of [stdout, stderr]) stream.destroy();
      this.#guard.takeOver();
      this.child.unref();
    }
    return true;
  }

  /** Closes stdin, then sends SIGTERM, then SIGKILL. Resolves when no process of the family runs; all callers share one ending. */
  end(): Promise<void> {
    this.#ending ??= this.#end().then(() => {
      if (!this.#isLeft) this.#guard?.dismiss();
      return unwatch(this.pid);
    });
    return this.#ending;
  }

  async #end(): Promise<void> {
    this.child.stdin.end();
    if (await this.#goneWithin(limits.endOfInputGraceMs)) return;
    this.#forced = true;
    await this.#family.signal('SIGTERM');
    if (await this.#goneWithin(limits.terminateGraceMs)) return;
    do await this.#family.signal('SIGKILL');
    while (!(await this.#goneWithin(limits.goneCheckMs)));
  }

  async #goneWithin(graceMs: number): Promise<boolean> {
    const until = this.#clock.now() + graceMs;
    while (await this.#family.isRunning()) {
      const leftMs = until - this.#clock.now();
      if (leftMs <= 0) return false;
      await this.#pause(Math.min(leftMs, limits.goneCheckMs));
    }
    return true;
  }

  /** Resolves early when the leader exits. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }
}

function createFamily(leader: Leader, platform: NodeJS.Platform): Family {
  switch (platform) {
    case 'win32':
      return createWindowsFamily(leader);
    case 'darwin':
      return createTreeFamily(leader);
    case 'linux':
    case 'android':
      return createLinuxFamily(leader);
    default:
      return createGroup(leader);
  }
}
