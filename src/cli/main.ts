// Owns the command line from the first word to the exit code: which command runs, what it gets to see, and how its result is printed.
// `runCli` reaches the process through its `io` only. Everything that help does not need is loaded when it is needed.

import { fstatSync, statSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import util from 'node:util';
import { homeFolder } from '../kernel/home-folder.ts';
import { identity } from '../model/identity.ts';
import {
  type Command,
  type CommandResult,
  type Context,
  globalOptions,
  Interruption,
  type Paint,
  UsageError,
} from './command.ts';
import { commands } from './commands.ts';
import { enableCompileCache } from './compile-cache.ts';
import { commandHelp, generalHelp } from './help.ts';
import type { CliIo } from './io.ts';
import { documentText } from './render/json.ts';
import { colors, plain, printable, prose } from './render/text.ts';
import { askText, createWaitingLine, yesOrNo } from './terminal.ts';

interface CommandLine {
  readonly verb: string | undefined;
  /** The words up to `--`, the verb included. */
  readonly words: readonly string[];
  /** The words after `--`, which are not parsed. */
  readonly rest: readonly string[];
}

/** Resolves with the exit code. Starts from nothing each time, so that one process may call it often. */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  const words = argv.slice(0, end);
  // A command's own options may take a value and are not known yet; only the words before the verb matter here.
  const { positionals } = util.parseArgs({
    args: words,
    options: globalOptions,
    strict: false,
    allowPositionals: true,
  });
  const [verb] = positionals;
  try {
    return await run({ verb, words, rest: argv.slice(end + 1) }, io);
  } catch (error) {
    const exitCode = await fail(error, { verb, words }, io);
    if (error instanceof Interruption) io.exit(exitCode);
    return exitCode;
  }
}

const entryOf = (verb = '') => (Object.hasOwn(commands, verb) ? commands[verb] : undefined);

function paintFor(stream: 'stdout' | 'stderr', { env, isTerminal, columns }: CliIo): Paint {
  if (!isTerminal(stream)) return plain;
  const width = columns(stream);
  return { ...(env['NO_COLOR'] || env['TERM'] === 'dumb' ? plain : colors), ...(width && { width }) };
}

async function run({ verb, words, rest }: CommandLine, io: CliIo): Promise<number> {
  const entry = entryOf(verb);
  const command = await entry?.load();
  const parsed = parse(words, command);
  const { values, positionals } = parsed;
  if (values['version']) return printShort(identity.version, io);
  if (verb === 'help') return help(positionals[1], io);
  if (verb === undefined && values['json']) throw new UsageError('name a command');
  if (verb === undefined) return printShort(generalHelp(commands, paintFor('stdout', io)), io, values['help'] ? 0 : 1);
  if (entry === undefined || command === undefined) throw await unknown(verb);
  const page = values['help'] ? command.helpOn?.({ values, positionals: positionals.slice(1) }) : undefined;
  if (values['help'] && page === undefined)
    return printShort(commandHelp(entry.summary, command, paintFor('stdout', io)), io);
  return perform({ ...command, ...(page && { run: page }) }, parsed, { rest, io });
}

async function help(verb: string | undefined, io: CliIo): Promise<number> {
  const entry = entryOf(verb);
  const paint = paintFor('stdout', io);
  return printShort(entry ? commandHelp(entry.summary, await entry.load(), paint) : generalHelp(commands, paint), io);
}

const printShort = (text: string, io: CliIo, exitCode = 0) => print(`${text}\n`, io, exitCode);

