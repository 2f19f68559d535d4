// Owns what a command is: a value with its usage, its options, and a `run` that returns its result.
// `render/` draws results; `main.ts` prints them and sets the exit code.

import type { Readable } from 'node:stream';
import type { ParseArgsConfig } from 'node:util';
import type { RuntimeOptions } from '../api.ts';

/** The result of a command: data for `--json`, text for people. */
export interface CommandResult {
  /** `undefined` if `more` is the whole result. */
  readonly data: unknown;
  /** Called only if a person reads the result. */
  readonly text: (paint: Paint) => string;
  /** Further output, in blocks of lines, printed as it comes. Ctrl-C ends it without a failure. */
  readonly more?: (paint: Paint) => AsyncIterable<string>;
  /** Printed byte for byte in place of the text, when stdout is not a terminal. */
  readonly bytes?: Uint8Array;
  /** Read again after `more` has ended. */
  readonly exitCode?: number;
}

/** The result of a command that has printed everything itself. */
export const printedAlready = (exitCode = 0): CommandResult => ({
  data: undefined,
  text: () => '',
  bytes: new Uint8Array(),
  exitCode,
});

/** Marks up text for a terminal; without one, everything stays plain. */
export interface Paint {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  /** How many characters fit into a line; absent where there is no terminal, so that nothing is wrapped or cut to it. */
  readonly width?: number;
}

export interface TextQuestion {
  readonly question: string;
  /** The terminal does not show what the person types. */
  readonly isHidden: boolean;
  /** The answer permits something: only keys that the person types one by one count, and no pasted text. */
  readonly isDecision?: boolean;
  /** The answer of a person who only presses Enter. */
  readonly preset?: string;
  /** For a text of several lines: those typed before, the newest first. Arrow keys bring them back, and pasted line ends stay. */
  readonly earlier?: readonly string[];
  /** Aborting it withdraws the question; it counts as unanswered. */
  readonly signal?: AbortSignal;
}

/** Everything a command may use of its surroundings. */
export interface Context {
  readonly positionals: readonly string[];
  /** The words after `--`, for a command that takes another program's command line. */
  readonly rest: readonly string[];
  readonly values: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** Every command, by its verb. */
  readonly commands: Readonly<Record<string, CommandEntry>>;
  /** Options for `createRuntime` that follow from `--config` and `--cwd`. */
  readonly runtimeOptions: Pick<RuntimeOptions, 'cwd' | 'env' | 'home' | 'config'>;
  readonly signal: AbortSignal;
  /** Takes Ctrl-C from now on. Where the listener returns false, it ends the command as it does without one. */
  readonly onCtrlC: (listener: () => boolean) => void;
  /** Asks the person a yes-or-no question; `undefined` without a terminal. */
  readonly ask: ((question: string) => Promise<boolean>) | undefined;
  /** Asks the person for a text, one question at a time; `undefined` without a terminal. */
  readonly askText: ((question: TextQuestion) => Promise<string | undefined>) | undefined;
  /** Shows on a terminal what the command waits for, once the work takes longer than a second. */
  readonly waitFor: <Value>(what: string, work: Promise<Value>) => Promise<Value>;
  /** Shows on a terminal how far the work is that the command waits for. The line is gone when the work ends. */
  readonly showStep: (step: string) => void;
  /** Whether stdout is a terminal: then control characters in a server's text must be escaped. */
  readonly toTerminal: boolean;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly readStdin: () => Promise<string>;
  /** Prints a part of the answer to stdout at once, for a command whose answer comes in parts; its result is then empty. */
  readonly print: (text: (paint: Paint) => string) => void;
  /** Prints to stderr, beside the answer; prints nothing with `--json` or `--quiet`. */
  readonly warn: (text: (paint: Paint) => string) => void;
}

export interface Command {
  /** The verb and its words, as help shows them after `plexus`. */
  readonly usage: string;
  readonly options: NonNullable<ParseArgsConfig['options']>;
  /** One line for each option, in the order of help. The key is the option's name, and its value's after a space. */
  readonly help?: Readonly<Record<string, string>>;
  /** What the words of the usage mean, where that is not plain. */
  readonly words?: Readonly<Record<string, string>>;
  readonly examples?: readonly string[];
  /** The words after `--` are another program's command line. For other commands they are ordinary words. */
  readonly takesRest?: true;
  /** It is about the usual files, so `--config` means nothing to it. */
  readonly takesNoConfig?: true;
  readonly run: (context: Context) => Promise<CommandResult>;
  /** Help on what the words name, such as a tool; `undefined` if they name nothing that has a page of its own. */
  readonly helpOn?: (words: Pick<Context, 'positionals' | 'values'>) => Command['run'] | undefined;
  /** Completes the error for an option that the command does not have. */
  readonly optionHint?: (name: string, value: string | undefined) => string;
}

/** The headings of help, in its order. */
export const groups = ['Use servers', 'Configure servers', 'Decide what may run', 'Texts and shells'] as const;

/** A command before it is loaded. */
export interface CommandEntry {
  readonly group: (typeof groups)[number];
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

/** Options that every command takes. */
export const globalOptions = {
  json: { type: 'boolean' },
  cwd: { type: 'string' },
  config: { type: 'string' },
  quiet: { type: 'boolean' },
  verbose: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const satisfies ParseArgsConfig['options'];

/** The person pressed Ctrl-C, or the process got SIGTERM. */
export class Interruption extends Error {
  override readonly name = 'Interruption';
}

/** The person was asked and said no: a choice that is carried out, not a failure to explain. */
export class Declined extends Error {
  override readonly name = 'Declined';
}

/** A mistake on the command line: the message points at the command's help. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
