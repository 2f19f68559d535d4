// Owns what makes a definition the same one: as written, which keys caches, and as it would run, which binds an approval.

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { posix, win32 } from 'node:path';
import { canonicalJson } from '../kernel/json.ts';
import { mentionsSecret } from '../model/secret-shapes.ts';
import type { RemoteLaunch, ServerDefinition, StdioLaunch } from '../model/server.ts';

/** Settings are left out, so that a longer timeout does not throw away what is known; the file is in, because `./server` means another program elsewhere. */
export function definitionHash({ name, launch, provenance }: ServerDefinition): string {
  return hash({ name, launch, file: provenance.file });
}

export interface LaunchContext {
  readonly cwd: string;
  /** The host's `PATH`. */
  readonly pathEnv: string | undefined;
  readonly platform: NodeJS.Platform;
  /** Fills in what decides which program runs, as it will be when it runs; the default takes it as written. */
  readonly fill?: (definition: ServerDefinition) => Runs;
}

export type Runs = Pick<StdioLaunch, 'command' | 'cwd' | 'env'>;

/**
 * What would run, part by part, so that a later version can be shown beside it: the program, each argument, the folder, and of
 * every variable and header its name with a hash of its value. Values that may be secrets are kept nowhere but in their own file.
 */
export type LaunchIdentity = Readonly<Record<string, string>>;

/** Changes with the program that would run, its arguments, folder and environment, and with where a remote server is. */
export const trustFingerprint = (essence: LaunchIdentity): string => hash(essence);

export async function launchIdentityOf(
  definition: ServerDefinition,
  environment: LaunchContext,
): Promise<LaunchIdentity> {
  const { launch } = definition;
  if (launch.kind === 'in-process') return { kind: launch.kind };
  if (launch.kind !== 'stdio') return essenceOfRemote(launch);
  return essenceOfProcess(launch, environment.fill?.(definition) ?? launch, environment);
}

async function essenceOfProcess(launch: StdioLaunch, runs: Runs, environment: LaunchContext): Promise<LaunchIdentity> {
  const folder = pathsOf(environment.platform).resolve(environment.cwd, runs.cwd ?? '.');
  return {
    kind: launch.kind,
    command: launch.command,
    program: await executableOf(runs, folder, environment),
    ...Object.fromEntries(launch.args.map((arg, at) => [`argument ${at + 1}`, concealed(arg, launch.args[at - 1])])),
    folder,
    ...hashEach('variable', launch.env),
    inheritEnv: canonicalJson(launch.inheritEnv),
    ...(launch.envFile !== undefined && { envFile: launch.envFile }),
    ...(launch.envAllow !== undefined && { envAllow: canonicalJson(launch.envAllow) }),
  };
}

function essenceOfRemote(launch: RemoteLaunch): LaunchIdentity {
  const { kind, url, headers, env = {}, bearerTokenEnvVar, headersHelper, envAllow } = launch;
  return {
    ...{ kind, url: addressOf(url) },
    ...hashEach('header', headers),
    ...hashEach('variable', env),
    ...(bearerTokenEnvVar !== undefined && { bearerTokenEnvVar }),
    ...(headersHelper !== undefined && { headersHelper }),
    ...(envAllow !== undefined && { envAllow: canonicalJson(envAllow) }),
  };
}

/** What a person reads beside "it has changed": only the parts that differ. */
export function differences(before: LaunchIdentity, now: LaunchIdentity): readonly string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].flatMap((part) => {
    if (before[part] === now[part]) return [];
    const isHidden = /^(variable|header) /.test(part);
    const [old, present] = [before[part], now[part]].map((value) => value?.replace(HIDDEN, '(hidden)'));
    if (old === undefined) return [isHidden ? `${part} was added` : `${part} was added: ${present}`];
    if (present === undefined) return [isHidden ? `${part} was removed` : `${part} was removed: ${old}`];
    return [isHidden || old === present ? `${part} has another value` : `${part} was ${old} and is ${present}`];
  });
}

/** What the system would start: found along the path as it would find it, with every link followed. As written when nothing is there. */
async function executableOf({ command, env }: Runs, folder: string, environment: LaunchContext): Promise<string> {
  const { resolve, delimiter, sep } = pathsOf(environment.platform);
  const isWindows = environment.platform === 'win32';
  const isPath = command.includes('/') || command.includes(sep);
  const [, own] = Object.entries(env).find(([name]) => (isWindows ? name.toUpperCase() : name) === 'PATH') ?? [];
  const path = own?.replace(HOST_PATH, () => environment.pathEnv ?? '') ?? environment.pathEnv;
  // Windows looks in the folder itself before it follows the path.
  const folders = isPath ? [''] : [...(isWindows ? [''] : []), ...(path?.split(delimiter) ?? [])];
  const endings = isWindows ? ['', '.exe', '.cmd', '.bat', '.com'] : [''];
  for (const candidate of folders.flatMap((each) => endings.map((ending) => resolve(folder, each, command + ending)))) {
    const found = await realExecutable(candidate);
    if (found !== undefined) return found;
  }
  return command;
}

/** The one placeholder that decides which program runs. */
const HOST_PATH = /\$\{(?:env:)?PATH\}|\{env:PATH\}/g;

async function realExecutable(file: string): Promise<string | undefined> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile() ? await realpath(file) : undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

/** An argument that is a secret, or follows the option that asks for one, is only recognized, never kept. */
function concealed(arg: string, before = ''): string {
  const isAskedFor = before.startsWith('-') && !before.includes('=') && mentionsSecret(before);
  return isAskedFor || mentionsSecret(arg) || posesAsHidden(arg) ? hidden(arg) : arg;
}

/** What follows the path often holds a token. */
function addressOf(url: string): string {
  const end = url.search(/[?#]/);
  const address = (end < 0 ? url : url.slice(0, end)).replace(/\/\/[^/]*@/, '//(hidden)@');
  return address === url && !posesAsHidden(url) ? url : `${address} ${hidden(url)}`;
}

/** The whole hash: a part of one is short enough for two commands that share it, one to approve and one to run. */
const hidden = (value: string) => `(hidden ${hash(value)})`;
const HIDDEN = /\(hidden [0-9a-f]{64}\)/g;
const posesAsHidden = (value: string) => value.includes('(hidden ');

const hashEach = (kind: string, record: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [`${kind} ${name}`, hash(value)]));

const hash = (value: unknown) => createHash('sha256').update(canonicalJson(value)).digest('hex');
const pathsOf = (platform: NodeJS.Platform) => (platform === 'win32' ? win32 : posix);
