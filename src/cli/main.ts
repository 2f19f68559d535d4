#!/usr/bin/env node
// Owns the command line from the first word to the exit code: which command, with which surroundings, drawn how.
// Everything that help does not need is loaded when it is needed.

import { resolve } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { identity } from '../model/identity.ts';
import { type Command, type Context, type Found, UsageError } from './command.ts';
import { commands } from './commands.ts';
import { commandHelp, generalHelp } from './help.ts';
import { documentText } from './render/json.ts';
import { colors, plain, printable } from './render/text.ts';
import { createWaitFor, yesOrNo } from './terminal.ts';

const globalOptions = {
  json: { type: 'boolean' },
  cwd: { type: 'string' },
  config: { type: 'string' },
  quiet: { type: 'boolean' },
  verbose: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const satisfies ParseArgsConfig['options'];

const { argv, env, stdin, stdout, stderr } = process;
const wantsColor = (stream: { isTTY?: boolean }) => Boolean(stream.isTTY) && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
const paintOut = wantsColor(stdout) ? colors : plain;
const paintErr = wantsColor(stderr) ? colors : plain;

async function main(words: readonly string[]): Promise<number> {
  const json = words.includes('--json');
  try {
    return await run(words);
  } catch (error) {
    if (interruption.signal.aborted) return 130;
    return fail(error, json, words.includes('--verbose'));
  }
}

async function run(words: readonly string[]): Promise<number> {
  // What is not ours may take a value; only the words before the verb matter here.
  const [verb] = parseArgs({
    args: [...words],
    options: globalOptions,
    strict: false,
    allowPositionals: true,
  }).positionals;
  const entry = verb === undefined ? undefined : commands[verb];
  const command = await entry?.load();
  const { values, positionals } = parse(words, command);
  if (values['version']) return print(`${identity.version}\n`);
  if (verb === undefined) return print(`${generalHelp(commands, paintOut)}\n`, values['help'] ? 0 : 1);
  if (entry === undefined || command === undefined) throw await unknown(verb);
  if (values['help']) return print(`${commandHelp(entry.summary, command, paintOut)}\n`);
  const found = await command.run(createContext(values, positionals.slice(1)));
  return print(draw(found, Boolean(values['json'])), found.exitCode);
}

async function unknown(verb: string): Promise<UsageError> {
  const { unknownCommand } = await import('./failure.ts');
  return unknownCommand(verb, Object.keys(commands));
}

type Words = { readonly values: Context['values']; readonly positionals: readonly string[] };

function parse(words: readonly string[], command: Command | undefined): Words {
  const options = { ...globalOptions, ...command?.options };
  try {
    // No option of ours is repeatable, so no value is a list.
    return parseArgs({ args: [...words], options, allowPositionals: true, strict: command !== undefined }) as Words;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function createContext(values: Context['values'], positionals: readonly string[]): Context {
  const cwd = resolve(typeof values['cwd'] === 'string' ? values['cwd'] : '.');
  const file = values['config'];
  return {
    positionals,
    values,
    cwd,
    env,
    runtimeOptions: { cwd, env, ...(typeof file === 'string' && { config: resolve(file) }) },
    signal: interruption.signal,
    ask: stdin.isTTY && stderr.isTTY ? (question) => yesOrNo(question, stdin, stderr) : undefined,
    waitFor: createWaitFor(values['quiet'] || !stderr.isTTY ? undefined : stderr, paintErr),
    readStdin: async () => Buffer.concat(await stdin.toArray()).toString('utf8'),
  };
}

const draw = (found: Found, json: boolean) => (json ? documentText(found.data) : `${found.text(paintOut)}\n`);

/** Resolves when the text is out: a pipe may take it slowly, and an exit would cut it off. */
function print(text: string, exitCode = 0): Promise<number> {
  return new Promise((done) => stdout.write(text, () => done(exitCode)));
}

async function fail(error: unknown, json: boolean, verbose: boolean): Promise<number> {
  const { describeFailure } = await import('./failure.ts');
  const { message, exitCode, document } = describeFailure(error);
  if (json) return print(documentText(document), exitCode);
  stderr.write(`${paintErr.red('plexus:')} ${printable(message)}\n`);
  if (verbose && error instanceof Error) stderr.write(`${paintErr.dim(printable(error.stack ?? ''))}\n`);
  return exitCode;
}

/** Ctrl-C ends the work and closes the servers; a second one ends the process. */
const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => interruption.abort(new DOMException('interrupted', 'AbortError')));
}
/** Whoever reads us has heard enough: `plexus tools | head` is not a failure. */
stdout.on('error', () => process.exit(0));

process.exitCode = await main(argv.slice(2));
