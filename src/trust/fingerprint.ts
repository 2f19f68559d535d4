// Owns what makes a definition the same one: as written, which keys caches, and as it would run, which binds an approval.

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { posix, win32 } from 'node:path';
import { canonicalJson } from '../kernel/json.ts';
import type { Launch, RemoteLaunch, ServerDefinition, StdioLaunch } from '../model/server.ts';

/** Settings are left out, so that a longer timeout does not throw away what is known; the file is in, because `./server` means another program elsewhere. */
export function definitionHash({ name, launch, provenance }: ServerDefinition): string {
  return hash({ name, launch, file: provenance.file });
}

export interface Surroundings {
  readonly cwd: string;
  /** The host's `PATH`. */
  readonly pathEnv: string | undefined;
  readonly platform: NodeJS.Platform;
}

/** Changes with the program that would run, its arguments, folder and environment, and with where a remote server is. */
export async function trustFingerprint({ launch }: ServerDefinition, around: Surroundings): Promise<string> {
  return hash(await essenceOf(launch, around));
}

async function essenceOf(launch: Launch, around: Surroundings): Promise<unknown> {
  if (launch.kind === 'in-process') return { kind: launch.kind };
  return launch.kind === 'stdio' ? essenceOfProcess(launch, around) : essenceOfRemote(launch);
}

async function essenceOfProcess(launch: StdioLaunch, around: Surroundings): Promise<unknown> {
  const folder = pathsOf(around.platform).resolve(around.cwd, launch.cwd ?? '.');
  const { args, inheritEnv } = launch;
  return {
    kind: launch.kind,
    executable: await executableOf(launch, folder, around),
    args,
    folder,
    env: hashEach(launch.env),
    inheritEnv,
  };
}

function essenceOfRemote({ kind, url, headers, bearerTokenEnvVar }: RemoteLaunch): unknown {
  return { kind, url, headers: hashEach(headers), bearerTokenEnvVar };
}

/** What the system would start: found along the path as it would find it, with every link followed. As written when nothing is there. */
async function executableOf({ command, env }: StdioLaunch, folder: string, around: Surroundings): Promise<string> {
  const { resolve, delimiter, sep } = pathsOf(around.platform);
  const isPath = command.includes('/') || command.includes(sep);
  const folders = isPath ? [''] : ((env['PATH'] ?? around.pathEnv)?.split(delimiter) ?? []);
  const endings = around.platform === 'win32' ? ['', '.exe', '.cmd', '.bat', '.com'] : [''];
  for (const candidate of folders.flatMap((each) => endings.map((ending) => resolve(folder, each, command + ending)))) {
    const found = await realExecutable(candidate);
    if (found !== undefined) return found;
  }
  return command;
}

async function realExecutable(file: string): Promise<string | undefined> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile() ? await realpath(file) : undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

/** Values are as written, so mostly placeholders; a literal secret is still not kept anywhere but in its own file. */
const hashEach = (record: Readonly<Record<string, string>>) =>
  Object.entries(record)
    .map(([name, value]) => [name, hash(value)])
    .sort();

const hash = (value: unknown) => createHash('sha256').update(canonicalJson(value)).digest('hex');
const pathsOf = (platform: NodeJS.Platform) => (platform === 'win32' ? win32 : posix);
