// Owns the lists of servers that may or must not be used: by name, by command, by address. Asked when files are read, again
// with everything filled in when a server is opened, and at every call. Renaming a server evades none of them.

import { matchesWildcard } from '../kernel/wildcard.ts';
import type { RemoteLaunch, ServerDefinition } from '../model/server.ts';
import { isUndecided } from './launch.ts';
import type { ListedServer } from './schema.ts';

export interface ListedServers {
  /** Empty: allows everything. */
  readonly allowlist: readonly ListedServer[];
  readonly denylist: readonly ListedServer[];
}

interface Subject extends Pick<ServerDefinition, 'name' | 'launch'> {
  /** Everything is filled in: what still looks like a placeholder is text, and nothing is left to be decided later. */
  readonly isFilled?: boolean;
}

/** Every list is asked, whoever wrote it: a file can only ever take servers away. `undefined`: the server may be used. */
export function refusalOf(lists: readonly ListedServers[], subject: Subject): string | undefined {
  if (lists.length === 0) return undefined;
  const server = lookAt(subject);
  const lines = lists.map(linesOf);
  const [denied] = lines.flatMap(({ deny }) => deny.find(({ fits }) => fits(server)) ?? []);
  if (denied !== undefined) return `mcp_server_denylist names ${wordsFor(denied.listed)}`;
  const isAllowed = lines.every(({ allow }) => allow.length === 0 || allow.some(({ fits }) => fits(server)));
  return isAllowed ? undefined : 'mcp_server_allowlist does not name it';
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
}

function lookAt({ name, launch, isFilled = false }: Subject): Seen {
  const isOpen = (text: string) => !isFilled && isUndecided(text);
  const isLocal = launch.kind === 'stdio' || launch.kind === 'in-process';
  return { name, launch, isOpen, address: isLocal ? undefined : addressOf(launch, isOpen) };
}

type Use = 'allow' | 'deny';
type Test = (server: Seen) => boolean;
type Lines = Readonly<Record<Use, readonly { readonly listed: ListedServer; readonly fits: Test }[]>>;

const known = new WeakMap<ListedServers, Lines>();

/** A line taken apart once, for all servers. */
function linesOf(list: ListedServers): Lines {
  const before = known.get(list);
  if (before) return before;
  const lines: Lines = {
    allow: list.allowlist.map((listed) => ({ listed, fits: testFor(listed, 'allow') })),
    deny: list.denylist.map((listed) => ({ listed, fits: testFor(listed, 'deny') })),
  };
  known.set(list, lines);
  return lines;
}

/** All that one line says must fit. */
function testFor(listed: ListedServer, use: Use): Test {
  if (typeof listed === 'string') return listed.includes('://') ? addressTest(listed, use) : nameTest(listed, use);
  const { name, command, url } = listed;
  const tests = [
    ...(name === undefined ? [] : [nameTest(name, use)]),
    ...(command === undefined ? [] : [commandTest(command, use)]),
    ...(url === undefined ? [] : [addressTest(url, use)]),
  ];
  return (server) => tests.every((test) => test(server));
}

/** Denying a name also means the server of that name that a plugin brings. */
function nameTest(pattern: string, use: Use): Test {
  const isMeant = /[*?]/.test(pattern)
    ? (name: string) => matchesWildcard(pattern, name)
    : (name: string) => name === pattern;
  return ({ name }) => isMeant(name) || (use === 'deny' && isMeant(name.replace(/^plugin:[^:]*:/, '')));
}

/** A program stands for all its commands, a list or a whole line for exactly that command. Denying also knows it by its bare name. */
function commandTest(pattern: string | readonly string[], use: Use): Test {
  const line = typeof pattern === 'string' && /\s/.test(pattern) ? pattern.trim().split(/\s+/) : pattern;
  return ({ launch, isOpen }) => {
    if (launch.kind !== 'stdio') return false;
    const isWord = (wanted: string, word: string) => wanted === word || (use === 'allow' && isOpen(word));
    const isProgram = (wanted: string) =>
      isWord(wanted, launch.command) || (use === 'deny' && bareName(wanted) === bareName(launch.command));
    if (typeof pattern === 'string' && isProgram(pattern)) return true;
    if (typeof line === 'string') return false;
    const [program = '', ...args] = line;
    return isProgram(program) && isSameLine(args, launch.args, isWord);
  };
}

const isSameLine = (
  wanted: readonly string[],
  args: readonly string[],
  isWord: (one: string, other: string) => boolean,
) => wanted.length === args.length && wanted.every((arg, at) => isWord(arg, args[at] ?? ''));

const bareName = (command: string) =>
  (command.split(/[\\/]/).at(-1) ?? '').toLowerCase().replace(/\.(exe|cmd|bat|com)$/, '');

/** `undecided`: it holds placeholders, and is known only when its server is opened. */
type Address = 'undecided' | 'invalid' | Readonly<Record<'protocol' | 'host' | 'port' | 'path', string>>;

function addressOf({ url }: RemoteLaunch, isOpen: Seen['isOpen']): Address {
  if (isOpen(url)) return 'undecided';
  if (!URL.canParse(url)) return 'invalid';
  const { protocol: scheme, hostname, port, pathname, search } = new URL(url);
  const protocol = scheme.slice(0, -1);
  return {
    protocol,
    host: normalHost(hostname),
    port: port || defaultPort(protocol),
    path: plain(pathname + search),
  };
}

const ADDRESS = /^(?:([\w+.*-]+):\/\/)?([^/?#]*)(.*)$/s;

/**
 * An address covers all that lies below it. Each part is matched by itself, so that no path can pose as a host. Denying is
 * broad: any scheme, any port that is not named, letters of any case. Allowing takes an address at its word.
 */
function addressTest(pattern: string, use: Use): Test {
  const [, scheme = '*', authority = '', path = ''] = ADDRESS.exec(pattern) ?? [];
  const [, name = '', port] = /^(?:.*@)?(.*?)(?::(\d+|\*))?$/.exec(authority.toLowerCase()) ?? [];
  const host = normalHost(name);
  const isScheme = (protocol: string) => use === 'deny' || matchesWildcard(scheme.toLowerCase(), protocol);
  const isPort = (found: string, protocol: string) =>
    port === '*' || (port === undefined && use === 'deny') || (port ?? defaultPort(protocol)) === found;
  const fold = (text: string) => (use === 'deny' ? text.toLowerCase() : text);
  const base = fold(plain(path));
  return ({ address }) => {
    if (address === undefined || address === 'invalid') return false;
    if (address === 'undecided') return use === 'allow';
    return (
      matchesWildcard(host, address.host) &&
      isScheme(address.protocol) &&
      isPort(address.port, address.protocol) &&
      coversPath(base, fold(address.path))
    );
  };
}

/** As a deny sees it; a placeholder is taken as it is written. */
export function coversAddress(pattern: string, launch: RemoteLaunch): boolean {
  return addressTest(pattern, 'deny')(lookAt({ name: '', launch, isFilled: true }));
}

const defaultPort = (protocol: string) => (/^(http|ws)$/.test(protocol) ? '80' : '443');

/** As an address has it: other alphabets in the letters of the network, numbers in one notation, no dot at the end. */
function normalHost(host: string): string {
  const bare = host.replace(/\.$/, '');
  return URL.canParse(`http://${bare}`) ? new URL(`http://${bare}`).hostname : bare;
}

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
