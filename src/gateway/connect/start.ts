// Owns starting a gateway for `plexus connect`: detached, in the home folder, with the safe environment. One process starts it, the
// others wait for it. A gateway of an older protocol finishes its calls and ends first.

import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Clock } from '../../kernel/clock.ts';
import { acquire } from '../../kernel/file-lock.ts';
import { makeFolder } from '../../kernel/make-folder.ts';
import type { EnvironmentVariables } from '../../model/environment-variables.ts';
import { RuntimeError } from '../../model/errors.ts';
import { childEnvironment } from '../../transport/environment.ts';
import { findGateway, gatewayFiles, isSettled, readIfThere } from '../instance.ts';
import { stopGateway } from '../stop.ts';

export interface GatewayProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly home: string;
  readonly env: EnvironmentVariables;
}

/** For those that have not loaded the failure table. */
export const failureOf = (...row: ConstructorParameters<typeof RuntimeError>): RuntimeError => new RuntimeError(...row);

export interface StartOptions {
  readonly stateFolder: string;
  readonly program: GatewayProgram;
  readonly platform: NodeJS.Platform;
  readonly clock: Clock;
}

/** How long one process may take to start the gateway before another one tries. */
const START_MS = 30_000;
const LOOK_MS = 25;
/** A gateway that is killed while it starts says nothing about the next one, unless it happens again and again. */
const MOST_STARTS = 5;

/** Resolves when a gateway runs that need not be replaced, whichever process has started it. Rejects if it could not be started. */
export async function startGateway(options: StartOptions): Promise<void> {
  const { stateFolder, clock } = options;
  const files = gatewayFiles(stateFolder);
  await makeFolder(files.folder, { mode: 0o700 });
  const waiting = new AbortController();
  // Nearly all wait for one: they see it run without a turn at the lock.
  const seen = whenSettled(stateFolder, clock, waiting.signal);
  const lock = acquire({ lock: files.start, ttlMs: START_MS, clock, signal: waiting.signal });
  try {
    const release = await Promise.race([lock, seen]);
    if (release === undefined) return;
    await startAlone(options).finally(release);
  } finally {
    waiting.abort(new DOMException('a gateway runs', 'AbortError'));
    // Either may still settle: a lock that came too late is given back. A failure was told already, or does not matter any more.
    void lock.then((release) => release(), ignore);
    void seen.catch(ignore);
  }
}

const ignore = (): void => undefined;

async function whenSettled(stateFolder: string, clock: Clock, signal: AbortSignal): Promise<undefined> {
  while (!isSettled(findGateway(stateFolder))) await clock.sleep(LOOK_MS, signal);
}

/** The lock is held. */
async function startAlone(options: StartOptions): Promise<void> {
  const { stateFolder } = options;
  const found = findGateway(stateFolder);
  if (found.kind === 'older') await stopGateway(found.instance, options);
  for (let start = 1; !isSettled(findGateway(stateFolder)); start++) {
    const failure = await startOnce(options);
    if (failure === undefined) return;
    if (!failure.isKilled || start === MOST_STARTS)
      throw new RuntimeError('GATEWAY_UNREACHABLE', { reason: failure.reason });
  }
}

interface FailedStart {
  readonly reason: string;
  /** By a signal, and not by a failure of its own. */
  readonly isKilled: boolean;
}

/** `undefined`: a gateway runs. */
async function startOnce({ stateFolder, program, platform, clock }: StartOptions): Promise<FailedStart | undefined> {
  const { log } = gatewayFiles(stateFolder);
  const output = openSync(log, 'w', 0o600);
  const child = spawn(program.command, [...program.args], {
    cwd: program.home,
    env: gatewayEnvironment(program, platform),
    detached: true,
    stdio: ['ignore', output, output],
    windowsHide: true,
  });
  closeSync(output);
  let failed: FailedStart | undefined;
  child.once('error', ({ message: reason }) => {
    failed = { reason, isKilled: false };
  });
  child.once('exit', (_, signal) => {
    const reason = signal ? `${signal} ended it` : readIfThere(log)?.trim() || 'it ended at once';
    failed = { reason, isKilled: signal !== null };
  });
  child.unref();
  const until = clock.now() + START_MS;
  while (!isSettled(findGateway(stateFolder))) {
    if (failed !== undefined) return failed;
    if (clock.now() > until) return { reason: 'it did not start in time', isKilled: false };
    await clock.sleep(LOOK_MS);
  }
  return undefined;
}

/** The folders of Plexus may have been moved: the gateway has to find the same ones. */
const FOLDERS = ['XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME', 'XDG_DATA_HOME'];

/** Never the variables of one client: every other client of the gateway would get their values. */
export function gatewayEnvironment({ env }: GatewayProgram, platform: NodeJS.Platform): Record<string, string> {
  return childEnvironment({ host: env, inherit: FOLDERS, entry: {}, platform });
}
