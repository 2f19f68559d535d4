// Owns which program of a command line starts the server in its place: npx, uvx, `python -m` and their like, also behind `env` and
// `cmd /c`. Says whether it may install first, and how it is kept from looking into the working directory. Pure: reads words, no
// file. `workspace-file.ts` finds the files that a line names.

import { posix, win32 } from 'node:path';
import { bareName, commandsIn } from './wrapped-command.ts';

/**
 * How a runner is kept from the working directory: `npm` by options and a shell of ours, `python` by a variable, `uv` and `deno` by
 * an option, `folder` by being started in an empty folder.
 */
export type RunnerShield = 'npm' | 'python' | 'uv' | 'deno' | 'folder';

interface RunnerRow {
  readonly programs: readonly string[];
  /** The first word after the program that is no option must be one of these. */
  readonly verbs?: readonly string[];
  /** That word must be the address of a package; or the line must name a folder for the runner. */
  readonly needs?: 'address' | 'folder';
  /** `address`: only where the line names a package by its address, such as `npm:x`. */
  readonly installs?: 'always' | 'address';
  /** Absent where the runner does not look into the working directory. */
  readonly shield?: RunnerShield;
}

/** The first row that fits counts. Tool commands of uv ignore the configuration of the working directory by themselves. */
const rows: readonly RunnerRow[] = [
  { programs: ['npx'], installs: 'always', shield: 'npm' },
  { programs: ['npm'], verbs: ['exec', 'x'], installs: 'always', shield: 'npm' },
  { programs: ['bunx', 'pnpx', 'pnx'], installs: 'always', shield: 'folder' },
  { programs: ['bun'], verbs: ['x'], installs: 'always', shield: 'folder' },
  { programs: ['bun'], shield: 'folder' },
  { programs: ['pnpm', 'yarn'], verbs: ['dlx'], installs: 'always', shield: 'folder' },
  { programs: ['yarn'], needs: 'folder', shield: 'folder' },
  { programs: ['pipx'], verbs: ['run'], installs: 'always', shield: 'folder' },
  { programs: ['uvx'], installs: 'always', shield: 'uv' },
  { programs: ['uv'], verbs: ['tool'], installs: 'always', shield: 'uv' },
  { programs: ['uv'], verbs: ['run'], installs: 'always', shield: 'uv' },
  { programs: ['docker', 'podman'], verbs: ['run'], installs: 'always' },
  { programs: ['dx'], installs: 'always', shield: 'deno' },
  { programs: ['deno'], verbs: ['x'], installs: 'always', shield: 'deno' },
  { programs: ['deno'], verbs: ['run'], installs: 'address', shield: 'deno' },
  { programs: ['deno'], needs: 'address', installs: 'always', shield: 'deno' },
  { programs: ['python', 'pythonw', 'py', 'pypy'], shield: 'python' },
  { programs: ['node'] },
];

export interface Runner {
  /** As a person types it: `npx`, `pnpm dlx`. */
  readonly name: string;
  /** Whether it may download what it starts, before that can answer. */
  readonly installs: boolean;
  readonly shield: RunnerShield | undefined;
  /** The index of its program in the command line; `undefined` inside a shell script, which is not rewritten. */
  readonly at: number | undefined;
  /** The words behind the program, or behind its verb. */
  readonly rest: readonly string[];
  /** Those of `rest` before the first word that is none: what follows belongs to the server. */
  readonly options: readonly string[];
  /** The line names the folder that it works in. Some read the working directory all the same. */
  readonly hasOwnFolder: boolean;
  /** It goes to that folder, so that relative paths count from there. */
  readonly movesAway: boolean;
}

/** The runner of a command line, if it has one that is known. */
export function runnerOf(words: readonly string[], platform: NodeJS.Platform): Runner | undefined {
  for (const found of commandsIn(words)) {
    const [program = '', ...args] = found;
    const name = programName(program);
    const row = rows.find((each) => fits(each, name, args, platform));
    if (row !== undefined) return describe(row, found, { at: indexOfEnd(words, found), platform });
  }
  return undefined;
}

/** The name of a program as it stands in the table: `python3.12` is `python`, `C:\bin\npx.cmd` is `npx`. */
export const programName = (program: string) => bareName(program).replace(/^(python|pypy)[\d.]+$/, '$1');

function fits(
  { programs, verbs, needs }: RunnerRow,
  name: string,
  args: readonly string[],
  platform: NodeJS.Platform,
): boolean {
  if (!programs.includes(name)) return false;
  const word = args[verbIn(args)] ?? '';
  if (verbs?.includes(word) === false) return false;
  if (needs === 'address') return ADDRESS.test(word);
  return needs === undefined || namesFolder(args, platform);
}

/** Skips options, and the values of those that name a folder. */
export const verbIn = (args: readonly string[]) =>
  args.findIndex((arg, at) => !arg.startsWith('-') && !takesFolder(args[at - 1]));

/** An option that names the folder in which a runner works in place of the working directory. */
const FOLDER_OPTION = /^(?:-C|--(?:prefix|dir|cwd|directory|project))(?:=(.*))?$/s;
/** Of these, the ones that leave the working directory as it is: relative paths still count from there. */
const STAYS = /^--(?:prefix|project)(?:=|$)/;
const takesFolder = (option = '') => FOLDER_OPTION.exec(option)?.[1] === undefined && FOLDER_OPTION.test(option);

const ADDRESS = /^(?:npm|jsr|https?):/;

interface RunnerPlace {
  readonly at: number | undefined;
  readonly platform: NodeJS.Platform;
}

function describe(
  { verbs, installs, shield }: RunnerRow,
  found: readonly string[],
  { at, platform }: RunnerPlace,
): Runner {
  const [program = '', ...args] = found;
  const verb = verbs === undefined ? -1 : verbIn(args);
  const rest = args.slice(verb + 1);
  const options = optionsOf(rest);
  const own = [...args.slice(0, Math.max(verb, 0)), ...options];
  const hasOwnFolder = namesFolder(own, platform);
  return {
    name: [programName(program), ...args.slice(verb, verb + 1)].slice(0, verb < 0 ? 1 : 2).join(' '),
    installs: installs === 'always' || (installs === 'address' && rest.some((word) => ADDRESS.test(word))),
    shield,
    at,
    rest,
    options,
    hasOwnFolder,
    movesAway: hasOwnFolder && !own.some((option) => STAYS.test(option)),
  };
}

/** The index at which the found words end the line, as they do behind `env` and `cmd /c`. */
function indexOfEnd(words: readonly string[], found: readonly string[]): number | undefined {
  const at = words.length - found.length;
  return at >= 0 && found.every((word, index) => words[at + index] === word) ? at : undefined;
}

function optionsOf(args: readonly string[]): readonly string[] {
  const end = verbIn(args);
  return end < 0 ? args : args.slice(0, end);
}

export function namesFolder(options: readonly string[], platform: NodeJS.Platform): boolean {
  return options.some((option, at) => {
    const match = FOLDER_OPTION.exec(option);
    return match !== null && isAbsolutePath(match[1] ?? options[at + 1] ?? '', platform);
  });
}

export const isAbsolutePath = (path: string, platform: NodeJS.Platform) =>
  (platform === 'win32' ? win32 : posix).isAbsolute(path);
