// Owns whether an address that a list names covers the address of a server. Each part is matched by itself, so that no path can
// pose as a host.

import { matchesWildcard } from '../kernel/wildcard.ts';
import type { RemoteLaunch } from '../model/server.ts';

/** Denying is broad: any scheme, any port that is not named, any case, any number of slashes. Allowing takes an address literally. */
export type ListUse = 'allow' | 'deny';

export interface ServerAddress {
  readonly protocol: string;
  readonly host: string;
  /** Without the dots that may stand behind a host. */
  readonly broadHost: string;
  readonly port: string;
  /** With its query. */
  readonly path: string;
  /** In lower case, as written and with single slashes: servers take several slashes for one. */
  readonly broadPaths: readonly [asWritten: string, shortened: string];
}

/** `undefined`: the text is no address. */
export function parseAddress(url: string): ServerAddress | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol: scheme, hostname, port, pathname, search } = new URL(url);
  const protocol = scheme.slice(0, -1);
  const path = withoutEscapes(pathname + search);
  return {
    protocol,
    host: normalHost(hostname),
    broadHost: broadHost(hostname),
    port: port || defaultPort(protocol),
    path,
    broadPaths: broadPaths(path),
  };
}

export interface AddressPattern {
  readonly hasWildcardHost: boolean;
  readonly coversHost: (address: ServerAddress) => boolean;
  /** Whether the address is the named one or lies below it. */
  readonly covers: (address: ServerAddress) => boolean;
}

const ADDRESS = /^(?:([\w+.*-]+):\/\/)?([^/?#]*)(.*)$/s;

export function parseAddressPattern(pattern: string, use: ListUse): AddressPattern {
  const [, scheme = '*', authority = '', path = ''] = ADDRESS.exec(pattern) ?? [];
  const [, name = '', port] = /^(?:.*@)?(.*?)(?::(\d+|\*))?$/.exec(authority.toLowerCase()) ?? [];
  const isDeny = use === 'deny';
  const host = isDeny ? broadHost(name) : normalHost(name);
  const isHost = textPattern(host);
  const plainPath = withoutEscapes(path);
  const paths = (isDeny ? broadPaths(plainPath) : [plainPath]).map(pathPattern);
  const coversHost = (address: ServerAddress) => isHost(isDeny ? address.broadHost : address.host);
  const coversScheme = ({ protocol }: ServerAddress) => isDeny || matchesWildcard(scheme.toLowerCase(), protocol);
  const coversPort = (address: ServerAddress) =>
    port === '*' || (port === undefined && isDeny) || (port ?? defaultPort(address.protocol)) === address.port;
  const coversPath = ({ path, broadPaths }: ServerAddress) =>
    paths.some((isPath, at) => isPath((isDeny ? broadPaths[at] : path) ?? path));
  return {
    hasWildcardHost: hasWildcard(host),
    coversHost,
    covers: (address) => coversHost(address) && coversScheme(address) && coversPort(address) && coversPath(address),
  };
}

/** As a deny list sees it; a placeholder in the address is taken as it is written. */
export function coversAddress(pattern: string, { url }: RemoteLaunch): boolean {
  const address = parseAddress(url);
  return address !== undefined && parseAddressPattern(pattern, 'deny').covers(address);
}

export const hasWildcard = (pattern: string) => /[*?]/.test(pattern);

/** Compares the beginning and the end first: most texts already differ there, and that is far cheaper. */
export function textPattern(pattern: string): (text: string) => boolean {
  if (!hasWildcard(pattern)) return (text) => text === pattern;
  const literals = pattern.split(/[*?]/);
  const [head = ''] = literals;
  const tail = literals.at(-1) ?? '';
  return (text) => text.startsWith(head) && text.endsWith(tail) && matchesWildcard(pattern, text);
}

const defaultPort = (protocol: string) => (/^(http|ws)$/.test(protocol) ? '80' : '443');

/** A host as `URL` spells it: other alphabets in punycode, numbers in one notation. A dot at the end is left out. */
function normalHost(host: string): string {
  const bare = host.replace(/\.$/, '');
  return URL.canParse(`http://${bare}`) ? new URL(`http://${bare}`).hostname : bare;
}

const broadHost = (host: string) => normalHost(host.replace(/(?<!\.)\.+$/, ''));

/** An ordinary character means the same when it is percent-encoded. */
const withoutEscapes = (path: string) =>
  path.replace(/%[0-9a-f]{2}/gi, (coded) => {
    const character = String.fromCharCode(Number.parseInt(coded.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : coded.toUpperCase();
  });

function pathPattern(pattern: string): (path: string) => boolean {
  if (pattern.includes('*')) return (path) => matchesWildcard(pattern, path);
  const base = pattern.replace(/\/$/, '');
  return (path) => path.startsWith(base) && (base === '' || ['', '/', '?'].includes(path.charAt(base.length)));
}

const broadPaths = (path: string) => [path.toLowerCase(), path.toLowerCase().replace(/\/{2,}/g, '/')] as const;
