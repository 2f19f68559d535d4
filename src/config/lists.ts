// Owns the lists of servers that may or must not be used: by name, by command, by address. They are checked when files are read
// and, with all placeholders filled in, when a server is opened. Renaming a server evades none of them.

import type { ServerDefinition } from '../model/server.ts';
import {
  hasWildcard,
  type ListUse,
  parseAddress,
  parseAddressPattern,
  type ServerAddress,
  textPattern,
} from './address-pattern.ts';
import { isUndecided } from './launch.ts';
import type { ListedServer } from './schema.ts';
import { bareName, commandsIn } from './wrapped-command.ts';

export interface ListedServers {
  /** An empty list allows everything. */
  readonly allowlist: readonly ListedServer[];
  readonly denylist: readonly ListedServer[];
  /** The file that holds the lists. */
  readonly file?: string;
}

export interface ListRefusal {
  /** Completes "it is not in use: …". */
  readonly because: string;
  readonly file?: string;
}

interface ListSubject extends Pick<ServerDefinition, 'name' | 'launch'> {
  /** The launch is filled in: text that still looks like a placeholder is plain text, and nothing is left to be decided later. */
  readonly isFilled?: boolean;
}

/** The reason in words, with the file. `undefined`: the server may be used. */
export function refusalOf(lists: readonly ListedServers[], subject: ListSubject): string | undefined {
  const refusal = findRefusal(lists, subject);
  return refusal && inWords(refusal);
}

export const inWords = ({ because, file }: ListRefusal) => (file === undefined ? because : `${because} (in ${file})`);

/** Every list of every file counts: a file can only ever take servers away. `undefined`: the server may be used. */
export function findRefusal(lists: readonly ListedServers[], subject: ListSubject): ListRefusal | undefined {
  if (lists.length === 0) return undefined;
  const server = examine(subject);
  const refuse = ({ file }: ListedServers, because: string): ListRefusal => ({
    because,
    ...(file !== undefined && { file }),
  });
  for (const list of lists) {
    const found = findLine(compiled(list).deny, server);
    if (found === 'too-long') return refuse(list, 'mcp_server_denylist is too long to be held against every server');
    if (found) return refuse(list, `mcp_server_denylist names ${wordsFor(found.listed)}`);
  }
  for (const list of lists.filter(({ allowlist }) => allowlist.length > 0)) {
    const found = findLine(compiled(list).allow, server);
    if (found === 'too-long') return refuse(list, 'mcp_server_allowlist is too long to be held against every server');
    if (found === undefined) return refuse(list, 'mcp_server_allowlist does not name it');
  }
  return undefined;
}

function wordsFor(listed: ListedServer): string {
  if (typeof listed === 'string') return listed.includes('://') ? `the address ${listed}` : 'it';
  if (listed.command !== undefined) return `the command ${[listed.command].flat().join(' ')}`;
  return listed.url === undefined ? 'it' : `the address ${listed.url}`;
}

/** A server taken apart once, for all lines of all lists. */
interface ExaminedServer {
  readonly name: string;
  /** Every name that a deny knows the server by. */
  readonly names: readonly string[];
  /** The command and its arguments; a word is `undefined` as long as its placeholders may still make anything of it. */
  readonly words?: readonly (string | undefined)[];
  /** Every command that a deny knows the server by, in the words of `commandKey`. */
  readonly commands: ReadonlySet<string>;
  /** Absent for a local server, and for what is no address. */
  readonly address?: ServerAddress | 'undecided' | undefined;
}

function examine({ name, launch, isFilled = false }: ListSubject): ExaminedServer {
  const isOpen = (text: string) => !isFilled && isUndecided(text);
  const server = { name, names: namesOf(name), commands: new Set<string>() };
  if (launch.kind === 'in-process') return server;
  if (launch.kind !== 'stdio')
    return { ...server, address: isOpen(launch.url) ? 'undecided' : parseAddress(launch.url) };
  const words = [launch.command, ...launch.args];
  return {
    ...server,
    words: words.map((word) => (isOpen(word) ? undefined : word)),
    commands: new Set(
      commandsIn(words).flatMap(([program = '', ...args]) => {
        const bare = bareName(program);
        return [commandKey(bare), commandKey([bare, ...args])];
      }),
    ),
  };
}

/** A program, or one exact command. */
const commandKey = (command: string | readonly string[]) => JSON.stringify(command);

/** A plugin's server is also known without its plugin; a colon may belong to the name of either. */
function namesOf(name: string): readonly string[] {
  if (!name.startsWith('plugin:')) return [name];
  const [, , ...parts] = name.split(':');
  return [name, ...parts.map((_, at) => parts.slice(at).join(':'))];
}

type ServerTest = (server: ExaminedServer) => boolean;

interface Condition {
  readonly matches: ServerTest;
  /** A cheap test that rules nearly all servers out. A pattern with wildcards has none. */
  readonly mayMatch: ServerTest | undefined;
  readonly cost: number;
}

interface ListLine extends Condition {
  readonly listed: ListedServer;
}

