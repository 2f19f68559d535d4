// Owns the HTTP of a login: short documents and forms within limits of size and time, over the network settings of the server's
// entry. A public server cannot send it into the network around this machine, and nothing follows a redirect to another origin.

import dns from 'node:dns';
import type { Clock } from '../kernel/clock.ts';
import { isLocalAddress, isLocalHost } from '../kernel/local-address.ts';
import { oneLine } from '../kernel/one-line.ts';
import { isFailure, RuntimeError } from '../model/errors.ts';
import { identity } from '../model/identity.ts';
import { limits } from '../model/limits.ts';
import type { LoginFault } from '../model/login-faults.ts';
import type { ServerName } from '../model/names.ts';
import type { Network } from '../transport/dial.ts';
import { type HttpClient, type HttpRequest, targetOf } from '../transport/exchange.ts';
import { createHttpClient } from '../transport/fetch.ts';
import { fetchText, type TextResponse } from '../transport/fetch-text.ts';
import type { HeaderBlock } from '../transport/http-headers.ts';
import { codingOf } from '../transport/http-response.ts';
import { proxyFor } from '../transport/proxy-choice.ts';

export interface AuthHttpOptions {
  readonly server: ServerName;
  /** The address of the MCP server. */
  readonly url: string;
  /** Proxy, authorities and client certificate of the server's entry; the certificate goes to the server's origin alone. */
  readonly network: Network;
  readonly clock: Clock;
  /** The person allows a public server to name addresses of the network around this machine. */
  readonly allowsPrivate?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface AuthRequest {
  readonly method: 'GET' | 'POST';
  readonly headers?: HeaderBlock;
  readonly body?: string;
}

export interface AuthHttp {
  readonly server: ServerName;
  /**
   * Whether the server is public and the address leads into the network around this machine. For what the browser opens; requests
   * are judged when they connect.
   */
  leadsInside(address: string): Promise<boolean>;
  /** Rejects with LOGIN_FAILED where the address or the answer must not be used, and with LOGIN_UNAVAILABLE for an outage. */
  request(address: string, request: AuthRequest): Promise<TextResponse>;
  close(): Promise<void>;
}

const HEADERS: HeaderBlock = ['accept', 'application/json', 'user-agent', `${identity.name}/${identity.version}`];

export async function createAuthHttp(options: AuthHttpOptions): Promise<AuthHttp> {
  const { server, url, network, clock } = options;
  const addresses = options.allowsPrivate ? undefined : await localAddressesOf(url, network);
  const isPublicOnly = options.allowsPrivate !== true && addresses === undefined;
  const others = { ...network, certFile: undefined, keyFile: undefined, isPublicOnly };
  // A name that is local now stays it: a server that turned out to be elsewhere could name what is around this machine.
  const own = await createHttpClient({
    server,
    network: addresses?.length ? { ...network, addresses } : network,
    clock,
  });
  const foreign = await createHttpClient({ server, network: others, clock });
  const { origin } = new URL(url);
  return {
    server,
    async leadsInside(address) {
      const { hostname } = new URL(address);
      return isPublicOnly && (isLocalHost(hostname) || (await addressesOf(hostname)).some(isLocalAddress));
    },
    async request(address, request) {
      const target = targetOf(address);
      // The address of the MCP server is the person's own choice, and no credentials go there.
      if (target === undefined || (!isSafe(address) && target.origin !== origin))
        throw loginFailed(server, { kind: 'insecure-address', what: 'an address of the login', address });
      const client = target.origin === origin ? own : foreign;
      const headers = [...HEADERS, ...(request.headers ?? [])];
      return fetchWithin(client, { method: request.method, target, headers, body: request.body }, options);
    },
    async close() {
      await Promise.all([own.close(), foreign.close()]);
    },
  };
}

/** Credentials travel encrypted, or stay on this machine. A name before the host would look like the host to a person. */
export function isSafe(address: string): boolean {
  const { protocol, hostname, username, password } = new URL(address);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

export const isLoopback = (hostname: string): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname.toLowerCase());

export function loginFailed(server: ServerName, fault: LoginFault, cause?: unknown): RuntimeError<'LOGIN_FAILED'> {
  return new RuntimeError('LOGIN_FAILED', { server, fault }, { cause });
}

/**
 * The addresses of a server of this machine or of the network around it, none where its host itself says so; `undefined` for a public
 * one. A name that a proxy looks up counts as public, and so does one that cannot be looked up, and one that has a public
 * address besides others: a server of names could otherwise make any server local.
 */
async function localAddressesOf(url: string, network: Network): Promise<readonly string[] | undefined> {
  const { hostname } = new URL(url);
  if (isLocalHost(hostname)) return [];
  if (proxyFor(url, network) !== undefined) return undefined;
  const addresses = await addressesOf(hostname);
  return addresses.length > 0 && addresses.every(isLocalAddress) ? addresses : undefined;
}

/** None where the name is not known. */
async function addressesOf(hostname: string): Promise<readonly string[]> {
  const found = await dns.promises.lookup(hostname.replace(/^\[|\]$/g, ''), { all: true }).catch(() => []);
  return found.map(({ address }) => address);
}

async function fetchWithin(
  client: HttpClient,
  request: HttpRequest,
  { server, clock, signal }: AuthHttpOptions,
): Promise<TextResponse> {
  const { href, origin } = request.target;
  const late = new AbortController();
  const cancel = clock.after(limits.login.requestMs, () => late.abort());
  const until = signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]);
  try {
    const response = await fetchText(client, request, { maxBytes: limits.login.bodyBytes, signal: until });
    const coding = codingOf(response.headers);
    if (coding === undefined) return response;
    const problem = `is compressed with ${oneLine(coding, limits.noiseQuoteChars)}, although that was not asked for`;
    throw loginFailed(server, { kind: 'metadata-broken', address: href, problem });
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (late.signal.aborted) throw unavailable(server, origin, 'it did not answer in time', error);
    if (isFailure(error, 'MESSAGE_TOO_LARGE')) {
      const problem = `is larger than ${limits.login.bodyBytes / 1024 / 1024} MiB`;
      throw loginFailed(server, { kind: 'metadata-broken', address: href, problem }, error);
    }
    if (isFailure(error, 'SERVER_UNTRUSTED'))
      throw loginFailed(server, { kind: 'private-address', address: origin }, error);
    if (isFailure(error, 'PROTOCOL_BROKEN'))
      throw loginFailed(server, { kind: 'redirected-away', address: href, reason: error.data.reason }, error);
    if (isFailure(error, 'CONNECTION_LOST')) throw unavailable(server, origin, error.data.reason, error);
    throw error;
  } finally {
    cancel();
  }
}

export function unavailable(
  server: ServerName,
  address: string,
  reason: string,
  cause?: unknown,
): RuntimeError<'LOGIN_UNAVAILABLE'> {
  return new RuntimeError('LOGIN_UNAVAILABLE', { server, address, reason }, { cause });
}
