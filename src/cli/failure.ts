// Owns how a failed command ends: the message for people, the document for programs, the exit code.

import { nearest } from '../kernel/nearest.ts';
import { asRuntimeError, RuntimeError } from '../model/errors.ts';
import { Interruption, UsageError } from './command.ts';

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

export function unknownCommand(verb: string, verbs: readonly string[]): UsageError {
  const [suggestion] = nearest(verb, verbs, 1);
  return new UsageError(
    `"${verb}" is not a command${suggestion === undefined ? '' : `; did you mean "${suggestion}"?`}`,
  );
}
