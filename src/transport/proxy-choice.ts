// Owns the choice of a proxy for an address: the entry's own, the environment's or none.

import { BlockList, isIP } from 'node:net';
import type { EnvironmentVariables } from '../model/environment-variables.ts';

export interface ProxySettings {
  readonly env: EnvironmentVariables;
  /** The entry's own proxy, which the environment does not change; `off` for none. */
  readonly proxy?: string | undefined;
}

/** Loopback addresses never use a proxy of the environment: the proxy would look for them on its own machine. */
export function proxyFor(url: string | URL, { env, proxy }: ProxySettings): string | undefined {
  if (proxy !== undefined) return proxy === 'off' ? undefined : withScheme(proxy);
  const { protocol, hostname, port } = new URL(url);
  const isSecure = protocol === 'https:' || protocol === 'wss:';
  const host = bareHost(hostname);
  if (isLoopback(host)) return undefined;
  const chosen = variable(env, isSecure ? 'https_proxy' : 'http_proxy') ?? variable(env, 'all_proxy');
  if (chosen === undefined) return undefined;
  const exceptions = (variable(env, 'no_proxy') ?? '').split(/[\s,]+/).filter(Boolean);
  const target = { host, port: port || (isSecure ? '443' : '80') };
  return exceptions.some((exception) => excepts(exception, target)) ? undefined : withScheme(chosen);
}

/** The lower-case name wins, as in other programs; an empty value counts as not set. */
function variable(env: EnvironmentVariables, name: string): string | undefined {
  return (env[name] ?? env[name.toUpperCase()])?.trim() || undefined;
}

const withScheme = (proxy: string) => (proxy.includes('://') ? proxy : `http://${proxy}`);

const bareHost = (hostname: string) =>
  hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('0.0.0.0', 'ipv4');
loopback.addAddress('::1', 'ipv6');
loopback.addAddress('::', 'ipv6');

function isLoopback(host: string): boolean {
  return isIP(host) === 0 ? /(^|\.)localhost$/.test(host) : loopback.check(host, familyOf(host));
}

/** An exception is `*`, a domain with its subdomains, an address or an address range; all but `*` may have a port. */
function excepts(exception: string, target: { readonly host: string; readonly port: string }): boolean {
  if (exception === '*') return true;
  // An exception that does not match this is an IPv6 address without brackets.
  const [, bracketed, plain, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(exception) ?? [];
  const name = (bracketed ?? plain ?? exception).toLowerCase();
  if (port !== undefined && port !== target.port) return false;
  if (isIP(target.host) !== 0) return holds(name, target.host);
  const domain = name.replace(/^\*?\./, '').replace(/\.$/, '');
  return target.host === domain || target.host.endsWith(`.${domain}`);
}

/** A range is written like `10.0.0.0/8`. A text that is no address or range holds no address. */
function holds(range: string, address: string): boolean {
  const [first = '', bits] = range.split('/');
  if (isIP(first) === 0) return false;
  const longest = isIP(first) === 6 ? 128 : 32;
  const prefix = bits === undefined ? longest : Number(bits);
  if (!Number.isInteger(prefix) || prefix < 0 || prefix > longest) return false;
  const list = new BlockList();
  list.addSubnet(first, prefix, familyOf(first));
  return list.check(address, familyOf(address));
}
