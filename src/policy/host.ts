// Owns whether an address in a call's arguments is on a host that a rule names. "yes" means that every server finds that host in
// it; an address that servers may read in different ways is "unsure".

import { latePattern } from '../kernel/late-pattern.ts';
import { embeddedIPv4 } from '../kernel/local-address.ts';
import { matchesWildcard } from '../kernel/wildcard.ts';
import { limits } from '../model/limits.ts';
import { anyOf, type TriState } from './tri-state.ts';

export interface HostPattern {
  readonly name: string;
  /** Other names of the same machine. They match for a deny or ask, and never for an allow. */
  readonly aliases: readonly string[];
  /** Absent: an allow means the default port of the address's scheme, a deny or ask every port. */
  readonly port?: string;
}

/** `model/rule` has checked that the text is a host or a pattern of hosts. `undefined`: it is not valid in a URL. */
export function hostPatternOf(text: string): HostPattern | undefined {
  const [, written = '', port] = /^(.*?)\.?(?::(\d+|\*))?$/s.exec(text) ?? [];
  const isAscii = /^[!-~]+$/.test(written);
  // A question mark ends the host in a URL, so a pattern with one cannot be converted to ASCII.
  if (!isAscii && written.includes('?')) return undefined;
  const name = isAscii ? written.toLowerCase() : urlAddressOf(`http://${written}/`)?.name;
  if (name === undefined) return undefined;
  const aliases = /[*?]/.test(name) ? [] : aliasesOf(urlAddressOf(`http://${name}/`)?.name ?? name);
  return { name, aliases, ...(port !== undefined && { port }) };
}

export function hostMatch(value: string, patterns: readonly HostPattern[]): TriState {
  if (value.length > limits.ruleValues.textChars) return 'unsure';
  const further = furtherAddresses(value);
  if (further.length > MOST_ADDRESSES) return 'unsure';
  const [first, ...others] = [value, ...further].map((text) => matchOne(text, patterns));
  return first !== undefined && others.every((each) => each === first) ? first : 'unsure';
}

/** No call that a person wants allowed lists more. */
const MOST_ADDRESSES = 64;

function matchOne(text: string, patterns: readonly HostPattern[]): TriState {
  const address = parseAddress(text);
  return address ? anyOf(patterns, (pattern) => compare(pattern, address)) : 'unsure';
}

/**
 * The addresses that follow the first one, for servers that take lists. A comma is legal in a path, so what follows one must look
 * like an address: with a scheme, or as a host alone.
 */
function furtherAddresses(value: string): readonly string[] {
  const texts = new Set([value, decode(value)]);
  return [...texts].flatMap((text) => {
    const [, ...parts] = text.split(/[\s,;|]+/);
    return parts.flatMap((part) => {
      const at = part.indexOf('://');
      const [scheme = ''] = /[a-z][a-z0-9+.-]{0,30}$/i.exec(part.slice(Math.max(0, at - 31), Math.max(0, at))) ?? [];
      if (at >= 0) return part.slice(at - scheme.length);
      const bare = part.replace(/^["'`<([]*(?:\/\/)?(?=[a-z0-9])/i, '');
      return part.startsWith('//') || HOST_ALONE.test(bare) ? `https://${bare}` : [];
    });
  });
}

const HOST_ALONE =
  /^(?:(?:[a-z0-9_-]+\.)+[a-z][a-z0-9-]+|localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])\.?(?:[:/?#]|$)/i;

function decode(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString());
}

interface HostAddress {
  readonly name: string;
  readonly port: string;
  readonly isDefaultPort: boolean;
}

function compare(
  { name, aliases, port }: HostPattern,
  address: HostAddress & { readonly isCertain: boolean },
): TriState {
  if (port !== undefined && port !== '*' && port !== address.port) return 'no';
  if (matchesWildcard(name, address.name))
    return address.isCertain && (port !== undefined || address.isDefaultPort) ? 'yes' : 'unsure';
  return aliasesOf(address.name).some((each) => aliases.includes(each) || matchesWildcard(name, each))
    ? 'unsure'
    : 'no';
}

/** Every name under which the network finds the same machine, including its own, as URLs spell it. */
function aliasesOf(name: string): readonly string[] {
  const address = ipv4Of(name) ?? name;
  const isLoopback = LOOPBACK.includes(address) || LOOPBACK_NAME.test(address);
  return [...new Set([name, address, ...(isLoopback ? LOOPBACK : [])])];
}

/** Names of this machine; a connection to `0.0.0.0` or `[::]` ("any address") arrives here too. */
const LOOPBACK = [
  '127.0.0.1',
  'localhost',
  '[::1]',
  '0.0.0.0',
  '[::]',
  'localhost.localdomain',
  'localhost4',
  'localhost4.localdomain4',
  'localhost6',
  'localhost6.localdomain6',
  'ip6-localhost',
  'ip6-loopback',
  'loopback',
];
/** The whole block of its numbers, names below `localhost`, and public names that lead here by design. */
const LOOPBACK_NAME = /^(?:127|0)(?:\.\d+){3}$|(?:^|\.)(?:localhost|localtest\.me|lvh\.me|vcap\.me|lacolhost\.com)$/;

/** Public names that lead to the number they contain. */
const NUMBER_NAME = /(?:^|[.-])(\d{1,3})[.-](\d{1,3})[.-](\d{1,3})[.-](\d{1,3})\.(?:nip\.io|sslip\.io|xip\.io)$/;

/** The IPv4 address that a name or an IPv6 address stands for. */
function ipv4Of(name: string): string | undefined {
  const [, ...spelled] = NUMBER_NAME.exec(name) ?? [];
  return spelled.length > 0 ? spelled.map(Number).join('.') : embeddedIPv4(name.slice(1, -1));
}

/**
 * URL parsers differ on user names and passwords, backslashes, blanks, escapes, other alphabets and numbers in place of names.
 * A URL with one of these has no host that all parsers find.
 */
const ADDRESS = latePattern(
  String.raw`^([a-z][a-z0-9+.-]*)://([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?(?:/[^\s\\\p{Cc}]*|[?#][^\s\\@\p{Cc}]*)?$`,
  'iu',
);
const NAME = /^[a-z0-9._-]+$/i;
const DEFAULT_PORTS: ReadonlyMap<string, string> = new Map([
  ['http', '80'],
  ['ws', '80'],
  ['https', '443'],
  ['wss', '443'],
]);

function parseAddress(value: string): (HostAddress & { readonly isCertain: boolean }) | undefined {
  const [, scheme = 'https', written = value] = ADDRESS().exec(value) ?? [];
  if (written === value && !NAME.test(value)) return undefined;
  const address = urlAddressOf(written === value ? `https://${value}/` : value);
  const name = written.toLowerCase();
  if (address === undefined || address.name !== name) return undefined;
  // With a dot at the end the network finds the same host, but most code that compares names sees another one.
  const isCertain = DEFAULT_PORTS.has(scheme.toLowerCase()) && !name.endsWith('.');
  return { ...address, name: name.replace(/\.$/, ''), isCertain };
}

function urlAddressOf(text: string): HostAddress | undefined {
  if (!URL.canParse(text)) return undefined;
  const { hostname, port, protocol } = new URL(text);
  const defaultPort = DEFAULT_PORTS.get(protocol.slice(0, -1)) ?? '';
  return { name: hostname.toLowerCase(), port: port || defaultPort, isDefaultPort: port === '' };
}
