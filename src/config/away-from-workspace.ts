// Owns keeping the runner of a person's own server out of the workspace: the files that lie there must not run in place of the
// program that the entry names. `runner.ts` knows the runners; this file rewrites a launch. Pure: `neutral-folder.ts` makes the
// folder and the shell.

import type { Provenance, ServerDefinition, StdioLaunch } from '../model/server.ts';
import { programOf } from './resolve.ts';
import { programName, type Runner, runnerOf } from './runner.ts';
import { type HostEnvironment, pathsOf, stateFolder } from './scopes.ts';
import { workspaceFileIn } from './workspace-file.ts';

/** Tells the shell that npm runs its programs with where the workspace is. */
export const WORKSPACE_VARIABLE = 'PLEXUS_WORKSPACE';

export interface NeutralPlaces {
  /** An empty folder of ours. */
  readonly folder: string;
  /** npm puts `node_modules/.bin` of its folder into `PATH`, so it runs in ours, and this script leads its program back. */
  readonly shell: string;
}

export function neutralPlaces(environment: Omit<HostEnvironment, 'cwd'>): NeutralPlaces {
  const { join } = pathsOf(environment.platform);
  const own = join(stateFolder(environment), 'runners');
  return { folder: join(own, 'empty'), shell: join(own, 'shell') };
}

export interface ShieldedLaunch {
  readonly launch: StdioLaunch;
  /** The folder in which the server itself runs, if not the workspace or the one that its entry names. */
  readonly folder?: string;
}

export interface ShieldOptions {
  readonly environment: HostEnvironment;
  /** Whether Python knows `PYTHONSAFEPATH`, as it does from 3.11 on. */
  readonly hasSafePath?: boolean;
}

/** Entries of a person's own files, plugins and imports. Those given in code, or in a file named for this run, are left alone. */
const isPersonal = ({ scope, inWorkspace }: Provenance) => scope !== 'host' && !inWorkspace;

/** The file of the workspace that a person's own entry runs, as the entry names it. The person is asked before it starts. */
export function workspaceFileOf(definition: ServerDefinition, environment: HostEnvironment): string | undefined {
  const { launch, provenance } = definition;
  if (launch.kind !== 'stdio' || launch.cwd !== undefined || !isPersonal(provenance)) return undefined;
  // A path that begins with the workspace's folder is as good as a relative one.
  const { command, args } = programOf(definition, { ...environment, cwd: '.' });
  return workspaceFileIn([command, ...args], environment.platform);
}

/** As `programOf`, in the folder that the server is started in. */
export function startedProgramOf(
  definition: ServerDefinition,
  environment: HostEnvironment,
): ReturnType<typeof programOf> {
  const program = programOf(definition, environment);
  if (definition.launch.kind !== 'stdio') return program;
  const { folder } = awayFromWorkspace(definition, { ...definition.launch, ...program }, { environment });
  return folder === undefined ? program : { ...program, cwd: folder };
}

