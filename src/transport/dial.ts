// Owns connecting to an address: a connected socket, through a proxy's tunnel and with TLS where configured.
// Import it lazily: it loads all of `node:tls`.

import dns, { type LookupAddress } from 'node:dns';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { isLocalAddress, isLocalHost } from '../kernel/local-address.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { lost } from './http-failure.ts';
import { basic } from './http-headers.ts';
import { networkReason } from './network-failure.ts';
import { type PemFiles, readPemFiles, type TlsCredentials } from './pem-files.ts';
import { type ProxySettings, proxyFor } from './proxy-choice.ts';

export interface Network extends ProxySettings, PemFiles {
  /** Refuses to connect to this machine and the network around it. A proxy of the person's own is exempt, and sees names alone. */
  readonly isPublicOnly?: boolean | undefined;
  /** Where the host of the url is, in place of another lookup: its server of names may say something else by now. */
  readonly addresses?: readonly string[] | undefined;
}

export interface Destination {
  readonly server: ServerName;
  readonly url: URL;
  readonly network: Network;
  /** The url is that of the server's proxy, and a failure says so. */
  readonly isProxy?: boolean;
}

interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** Returns a paused socket. On abort or failure, rejects once no socket is open any more. */
export async function dial(
  { server, url, network, isProxy = false }: Destination,
  signal: AbortSignal,
): Promise<Socket> {
  const proxy = proxyAt(server, proxyFor(url, network));
  const credentials = isSecure(url) || (proxy && isSecure(proxy)) ? await readPemFiles(server, network) : {};
  const destination = hostAndPortOf(url);
  try {
    const socket = proxy
      ? await tunnel({ server, proxy, destination, ca: credentials.ca }, signal)
      : await (network.isPublicOnly ? reachPublic(destination, signal) : reach(known(destination, network), signal));
    return isSecure(url) ? await secure(socket, destination, credentials, signal) : socket;
  } catch (error) {
    if (error instanceof LocalAddressError)
      throw new RuntimeError('SERVER_UNTRUSTED', { server, command: url.origin, isLocal: true });
    const reason = networkReason(error);
    throw error instanceof RuntimeError ? error : lost(server, isProxy ? badProxy(reason) : reason, error);
  }
}

const badProxy = (reason: string) => `its proxy cannot be used: ${reason}`;

function reach(destination: HostAndPort & { readonly lookup?: LookupFunction }, signal: AbortSignal): Promise<Socket> {
  const socket = connect(destination).pause();
  return until(socket, signal, (resolve) => socket.once('connect', () => resolve(socket)));
}

const known = (destination: HostAndPort, { addresses }: Network) =>
  addresses === undefined ? destination : { ...destination, lookup: lookUpIn(addresses) };

function lookUpIn(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, { all }, callback) => {
    if (all) callback(null, found);
    else callback(null, found[0]?.address ?? '', found[0]?.family);
  };
}

class LocalAddressError extends Error {}

/**
 * A name is looked up once, and what was found is judged and connected to: a second answer of its server cannot differ. The
 * address of the open socket is judged as well, before a byte is written.
 */
async function reachPublic(destination: HostAndPort, signal: AbortSignal): Promise<Socket> {
  if (isLocalHost(destination.host)) throw new LocalAddressError();
  const socket = await reach({ ...destination, lookup: lookUpPublic }, signal);
  if (!isLocalAddress(socket.remoteAddress ?? '')) return socket;
  socket.destroy();
  throw new LocalAddressError();
}

/** One local address among several is enough: which of them is used would be up to chance. */
const lookUpPublic: LookupFunction = (hostname, options, callback) =>
  dns.lookup(hostname, options, (error, found: string | LookupAddress[], family) => {
    const addresses = typeof found === 'string' ? [found] : (found ?? []).map(({ address }) => address);
    if (error === null && addresses.some(isLocalAddress)) callback(new LocalAddressError(), found, family);
    else callback(error, found, family);
  });

