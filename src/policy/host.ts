// Owns whether an address that a call names is on a host that a rule names. To allow, every reader must find that host in it;
// to close, what nobody can read for certain counts as it.

import { matchesWildcard } from '../kernel/wildcard.ts';
import { limits } from '../model/limits.ts';
import { anyOf, type TriState } from './tri-state.ts';

export interface HostPattern {
  readonly name: string;
  /** What else leads to the same machine, whoever writes it: it closes that, and opens nothing. */
  readonly kin: readonly string[];
  /** Absent: to allow, the usual one of the address's scheme; to close, every one. */
  readonly port?: string;
}

/** The text is known to be a host or a pattern of hosts. `undefined`: a browser could not write it. */
export function hostPatternOf(text: string): HostPattern | undefined {
  const [, written = '', port] = /^(.*?)\.?(?::(\d+|\*))?$/s.exec(text) ?? [];
  const isAscii = /^[!-~]+$/.test(written);
  // In an address a question mark ends the host.
  if (!isAscii && written.includes('?')) return undefined;
  const name = isAscii ? written.toLowerCase() : addressOf(`http://${written}/`)?.name;
  if (name === undefined) return undefined;
  const kin = /[*?]/.test(name) ? [] : kinOf(addressOf(`http://${name}/`)?.name ?? name);
  return { name, kin, ...(port !== undefined && { port }) };
}

export function isOnHost(value: string, patterns: readonly HostPattern[]): TriState {
  if (value.length > limits.ruleValues.textChars) return 'unsure';
  const address = read(value);
  return address ? anyOf(patterns, (pattern) => compare(pattern, address)) : 'unsure';
}

interface Address {
  readonly name: string;
  readonly port: string;
  readonly isUsualPort: boolean;
}

function compare({ name, kin, port }: HostPattern, address: Address & { readonly isCertain: boolean }): TriState {
  if (port !== undefined && port !== '*' && port !== address.port) return 'no';
  if (matchesWildcard(name, address.name))
    return address.isCertain && (port !== undefined || address.isUsualPort) ? 'yes' : 'unsure';
  return kinOf(address.name).some((each) => kin.includes(each) || matchesWildcard(name, each)) ? 'unsure' : 'no';
}

/** Every name under which the network finds the same machine; itself among them, as a browser writes it. */
function kinOf(name: string): readonly string[] {
  const number = embeddedIn(name) ?? name;
  const isLoopback = LOOPBACK.includes(number) || /^127(?:\.\d+){3}$|(?:^|\.)localhost$/.test(number);
  return [...new Set([name, number, ...(isLoopback ? LOOPBACK : [])])];
}

/** This machine; who connects to "any address" arrives there too. */
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]', '0.0.0.0', '[::]', 'localhost.localdomain', 'ip6-localhost'];

/** The address of the fourth version that one of the sixth stands for: mapped, compatible, or translated. */
function embeddedIn(name: string): string | undefined {
  const [, high = '', low = ''] =
    /^\[(?:::(?:ffff:(?:0:)?)?|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(name) ?? [];
  if (high === '') return undefined;
  const bytes = [high, low].flatMap((part) => [Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 0xff]);
  return bytes.join('.');
}

/**
 * Readers differ in what they make of names and passwords, backslashes, blanks, escapes, other alphabets and numbers in place
 * of names. What has one of these has no host that all of them find.
 */
const ADDRESS =
  /^([a-z][a-z0-9+.-]*):\/\/([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?(?:\/[^\s\\\p{Cc}]*|[?#][^\s\\@\p{Cc}]*)?$/iu;
const NAME = /^[a-z0-9._-]+$/i;
const CERTAIN: ReadonlyMap<string, string> = new Map([
  ['http', '80'],
  ['ws', '80'],
  ['https', '443'],
  ['wss', '443'],
]);

function read(value: string): (Address & { readonly isCertain: boolean }) | undefined {
  const [, scheme = 'https', written = value] = ADDRESS.exec(value) ?? [];
  if (written === value && !NAME.test(value)) return undefined;
  const address = addressOf(written === value ? `https://${value}/` : value);
  const name = written.toLowerCase();
  if (address === undefined || address.name !== name) return undefined;
  // A dot at the end means the same host to the network, and another one to most who compare names.
  const isCertain = CERTAIN.has(scheme.toLowerCase()) && !name.endsWith('.');
  return { ...address, name: name.replace(/\.$/, ''), isCertain };
}

function addressOf(text: string): Address | undefined {
  if (!URL.canParse(text)) return undefined;
  const { hostname, port, protocol } = new URL(text);
  const usual = CERTAIN.get(protocol.slice(0, -1)) ?? '';
  return { name: hostname.toLowerCase(), port: port || usual, isUsualPort: port === '' };
}
