// Owns Docker's MCP gateway as a source of configuration: detecting it on this machine, and the definition of its one server,
// which is a local server like any other.

import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { limits } from '../../model/limits.ts';
import { defineServer, type EnvDefaults } from '../define.ts';
import { runProgram } from '../run-command.ts';
import type { Settings } from '../schema.ts';
import { type HostEnvironment, isWithin, pathsOf } from '../scopes.ts';
import type { ServerClaim } from '../servers.ts';

const NAME = 'docker-gateway';

/** A program on this machine, and the command that starts it. */
interface Program {
  readonly file: string;
  /** The bare name where that is enough, otherwise the path. */
  readonly command: string;
  /** It is not on the PATH, and neither are the programs that it calls. */
  readonly isOffPath: boolean;
}

export type DockerAnswer =
  | { readonly kind: 'no-cli'; readonly problem: string }
  | { readonly kind: 'no-daemon'; readonly problem: string; readonly program: Program }
  | { readonly kind: 'ready'; readonly version: string; readonly program: Program };

export interface DockerDetector {
  /**
   * The last answer as long as it is fresh, so that Docker is not waited for twice within a minute. A caller that no longer
   * waits aborts the signal.
   */
  readonly ask: (environment: HostEnvironment, signal?: AbortSignal) => Promise<DockerAnswer>;
  readonly askAgain: (environment: HostEnvironment, signal?: AbortSignal) => Promise<DockerAnswer>;
}

/** `usual`: files to check besides those on the PATH. */
export function createDockerDetector(clock: Clock, usual: UsualPlaces = usualFiles): DockerDetector {
  const known = new Map<string, DockerProbe>();
  const keyOf = (environment: HostEnvironment) =>
    JSON.stringify([
      filesOnPath(environment),
      usual(environment),
      DOCKER_VARIABLES.map((name) => environment.env[name]),
    ]);
  const askAgain = (environment: HostEnvironment, signal?: AbortSignal) => {
    const question = new DockerProbe(clock.now(), (stopped) => probe(environment, usual(environment), clock, stopped));
    known.set(keyOf(environment), question);
    return question.join(signal);
  };
  return {
    askAgain,
    ask: (environment, signal) => {
      const before = known.get(keyOf(environment));
      const isFresh = clock.now() - (before?.at ?? 0) < limits.gateway.askAgainMs && !before?.isStopped;
      return before && isFresh ? before.join(signal) : askAgain(environment, signal);
    },
  };
}

/** One probe for all callers that ask meanwhile. It is stopped when the last of them has left, and then its answer does not count. */
class DockerProbe {
  readonly at: number;
  readonly #answer: Promise<DockerAnswer>;
  readonly #stop = new AbortController();
  readonly #done = new AbortController();
  #waiting = 0;

  constructor(at: number, probe: (stopped: AbortSignal) => Promise<DockerAnswer>) {
    this.at = at;
    this.#answer = probe(this.#stop.signal);
    const done = () => this.#done.abort();
    this.#answer.then(done, done);
  }

