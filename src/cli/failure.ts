// Owns how a failed command ends: the message for people, the document for programs, the exit code.

import { nearest } from '../kernel/nearest.ts';
import { asRuntimeError, RuntimeError } from '../model/errors.ts';
import { Declined, Interruption, UsageError } from './command.ts';

export interface FailureReport {
  readonly message: string;
  readonly exitCode: number;
  readonly document: unknown;
}

/** `verb`: the command that failed, if there is such a command. */
export function describeFailure(error: unknown, verb?: string): FailureReport {
  if (error instanceof UsageError) {
    const help = verb === undefined ? 'plexus --help' : `plexus ${verb} --help`;
    const message = `${error.message.replace(/(?<![.?])$/, '.')} See: ${help}`;
    return { message, exitCode: 1, document: { error: { code: 'USAGE', message, remedy: 'fix-call' } } };
  }
  if (error instanceof Declined) {
    const { message } = error;
    return { message, exitCode: 3, document: { error: { code: 'APPROVAL_REFUSED', message, remedy: 'ask-user' } } };
  }
  if (error instanceof Interruption) {
    const message = `Interrupted. The servers were closed.${cancelledCallNote(error.cause)}`;
    return { message, exitCode: 130, document: { error: { code: 'INTERRUPTED', message, remedy: 'none' } } };
  }
  const failure = asRuntimeError(error);
  return { message: failure.message, exitCode: failure.exitCode, document: { error: failure } };
}

/** A person who cancels a running call must know that the tool may have done its work. */
function cancelledCallNote(cause: unknown): string {
  return cause instanceof RuntimeError && cause.code === 'CALL_CANCELLED' ? ` ${cause.message}` : '';
}

/** Verbs of other programs for the same thing, which no spelling leads to ours. */
const otherWords: Readonly<Record<string, string>> = {
  ls: 'list',
  status: 'list',
  servers: 'list',
  show: 'get',
  info: 'get',
  inspect: 'get',
  describe: 'get',
  rm: 'remove',
  delete: 'remove',
  uninstall: 'remove',
  install: 'add',
  ask: 'chat',
  talk: 'chat',
  run: 'call',
  exec: 'call',
  invoke: 'call',
  find: 'search',
  cat: 'read',
  log: 'logs',
  restart: 'reconnect',
  connect: 'reconnect',
  start: 'reconnect',
  test: 'reconnect',
  ping: 'reconnect',
  trust: 'approve',
  allow: 'approve',
  check: 'config check',
  validate: 'config check',
  doctor: 'config check',
  completions: 'completion',
};

export function unknownCommand(verb: string, verbs: readonly string[]): UsageError {
  const [suggestion] = Object.hasOwn(otherWords, verb) ? [otherWords[verb]] : nearest(verb, verbs, 1);
  return new UsageError(
    `"${verb}" is not a command${suggestion === undefined ? '' : `; did you mean "${suggestion}"?`}`,
  );
}
