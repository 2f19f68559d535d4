// Owns the HTTP client of a server: its connections are pooled, kept alive and all closed in the end.
// `dial.ts` opens a socket, `exchange.ts` follows one request.

import type { Socket } from 'node:net';
import type { Client, Dispatcher } from 'undici';
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
import { lost } from './http-failure.ts';
import { basic, type HeaderBlock } from './http-headers.ts';
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
  const [undici] = await Promise.all([
    import('undici/lib/dispatcher/client.js') as Promise<{ default: typeof Client }>,
    readPemFiles(options.server, options.network),
  ]);
  return new PooledClient(undici.default, options);
}

interface Route {
  readonly pool: ConnectionPool;
  /** Put before the path of a request that a proxy forwards without a tunnel. */
  readonly prefix: string;
  readonly headers: HeaderBlock;
}

/**
 * Each connection carries one request at a time. The connection used last is used next, and a closed one is dropped. undici's
 * own pool searches all connections for each request, keeps those without a socket, and takes 16 KB from the start.
 */
class ConnectionPool {
  readonly #create: () => Client;
  readonly #all = new Set<Client>();
  readonly #free: Client[] = [];
  #isDestroyed = false;

  constructor(create: () => Client) {
    this.#create = create;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    const client = this.#free.pop() ?? this.#open();
    if (client.dispatch(options, handler)) this.#free.push(client);
  }

  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    await Promise.all(Array.from(this.#all, (client) => client.destroy()));
  }

  #open(): Client {
    const client = this.#create();
    this.#all.add(client);
    client.on('drain', () => this.#free.push(client));
    client.on('disconnect', () => this.#forget(client));
    // A request after `destroy()` fails because its connection is destroyed like all the others.
    if (this.#isDestroyed) void client.destroy();
    return client;
  }

  /** Drops only a free connection. undici reopens a connection in use, even for an aborted request, and it becomes free again. */
  #forget(client: Client): void {
    const at = this.#free.indexOf(client);
    if (at === -1) return;
    this.#free.splice(at, 1);
    this.#all.delete(client);
  }
}

class PooledClient implements HttpClient {
  readonly server: ServerName;
  readonly #Client: typeof Client;
  readonly #options: HttpClientOptions;
  readonly #routes = new Map<string, Route>();
  readonly #sockets = new Set<Socket>();
  /** Aborts the sockets that are being opened. */
  readonly #giveUp = new Set<AbortController>();
  readonly #dialing = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(client: typeof Client, options: HttpClientOptions) {
    this.server = options.server;
    this.#Client = client;
    this.#options = options;
  }

  exchange(request: HttpRequest, listener: HttpListener): Exchange {
    return new HttpExchange(this, request, listener);
  }

  dispatch({ method, target, headers, body }: HttpRequest, handler: Dispatcher.DispatchHandler): void {
    const route = this.#routes.get(target.origin) ?? this.#open(target);
    const path = route.prefix === '' ? target.path : `${route.prefix}${target.path}`;
    const block = route.headers.length === 0 ? headers : [...headers, ...route.headers];
    route.pool.dispatch({ method, path, headers: block as string[], body: body ?? null }, handler);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const each of this.#giveUp) each.abort();
    await Promise.all(Array.from(this.#routes.values(), ({ pool }) => pool.destroy()));
    await Promise.all(this.#dialing);
    await Promise.all(Array.from(this.#sockets, gone));
  }

  #open(target: Target): Route {
    const { server, network } = this.#options;
    const url = new URL(target.origin);
    const proxy = url.protocol === 'http:' ? plainProxy(proxyFor(url, network)) : undefined;
    // The client certificate is for the server, not for the proxy, and the proxy of the person may be anywhere.
    const anonymous = { ...network, proxy: 'off', certFile: undefined, keyFile: undefined, isPublicOnly: false };
    const destination = proxy ? { server, url: proxy, network: anonymous, isProxy: true } : { server, url, network };
    const options: Client.Options = {
      connect: (_options, callback) => void this.#connect(destination, callback),
      // The request queue watches for silence, by the runtime's clock.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    const route = {
      pool: new ConnectionPool(() => new this.#Client(target.origin, options)),
      prefix: proxy ? target.origin : '',
      headers: proxy?.username ? ['proxy-authorization', basic(proxy.username, proxy.password)] : [],
    };
    this.#routes.set(target.origin, route);
    return route;
  }

  async #connect(destination: Destination, callback: (...end: [Error, null] | [null, Socket]) => void): Promise<void> {
    const dialing = this.#dial(destination);
    this.#dialing.add(dialing);
    const opened = await dialing;
    this.#dialing.delete(dialing);
    if (opened instanceof Error) callback(opened, null);
    else callback(null, opened);
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
    this.#giveUp.add(giveUp);
    try {
      if (this.#closing !== undefined) giveUp.abort();
      const socket = await dial(destination, giveUp.signal);
      this.#keep(socket);
      return socket.setNoDelay(true).setKeepAlive(true, limits.socketProbeMs);
    } catch (error) {
      return isLate ? lost(this.server, networkReason(timeout), error) : (error as Error);
    } finally {
      cancel();
      this.#giveUp.delete(giveUp);
    }
  }
}

const timeout = Object.assign(new Error('the connection was not open in time'), { code: 'ETIMEDOUT' });

function gone(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => socket.once('close', resolve).destroy());
}

/** Plain HTTP goes through a proxy without a tunnel: many proxies allow tunnels only for HTTPS. */
function plainProxy(address: string | undefined): URL | undefined {
  const url = address !== undefined && URL.canParse(address) ? new URL(address) : undefined;
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : undefined;
}
