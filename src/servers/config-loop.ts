// Owns the configuration of a running runtime: load → apply → watch → reload, one at a time, so that the configuration that was
// loaded last is the one in effect.

import { watchFiles } from '../config/watch.ts';
import { isObject } from '../kernel/json.ts';
import type { Trust } from '../trust/trust.ts';
import type { Host, HostOptions } from './host.ts';
import type { JudgedConfig } from './judge-config.ts';
import { createLoader } from './load-config.ts';
import type { Servers } from './servers.ts';
import { reportStart, type StartupReport, startUp } from './startup.ts';

export interface ReloadOptions {
  /** Start every server over, whether its entry changed or not. */
  readonly replaceAll?: boolean;
}

/** Views with private sessions, which must follow a change of the configuration. */
export interface Followers {
  follow(): Promise<void>;
}

export class ConfigLoop {
  readonly #host: Host;
  readonly #trust: Trust;
  readonly #servers: Servers;
  readonly #followers: Followers;
  readonly #load: () => Promise<JudgedConfig>;
  /** The servers that the host gives in code. */
  #hostServers: HostOptions['servers'];
  /** The start, then each reload: every one begins when the one before it has ended. */
  #latest: Promise<unknown> = Promise.resolve();
  #stopWatching: (() => void) | undefined;

  constructor(host: Host, trust: Trust, servers: Servers, followers: Followers) {
    this.#host = host;
    this.#trust = trust;
    this.#servers = servers;
    this.#followers = followers;
    const { clock, startedAt, closing } = host;
    this.#hostServers = host.options.servers;
    const gatewayWait = { clock, startedAt, onLateGateway: () => this.#changed(), signal: closing.signal };
    this.#load = createLoader({ ...host, ...trust, gatewayWait, hostServers: () => this.#hostServers });
  }

  /** Resolves when the start is over, with how it ended. If it fails, aborts everything that was started, and rethrows. */
  async start(): Promise<StartupReport> {
    try {
      const started = this.#read().then((config) => {
        const running = startUp(this.#host, this.#servers, config);
        // Watch from now on, not only once the start is over: a user may correct a file while a slow server starts.
        this.#watch();
        return running;
      });
      this.#latest = started;
      return await started;
    } catch (error) {
      this.close();
      this.#host.closing.abort(error);
      throw this.#host.redactor.error(error);
    }
  }

  /** Loads the configuration again and applies it. Only what an entry cannot change live restarts its server, unless `replaceAll` is set. */
  reload(options?: ReloadOptions): Promise<void> {
    const reloaded = this.#latest.then(() => this.#apply(options));
    this.#latest = reloaded.catch(this.#host.onError);
    return reloaded;
  }

  /** Replaces the servers that the host gave in code; those of files stay. */
  async setServers(servers: NonNullable<HostOptions['servers']>): Promise<void> {
    // Kept, what is no object would fail this reload and every later one, also those that bring a deny.
    if (!isObject(servers)) throw new TypeError('setServers() takes an object: the names of servers and their entries');
    this.#hostServers = servers;
    return this.reload();
  }

  close(): void {
    this.#stopWatching?.();
  }

  #changed(): void {
    this.#latest = this.#latest.then(() => this.#apply()).catch(this.#host.onError);
  }

  async #read(): Promise<JudgedConfig> {
    const [config] = await Promise.all([this.#load(), this.#trust.lock.read()]);
    return config;
  }

  async #apply({ replaceAll = false }: ReloadOptions = {}): Promise<void> {
    const { emit, closing } = this.#host;
    const { fleet, opener, status } = this.#servers;
    if (replaceAll) opener.renew();
    const config = await this.#read();
    // A host that starts servers with their first call means this for later reloads as well.
    const { whenCached } = this.#host.options.startup ?? {};
    const starts = replaceAll ? {} : { whenCached };
    await fleet.apply(config, { ...starts, replaceAll, follow: () => this.#followers.follow() });
    fleet.connectCached();
    const { waitMs } = config.settings.startup;
    void fleet.settled({ timeoutMs: waitMs }).then(() => closing.signal.aborted || reportStart(status, emit));
  }

  #watch(): void {
    const { options, clock } = this.#host;
    if (!(options.watch ?? options.discover !== false)) return;
    const files = () => [...this.#servers.registry.watched(), ...this.#trust.lock.watched()];
    this.#stopWatching = watchFiles({ files, clock, changed: () => this.#changed() });
  }
}
