// Owns the reasons why a program could not be started, in words that a person can act on. Reads error codes, never messages.

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import { errorCode } from './error-code.ts';

export interface SpawnAttempt {
  readonly server: ServerName;
  readonly command: string;
  readonly cwd?: string | undefined;
}

/** The machine is short of a resource that other processes will free: waiting helps, changing the configuration does not. */
const EXHAUSTED = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']);

export function spawnFailure(error: unknown, attempt: SpawnAttempt): RuntimeError {
  const { server, command } = attempt;
  const code = errorCode(error) ?? 'no code';
  if (EXHAUSTED.has(code)) {
    const reason = `the system has no room for another process now (${code})`;
    return new RuntimeError('CONNECTION_LOST', { server, reason }, { cause: error });
  }
  const directory = directoryProblem(attempt.cwd);
  const reason = directory ?? commandProblem(code, attempt);
  const culprit = directory === undefined ? 'command' : 'cwd';
  return new RuntimeError('SPAWN_FAILED', { server, command, reason, culprit }, { cause: error });
}

/** The system gives the same code for a missing directory as for a missing command. */
function directoryProblem(cwd: string | undefined): string | undefined {
  if (cwd === undefined) return undefined;
  try {
    accessSync(cwd, constants.X_OK);
    return statSync(cwd).isDirectory() ? undefined : `its working directory ${cwd} is not a directory`;
  } catch (error) {
    const missing = errorCode(error) === 'ENOENT';
    return `its working directory ${cwd} ${missing ? 'does not exist' : 'may not be entered'}`;
  }
}

function commandProblem(code: string, { command, cwd }: SpawnAttempt): string {
  switch (code) {
    case 'ENOENT':
      return /[/\\]/.test(command) && existsSync(resolve(cwd ?? '.', command))
        ? 'the interpreter that its first line names was not found'
        : 'the command was not found';
    case 'EACCES':
    case 'EPERM':
      return 'the command is not executable';
    case 'ENOEXEC':
      return 'the command is not a program for this system';
    case 'ENOTDIR':
      return 'a part of its path is not a directory';
    case 'E2BIG':
      return 'its arguments and environment are too long';
    case 'ERR_INVALID_ARG_VALUE':
      return 'its command, an argument or its environment is empty or holds a NUL character';
    default:
      return `the system refused to start it (${code})`;
  }
}
