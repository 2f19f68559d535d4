// Owns turning what a person typed or pasted into the entry of one server. Whether the entry makes sense is `config/define.ts`'s.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type ConfigMap, isMap } from '../config/config-map.ts';
import { type HostEnvironment, pathsOf } from '../config/scopes.ts';
import type { StdioLaunch } from '../model/server.ts';
import { type Context, UsageError } from './command.ts';
import { shellWord } from './render/text.ts';

/** `-- COMMAND ARGS…`, or `--url`; the words of the command are taken as they are. */
export function entryFromWords(name: string, { positionals, rest, values }: Context): ConfigMap {
  const [, ...stray] = positionals;
  if (stray.length > 0) throw new UsageError(howToSay(name, [...stray, ...rest]));
  const { url, transport } = values;
  const [command, ...args] = rest;
  const env = pairsIn('env', values['env'], /^([^=]+)=([\s\S]*)$/);
  const headers = pairsIn('header', values['header'], /^([^=:\s]+)\s*[=:]\s*([\s\S]*)$/);
  if (command !== undefined && url !== undefined)
    throw new UsageError('a server has a command, after --, or an address, after --url, and not both');
  if (command === undefined && url === undefined)
    throw new UsageError(`say what "${name}" is: its command, after --, or its address, after --url`);
  if (headers && url === undefined) throw new UsageError('--header is for a server with --url; a command takes --env');
  return {
    ...(command !== undefined && { command, ...(args.length > 0 && { args }) }),
    ...(url !== undefined && { url }),
    ...(transport !== undefined && { transport }),
    ...(headers && { headers }),
    ...(env && { env }),
  };
}

function howToSay(name: string, words: readonly string[]): string {
  const [first = ''] = words;
  const meant = /^(https?|wss?):\/\//i.test(first) ? ['--url', first] : ['--', ...words];
  return `write it so: plexus add ${[name, ...meant].map(shellWord).join(' ')}`;
}

function pairsIn(option: string, given: Context['values'][string], shape: RegExp): ConfigMap | undefined {
  if (!Array.isArray(given)) return undefined;
  const pairs = given.map((word: string): [string, string] => {
    const [, key, value = ''] = shape.exec(word) ?? [];
    if (key === undefined) throw new UsageError(`--${option} takes NAME=VALUE, and "${word}" is not that`);
    return [key, value];
  });
  return Object.fromEntries(pairs);
}

/** JSON itself, `@FILE`, or `-` for standard input; comments and trailing commas do no harm. */
export async function entryFromJson(name: string, given: string, context: Context): Promise<ConfigMap> {
  const { text, source } = await textOf(given, context);
  const { parseJson } = await import('../config/sources/json.ts');
  const parsed = await parseJson(text);
  if (!parsed.ok) {
    const { line, column, message, excerpt } = parsed.problem;
    throw new UsageError(`${source} is not valid JSON, line ${line}, column ${column}: ${message}, at: ${excerpt}`);
  }
  const { value } = parsed.document;
  if (!isMap(value)) throw new UsageError(`${source} must be a JSON object with the settings of one server`);
  return unwrap(name, value);
}

async function textOf(given: string, { cwd, readStdin }: Context) {
  if (given === '-') return { text: await readStdin(), source: 'standard input' };
  if (!given.startsWith('@')) return { text: given, source: 'what you gave' };
  const file = resolve(cwd, given.slice(1));
  try {
    return { text: await readFile(file, 'utf8'), source: file };
  } catch (error) {
    throw new UsageError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`);
  }
}

/** People paste what a README shows: often the whole file around one server, and sometimes its name inside. */
async function unwrap(name: string, value: ConfigMap): Promise<ConfigMap> {
  const { entriesOf, findGroups } = await import('../config/groups.ts');
  const entries = findGroups(value).groups.flatMap((group) => entriesOf(group) ?? []);
  const [only, other] = entries;
  if (only === undefined) return withoutName(name, value);
  if (other !== undefined) {
    const names = entries.map((each) => `"${each.name}"`).join(', ');
    throw new UsageError(`it holds ${entries.length} servers, ${names}; give the settings of one`);
  }
  if (!isMap(only.value)) throw new UsageError(`what it says about "${name}" is no JSON object`);
  return only.value;
}

function withoutName(name: string, { name: written, ...rest }: ConfigMap): ConfigMap {
  return written === undefined || written === name ? rest : { name: written, ...rest };
}

/**
 * The command as a path that means the same in every folder; `undefined` where it does already, or where a name is looked for
 * in PATH. What begins with a placeholder is the person's own word for where it lies.
 */
export function absoluteCommand(
  { command, cwd: folder = '' }: Pick<StdioLaunch, 'command' | 'cwd'>,
  { cwd, home, platform }: HostEnvironment,
): string | undefined {
  const { isAbsolute, resolve } = pathsOf(platform);
  const isPath = platform === 'win32' ? /[\\/]/.test(command) : command.includes('/');
  if (!isPath || isAbsolute(command) || [command, folder].some((text) => PLACEHOLDER.test(text))) return undefined;
  // No shell is there later to know what ~ means.
  return /^~[\\/]/.test(command) ? resolve(home, command.slice(2)) : resolve(cwd, folder, command);
}

const PLACEHOLDER = /^(?:\$\{|\{env:)/;

/** The entry with another program, in whichever of the shapes it is written: a text, a list of words, a map of its parts. */
export function withCommand(entry: ConfigMap, key: string, { from, to }: { from: string; to: string }): ConfigMap {
  const change = (value: unknown): unknown => {
    if (Array.isArray(value)) return [change(value[0]), ...value.slice(1)];
    if (!isMap(value)) return value === from ? to : value;
    return Object.fromEntries(
      Object.entries(value).map(([part, each]) => [part, COMMAND_PARTS.has(part) ? change(each) : each]),
    );
  };
  return { ...entry, [key]: change(entry[key]) };
}

const COMMAND_PARTS: ReadonlySet<string> = new Set(['path', 'command', 'program', 'cmd']);
