// Owns starting a person's own server away from the workspace: makes the empty folder and the shell that `away-from-workspace.ts`
// puts into its command line, and asks Python for its version.

import { readFile } from 'node:fs/promises';
import type { Clock } from '../kernel/clock.ts';
import { makeFolder } from '../kernel/make-folder.ts';
import { fullness, isSystemError, reasonOf, replaceFile } from '../kernel/replace-file.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerDefinition, StdioLaunch } from '../model/server.ts';
import {
  awayFromWorkspace,
  neutralPlaces,
  pythonVersionCommand,
  type ShieldedLaunch,
  WORKSPACE_VARIABLE,
} from './away-from-workspace.ts';
import { runProgram } from './run-command.ts';
import type { HostEnvironment } from './scopes.ts';

/** Returns to the workspace for the program alone: scripts of packages that are being installed stay in their own folders. */
const SHELL = `#!/bin/sh
if [ "$npm_lifecycle_event" = npx ] && [ -n "$${WORKSPACE_VARIABLE}" ]; then
  cd "$${WORKSPACE_VARIABLE}" || exit
  unset ${WORKSPACE_VARIABLE}
fi
exec /bin/sh "$@"
`;

/** Makes what the launch needs. Throws `SPAWN_FAILED` where the state folder cannot be written. */
export async function launchAwayFromWorkspace(
  definition: ServerDefinition,
  launch: StdioLaunch,
  environment: HostEnvironment,
  clock: Clock,
): Promise<ShieldedLaunch> {
  const shielded = await shieldedLaunch(definition, launch, environment, clock);
  if (shielded.launch === launch) return shielded;
  const { folder, shell } = neutralPlaces(environment);
  const { args, cwd } = shielded.launch;
  const make = (path: string, work: () => Promise<unknown>) => making(path, { definition, launch }, work);
  if (cwd === folder || args.includes(folder)) await make(folder, () => makeFolder(folder, { mode: 0o700 }));
  if (args.includes(shell))
    await make(shell, async () => {
      if ((await textOf(shell)) !== SHELL) await replaceFile(shell, SHELL, { mode: 0o700 });
    });
  return shielded;
}

async function making(
  path: string,
  { definition: { name: server }, launch: { command } }: ServerStart,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const full = fullness(error);
    const reason = full.isFull
      ? reasonOf(error)
      : `Plexus keeps it out of the workspace with ${path}, which cannot be made: ${reasonOf(error)}`;
    const data = { server, command, reason, culprit: 'state', path, ...full } as const;
    throw new RuntimeError('SPAWN_FAILED', data, { cause: error });
  }
}

interface ServerStart {
  readonly definition: ServerDefinition;
  readonly launch: StdioLaunch;
}

/** The launch as it would be started now. Makes nothing. */
export async function shieldedLaunch(
  definition: ServerDefinition,
  launch: StdioLaunch,
  environment: HostEnvironment,
  clock: Clock,
): Promise<ShieldedLaunch> {
  const shielded = awayFromWorkspace(definition, launch, { environment });
  const version = shielded.launch === launch ? undefined : pythonVersionCommand(launch, environment.platform);
  if (version === undefined) return shielded;
  // In the workspace: version managers choose the version by a file that lies there.
  const asked = await runProgram(version, limits.helper.ms, {
    ...environment,
    env: { ...environment.env, ...launch.env },
    clock,
  });
  return awayFromWorkspace(definition, launch, { environment, hasSafePath: asked.ok && isRecent(asked.output) });
}

/** `PYTHONSAFEPATH` exists since Python 3.11. */
function isRecent(version: string): boolean {
  const [, major = 0, minor = 0] = /^Python (\d+)\.(\d+)/.exec(version)?.map(Number) ?? [];
  return major > 3 || (major === 3 && minor >= 11);
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
