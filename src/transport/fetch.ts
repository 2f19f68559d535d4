// Owns HTTP to a server: connections that are pooled, kept alive and all closed in the end.
// How a socket comes to be open is left to `dial.ts`, what becomes of a request to `exchange.ts`.

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

/** Fails, before anything is sent, when the entry's certificates cannot be used. */
export async function createHttpClient(options: HttpClientOptions): Promise<HttpClient> {
  const [undici] = await Promise.all([
    import('undici/lib/dispatcher/client.js') as Promise<{ default: typeof Client }>,
    readPemFiles(options.server, options.network),
  ]);
  return new PooledClient(undici.default, options);
}

interface Route {
  readonly lines: Lines;
  /** Stands before the path when a proxy is to fetch it for us. */
  readonly prefix: string;
  readonly headers: HeaderBlock;
}

/**
 * One request at a time on each. The one that was used last is used next, and one that was hung up is forgotten: undici's own
 * pool looks through all of them for each request, keeps those without a socket, and begins with 16 KB.
 */
class Lines {
  readonly #create: () => Client;
  readonly #all = new Set<Client>();
  readonly #free: Client[] = [];
  #isDestroyed = false;

  constructor(create: () => Client) {
    this.#create = create;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    const line = this.#free.pop() ?? this.#open();
    if (line.dispatch(options, handler)) this.#free.push(line);
  }

  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    await Promise.all(Array.from(this.#all, (line) => line.destroy()));
  }

  #open(): Client {
    const line = this.#create();
    this.#all.add(line);
    line.on('drain', () => this.#free.push(line));
    line.on('disconnect', () => this.#forget(line));
    // Whoever comes too late is told so by a line that is destroyed like all the others.
    if (this.#isDestroyed) void line.destroy();
    return line;
  }

  /** One that is in use comes back by itself: undici opens it again, be it only to find that its request was aborted. */
  #forget(line: Client): void {
    const at = this.#free.indexOf(line);
    if (at === -1) return;
    this.#free.splice(at, 1);
    this.#all.delete(line);
  }
}

class PooledClient implements HttpClient {
  readonly server: ServerName;
  readonly #Client: typeof Client;
  readonly #options: HttpClientOptions;
  readonly #routes = new Map<string, Route>();
  readonly #sockets = new Set<Socket>();
  /** Ends whatever is being opened. */
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
    route.lines.dispatch({ method, path, headers: block as string[], body: body ?? null }, handler);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const each of this.#giveUp) each.abort();
    await Promise.all(Array.from(this.#routes.values(), ({ lines }) => lines.destroy()));
    await Promise.all(this.#dialing);
    await Promise.all(Array.from(this.#sockets, gone));
  }

  #open(target: Target): Route {
    const { server, network } = this.#options;
    const url = new URL(target.origin);
    const proxy = url.protocol === 'http:' ? plainProxy(proxyFor(url, network)) : undefined;
    // The proxy is not the server: who we are is none of its business.
    const anonymous = { ...network, proxy: 'off', certFile: undefined, keyFile: undefined };
    const destination = proxy ? { server, url: proxy, network: anonymous } : { server, url, network };
    const options: Client.Options = {
      connect: (_options, callback) => void this.#connect(destination, callback),
      // Both are the channels' to watch, by the clock.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    const route = {
      lines: new Lines(() => new this.#Client(target.origin, options)),
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

  /** For itself: whatever else its listener could see would live as long as the socket. */
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

/** What is not encrypted a proxy fetches for us: many give a tunnel only for what is. */
function plainProxy(address: string | undefined): URL | undefined {
  const url = address !== undefined && URL.canParse(address) ? new URL(address) : undefined;
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : undefined;
}
