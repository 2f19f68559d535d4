// Owns the HTTP client of a server: its connections are pooled, kept alive and all closed in the end.
// `dial.ts` opens a socket, `exchange.ts` follows one request.

import type { Socket } from 'node:net';
import type { Clock } from '../kernel/clock.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { type Destination, dial, type Network } from './dial.ts';
import {
  type Exchange,
  type HttpClient,
  HttpExchange,
  type HttpListener,
  type HttpRequest,
  type Target,
} from './exchange.ts';
import { HttpConnection, type ResponseHandler, type SentRequest } from './http-connection.ts';
import { lost } from './http-failure.ts';
import { basic, type HeaderBlock } from './http-headers.ts';
import { HttpFault } from './http-message.ts';
import { networkReason } from './network-failure.ts';
import { readPemFiles } from './pem-files.ts';
import { proxyFor } from './proxy-choice.ts';

export interface HttpClientOptions {
  readonly server: ServerName;
  readonly network: Network;
  readonly clock: Clock;
}

/** Rejects before anything is sent if the entry's certificates cannot be used. */
export async function createHttpClient(options: HttpClientOptions): Promise<HttpClient> {
  await readPemFiles(options.server, options.network);
  return new PooledClient(options);
}

interface Route {
  readonly pool: ConnectionPool;
  readonly host: string;
  /** Put before the path of a request that a proxy forwards without a tunnel. */
  readonly prefix: string;
  readonly headers: HeaderBlock;
}

type Dial = () => Promise<Socket | Error>;

/** Each connection carries one request at a time. The connection used last is used next, and a closed one is dropped. */
class ConnectionPool {
  readonly #dial: Dial;
  readonly #all = new Set<HttpConnection>();
  readonly #free: HttpConnection[] = [];
  #isDestroyed = false;

  constructor(dial: Dial) {
    this.#dial = dial;
  }

  send(request: SentRequest, handler: ResponseHandler): void {
    const connection = this.#takeFree();
    if (connection === undefined) void this.#sendOnNew(request, handler);
    // The server may have closed it while it was idle: let the event loop read that first, since the request would be lost.
    else afterPoll(() => (connection.isOpen ? connection.send(request, handler) : this.send(request, handler)));
  }

  destroy(): void {
    this.#isDestroyed = true;
    for (const connection of this.#all) connection.destroy(new HttpFault('closed'));
  }

  #takeFree(): HttpConnection | undefined {
    for (;;) {
      const connection = this.#free.pop();
      if (connection === undefined || connection.isOpen) return connection;
    }
  }

  async #sendOnNew(request: SentRequest, handler: ResponseHandler): Promise<void> {
    const socket = this.#isDestroyed ? new HttpFault('closed') : await this.#dial();
    if (socket instanceof Error) {
      handler.failed(socket);
      return;
    }
    if (this.#isDestroyed) {
      socket.destroy();
      handler.failed(new HttpFault('closed'));
      return;
    }
    const connection = new HttpConnection(socket, this);
    this.#all.add(connection);
    connection.send(request, handler);
  }

  onFree(connection: HttpConnection): void {
    this.#free.push(connection);
  }

  onClose(connection: HttpConnection): void {
    this.#all.delete(connection);
    const at = this.#free.indexOf(connection);
    if (at !== -1) this.#free.splice(at, 1);
  }
}

class PooledClient implements HttpClient {
  readonly server: ServerName;
  readonly #options: HttpClientOptions;
  readonly #routes = new Map<string, Route>();
  readonly #sockets = new Set<Socket>();
  /** Aborts the sockets that are being opened. */
  #giveUp: readonly AbortController[] = [];
  #dialing: readonly Promise<unknown>[] = [];
  #closing: Promise<void> | undefined;

  constructor(options: HttpClientOptions) {
    this.server = options.server;
    this.#options = options;
  }

  exchange(request: HttpRequest, listener: HttpListener): Exchange {
    return new HttpExchange(this, request, listener);
  }

  dispatch({ method, target, headers, body }: HttpRequest, handler: ResponseHandler): void {
    const { pool, host, prefix, headers: routeHeaders } = this.#routes.get(target.origin) ?? this.#open(target);
    pool.send({ method, address: `${prefix}${target.path}`, host, headers, routeHeaders, body }, handler);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const each of this.#giveUp) each.abort();
    for (const { pool } of this.#routes.values()) pool.destroy();
    await Promise.all(this.#dialing);
    await Promise.all(Array.from(this.#sockets, gone));
    // Requests that waited for their turn on a connection fail when it comes.
    await new Promise<void>(afterPoll);
  }

  #open(target: Target): Route {
    const { server, network } = this.#options;
    const url = new URL(target.origin);
    const proxy = url.protocol === 'http:' ? plainProxy(proxyFor(url, network)) : undefined;
    // The client certificate is for the server, not for the proxy, and the proxy of the person may be anywhere.
    const anonymous = { ...network, proxy: 'off', certFile: undefined, keyFile: undefined, isPublicOnly: false };
    const destination = proxy ? { server, url: proxy, network: anonymous, isProxy: true } : { server, url, network };
    const route = {
      pool: new ConnectionPool(() => this.#connect(destination)),
      host: url.host,
      prefix: proxy ? target.origin : '',
      headers: proxy?.username ? ['proxy-authorization', basic(proxy.username, proxy.password)] : [],
    };
    this.#routes.set(target.origin, route);
    return route;
  }

  async #connect(destination: Destination): Promise<Socket | Error> {
    const dialing = this.#dial(destination);
    this.#dialing = [...this.#dialing, dialing];
    const opened = await dialing;
    this.#dialing = this.#dialing.filter((other) => other !== dialing);
    return opened;
  }

  /** A function of its own, so that the listener's closure keeps nothing else alive as long as the socket. */
  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  async #dial(destination: Destination): Promise<Socket | Error> {
    const giveUp = new AbortController();
    let isLate = false;
    const cancel = this.#options.clock.after(limits.connectMs, () => {
      isLate = true;
      giveUp.abort();
    });
    this.#giveUp = [...this.#giveUp, giveUp];
    try {
      if (this.#closing !== undefined) giveUp.abort();
      const socket = await dial(destination, giveUp.signal);
      this.#keep(socket);
      return socket.setNoDelay(true).setKeepAlive(true, limits.socketProbeMs);
    } catch (error) {
      return isLate ? lost(this.server, networkReason(timeout), error) : (error as Error);
    } finally {
      cancel();
      this.#giveUp = this.#giveUp.filter((other) => other !== giveUp);
    }
  }
}

/** Right after a response, the first immediate comes before the event loop looks at the sockets again. */
const afterPoll = (act: () => void) => setImmediate(() => setImmediate(act));

const timeout = Object.assign(new Error('the connection was not open in time'), { code: 'ETIMEDOUT' });

function gone(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => socket.once('close', resolve).destroy());
}

/** Plain HTTP goes through a proxy without a tunnel: many proxies allow tunnels only for HTTPS. */
function plainProxy(address: string | undefined): URL | undefined {
  const url = address !== undefined && URL.canParse(address) ? new URL(address) : undefined;
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : undefined;
}
