// Owns resolving a command on Windows: which file it is, and how that file is started with unchanged arguments.
// Pure: files are read through the given functions. `batch-arguments.ts` quotes arguments, `npm-shim.ts` reads shims.

import { win32 } from 'node:path';
import type { EnvironmentVariables } from '../model/environment-variables.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { batchArguments, canBeQuoted } from './batch-arguments.ts';
import { readShim } from './npm-shim.ts';

export interface WindowsCommand {
  readonly server: ServerName;
  readonly command: string;
  readonly args: readonly string[];
  /** The child's environment: the command is searched for on the child's PATH. */
  readonly env: EnvironmentVariables;
  readonly cwd: string;
  readonly isFile: (path: string) => boolean;
  readonly readText: (path: string) => string;
}

/** In the form that `spawn` takes. */
export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly windowsVerbatimArguments?: boolean;
}

type CommandSearch = Pick<WindowsCommand, 'env' | 'cwd' | 'isFile'>;

export function resolveWindowsCommand(wanted: WindowsCommand): Program {
  const file = find(wanted.command, wanted);
  if (file === undefined) throw failure(wanted, whyNot(wanted));
  if (!isBatch(file)) return { file, args: wanted.args };
  return throughShim(file, wanted) ?? throughShell(file, wanted);
}

function whyNot({ command, cwd, isFile }: WindowsCommand): string {
  const exists = hasFolder(command) && isFile(win32.resolve(cwd, command));
  return exists ? 'the command is not a program for this system' : 'the command was not found';
}

const hasFolder = (command: string) => /[\\/:]/.test(command);

const STARTED_DIRECTLY = ['.com', '.exe'];
const BATCH = ['.bat', '.cmd'];
const isBatch = (file: string) => BATCH.includes(win32.extname(file).toLowerCase());

/** Does not search the current folder, so that a file in a workspace is not started instead of the installed program. */
function find(command: string, search: CommandSearch, kinds = [...STARTED_DIRECTLY, ...BATCH]): string | undefined {
  const extensions = (variable(search.env, 'PATHEXT') ?? '.COM;.EXE;.BAT;.CMD')
    .toLowerCase()
    .split(';')
    .filter((extension) => kinds.includes(extension));
  const folders = hasFolder(command) ? [search.cwd] : foldersOf(search.env);
  const hasExtension = kinds.includes(win32.extname(command).toLowerCase());
  const names = [...(hasExtension ? [command] : []), ...extensions.map((extension) => command + extension)];
  return folders.flatMap((folder) => names.map((name) => win32.resolve(folder, name))).find(search.isFile);
}

/** Skips relative folders, whose meaning depends on the working directory. */
function foldersOf(env: EnvironmentVariables): string[] {
  const folders = (variable(env, 'PATH') ?? '').match(/("[^"]*"|[^;"])+/g) ?? [];
  return folders.map((folder) => folder.replaceAll('"', '').trim()).filter((folder) => win32.isAbsolute(folder));
}

/** Variable names are case-insensitive on Windows. */
function variable(env: EnvironmentVariables, name: string): string | undefined {
  const key = Object.keys(env).find((each) => each.toUpperCase() === name);
  return key === undefined ? undefined : env[key];
}

/** Runs the shim's program directly: no shell reads the arguments, and there is no second process. */
function throughShim(file: string, { args, readText, ...search }: WindowsCommand): Program | undefined {
  const shim = readShim(readText(file));
  if (shim === undefined) return undefined;
  const folder = win32.dirname(file);
  const target = win32.resolve(folder, shim.target);
  const updated = shim.maybeUpdated ? [win32.join(variable(search.env, 'APPDATA') ?? folder, 'npm', shim.target)] : [];
  const real = [...updated, target].find(search.isFile);
  if (real === undefined) return undefined;
  if (shim.kind === 'program')
    return STARTED_DIRECTLY.includes(win32.extname(real).toLowerCase()) ? { file: real, args } : undefined;
  const beside = win32.join(folder, 'node.exe');
  const node = search.isFile(beside) ? beside : find('node', search, STARTED_DIRECTLY);
  return node === undefined ? undefined : { file: node, args: [...shim.flags, real, ...args] };
}

function throughShell(file: string, wanted: WindowsCommand): Program {
  if (!wanted.args.every(canBeQuoted))
    throw failure(wanted, 'an argument holds a line break, which no batch file can be given');
  const args = batchArguments(file, wanted.args);
  if (args.join(' ').length > limits.batchLineChars)
    throw failure(wanted, 'its arguments are too long for a batch file');
  return { file: shellOf(wanted.env), args, windowsVerbatimArguments: true };
}

function shellOf(env: EnvironmentVariables): string {
  const shell = variable(env, 'COMSPEC') ?? '';
  if (win32.isAbsolute(shell)) return shell;
  return win32.join(variable(env, 'SYSTEMROOT') ?? 'C:\\Windows', 'System32', 'cmd.exe');
}

function failure({ server, command }: WindowsCommand, reason: string): RuntimeError {
  return new RuntimeError('SPAWN_FAILED', { server, command, reason, culprit: 'command' });
}
