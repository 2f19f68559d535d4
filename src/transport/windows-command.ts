// Owns what a command means on Windows: which file it is, and how that file is started with its arguments unharmed.
// Pure: what lies on the disk is asked for. `batch-quoting.ts` owns the quotes, `npm-shim.ts` the reading of shims.

import { win32 } from 'node:path';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { batchArguments, canBeQuoted } from './batch-quoting.ts';
import type { Environment } from './environment.ts';
import { readShim } from './npm-shim.ts';

export interface WindowsCommand {
  readonly server: ServerName;
  readonly command: string;
  readonly args: readonly string[];
  /** The child's own: the command is looked for where the child would look. */
  readonly env: Environment;
  readonly cwd: string;
  readonly isFile: (path: string) => boolean;
  readonly readText: (path: string) => string;
}

/** As `spawn` takes it. */
export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly windowsVerbatimArguments?: boolean;
}

type Look = Pick<WindowsCommand, 'env' | 'cwd' | 'isFile'>;

export function resolveWindowsCommand(asked: WindowsCommand): Program {
  const file = find(asked.command, asked);
  if (file === undefined) throw failure(asked, whyNot(asked));
  if (!isBatch(file)) return { file, args: asked.args };
  return shimmed(file, asked) ?? throughShell(file, asked);
}

function whyNot({ command, cwd, isFile }: WindowsCommand): string {
  const isThere = hasPlace(command) && isFile(win32.resolve(cwd, command));
  return isThere ? 'the command is not a program for this system' : 'the command was not found';
}

const hasPlace = (command: string) => /[\\/:]/.test(command);

const STARTED_DIRECTLY = ['.com', '.exe'];
const BATCH = ['.bat', '.cmd'];
const isBatch = (file: string) => BATCH.includes(win32.extname(file).toLowerCase());

/** Never in the current folder, unless it is named: whatever lies in a workspace would be started instead. */
function find(command: string, look: Look, kinds = [...STARTED_DIRECTLY, ...BATCH]): string | undefined {
  const extensions = (variable(look.env, 'PATHEXT') ?? '.COM;.EXE;.BAT;.CMD')
    .toLowerCase()
    .split(';')
    .filter((extension) => kinds.includes(extension));
  const folders = hasPlace(command) ? [look.cwd] : foldersOf(look.env);
  const isWhole = kinds.includes(win32.extname(command).toLowerCase());
  const names = [...(isWhole ? [command] : []), ...extensions.map((extension) => command + extension)];
  return folders.flatMap((folder) => names.map((name) => win32.resolve(folder, name))).find(look.isFile);
}

/** A folder that is not written out in full would depend on where we are. */
function foldersOf(env: Environment): string[] {
  const folders = (variable(env, 'PATH') ?? '').match(/("[^"]*"|[^;"])+/g) ?? [];
  return folders.map((folder) => folder.replaceAll('"', '').trim()).filter((folder) => win32.isAbsolute(folder));
}

/** The names of variables have no case. */
function variable(env: Environment, name: string): string | undefined {
  const key = Object.keys(env).find((each) => each.toUpperCase() === name);
  return key === undefined ? undefined : env[key];
}

/** Without the shim between: no shell that reads the arguments, and no second process. */
function shimmed(file: string, { args, readText, ...look }: WindowsCommand): Program | undefined {
  const shim = readShim(readText(file));
  if (shim === undefined) return undefined;
  const folder = win32.dirname(file);
  const target = win32.resolve(folder, shim.target);
  const updated = shim.maybeUpdated ? [win32.join(variable(look.env, 'APPDATA') ?? folder, 'npm', shim.target)] : [];
  const real = [...updated, target].find(look.isFile);
  if (real === undefined) return undefined;
  if (shim.kind === 'program')
    return STARTED_DIRECTLY.includes(win32.extname(real).toLowerCase()) ? { file: real, args } : undefined;
  const beside = win32.join(folder, 'node.exe');
  const node = look.isFile(beside) ? beside : find('node', look, STARTED_DIRECTLY);
  return node === undefined ? undefined : { file: node, args: [...shim.flags, real, ...args] };
}

function throughShell(file: string, asked: WindowsCommand): Program {
  if (!asked.args.every(canBeQuoted))
    throw failure(asked, 'an argument holds a line break, which no batch file can be given');
  const args = batchArguments(file, asked.args);
  if (args.join(' ').length > limits.batchLineChars)
    throw failure(asked, 'its arguments are too long for a batch file');
  return { file: shellOf(asked.env), args, windowsVerbatimArguments: true };
}

function shellOf(env: Environment): string {
  const shell = variable(env, 'COMSPEC') ?? '';
  if (win32.isAbsolute(shell)) return shell;
  return win32.join(variable(env, 'SYSTEMROOT') ?? 'C:\\Windows', 'System32', 'cmd.exe');
}

function failure({ server, command }: WindowsCommand, reason: string): RuntimeError {
  return new RuntimeError('SPAWN_FAILED', { server, command, reason, culprit: 'command' });
}