type PlainLine = ListLine & { readonly mayMatch: ServerTest };

interface CompiledList {
  /** Lines with a cheap test. */
  readonly plain: readonly PlainLine[];
  readonly patterns: readonly ListLine[];
}

const compiledLists = new WeakMap<ListedServers, Readonly<Record<ListUse, CompiledList>>>();

/** Lines are parsed once, for all servers. */
function compiled(list: ListedServers): Readonly<Record<ListUse, CompiledList>> {
  const known = compiledLists.get(list);
  if (known) return known;
  const lists = { allow: compile(list.allowlist, 'allow'), deny: compile(list.denylist, 'deny') };
  compiledLists.set(list, lists);
  return lists;
}

function compile(list: readonly ListedServer[], use: ListUse): CompiledList {
  const lines = list.map((listed): ListLine => {
    const { matches, mayMatch, cost } = conditionFor(listed, use);
    return { listed, matches, mayMatch, cost };
  });
  return {
    plain: lines.filter((line): line is PlainLine => line.mayMatch !== undefined),
    patterns: lines.filter(({ mayMatch }) => mayMatch === undefined),
  };
}

/** How much one list may cost for one server: ten thousand plain lines, or two thousand with wildcards. */
const HIGHEST_COST = 50_000;
const WILDCARD_COST = 20;
const costOf = (pattern: string) => (hasWildcard(pattern) ? WILDCARD_COST : 1) + pattern.length / 64;

/**
 * Lines that name the server plainly come first. `too-long`: the list was not searched, since a hostile list must not delay the
 * start.
 */
function findLine(list: CompiledList, server: ExaminedServer): ListLine | 'too-long' | undefined {
  const { name, names, address } = server;
  const length = name.length + (typeof address === 'object' ? address.path.length : 0);
  let budget = HIGHEST_COST / (names.length * Math.max(1, length / 256));
  for (const candidates of [list.plain.filter(({ mayMatch }) => mayMatch(server)), list.patterns]) {
    for (const { cost } of candidates) budget -= cost;
    if (budget < 0) return 'too-long';
    const found = candidates.find(({ matches }) => matches(server));
    if (found) return found;
  }
  return undefined;
}

/** A line may hold several conditions, and all of them must match. */
function conditionFor(listed: ListedServer, use: ListUse): Condition {
  if (typeof listed === 'string')
    return listed.includes('://') ? addressCondition(listed, use) : nameCondition(listed, use);
  const { name, command, url } = listed;
  const conditions = [
    ...(name === undefined ? [] : [nameCondition(name, use)]),
    ...(command === undefined ? [] : [commandCondition(command, use)]),
    ...(url === undefined ? [] : [addressCondition(url, use)]),
  ];
  return {
    matches: (server) => conditions.every(({ matches }) => matches(server)),
    mayMatch: conditions.find((each) => each.mayMatch)?.mayMatch,
    cost: conditions.reduce((sum, { cost }) => sum + cost, 0),
  };
}

/** Denying a name also denies a plugin's server of that name. */
function nameCondition(pattern: string, use: ListUse): Condition {
  const isName = textPattern(pattern);
  const matches: ServerTest = use === 'deny' ? ({ names }) => names.some(isName) : ({ name }) => isName(name);
  return { matches, mayMatch: hasWildcard(pattern) ? undefined : matches, cost: costOf(pattern) };
}

/**
 * A program stands for all its commands; a list, or a whole command line, for exactly that command. A deny also finds it under
 * its bare name, and inside programs that only start another.
 */
function commandCondition(pattern: string | readonly string[], use: ListUse): Condition {
  const program = typeof pattern === 'string' ? pattern : undefined;
  const line = program === undefined ? [pattern].flat() : /\s/.test(program) ? program.trim().split(/\s+/) : [];
  const [first = '', ...args] = line;
  const keys = [
    ...(program === undefined ? [] : [commandKey(bareName(program))]),
    ...(line.length === 0 ? [] : [commandKey([bareName(first), ...args])]),
  ];
  const isWord = (wanted: string, word: string | undefined) => word === undefined || word === wanted;
  const isAllowed: ServerTest = ({ words }) =>
    words !== undefined &&
    ((program !== undefined && isWord(program, words[0])) ||
      (line.length > 0 && line.length === words.length && line.every((wanted, at) => isWord(wanted, words[at]))));
  const matches: ServerTest = use === 'allow' ? isAllowed : ({ commands }) => keys.some((key) => commands.has(key));
  return { matches, mayMatch: matches, cost: Math.max(1, line.length) };
}

/** An address whose placeholders are open may become any, so it is allowed until its server is opened. */
function addressCondition(pattern: string, use: ListUse): Condition {
  const { hasWildcardHost, covers, coversHost } = parseAddressPattern(pattern, use);
  const holds =
    (test: (address: ServerAddress) => boolean): ServerTest =>
    ({ address }) =>
      address === 'undecided' ? use === 'allow' : address !== undefined && test(address);
  return { matches: holds(covers), mayMatch: hasWildcardHost ? undefined : holds(coversHost), cost: costOf(pattern) };
}
