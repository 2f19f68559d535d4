// Owns building a server's entry from what a person typed or pasted. `config/define.ts` validates the entry.

import { type ConfigMap, isMap } from '../config/config-map.ts';
import { type HostEnvironment, pathsOf } from '../config/scopes.ts';
import type { StdioLaunch } from '../model/server.ts';
import { readText } from './arguments.ts';
import { type Context, UsageError } from './command.ts';
import { shellWord } from './render/text.ts';

/** From `-- COMMAND ARGS…` or `--url`. */
export function entryFromWords(name: string, { positionals, rest, values }: Context): ConfigMap {
  const [, ...stray] = positionals;
  if (stray.length > 0) throw new UsageError(correction(name, [...stray, ...rest]));
  const { url, transport } = values;
  const [command, ...args] = rest;
  const env = pairsIn('env', values['env'], /^([^=]+)=([\s\S]*)$/);
  const headers = pairsIn('header', values['header'], /^([^=:\s]+)\s*[=:]\s*([\s\S]*)$/);
  if (command !== undefined && url !== undefined)
    throw new UsageError('give a command after --, or an address after --url, not both');
  if (command === undefined && url === undefined)
    throw new UsageError(`give the command of "${name}" after --, or its address after --url`);
  if (headers && url === undefined) throw new UsageError('--header is for a server with --url; a command takes --env');
  return {
    ...(command !== undefined && { command, ...(args.length > 0 && { args }) }),
    ...(url !== undefined && { url }),
    ...(transport !== undefined && { transport }),
    ...(headers && { headers }),
    ...(env && { env }),
  };
}

function correction(name: string, words: readonly string[]): string {
  const [first = ''] = words;
  const corrected = /^(https?|wss?):\/\//i.test(first) ? ['--url', first] : ['--', ...words];
  return `did you mean: plexus add ${[name, ...corrected].map(shellWord).join(' ')}`;
}

export function pairsIn(option: string, values: Context['values'][string], shape: RegExp): ConfigMap | undefined {
  if (!Array.isArray(values)) return undefined;
  const pairs = values.map((word: string): [string, string] => {
    const [, key, value = ''] = shape.exec(word) ?? [];
    if (key === undefined) throw new UsageError(`--${option} takes NAME=VALUE, not "${word}"`);
    return [key, value];
  });
  return Object.fromEntries(pairs);
}

/** From JSON, `@FILE`, or `-` for standard input. Comments and trailing commas are allowed. */
export async function entryFromJson(name: string, json: string, context: Context): Promise<ConfigMap> {
  const { text, source } = await readText(json, 'the JSON', context);
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

/** People paste what a README shows: often a whole file with one server, and sometimes with a `name` inside the entry. */
async function unwrap(name: string, value: ConfigMap): Promise<ConfigMap> {
  const { entriesOf, findGroups } = await import('../config/groups.ts');
  const entries = findGroups(value).groups.flatMap((group) => entriesOf(group) ?? []);
  const [only, other] = entries;
  if (only === undefined) return withoutName(name, value);
  if (other !== undefined) {
    const names = entries.map((each) => `"${each.name}"`).join(', ');
    throw new UsageError(`the JSON holds ${entries.length} servers, ${names}; give the settings of one`);
  }
  if (!isMap(only.value)) throw new UsageError(`the settings of "${name}" are not a JSON object`);
  return only.value;
}

function withoutName(name: string, { name: written, ...rest }: ConfigMap): ConfigMap {
  return written === undefined || written === name ? rest : { name: written, ...rest };
}

/**
 * The command as an absolute path, so that it runs the same program from every folder. `undefined` if the command is absolute,
 * is looked up in PATH, or begins with a placeholder, which the person chose.
 */
export function absoluteCommand(
  { command, cwd: folder = '' }: Pick<StdioLaunch, 'command' | 'cwd'>,
  { cwd, home, platform }: HostEnvironment,
): string | undefined {
  const { isAbsolute, resolve } = pathsOf(platform);
  const isPath = platform === 'win32' ? /[\\/]/.test(command) : command.includes('/');
  if (!isPath || isAbsolute(command) || [command, folder].some((text) => PLACEHOLDER.test(text))) return undefined;
  // Servers are started without a shell that would expand `~`.
  return /^~[\\/]/.test(command) ? resolve(home, command.slice(2)) : resolve(cwd, folder, command);
}

const PLACEHOLDER = /^(?:\$\{|\{env:)/;

/** Replaces the program of an entry in any of its notations: a text, a list of words, or a map. */
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