  get isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  join(signal: AbortSignal | undefined): Promise<DockerAnswer> {
    this.#waiting++;
    const leave = () => {
      this.#waiting--;
      if (this.#waiting === 0) this.#stop.abort();
    };
    if (!this.#done.signal.aborted) signal?.addEventListener('abort', leave, { once: true, signal: this.#done.signal });
    return this.#answer;
  }
}

type UsualPlaces = (environment: HostEnvironment) => readonly string[];

const ofThisProcess = createDockerDetector(systemClock);

export interface GatewaySource {
  readonly claims: readonly ServerClaim[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface DockerGatewayOptions {
  readonly environment: HostEnvironment;
  /**
   * A setting asks for the gateway: it is a server even when Docker is not ready, with a diagnostic. Otherwise only when Docker
   * is ready.
   */
  readonly isAskedFor: boolean;
  readonly defaults: EnvDefaults;
  readonly docker?: Pick<DockerDetector, 'ask'> | undefined;
  readonly settings: Settings;
  readonly waitBudget?: GatewayWaitBudget | undefined;
}

/** For a long-running reader: it goes on without Docker's answer, and learns of it later. */
export interface GatewayWaitBudget {
  readonly limitMs: (settings: Settings) => number;
  /** Docker's last answer. It counts until there is a new one. */
  readonly known: { answer?: DockerAnswer };
  /** Called when Docker answered late and the answer changes the configuration. */
  readonly onLate: () => void;
  readonly clock: Clock;
  /** Aborted when the reader is closed. */
  readonly signal: AbortSignal;
}

export async function readGateway(options: DockerGatewayOptions): Promise<GatewaySource> {
  const { environment, docker = ofThisProcess, settings, waitBudget } = options;
  const asking = docker.ask(environment, waitBudget?.signal);
  if (waitBudget === undefined) return gatewayFor(await asking, options);
  const { limitMs, known, onLate, clock, signal } = waitBudget;
  const learn = (answer: DockerAnswer | undefined) => {
    if (answer !== undefined && !signal.aborted) known.answer = answer;
    return gatewayFor(known.answer, options);
  };
  const inTime = await withTimeout(limitMs(settings), asking, undefined, clock);
  const read = learn(inTime);
  const isNews = (answer: DockerAnswer) => !isDeepStrictEqual(learn(answer), read);
  // A failure counts as news: the next reading meets it again and reports it.
  if (inTime === undefined) void asking.then(isNews, () => true).then((news) => news && !signal.aborted && onLate());
  return read;
}

/** The gateway as it is listed where an enterprise's file switches it off, so that Docker need not be asked. */
export function unusedGateway(options: Pick<DockerGatewayOptions, 'environment' | 'defaults'>): readonly ServerClaim[] {
  return claimsFor(undefined, options);
}

/** Without an answer there is no server: starting a bare `docker` could run a program of the repository's. */
function gatewayFor(answer: DockerAnswer | undefined, options: DockerGatewayOptions): GatewaySource {
  if (answer === undefined || (!options.isAskedFor && answer.kind !== 'ready')) return { claims: [], diagnostics: [] };
  return {
    claims: claimsFor('program' in answer ? answer.program : undefined, options),
    diagnostics: answer.kind === 'ready' ? [] : [notReady(answer)],
  };
}

function claimsFor(
  program: Program | undefined,
  { environment, defaults }: Pick<DockerGatewayOptions, 'environment' | 'defaults'>,
): readonly ServerClaim[] {
  const provenance = { scope: 'user', provider: 'docker', key: ['plexus', 'gateway'] } as const;
  const value = entryFor(program, environment);
  const { definition, written } = defineServer({ name: NAME, provenance, value }, { defaults, mayLoosen: true });
  return definition ? [{ name: NAME, provenance, written, definition }] : [];
}

function entryFor(program: Program | undefined, { platform }: HostEnvironment) {
  const { delimiter, dirname } = pathsOf(platform);
  return {
    command: program?.command ?? 'docker',
    args: ['mcp', 'gateway', 'run'],
    env: program?.isOffPath ? { PATH: `${dirname(program.file)}${delimiter}\${PATH:-}` } : {},
    inheritEnv: DOCKER_VARIABLES,
    description: "Docker's MCP gateway: the servers that are switched on in Docker's MCP Toolkit.",
    lifecycle: 'lazy',
    idleStopMs: limits.gateway.idleStopMs,
  };
}

/**
 * The variables that choose Docker's daemon and account: without them the gateway would talk to another daemon than the probe
 * did.
 */
const DOCKER_VARIABLES = [
  'DOCKER_HOST',
  'DOCKER_CONTEXT',
  'DOCKER_CONFIG',
  'DOCKER_TLS_VERIFY',
  'DOCKER_CERT_PATH',
  'DOCKER_API_VERSION',
  'XDG_RUNTIME_DIR',
];

function notReady({ kind, problem }: Exclude<DockerAnswer, { kind: 'ready' }>): Diagnostic {
  const remedy =
    kind === 'no-daemon'
      ? 'Start Docker, and it is used when it is next needed.'
      : 'Install Docker Desktop with its MCP Toolkit, or put "docker" with its "mcp" command on your PATH.';
  return {
    severity: 'warning',
    code: 'SPAWN_FAILED',
    server: NAME,
    message: `"plexus.gateway" is "on", but ${problem}`,
    remedy: `${remedy} Without Docker, set it to "off".`,
  };
}

async function probe(
  environment: HostEnvironment,
  usual: readonly string[],
  clock: Clock,
  signal: AbortSignal,
): Promise<DockerAnswer> {
  const cli = await findCli(environment, usual, clock, signal);
  if (!('file' in cli)) return { kind: 'no-cli', ...cli };
  const command = [cli.file, 'info', '--format', '{{.ServerVersion}}'] as const;
  const info = await runProgram(command, limits.gateway.daemonMs, optionsFor(cli.file, environment, clock, signal));
  const version = info.ok ? info.output.trim() : '';
  if (version !== '') return { kind: 'ready', version, program: cli };
  const problem = `the Docker daemon does not answer: ${info.ok ? 'it reports no version' : info.problem}`;
  return { kind: 'no-daemon', problem, program: cli };
}

/**
 * The first `docker` that has the `mcp` command. All programs share one time limit, so a slow one may leave no time for the
 * others.
 */
async function findCli(
  environment: HostEnvironment,
  usual: readonly string[],
  clock: Clock,
  signal: AbortSignal,
): Promise<Program | { readonly problem: string }> {
  const { cliMs } = limits.gateway;
  const until = clock.now() + cliMs;
  const programs = await withTimeout(cliMs, presentPrograms(environment, usual), [], clock);
  let problem = 'there is no program "docker"';
  for (const program of programs) {
    if (clock.now() >= until) break;
    const how = optionsFor(program.file, environment, clock, signal);
    const help = await runProgram([program.file, 'mcp', '--help'], cliMs, how);
    // For an unknown command, Docker prints its own help and exits with 0.
    if (help.ok && /\bgateway\b/.test(help.output)) return program;
    problem = `${program.file} has no command "mcp": ${help.ok ? 'its help does not name it' : help.problem}`;
  }
  return { problem };
}

/** Runs in the program's own folder, not in the workspace, whose files are the repository's. */
const optionsFor = (file: string, { env, platform }: HostEnvironment, clock: Clock, signal: AbortSignal) => ({
  cwd: pathsOf(platform).dirname(file),
  env,
  platform,
  clock,
  signal,
});

/** Every `docker` of this machine: first those on the PATH, then those where installers put it. */
async function presentPrograms(environment: HostEnvironment, usual: readonly string[]): Promise<readonly Program[]> {
  const { cwd, platform } = environment;
  const onPath = new Set(filesOnPath(environment));
  const files = [...new Set([...onPath, ...usual])];
  const arePresent = await Promise.all(files.map(isProgram));
  const present = files.filter((_, at) => arePresent[at]);
  // A program of the repository is never run, neither to probe it nor in place of the real one.
  const isForeign = (file: string) => isWithin(cwd, file, platform) || /[\\/]node_modules[\\/]/.test(file);
  return present
    .filter((file) => usual.includes(file) || !isForeign(file))
    .map((file) => {
      const isOffPath = !onPath.has(file);
      return { file, command: file === present[0] && !isOffPath ? 'docker' : file, isOffPath };
    });
}

function filesOnPath({ cwd, env, platform }: HostEnvironment): readonly string[] {
  const { delimiter, resolve } = pathsOf(platform);
  const isPath = (name: string) => (platform === 'win32' ? name.toUpperCase() : name) === 'PATH';
  const [, path = ''] = Object.entries(env).find(([name]) => isPath(name)) ?? [];
  const folders = path === '' ? [] : path.split(delimiter);
  return folders.map((folder) => resolve(cwd, folder, platform === 'win32' ? 'docker.exe' : 'docker'));
}

/** Programs that are started from a desktop often have a short PATH. */
function usualFiles({ home, env, platform }: HostEnvironment): readonly string[] {
  const { join } = pathsOf(platform);
  if (platform === 'win32')
    return [
      join(env['ProgramFiles'] ?? 'C:\\Program Files', 'Docker', 'Docker', 'resources', 'bin', 'docker.exe'),
      join(env['ProgramData'] ?? 'C:\\ProgramData', 'DockerDesktop', 'version-bin', 'docker.exe'),
    ];
  const folders =
    platform === 'darwin'
      ? ['/usr/local/bin', '/opt/homebrew/bin', '/Applications/Docker.app/Contents/Resources/bin']
      : ['/usr/bin', '/usr/local/bin', '/snap/bin', '/opt/docker-desktop/bin'];
  return [...folders, join(home, '.docker', 'bin')].map((folder) => join(folder, 'docker'));
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}

/** A folder of the PATH may be on a network that does not answer. */
function withTimeout<Value>(ms: number, work: Promise<Value>, otherwise: Value, clock: Clock): Promise<Value> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => resolve(otherwise));
    work.then(resolve, reject).finally(cancel);
  });
}