function secure(socket: Socket, { host }: HostAndPort, own: TlsCredentials, signal: AbortSignal): Promise<Socket> {
  const name = isIP(host) === 0 ? { servername: host } : {};
  const secured = connectTls({ socket, host, ...name, ALPNProtocols: ['http/1.1'], ...own });
  return until(secured, signal, (resolve) => secured.once('secureConnect', () => resolve(secured.pause())));
}

interface Tunnel {
  readonly server: ServerName;
  readonly proxy: URL;
  readonly destination: HostAndPort;
  readonly ca: Buffer | undefined;
}

/** The proxy gets the address and its own login; the entry's headers and client certificate go to the server alone. */
async function tunnel({ server, proxy, destination, ca }: Tunnel, signal: AbortSignal): Promise<Socket> {
  try {
    const proxyAddress = hostAndPortOf(proxy);
    const plain = await reach(proxyAddress, signal);
    const socket = isSecure(proxy) ? await secure(plain, proxyAddress, ca ? { ca } : {}, signal) : plain;
    const target = `${isIP(destination.host) === 6 ? `[${destination.host}]` : destination.host}:${destination.port}`;
    socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${loginHeader(proxy)}\r\n`);
    const status = await until<number>(socket, signal, (resolve) => readStatus(socket, resolve));
    if (status >= 200 && status < 300) return socket;
    socket.destroy();
    throw refusal(server, status);
  } catch (error) {
    throw error instanceof RuntimeError ? error : lost(server, badProxy(networkReason(error)), error);
  }
}

const loginHeader = ({ username, password }: URL): string =>
  username === '' ? '' : `Proxy-Authorization: ${basic(username, password)}\r\n`;

/** Resolves with 0 for a response that is not HTTP. Bytes after the response head stay in the socket. */
function readStatus(socket: Socket, resolve: (status: number) => void): void {
  let head = Buffer.alloc(0);
  const take = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end === -1 && head.length <= limits.proxyHeadBytes) return;
    socket.off('data', take).pause();
    if (end !== -1 && end + 4 < head.length) socket.unshift(head.subarray(end + 4));
    const start = end === -1 ? '' : head.toString('latin1', 0, 16);
    resolve(Number(/^HTTP\/1\.[01] (\d{3})/.exec(start)?.[1] ?? 0));
  };
  socket.on('data', take).resume();
}

function refusal(server: ServerName, status: number): RuntimeError {
  if (status === 407) return misconfigured(server, 'wants a login (HTTP 407)');
  return lost(server, status === 0 ? 'its proxy does not speak HTTP' : `its proxy answered HTTP ${status}`);
}

function proxyAt(server: ServerName, address: string | undefined): URL | undefined {
  if (address === undefined) return undefined;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw misconfigured(server, 'has an address that begins neither with http:// nor with https://');
}

/** Waits for the value that `watch` resolves with. Rejects when the socket fails or the signal aborts, after the socket closed. */
function until<Value>(
  socket: Socket,
  signal: AbortSignal,
  watch: (resolve: (value: Value) => void) => void,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    let failure: Error = Object.assign(new Error('The socket was closed'), { code: 'ECONNRESET' });
    const abort = () => socket.destroy();
    const fail = (error: Error) => {
      failure = error;
    };
    const close = () => settle(() => reject(failure));
    const settle = (act: () => void) => {
      signal.removeEventListener('abort', abort);
      socket.off('error', fail).off('close', close);
      act();
    };
    signal.addEventListener('abort', abort);
    socket.on('error', fail).on('close', close);
    watch((value) => settle(() => resolve(value)));
    if (signal.aborted) abort();
  });
}

const isSecure = ({ protocol }: URL): boolean => protocol === 'wss:' || protocol === 'https:';

function hostAndPortOf(url: URL): HostAndPort {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return { host, port: Number(url.port || (isSecure(url) ? 443 : 80)) };
}

function misconfigured(server: ServerName, problem: string): RuntimeError {
  return new RuntimeError('CONFIG_INVALID', { problem: `the proxy of server "${server}" ${problem}` });
}
