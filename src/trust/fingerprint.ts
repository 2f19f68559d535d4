// Owns the two identities of a server definition: as written (`definitionHash`, which keys caches) and as it would run (the
// launch identity and its `trustFingerprint`, which bind an approval).

import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { posix, win32 } from 'node:path';
import { inputSourceKey } from '../config/inputs.ts';
import { isOwnScope } from '../config/scopes.ts';
import { canonicalJson } from '../kernel/json.ts';
import { mentionsSecret } from '../model/secret-shapes.ts';
import {
  isRemote,
  type OAuthSettings,
  type RemoteLaunch,
  type ServerDefinition,
  type StdioLaunch,
} from '../model/server.ts';
import { digestOf, type LaunchValues } from './launch-parts.ts';

/**
 * Leaves settings out, so that a longer timeout does not invalidate the caches. Includes the file, because `./server` is another
 * program in another folder, and what the file says of the inputs that the entry reads.
 */
export function definitionHash(definition: ServerDefinition): string {
  const known = hashes.get(definition);
  if (known !== undefined) return known;
  const { name, launch, inputs, provenance } = definition;
  const declared = inputs?.map(({ id, default: preset, options }) => ({ id, default: preset, options }));
  const hash = digestOf({ name, launch, file: provenance.file, inputs: declared });
  hashes.set(definition, hash);
  return hash;
}

/** Definitions are never changed, and each is asked for several times during its server's start. */
const hashes = new WeakMap<ServerDefinition, string>();

export interface LaunchContext {
  readonly cwd: string;
  /** The host's `PATH`. */
  readonly pathEnv: string | undefined;
  readonly platform: NodeJS.Platform;
  /** Resolves the placeholders that decide which program runs; without it they are taken as written. */
  readonly fill?: (definition: ServerDefinition) => ProgramLaunch;
}

/** The part of a launch that decides which program runs. */
export type ProgramLaunch = Pick<StdioLaunch, 'command' | 'cwd' | 'env'>;

/**
 * The parts of what would run: the program, each argument, the folder, every variable and header, the address, and each input.
 * Holds secrets, as the entry does: `launch-parts.ts` says what of it is stored.
 */
export type LaunchIdentity = LaunchValues;

/**
 * Changes with the program, its arguments, folder and environment, with a remote server's address and headers, and with inputs.
 * The same as in version 1 wherever that knew all parts, so that what it stored still counts.
 */
export function trustFingerprint(identity: LaunchIdentity): string {
  const parts = Object.entries(identity).map(([part, value]) => [part, inFingerprint(part, value, identity)]);
  return digestOf(Object.fromEntries(parts));
}

function inFingerprint(part: string, value: string, identity: LaunchIdentity): string {
  if (/^(variable|header) /.test(part)) return digestOf(value);
  if (part === 'url') return concealUrl(value);
  const [, number] = /^argument (\d+)$/.exec(part) ?? [];
  return number === undefined ? value : concealed(value, identity[`argument ${Number(number) - 1}`]);
}

export async function launchIdentityOf(definition: ServerDefinition, context: LaunchContext): Promise<LaunchIdentity> {
  const { launch } = definition;
  if (launch.kind === 'in-process') return { kind: launch.kind };
  const ofLaunch =
    launch.kind === 'stdio'
      ? await identityOfProcess(launch, context.fill?.(definition) ?? launch, context)
      : identityOfRemote(launch);
  return { ...ofLaunch, ...identityOfInputs(definition) };
}

/** A default becomes a part of the command or the address once the user takes it over, so it is bound as they are. */
function identityOfInputs({ inputs = [], provenance }: ServerDefinition): LaunchIdentity {
  const parts = inputs.map(({ id, default: preset, options }) => ({
    [`input ${id}`]: `asked for by ${inputSourceKey(provenance)}`,
    ...(preset !== undefined && { [`default of input ${id}`]: preset }),
    ...(options !== undefined && { [`options of input ${id}`]: canonicalJson(options) }),
  }));
  return Object.assign({}, ...parts);
}

type Origin = Pick<ServerDefinition, 'launch' | 'provenance'>;

/**
 * A remote entry that another repository copies is not the approved one: it holds no path that would tell the two apart. The
 * folder does that for a process.
 */
