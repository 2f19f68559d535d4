// Owns what a command is: a value with its usage, its options, and a `run` that returns what it found.
// Drawing it is the renderer's work; ending the process is `main.ts`'s.

import type { Readable } from 'node:stream';
import type { ParseArgsConfig } from 'node:util';
import type { RuntimeOptions } from '../api.ts';

/** What a command found: data for `--json`, text for people. */
export interface CommandResult {
  /** Nothing, where what comes after it is all there is. */
  readonly data: unknown;
  /** Drawn only when a person reads it. */
  readonly text: (paint: Paint) => string;
  /** What comes after it, line by line or in blocks of them; whoever stops it is not told that anything failed. */
  readonly more?: (paint: Paint) => AsyncIterable<string>;
  /** Goes out as it is in place of the text, to the last byte: for what is not meant for a screen. */
  readonly bytes?: Uint8Array;
  /** Asked again when everything is out. */
  readonly exitCode?: number;
}

/** Marks up text for a terminal; without one, everything stays plain. */
export interface Paint {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
}

export interface TextQuestion {
  readonly question: string;
  /** What is typed is not shown. */
  readonly isHidden: boolean;
  /** Aborting it takes the question away; it counts as unanswered. */
  readonly signal?: AbortSignal;
}

/** The world as a command sees it. */
export interface Context {
  readonly positionals: readonly string[];
  /** What follows `--`, word by word, for a command that takes another program's command line. */
  readonly rest: readonly string[];
  readonly values: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** What `--config` and `--cwd` mean for a runtime. */
  readonly runtimeOptions: Pick<RuntimeOptions, 'cwd' | 'env' | 'home' | 'config'>;
  readonly signal: AbortSignal;
  /** Puts a question to the person; `undefined` where nobody can answer. */
  readonly ask: ((question: string) => Promise<boolean>) | undefined;
  /** Asks the person for a text, one question at a time; `undefined` where nobody can answer. */
  readonly askText: ((question: TextQuestion) => Promise<string | undefined>) | undefined;
  /** Says on a terminal what is being waited for, once it takes longer than a second. */
  readonly waitFor: <Value>(what: string, work: Promise<Value>) => Promise<Value>;
  /** Whether the answer goes to a person's screen: then what a server wrote must not drive it. */
  readonly toTerminal: boolean;
  readonly stdin: Readable;
  readonly readStdin: () => Promise<string>;
  /** Tells a person something beside the answer; says nothing with `--json` or `--quiet`. */
  readonly complain: (text: (paint: Paint) => string) => void;
}

export interface Command {
  /** What follows the verb, as help shows it. */
  readonly usage: string;
  readonly options: NonNullable<ParseArgsConfig['options']>;
  /** One line for each option, in the order of help; what it takes may follow its name. */
  readonly help?: Readonly<Record<string, string>>;
  readonly examples?: readonly string[];
  /** Whether what follows `--` is another program's command line. Otherwise those are words like all others. */
  readonly takesRest?: true;
  readonly run: (context: Context) => Promise<CommandResult>;
}

/** A person has pressed Ctrl-C. */
export class Interruption extends Error {
  override readonly name = 'Interruption';
}

/** Wrong words on the command line: answered with the command's usage. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