/** Ctrl-C ends the work and closes the servers, unless the command has a use for it. */
async function perform(
  command: Command,
  { values, positionals }: ParsedWords,
  { rest, io }: { readonly rest: readonly string[]; readonly io: CliIo },
): Promise<number> {
  const interruption = new AbortController();
  const { signal } = interruption;
  let takeCtrlC: (() => boolean) | undefined;
  io.onInterrupt((name) => {
    if (name === 'SIGINT' && takeCtrlC?.()) return true;
    interruption.abort(new DOMException('interrupted', 'AbortError'));
    return false;
  });
  const onCtrlC: Context['onCtrlC'] = (listener) => {
    takeCtrlC = listener;
  };
  try {
    const [own, others] = command.takesRest ? [positionals, rest] : [[...positionals, ...rest], []];
    const context = createContext({ values, positionals: own.slice(1) }, { rest: others, signal, onCtrlC, io });
    const result = await command.run(context);
    const paint = paintFor('stdout', io);
    const exitCode = await print(draw(result, Boolean(values['json']), paint), io, result.exitCode);
    for await (const text of result.more?.(paint) ?? []) await write(`${text}\n`, io);
    if (signal.aborted) io.exit(result.exitCode ?? exitCode);
    return result.exitCode ?? exitCode;
  } catch (error) {
    throw signal.aborted ? new Interruption('interrupted', { cause: error }) : error;
  }
}

async function unknown(verb: string): Promise<UsageError> {
  const { unknownCommand } = await import('./failure.ts');
  return unknownCommand(verb, Object.keys(commands));
}

type ParsedWords = { readonly values: Context['values']; readonly positionals: readonly string[] };

function parse(words: readonly string[], command: Command | undefined): ParsedWords {
  const options = { ...globalOptions, ...command?.options };
  const { tokens } = util.parseArgs({ args: [...words], options, allowPositionals: true, strict: false, tokens: true });
  const unknownOption = tokens.find((token) => token.kind === 'option' && !Object.hasOwn(options, token.name));
  if (command !== undefined && unknownOption?.kind === 'option') {
    const list = `the options are --${Object.keys(options).join(', --')}`;
    const rest = command.takesRest ? "write -- before the server's command, so that its options are passed on" : list;
    const [next] = tokens.filter(({ index }) => index === unknownOption.index + 1);
    const value = unknownOption.value ?? (next?.kind === 'positional' ? next.value : undefined);
    const hint = command.optionHint?.(unknownOption.name, value) ?? rest;
    throw new UsageError(`unknown option ${unknownOption.rawName}; ${hint}`);
  }
  try {
    // A list is a list of texts: no switch of ours is repeatable.
    return util.parseArgs({
      args: [...words],
      options,
      allowPositionals: true,
      strict: command !== undefined,
    }) as ParsedWords;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

interface ContextDeps extends Pick<Context, 'signal' | 'onCtrlC'> {
  readonly rest: readonly string[];
  readonly io: CliIo;
}

function createContext({ values, positionals }: ParsedWords, { rest, signal, onCtrlC, io }: ContextDeps): Context {
  const { env, home } = io;
  const cwd = resolve(io.cwd, typeof values['cwd'] === 'string' ? values['cwd'] : '.');
  const file = values['config'];
  const paint = paintFor('stderr', io);
  const hasScreen = io.isTerminal('stderr') && io.stderr.isTTY === true;
  const line = createWaitingLine(values['quiet'] || !hasScreen ? undefined : io.stderr, paint);
  const canAsk = hasScreen && io.isTerminal('stdin') && io.stdin.isTTY;
  const marksPastes = env['TERM'] !== 'dumb';
  const { width } = paint;
  const screen = () => ({ input: io.stdin, output: io.stderr, marksPastes, width, signal, interrupt: io.interrupt });
  let lastQuestion: Promise<unknown> = Promise.resolve();
  /** One question at a time, however many servers have one. */
  const inTurn = <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    const answered = line.pauseFor(lastQuestion.then(ask));
    lastQuestion = answered.then(nothing, nothing);
    return answered;
  };
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`${cwd} is not a folder`);
  return {
    positionals,
    rest,
    values,
    cwd,
    env,
    home,
    commands,
    runtimeOptions: { cwd, env, home, ...(typeof file === 'string' && { config: resolve(io.cwd, file) }) },
    signal,
    onCtrlC,
    ask: canAsk ? (question) => inTurn(() => yesOrNo(question, screen())) : undefined,
    askText: canAsk ? (question) => inTurn(() => askText(question, screen())) : undefined,
    waitFor: line.waitFor,
    showStep: line.showStep,
    toTerminal: io.isTerminal('stdout'),
    get stdin() {
      return io.stdin;
    },
    readStdin: () => Promise.race([readAll(io.stdin), aborted(signal)]),
    print: printerTo(io),
    warn: (text) => values['quiet'] || values['json'] || io.stderr.write(`${prose(text(paint), paint)}\n`),
  };
}