export function isFromFile({ file }: { readonly file?: string }, { launch, provenance }: Origin): boolean {
  return !isRemote({ launch }) || isOwnScope(provenance.scope) || file === provenance.file;
}

async function identityOfProcess(
  launch: StdioLaunch,
  program: ProgramLaunch,
  context: LaunchContext,
): Promise<LaunchIdentity> {
  const folder = pathsOf(context.platform).resolve(context.cwd, program.cwd ?? '.');
  return {
    kind: launch.kind,
    command: launch.command,
    program: await executableOf(program, folder, context),
    ...Object.fromEntries(launch.args.map((arg, at) => [`argument ${at + 1}`, arg])),
    folder,
    ...namedEach('variable', launch.env),
    inheritEnv: canonicalJson(launch.inheritEnv),
    ...(launch.envFile !== undefined && { envFile: launch.envFile }),
    ...(launch.envAllow !== undefined && { envAllow: canonicalJson(launch.envAllow) }),
  };
}

function identityOfRemote(launch: RemoteLaunch): LaunchIdentity {
  const { kind, url, headers, env = {}, bearerTokenEnvVar, headersHelper, envAllow, oauth } = launch;
  return {
    kind,
    url,
    ...namedEach('header', headers),
    ...namedEach('variable', env),
    ...(bearerTokenEnvVar !== undefined && { bearerTokenEnvVar }),
    ...(headersHelper !== undefined && { headersHelper }),
    ...(envAllow !== undefined && { envAllow: canonicalJson(envAllow) }),
    ...(oauth === false && { oauth: 'off' }),
    ...(oauth && identityOfLogin(oauth)),
  };
}

/** Everything that decides to whom the person logs in, and for what. The account is a suggestion, which they may follow or not. */
function identityOfLogin({ account: _, ...oauth }: OAuthSettings): LaunchIdentity {
  const parts = Object.entries(oauth).map(([name, value]) => [
    `oauth ${name}`,
    typeof value === 'string' ? value : canonicalJson(value),
  ]);
  return Object.fromEntries(parts);
}

/** The file that the system would start: looked up along `PATH`, with every link followed; the command as written if none is found. */
async function executableOf({ command, env }: ProgramLaunch, folder: string, context: LaunchContext): Promise<string> {
  const { resolve, delimiter, sep } = pathsOf(context.platform);
  const isWindows = context.platform === 'win32';
  const isPath = command.includes('/') || command.includes(sep);
  const [, pathOfEntry] =
    Object.entries(env).find(([name]) => (isWindows ? name.toUpperCase() : name) === 'PATH') ?? [];
  const path = pathOfEntry?.replace(HOST_PATH, () => context.pathEnv ?? '') ?? context.pathEnv;
  // Windows looks in the working folder before it follows `PATH`.
  const folders = isPath ? [''] : [...(isWindows ? [''] : []), ...(path?.split(delimiter) ?? [])];
  const endings = isWindows ? ['', '.exe', '.cmd', '.bat', '.com'] : [''];
  for (const candidate of folders.flatMap((each) => endings.map((ending) => resolve(folder, each, command + ending)))) {
    const found = await realExecutable(candidate);
    if (found !== undefined) return found;
  }
  return command;
}

/** The host's `PATH` inside the `PATH` of an entry: the one placeholder that decides which program runs. */
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

/** An argument that mentions a secret, or follows an option that does, counts by its digest. */
function concealed(arg: string, before = ''): string {
  const followsSecretOption = before.startsWith('-') && !before.includes('=') && mentionsSecret(before);
  return followsSecretOption || mentionsSecret(arg) || looksConcealed(arg) ? digestMark(arg) : arg;
}

function concealUrl(url: string): string {
  const end = url.search(/[?#]/);
  const address = (end < 0 ? url : url.slice(0, end)).replace(/\/\/[^/]*@/, '//(hidden)@');
  return address === url && !looksConcealed(url) ? url : `${address} ${digestMark(url)}`;
}

const digestMark = (value: string) => `(hidden ${digestOf(value)})`;
/** A value written like a mark counts by its digest as well, so that it cannot pass for the value behind that mark. */
const looksConcealed = (value: string) => value.includes('(hidden ');

const namedEach = (kind: string, record: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [`${kind} ${name}`, value]));

const pathsOf = (platform: NodeJS.Platform) => (platform === 'win32' ? win32 : posix);
