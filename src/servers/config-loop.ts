// Owns the configuration of a running runtime: load → apply → watch → reload, one at a time, so that the configuration that was
// loaded last is the one in effect.

import type { LoadedConfig } from '../config/load.ts';
import { watchFiles } from '../config/watch.ts';
import type { Trust } from '../trust/trust.ts';
import type { Host } from './host.ts';
import { createLoader } from './load-config.ts';
import type { Servers } from './servers.ts';
import { reportStart, startUp } from './startup.ts';

export interface ReloadOptions {
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
  readonly #load: () => Promise<LoadedConfig>;
  /** The start, then each reload: every one begins when the one before it has ended. */
  #latest: Promise<unknown> = Promise.resolve();
  #stopWatching: (() => void) | undefined;

  constructor(host: Host, trust: Trust, servers: Servers, followers: Followers) {
    this.#host = host;
    this.#trust = trust;
    this.#servers = servers;
    this.#followers = followers;
    const { clock, startedAt, closing } = host;
    const gatewayWait = { clock, startedAt, onLateGateway: () => this.#changed(), signal: closing.signal };
    this.#load = createLoader({ ...host, ...trust, gatewayWait });
  }

  /** Resolves when the start is over. If it fails, aborts everything that was started, and rethrows. */
  async start(): Promise<void> {
    try {
      const started = this.#read().then((config) => {
        const running = startUp(this.#host, this.#servers, config);
        // Watch from now on, not only once the start is over: a user may correct a file while a slow server starts.
        this.#watch();
        return running;
      });
      this.#latest = started;
      await started;
    } catch (error) {
      this.close();
      this.#host.closing.abort(error);
      throw this.#host.redactor.error(error);
    }
  }

  /** Loads the configuration again and applies it; unchanged servers keep their connections unless `replaceAll` is set. */
  reload(options?: ReloadOptions): Promise<void> {
    const reloaded = this.#latest.then(() => this.#apply(options));
    this.#latest = reloaded.catch(this.#host.onError);
    return reloaded;
  }

  close(): void {
    this.#stopWatching?.();
  }

  #changed(): void {
    this.#latest = this.#latest.then(() => this.#apply()).catch(this.#host.onError);
  }

  async #read(): Promise<LoadedConfig> {
    const [config] = await Promise.all([this.#load(), this.#trust.lock.read()]);
    return config;
  }

  async #apply({ replaceAll = false }: ReloadOptions = {}): Promise<void> {
    const { emit, closing } = this.#host;
    const { fleet, opener, status } = this.#servers;
    if (replaceAll) opener.renew();
    const config = await this.#read();
    await fleet.apply(config, { replaceAll });
    fleet.connectCached();
    await this.#followers.follow();
    const { waitMs } = config.settings.startup;
    void fleet.settled({ timeoutMs: waitMs }).then(() => closing.signal.aborted || reportStart(fleet, status, emit));
  }

  #watch(): void {
    const { options, clock } = this.#host;
    if (!(options.watch ?? options.discover !== false)) return;
    const files = () => [...this.#servers.registry.watched(), ...this.#trust.lock.watched()];
    this.#stopWatching = watchFiles({ files, clock, changed: () => this.#changed() });
  }
}
