#!/usr/bin/env node
// Owns the command line from the first word to the exit code: which command, with which surroundings, drawn how.
// Everything that help does not need is loaded when it is needed.

import { fstatSync, statSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { identity } from '../model/identity.ts';
import { type Command, type Context, type Found, Interruption, UsageError } from './command.ts';
import { commands } from './commands.ts';
import { commandHelp, generalHelp } from './help.ts';
import { documentText } from './render/json.ts';
import { colors, plain, printable } from './render/text.ts';
import { askText, createWaitingLine, yesOrNo } from './terminal.ts';

const globalOptions = {
  json: { type: 'boolean' },
  cwd: { type: 'string' },
  config: { type: 'string' },
  quiet: { type: 'boolean' },
  verbose: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const satisfies ParseArgsConfig['options'];

const { argv, env } = process;
const OUT = 1;
const ERR = 2;

/** Asked of the file itself: the streams of the process cost more to open than help takes in all. */
const isTerminal = (file: number) => fstatSync(file).isCharacterDevice();
const paintFor = (file: number) => (isTerminal(file) && !env['NO_COLOR'] && env['TERM'] !== 'dumb' ? colors : plain);

interface CommandLine {
  readonly verb: string | undefined;
  readonly words: readonly string[];
  /** What follows `--` is not for us to read. */
  readonly rest: readonly string[];
}

async function main(all: readonly string[]): Promise<number> {
  const end = all.includes('--') ? all.indexOf('--') : all.length;
  const words = all.slice(0, end);
  // What is not ours may take a value; only the words before the verb matter here.
  const { positionals } = parseArgs({ args: words, options: globalOptions, strict: false, allowPositionals: true });
  const [verb] = positionals;
  try {
    return await run({ verb, words, rest: all.slice(end + 1) });
  } catch (error) {
    return fail(interruption?.aborted ? new Interruption('interrupted', { cause: error }) : error, { verb, words });
  }
}

const entryOf = (verb = '') => (Object.hasOwn(commands, verb) ? commands[verb] : undefined);

async function run({ verb, words, rest }: CommandLine): Promise<number> {
  const entry = entryOf(verb);
  const command = await entry?.load();
  const { values, positionals } = parse(words, command);
  if (values['version']) return printShort(identity.version);
  if (verb === 'help') return help(positionals[1]);
  if (verb === undefined && values['json']) throw new UsageError('name a command');
  if (verb === undefined) return printShort(generalHelp(commands, paintFor(OUT)), values['help'] ? 0 : 1);
  if (entry === undefined || command === undefined) throw await unknown(verb);
  if (values['help']) return printShort(commandHelp(entry.summary, command, paintFor(OUT)));
  interruption = watchForInterruption();
  const [own, others] = command.takesRest ? [positionals, rest] : [[...positionals, ...rest], []];
  const found = await command.run(createContext({ values, positionals: own.slice(1) }, others, interruption));
  const exitCode = await print(draw(found, Boolean(values['json'])), found.exitCode);
  for await (const text of found.more?.(paintFor(OUT)) ?? []) await write(`${text}\n`);
  return found.exitCode ?? exitCode;
}

async function help(verb: string | undefined): Promise<number> {
  const entry = entryOf(verb);
  return printShort(
    entry ? commandHelp(entry.summary, await entry.load(), paintFor(OUT)) : generalHelp(commands, paintFor(OUT)),
  );
}

async function unknown(verb: string): Promise<UsageError> {
  const { unknownCommand } = await import('./failure.ts');
  return unknownCommand(verb, Object.keys(commands));
}

type Words = { readonly values: Context['values']; readonly positionals: readonly string[] };

function parse(words: readonly string[], command: Command | undefined): Words {
  const options = { ...globalOptions, ...command?.options };
  const { tokens } = parseArgs({ args: [...words], options, allowPositionals: true, strict: false, tokens: true });
  const stranger = tokens.find((token) => token.kind === 'option' && !Object.hasOwn(options, token.name));
  if (command !== undefined && stranger?.kind === 'option') {
    const known = `known are --${Object.keys(options).join(', --')}`;
    const hint = command.takesRest
      ? "write -- before the server's command, so that its options are not taken for ours"
      : known;
    throw new UsageError(`there is no option ${stranger.rawName} here; ${hint}`);
  }
  try {
    // A list is a list of texts: no switch of ours is repeatable.
    return parseArgs({ args: [...words], options, allowPositionals: true, strict: command !== undefined }) as Words;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function createContext({ values, positionals }: Words, rest: readonly string[], signal: AbortSignal): Context {
  const { stdin, stderr } = process;
  const cwd = resolve(typeof values['cwd'] === 'string' ? values['cwd'] : '.');
  const file = values['config'];
  const line = createWaitingLine(values['quiet'] || !stderr.isTTY ? undefined : stderr, paintFor(ERR));
  const canAsk = stdin.isTTY && stderr.isTTY;
  const screen = { input: stdin, output: stderr, signal };
  let asking: Promise<unknown> = Promise.resolve();
  /** One question at a time, however many have one. */
  const inTurn = <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    const answered = line.hushFor(asking.then(ask));
    asking = answered.then(nothing, nothing);
    return answered;
  };
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`${cwd} is not a folder`);
  return {
    ...{ positionals, rest, values },
    cwd,
    env,
    runtimeOptions: { cwd, env, ...(typeof file === 'string' && { config: resolve(file) }) },
    signal,
    ask: canAsk ? (question) => inTurn(() => yesOrNo(question, screen)) : undefined,
    askText: canAsk ? (question) => inTurn(() => askText(question, screen)) : undefined,
    waitFor: line.waitFor,
    toTerminal: isTerminal(OUT),
    readStdin: () => Promise.race([readAll(stdin), aborted(signal)]),
    complain: (text) => values['quiet'] || values['json'] || stderr.write(`${text(paintFor(ERR))}\n`),
  };
}

const nothing = () => undefined;

const readAll = async (stream: NodeJS.ReadStream) => Buffer.concat(await stream.toArray()).toString('utf8');

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

const draw = (found: Found, json: boolean) =>
  json && found.data !== undefined ? documentText(found.data) : (found.bytes ?? `${found.text(paintFor(OUT))}\n`);

/** Resolves when the text is out: a pipe may take it slowly, and an exit would cut it off. */
async function print(text: string | Uint8Array, exitCode = 0): Promise<number> {
  process.stdout.once('error', ({ code, message }: NodeJS.ErrnoException) => {
    // Whoever reads us has heard enough: `plexus tools | head` is not a failure.
    if (code === 'EPIPE') process.exit(exitCode);
    process.stderr.write(`plexus: The answer could not be written: ${message}. Make room for it, then do it again.\n`);
    process.exit(1);
  });
  await write(text);
  return exitCode;
}

const write = (text: string | Uint8Array) => new Promise<void>((done) => process.stdout.write(text, () => done()));

/** What any pipe takes at once. */
function printShort(text: string, exitCode = 0): number {
  try {
    writeSync(OUT, `${text}\n`);
  } catch (error) {
    // The reader has gone; there is nobody left to tell.
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
  return exitCode;
}

async function fail(error: unknown, { verb, words }: Omit<CommandLine, 'rest'>): Promise<number> {
  const { describeFailure } = await import('./failure.ts');
  const { message, exitCode, document } = describeFailure(error, entryOf(verb) && verb);
  const verbose = words.includes('--verbose');
  if (words.includes('--json')) return print(documentText(document), exitCode);
  const paint = paintFor(ERR);
  process.stderr.write(`${paint.red('plexus:')} ${printable(message)}\n`);
  if (verbose && error instanceof Error) process.stderr.write(`${paint.dim(printable(error.stack ?? ''))}\n`);
  return exitCode;
}

/** Ctrl-C ends the work and closes the servers; a second one ends the process. */
function watchForInterruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => controller.abort(new DOMException('interrupted', 'AbortError')));
  }
  return controller.signal;
}

/** Set as soon as there is work to interrupt. */
let interruption: AbortSignal | undefined;

process.exitCode = await main(argv.slice(2));
// Everything is closed by now, but standard input may still be open: an interrupted process does not wait for it.
if (interruption?.aborted) process.exit();