/** The launch as it is started. An entry that names a folder, or a file of the workspace, is left as it is: a person said so. */
export function awayFromWorkspace(
  definition: ServerDefinition,
  launch: StdioLaunch,
  { environment, hasSafePath = true }: ShieldOptions,
): ShieldedLaunch {
  const { platform, home } = environment;
  // The process of all workspaces is of none: naming one would make it another process in each.
  const cwd = definition.settings.share === 'machine' ? home : environment.cwd;
  const isConcerned = isPersonal(definition.provenance) && launch.cwd === undefined;
  const runner = isConcerned ? runnerOf([launch.command, ...launch.args], platform) : undefined;
  if (runner === undefined || !looksAround(runner)) return { launch };
  if (workspaceFileOf(definition, environment) !== undefined) return { launch };
  const { folder, shell } = neutralPlaces(environment);
  const { at, shield, hasOwnFolder } = runner;
  const elsewhere = { launch: { ...launch, cwd: folder }, ...(hasOwnFolder ? {} : { folder }) };
  // A shell script is not rewritten.
  if (at === undefined || shield === 'folder') return elsewhere;
  if (shield === 'deno')
    return { launch: inserted(launch, launch.args.length + 1 - runner.rest.length, ['--no-config']) };
  if (shield === 'uv') {
    const own = hasOwnFolder || runner.name !== 'uv run' ? launch : inserted(launch, at + 1, ['--project', folder]);
    return { launch: startsModule(runner) ? withSafePath(own) : own };
  }
  if (shield === 'python')
    return hasSafePath && !ignoresVariables(runner) ? { launch: withSafePath(launch) } : elsewhere;
  // The shell is a script for POSIX systems. On Windows, `cmd.exe` looks for programs in its folder first.
  if (platform === 'win32') return elsewhere;
  const prefix = hasOwnFolder ? [] : ['--prefix', folder];
  const moved = inserted(launch, at + 1, [...prefix, '--script-shell', shell]);
  return { launch: { ...moved, env: { ...launch.env, [WORKSPACE_VARIABLE]: cwd }, cwd: folder } };
}

/** The command that tells the version of a launch's Python, if that decides how it is shielded. */
export function pythonVersionCommand(
  { command, args }: StdioLaunch,
  platform: NodeJS.Platform,
): readonly [string, ...string[]] | undefined {
  const words = [command, ...args];
  const runner = runnerOf(words, platform);
  const program = runner?.at === undefined ? undefined : words[runner.at];
  if (program === undefined || runner?.shield !== 'python' || !looksAround(runner)) return undefined;
  // `py -3.8` starts another version than `py`.
  return [program, ...runner.rest.filter((word) => /^-(?:\d|V:)/.test(word)), '--version'];
}

/**
 * Whether the line lets its runner look into the working directory. That it names another folder keeps uv alone out: npm takes
 * programs from both, and yarn runs what the working directory says before it goes to the other.
 */
function looksAround(runner: Runner): boolean {
  const { shield, options } = runner;
  if (shield === 'python') return namesModule(runner);
  // Beside a script of one's own, Deno reads the configuration that lies there.
  if (shield === 'deno') return runner.installs && !options.some((word) => /^(-c|--(no-)?config)/.test(word));
  if (shield === 'uv') return !runner.movesAway && (runner.name === 'uv run' || startsModule(runner));
  return shield !== undefined;
}

/** Whether uv starts Python with a module: `uv run -m x`, `uvx --from y python -m x`. */
function startsModule({ name, rest }: Runner): boolean {
  const python = rest.findIndex((word) => programName(word) === 'python');
  if (python >= 0) return namesModule({ rest: rest.slice(python + 1) });
  const first = rest.find((word) => /^(?:-m|--module)$|\.pyw?$/i.test(word));
  return name === 'uv run' && first?.startsWith('-') === true;
}

/** `-m` and `-c` put the working directory first among the folders that modules come from; a script puts its own there. */
function namesModule({ rest }: Pick<Runner, 'rest'>): boolean {
  const [word, ...others] = rest;
  if (word === undefined || !word.startsWith('-')) return false;
  if (/^(?:-[WX]|--check-hash-based-pycs)$/.test(word)) return namesModule({ rest: others.slice(1) });
  // The name or the code may stand in the same word: `-mserver`.
  return /^-(?![WXV])[A-Za-z]*[mc]/.test(word) || namesModule({ rest: others });
}

/** With `-E`, Python does not read the variable. */
const ignoresVariables = ({ rest }: Runner) => rest.some((word) => /^-[A-Za-z]*E/.test(word));

const withSafePath = (launch: StdioLaunch): StdioLaunch => ({ ...launch, env: { PYTHONSAFEPATH: '1', ...launch.env } });

function inserted(launch: StdioLaunch, at: number, options: readonly string[]): StdioLaunch {
  const [command = '', ...args] = [launch.command, ...launch.args].toSpliced(at, 0, ...options);
  return { ...launch, command, args };
}
