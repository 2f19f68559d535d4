// Owns the lists of servers that may or must not be used: by name, by command, by address. Asked when files are read, again
// with everything filled in when a server is opened, and at every call. Renaming a server evades none of them.

import { matchesWildcard } from '../kernel/wildcard.ts';
import type { RemoteLaunch, ServerDefinition } from '../model/server.ts';
import { isUndecided } from './launch.ts';
import type { ListedServer } from './schema.ts';
import { bareName, commandsIn } from './wrapped-command.ts';

export interface ListedServers {
  /** Empty: allows everything. */
  readonly allowlist: readonly ListedServer[];
  readonly denylist: readonly ListedServer[];
  /** Where they are written. */
  readonly file?: string;
}

export interface ListRefusal {
  /** Completes "it is not in use: …". */
  readonly because: string;
  readonly file?: string;
}

interface Subject extends Pick<ServerDefinition, 'name' | 'launch'> {
  /** Everything is filled in: what still looks like a placeholder is text, and nothing is left to be decided later. */
  readonly isFilled?: boolean;
}

export function refusalOf(lists: readonly ListedServers[], subject: Subject): string | undefined {
  const refusal = findRefusal(lists, subject);
  return refusal && inWords(refusal);
}

/** With the place. */
export const inWords = ({ because, file }: ListRefusal) => (file === undefined ? because : `${because} (in ${file})`);