const nothing = () => undefined;

const readAll = async (stream: Readable) => Buffer.concat(await stream.toArray()).toString('utf8');

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

const draw = (result: CommandResult, json: boolean, paint: Paint) =>
  json && result.data !== undefined ? documentText(result.data) : (result.bytes ?? `${result.text(paint)}\n`);

/** Resolves when the text is out: a pipe may take it slowly, and an exit would cut it off. */
async function print(text: string | Uint8Array, io: CliIo, exitCode = 0): Promise<number> {
  const rest = io.printNow(typeof text === 'string' ? Buffer.from(text) : text);
  if (rest.length === 0) return exitCode;
  exitWhenUnwritable(io, exitCode);
  await write(rest, io);
  return exitCode;
}

function exitWhenUnwritable(io: CliIo, exitCode: number): void {
  io.stdout.once('error', ({ code, message }: NodeJS.ErrnoException) => {
    // A reader that has read enough is no failure: `plexus tools | head`.
    if (code === 'EPIPE') return io.exit(exitCode);
    io.stderr.write(
      `plexus: The answer could not be written: ${message}. Free some space, then run the command again.\n`,
    );
    io.exit(1);
  });
}

function printerTo(io: CliIo): Context['print'] {
  let isWatched = false;
  return (text) => {
    if (!isWatched) exitWhenUnwritable(io, 0);
    isWatched = true;
    io.stdout.write(text(paintFor('stdout', io)));
  };
}

const write = (text: string | Uint8Array, { stdout }: CliIo) =>
  new Promise<void>((done) => stdout.write(text, () => done()));

async function fail(error: unknown, { verb, words }: Omit<CommandLine, 'rest'>, io: CliIo): Promise<number> {
  const { describeFailure } = await import('./failure.ts');
  const { message, exitCode, document } = describeFailure(error, entryOf(verb) && verb);
  if (words.includes('--json')) return print(documentText(document), io, exitCode);
  const paint = paintFor('stderr', io);
  io.stderr.write(`${prose(`${paint.red('plexus:')} ${printable(message)}`, paint)}\n`);
  if (words.includes('--verbose') && error instanceof Error)
    io.stderr.write(`${paint.dim(printable(error.stack ?? ''))}\n`);
  return exitCode;
}

/** Runs the command line of this process, and resolves with its exit code. */
export function runProcess(): Promise<number> {
  // What a command needs is loaded after this, and its compiled code is kept.
  enableCompileCache({ home: homeFolder(), env: process.env, platform: process.platform });
  return runCli(process.argv.slice(2), processIo());
}

/** The process that `plexus` runs in. */
export function processIo(): CliIo {
  const descriptors = { stdin: 0, stdout: 1, stderr: 2 };
  return {
    env: process.env,
    get cwd() {
      return process.cwd();
    },
    get home() {
      return homeFolder();
    },
    get stdin() {
      return process.stdin;
    },
    get stdout() {
      return process.stdout;
    },
    get stderr() {
      return process.stderr;
    },
    isTerminal: (stream) => fstatSync(descriptors[stream]).isCharacterDevice(),
    columns: (stream) => process[stream].columns || undefined,
    printNow(bytes) {
      // Only the stream shows letters beyond ASCII on a console of Windows.
      if (process.platform === 'win32' && fstatSync(descriptors.stdout).isCharacterDevice()) return bytes;
      let written = 0;
      try {
        while (written < bytes.length) written += writeSync(descriptors.stdout, bytes, written);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EPIPE') written = bytes.length;
      }
      return bytes.subarray(written);
    },
    onInterrupt(listener) {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        const onSignal = () => listener(signal) || process.off(signal, onSignal);
        process.on(signal, onSignal);
      }
    },
    interrupt: () => process.kill(process.pid, 'SIGINT'),
    exit: (code) => process.exit(code),
  };
}
