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
import { findGateway, type GatewayInstance, gatewayFiles, readIfThere } from '../instance.ts';
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
  /** A running gateway of an older protocol. */
  readonly old: GatewayInstance | undefined;
}

/** How long one process may take to start the gateway before another one tries. */
const START_MS = 30_000;
const LOOK_MS = 25;

/** Resolves when a gateway runs, whichever process has started it. Rejects if it could not be started. */
export async function startGateway(options: StartOptions): Promise<void> {
  const { stateFolder, clock } = options;
  const files = gatewayFiles(stateFolder);
  await makeFolder(files.folder, { mode: 0o700 });
  const waiting = new AbortController();
  // Nearly all wait for one: they see it run without a turn at the lock.
  const seen = whenRunning(stateFolder, clock, waiting.signal).then(() => undefined);
  const lock = acquire({ lock: files.start, ttlMs: START_MS, clock, signal: waiting.signal });
  try {
    const release = await Promise.race([lock, seen]);
    if (release === undefined) return;
    await startAlone(options).finally(release);
  } finally {
    waiting.abort(new DOMException('a gateway runs', 'AbortError'));
    // Either may still settle: a lock that came too late is given back.
    void lock.then((release) => release(), onAbort);
    void seen.catch(onAbort);
  }
}

async function whenRunning(stateFolder: string, clock: Clock, signal: AbortSignal): Promise<void> {
  while (findGateway(stateFolder).kind !== 'running') await clock.sleep(LOOK_MS, signal);
}

function onAbort(error: unknown): void {
  if (!(error instanceof DOMException)) throw error;
}

/** The lock is held. */
async function startAlone({ stateFolder, program, platform, clock, old }: StartOptions): Promise<void> {
  if (old !== undefined) await stopGateway(old, { stateFolder, platform, clock });
  if (findGateway(stateFolder).kind === 'running') return;
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
  let ended: string | undefined;
  child.once('error', ({ message }) => {
    ended = message;
  });
  child.once('exit', () => {
    ended = readIfThere(log)?.trim() || 'it ended at once';
  });
  child.unref();
  const until = clock.now() + START_MS;
  while (findGateway(stateFolder).kind !== 'running') {
    if (ended !== undefined) throw new RuntimeError('GATEWAY_UNREACHABLE', { reason: ended });
    if (clock.now() > until) throw new RuntimeError('GATEWAY_UNREACHABLE', { reason: 'it did not start in time' });
    await clock.sleep(LOOK_MS);
  }
}

/** The folders of Plexus may have been moved: the gateway has to find the same ones. */
const FOLDERS = ['XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME', 'XDG_DATA_HOME'];

/** Never the variables of one client: every other client of the gateway would get their values. */
export function gatewayEnvironment({ env }: GatewayProgram, platform: NodeJS.Platform): Record<string, string> {
  return childEnvironment({ host: env, inherit: FOLDERS, entry: {}, platform });
}