/** Every list is asked, whoever wrote it: a file can only ever take servers away. `undefined`: the server may be used. */
export function findRefusal(lists: readonly ListedServers[], subject: Subject): ListRefusal | undefined {
  if (lists.length === 0) return undefined;
  const server = lookAt(subject);
  const refuse = ({ file }: ListedServers, because: string): ListRefusal => ({
    because,
    ...(file !== undefined && { file }),
  });
  for (const list of lists) {
    const found = findLine(fileLines(list).deny, server, denyKeys(server));
    if (found === 'too-much') return refuse(list, 'mcp_server_denylist is too long to be held against every server');
    if (found) return refuse(list, `mcp_server_denylist names ${wordsFor(found.listed)}`);
  }
  for (const list of lists) {
    const { allow } = fileLines(list);
    if (allow.all.lines.length === 0) continue;
    const found = findLine(allow, server, allowKeys(server));
    if (found === 'too-much') return refuse(list, 'mcp_server_allowlist is too long to be held against every server');
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
interface Seen extends Pick<Subject, 'name' | 'launch'> {
  readonly address: Address | undefined;
  /** Whether a text may still become anything. */
  readonly isOpen: (text: string) => boolean;
  /** As a deny knows it. */
  readonly names: readonly string[];
  readonly commands: ReadonlySet<string>;
}

function lookAt({ name, launch, isFilled = false }: Subject): Seen {
  const isOpen = (text: string) => !isFilled && isUndecided(text);
  const isLocal = launch.kind === 'stdio' || launch.kind === 'in-process';
  return {
    ...{ name, launch, isOpen },
    address: isLocal ? undefined : addressOf(launch, isOpen),
    names: namesOf(name),
    commands: new Set(
      launch.kind === 'stdio'
        ? commandsIn([launch.command, ...launch.args]).flatMap((words) => commandKeys(words))
        : [],
    ),
  };
}

/** Who a plugin's server is without its plugin: a colon may belong to the name of either. */
function namesOf(name: string): readonly string[] {
  if (!name.startsWith('plugin:')) return [name];
  const [, , ...parts] = name.split(':');
  return [name, ...parts.map((_, at) => parts.slice(at).join(':'))];
}

type Use = 'allow' | 'deny';
type Test = (server: Seen) => boolean;

/** What a part of a line asks: `keys` are those a server must have one of to fit; without them it is held against every server. */
interface Condition {
  readonly fits: Test;
  readonly keys?: readonly string[];
  readonly weight: number;
}

interface Line extends Condition {
  readonly listed: ListedServer;
}

interface Lines {
  readonly lines: readonly Line[];
  readonly weight: number;
}

/** Lines filed under what they name, so that a server meets only those that may mean it. */
interface Filed {
  readonly all: Lines;
  readonly byKey: ReadonlyMap<string, Lines>;
  readonly others: Lines;
}

const known = new WeakMap<ListedServers, Readonly<Record<Use, Filed>>>();

/** A line taken apart once, for all servers. */
function fileLines(list: ListedServers): Readonly<Record<Use, Filed>> {
  const before = known.get(list);
  if (before) return before;
  const filed = { allow: filedFor(list.allowlist, 'allow'), deny: filedFor(list.denylist, 'deny') };
  known.set(list, filed);
  return filed;
}

function filedFor(list: readonly ListedServer[], use: Use): Filed {
  const all = list.map((listed): Line => ({ listed, ...conditionFor(listed, use) }));
  const piles = new Map<string, Line[]>();
  for (const line of all) {
    for (const key of line.keys ?? []) {
      const beside = piles.get(key);
      if (beside) beside.push(line);
      else piles.set(key, [line]);
    }
  }
  return {
    all: weighed(all),
    byKey: new Map([...piles].map(([key, lines]) => [key, weighed(lines)])),
    others: weighed(all.filter(({ keys }) => keys === undefined)),
  };
}

const weighed = (lines: readonly Line[]): Lines => ({
  lines,
  weight: lines.reduce((sum, { weight }) => sum + weight, 0),
});

/** How much one list may ask of one server: ten thousand plain lines, or two thousand with wildcards. */
const MOST_WORK = 50_000;
const WILDCARD_WEIGHT = 20;
const weightOf = (pattern: string) => (/[*?]/.test(pattern) ? WILDCARD_WEIGHT : 1) + pattern.length / 64;

/** `too-much`: nobody knows whether a line fits, since a hostile list must not hold up the start. `keys` undefined: any may. */
function findLine(filed: Filed, server: Seen, keys: readonly string[] | undefined): Line | 'too-much' | undefined {
  const { address, names } = server;
  const length = server.name.length + (typeof address === 'object' ? address.path.length : 0);
  const price = names.length * Math.max(1, length / 256);
  let left = MOST_WORK;
  for (const { lines, weight } of keys
    ? [...keys.flatMap((key) => filed.byKey.get(key) ?? []), filed.others]
    : [filed.all]) {
    left -= weight * price;
    if (left < 0) return 'too-much';
    const found = lines.find(({ fits }) => fits(server));
    if (found) return found;
  }
  return undefined;
}

const nameKey = (name: string) => `name ${name}`;
const hostKey = (host: string) => `host ${host}`;
const programKey = (program: string) => `program ${program}`;
const lineKey = (words: readonly string[]) => `line ${JSON.stringify(words)}`;

function denyKeys({ names, commands, address }: Seen): readonly string[] {
  return [...names.map(nameKey), ...commands, ...(typeof address === 'object' ? [hostKey(address.broadHost)] : [])];
}

/** What is still open may become what any line names. */
function allowKeys({ name, launch, isOpen, address }: Seen): readonly string[] | undefined {
  if (address === 'undecided') return undefined;
  if (typeof address === 'object') return [nameKey(name), hostKey(address.host)];
  if (launch.kind !== 'stdio') return [nameKey(name)];
  const words = [launch.command, ...launch.args];
  return words.some(isOpen) ? undefined : [nameKey(name), programKey(launch.command), lineKey(words)];
}

/** All that one line says must fit. */
function conditionFor(listed: ListedServer, use: Use): Condition {
  if (typeof listed === 'string') return listed.includes('://') ? anAddress(listed, use) : aName(listed, use);
  const { name, command, url } = listed;
  const conditions = [
    ...(name === undefined ? [] : [aName(name, use)]),
    ...(command === undefined ? [] : [aCommand(command, use)]),
    ...(url === undefined ? [] : [anAddress(url, use)]),
  ];
  const keys = conditions.find((each) => each.keys)?.keys;
  return {
    fits: (server) => conditions.every(({ fits }) => fits(server)),
    weight: conditions.reduce((sum, { weight }) => sum + weight, 0),
    ...(keys && { keys }),
  };
}

/** Most texts already differ where nothing is left open. */
function wildcard(pattern: string): (text: string) => boolean {
  const literals = pattern.split(/[*?]/);
  const head = literals[0] ?? '';
  const tail = literals.at(-1) ?? '';
  if (literals.length === 1) return (text) => text === pattern;
  return (text) => text.startsWith(head) && text.endsWith(tail) && matchesWildcard(pattern, text);
}

/** Denying a name also means the server of that name that a plugin brings. */
function aName(pattern: string, use: Use): Condition {
  const isMeant = wildcard(pattern);
  return {
    fits: ({ name, names }) => (use === 'deny' ? names.some(isMeant) : isMeant(name)),
    weight: weightOf(pattern),
    ...(!/[*?]/.test(pattern) && { keys: [nameKey(pattern)] }),
  };
}

/**
 * A program stands for all its commands, a list or a whole line for exactly that command. Denying also knows it by its bare name,
 * and inside the programs that only start another.
 */
function aCommand(pattern: string | readonly string[], use: Use): Condition {
  const line = typeof pattern === 'string' ? (/\s/.test(pattern) ? pattern.trim().split(/\s+/) : []) : pattern;
  const written = use === 'deny' ? bareName : (program: string) => program;
  const keys = [
    ...(typeof pattern === 'string' ? [programKey(written(pattern))] : []),
    ...(line.length > 0 ? [lineKey([written(line[0] ?? ''), ...line.slice(1)])] : []),
  ];
  const isAllowed: Test = ({ launch, isOpen }) => {
    if (launch.kind !== 'stdio') return false;
    const isWord = (wanted: string, word: string) => wanted === word || isOpen(word);
    if (typeof pattern === 'string' && isWord(pattern, launch.command)) return true;
    const [program, ...args] = line;
    return program !== undefined && isWord(program, launch.command) && isSameLine(args, launch.args, isWord);
  };
  return {
    fits: use === 'allow' ? isAllowed : ({ commands }) => keys.some((key) => commands.has(key)),
    keys,
    weight: Math.max(1, line.length),
  };
}

const isSameLine = (
  wanted: readonly string[],
  args: readonly string[],
  isWord: (one: string, other: string) => boolean,
) => wanted.length === args.length && wanted.every((arg, at) => isWord(arg, args[at] ?? ''));

function commandKeys([program = '', ...args]: readonly string[]): readonly string[] {
  return [programKey(bareName(program)), lineKey([bareName(program), ...args])];
}

/** Nobody nests or chains more; who hides a program deeper could as well put it into a script. */

type Address = 'undecided' | 'invalid' | Readonly<Record<'protocol' | 'host' | 'broadHost' | 'port' | 'path', string>>;

function addressOf({ url }: RemoteLaunch, isOpen: Seen['isOpen']): Address {
  if (isOpen(url)) return 'undecided';
  if (!URL.canParse(url)) return 'invalid';
  const { protocol: scheme, hostname, port, pathname, search } = new URL(url);
  const protocol = scheme.slice(0, -1);
  return {
    protocol,
    host: normalHost(hostname),
    broadHost: broadHost(hostname),
    port: port || defaultPort(protocol),
    path: plain(pathname + search),
  };
}

const ADDRESS = /^(?:([\w+.*-]+):\/\/)?([^/?#]*)(.*)$/s;

/**
 * An address covers all that lies below it. Each part is matched by itself, so that no path can pose as a host. Denying is
 * broad: any scheme, any port that is not named, letters of any case, any number of slashes and of dots behind the host.
 * Allowing takes an address at its word.
 */
function anAddress(pattern: string, use: Use): Condition {
  const [, scheme = '*', authority = '', path = ''] = ADDRESS.exec(pattern) ?? [];
  const [, name = '', port] = /^(?:.*@)?(.*?)(?::(\d+|\*))?$/.exec(authority.toLowerCase()) ?? [];
  const host = use === 'deny' ? broadHost(name) : normalHost(name);
  const isHost = wildcard(host);
  const isScheme = (protocol: string) => use === 'deny' || matchesWildcard(scheme.toLowerCase(), protocol);
  const isPort = (found: string, protocol: string) =>
    port === '*' || (port === undefined && use === 'deny') || (port ?? defaultPort(protocol)) === found;
  const base = plain(path);
  const isPath = use === 'deny' ? coversBroadly(base) : (found: string) => coversPath(base, found);
  return {
    fits: ({ address }) => {
      if (address === undefined || address === 'invalid') return false;
      if (address === 'undecided') return use === 'allow';
      return (
        isHost(use === 'deny' ? address.broadHost : address.host) &&
        isScheme(address.protocol) &&
        isPort(address.port, address.protocol) &&
        isPath(address.path)
      );
    },
    weight: weightOf(pattern),
    ...(!/[*?]/.test(host) && { keys: [hostKey(host)] }),
  };
}

/** As a deny sees it; a placeholder is taken as it is written. */
export function coversAddress(pattern: string, launch: RemoteLaunch): boolean {
  return anAddress(pattern, 'deny').fits(lookAt({ name: '', launch, isFilled: true }));
}

const defaultPort = (protocol: string) => (/^(http|ws)$/.test(protocol) ? '80' : '443');

/** As an address has it: other alphabets in the letters of the network, numbers in one notation, no dot at the end. */
function normalHost(host: string): string {
  const bare = host.replace(/\.$/, '');
  return URL.canParse(`http://${bare}`) ? new URL(`http://${bare}`).hostname : bare;
}

const broadHost = (host: string) => normalHost(host.replace(/(?<!\.)\.+$/, ''));

/** An ordinary character means the same when it is written as a number. */
const plain = (path: string) =>
  path.replace(/%[0-9a-f]{2}/gi, (coded) => {
    const character = String.fromCharCode(Number.parseInt(coded.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : coded.toUpperCase();
  });

function coversPath(pattern: string, path: string): boolean {
  if (pattern.includes('*')) return matchesWildcard(pattern, path);
  const base = pattern.replace(/\/$/, '');
  return (
    base === '' ||
    path === base ||
    path === `${base}/` ||
    [`${base}/`, `${base}?`].some((each) => path.startsWith(each))
  );
}

/** Servers take several slashes for one, so both the path as written and the short one count. */
function coversBroadly(pattern: string): (path: string) => boolean {
  const short = (path: string) => path.replace(/\/{2,}/g, '/');
  const base = pattern.toLowerCase();
  const shortBase = short(base);
  return (path) => {
    const folded = path.toLowerCase();
    return coversPath(base, folded) || coversPath(shortBase, short(folded));
  };
}
