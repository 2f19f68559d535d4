// Owns which addresses and names lead to this machine or to the network around it, in every spelling that a connection
// understands. Pure: looks nothing up.

import { once } from './once.ts';

/** Loaded with the first address: a command that only shows servers does without the network. */
const net = once(() => process.getBuiltinModule('node:net'));

/** Addresses that are not of the public internet: this machine, private networks, links, shared and reserved blocks. */
const local = once(() => {
  const blocks = new (net().BlockList)();
  for (const [address, prefix] of [
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['224.0.0.0', 3],
  ] as const)
    blocks.addSubnet(address, prefix, 'ipv4');
  for (const [address, prefix] of [
    ['::', 127],
    ['64:ff9b:1::', 48],
    ['100::', 64],
    ['fc00::', 7],
    ['fe80::', 10],
    ['fec0::', 10],
    ['ff00::', 8],
  ] as const)
    blocks.addSubnet(address, prefix, 'ipv6');
  return blocks;
});

/** Names that mean a machine nearby wherever they are looked up, so that no proxy and no server of names decides about them. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|localdomain\d?|local|lan|internal|home\.arpa)$/;

/** The host of a URL: an address, with or without brackets, or a name. A name without a dot is one of the network around. */
export function isLocalHost(hostname: string): boolean {
  const host = hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  const numeric = net().isIP(withoutZone(host)) === 0 ? asNumber(host) : host;
  if (numeric !== undefined) return isLocalAddress(numeric);
  return !host.includes('.') || LOCAL_NAME.test(host);
}

/** The address of a socket. Text that is no address counts as local: nothing is known of it. */
export function isLocalAddress(written: string): boolean {
  const address = withoutZone(written);
  if (net().isIPv4(address)) return local().check(address, 'ipv4');
  if (net().isIP(address) === 0) return true;
  const within = embeddedIPv4(address);
  return local().check(address, 'ipv6') || (within !== undefined && local().check(within, 'ipv4'));
}

/** `fe80::1%eth0` names a network card after the address. */
const withoutZone = (address: string) => address.replace(/%.*$/, '');

/** `127.1`, `0x7f.1`, `2130706433` and `0177.0.0.1` are addresses to a URL, and to the system that looks a name up. */
function asNumber(host: string): string | undefined {
  if (!/^[0-9a-fx.]+$/.test(host) || !URL.canParse(`http://${host}/`)) return undefined;
  const { hostname } = new URL(`http://${host}/`);
  return net().isIPv4(hostname) ? hostname : undefined;
}

/** The IPv4 address that an IPv6 address stands for: mapped, compatible, translated, 6to4 or Teredo. */
export function embeddedIPv4(address: string): string | undefined {
  const groups = groupsOf(address);
  const [first, second, third = 0] = groups;
  if (first === 0x2002) return dotted(second, third);
  const [high = 0, low = 0] = groups.slice(6);
  if (first === 0x2001 && second === 0) return dotted(high ^ 0xffff, low ^ 0xffff);
  const prefix = groups.slice(0, 6).join(':');
  return EMBEDDING.has(prefix) ? dotted(high, low) : undefined;
}

const EMBEDDING: ReadonlySet<string> = new Set([
  '0:0:0:0:0:0',
  '0:0:0:0:0:65535',
  '0:0:0:0:65535:0',
  `${0x64}:${0xff9b}:0:0:0:0`,
]);

function dotted(high = 0, low = 0): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

/** The eight numbers of an IPv6 address; none where it is no such address. */
function groupsOf(address: string): readonly number[] {
  if (net().isIP(address) !== 6) return [];
  // A URL spells it with hexadecimal groups alone.
  const { hostname } = new URL(`http://[${address}]/`);
  const [head = '', tail] = hostname.slice(1, -1).split('::');
  const numbers = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const [before, after] = [numbers(head), numbers(tail ?? '')];
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
}
