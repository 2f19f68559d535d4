// Owns what a failed command leaves: the sentences for people, the document for programs, the exit code.

import { nearest } from '../kernel/nearest.ts';
import { asRuntimeError, RuntimeError } from '../model/errors.ts';
import { Interruption, UsageError } from './command.ts';

export interface Failed {
  readonly message: string;
  readonly exitCode: number;
  readonly document: unknown;
}

/** `verb`: the command it happened in, if there is such a command. */
export function describeFailure(error: unknown, verb?: string): Failed {
  if (error instanceof UsageError) {
    const help = verb === undefined ? 'plexus --help' : `plexus ${verb} --help`;
    const message = `${error.message.replace(/(?<![.?])$/, '.')} See how it is used with: ${help}`;
    return { message, exitCode: 1, document: { error: { code: 'USAGE', message, remedy: 'fix-call' } } };
  }
  if (error instanceof Interruption) {
    const message = `Interrupted. The servers were closed.${callLeft(error.cause)}`;
    return { message, exitCode: 130, document: { error: { code: 'INTERRUPTED', message, remedy: 'none' } } };
  }
  const failure = asRuntimeError(error);
  return { message: failure.message, exitCode: failure.exitCode, document: { error: failure } };
}

/** Who ends a call that is under way must know that the tool may have done its work. */
function callLeft(cause: unknown): string {
  return cause instanceof RuntimeError && cause.code === 'CALL_CANCELLED' ? ` ${cause.message}` : '';
}

export function unknownCommand(verb: string, known: readonly string[]): UsageError {
  const [meant] = nearest(verb, known, 1);
  return new UsageError(`"${verb}" is not a command${meant === undefined ? '' : `; did you mean "${meant}"?`}`);
}
