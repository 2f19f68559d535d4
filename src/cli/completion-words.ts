// Owns which words may come next on a command line: verbs, options, the words of a verb, and the names of configured servers.
// Reads the configuration and starts nothing.

import { resolve } from 'node:path';
import { RuntimeError } from '../model/errors.ts';
import { type Command, type Context, globalOptions } from './command.ts';
import { shells } from './completion-scripts.ts';
import { editedScopes } from './file-of-scope.ts';
import { loadConfigFor } from './load-config.ts';

/** The first word after a verb, where there are only a few. */
const firstWords: Readonly<Record<string, readonly string[]>> = {
  config: ['check', 'why', 'path', 'schema'],
  policy: ['why'],
  completion: shells,
};

const takesServer: ReadonlySet<string> = new Set([
  ...[
    'list',
    'get',
    'tools',
    'call',
    'resources',
    'prompts',
    'prompt',
    'reconnect',
    'logs',
    'remove',
    'enable',
    'disable',
  ],
  ...['approve', 'revoke', 'lock', 'config why', 'policy why'],
]);

/** `typed`: the words after `plexus`; the last one is being typed and may be empty. */
export async function wordsAfter(typed: readonly string[], context: Context): Promise<readonly string[]> {
  const current = typed.at(-1) ?? '';
  const before = typed.slice(0, -1);
  const verb = positionalsOf(before, globalOptions)[0];
  const { commands } = context;
  const command = verb !== undefined && Object.hasOwn(commands, verb) ? await commands[verb]?.load() : undefined;
  const options = { ...globalOptions, ...command?.options };
  const found = await candidates({ before, current, options }, context);
  return found.filter((word) => word.startsWith(current)).toSorted();
}

interface CommandLineSoFar {
  readonly before: readonly string[];
  readonly current: string;
  readonly options: Command['options'];
}

async function candidates(line: CommandLineSoFar, context: Context): Promise<readonly string[]> {
  const { before, current, options } = line;
  const previous = before.at(-1);
  if (before.includes('--')) return [];
  if (previous !== undefined && takesValue(previous, options)) return valuesOf(previous, before, context);
  if (current.startsWith('-')) return Object.keys(options).map((name) => `--${name}`);
  const words = positionalsOf(before, options);
  const [verb] = words;
  const verbs = Object.keys(context.commands);
  if (verb === undefined) return [...verbs, 'help'];
  if (verb === 'help') return verbs;
  if (takesServer.has(words.join(' '))) return serverNames(before, context);
  return words.length === 1 ? (firstWords[verb] ?? []) : [];
}

/** No candidates for a file: then the shell offers its own. */
async function valuesOf(option: string, before: readonly string[], context: Context): Promise<readonly string[]> {
  if (option === '--scope' || option === '-s') return editedScopes;
  if (option === '--server') return serverNames(before, context);
  if (option === '--provider') return (await import('../agent/models/providers.ts')).providerNames;
  if (option !== '--from') return [];
  return (await import('../config/importers/importers.ts')).importers.map(({ app }) => app);
}

function positionalsOf(words: readonly string[], options: Command['options']): readonly string[] {
  return words.filter((word, at) => !word.startsWith('-') && !takesValue(words[at - 1] ?? '', options));
}

function takesValue(word: string, options: Command['options']): boolean {
  const [name, { type } = { type: 'boolean' }] =
    Object.entries(options).find(([each, { short }]) => word === `--${each}` || word === `-${short}`) ?? [];
  return name !== undefined && type === 'string';
}

/** With the files that the line itself names. A configuration that cannot be loaded has no names to offer. */
async function serverNames(before: readonly string[], context: Context): Promise<readonly string[]> {
  const value = (option: string) => (before.includes(option) ? before[before.indexOf(option) + 1] : undefined);
  const [file, folder = '.'] = [value('--config'), value('--cwd')];
  const cwd = resolve(context.cwd, folder);
  const config = file === undefined ? {} : { config: resolve(context.cwd, file) };
  const named = { ...context, cwd, runtimeOptions: { ...context.runtimeOptions, cwd, ...config } };
  try {
    const { definitions, invalid } = await loadConfigFor(named);
    return [...new Set([...definitions, ...invalid].map(({ name }) => name))];
  } catch (error) {
    if (error instanceof RuntimeError) return [];
    throw error;
  }
}
