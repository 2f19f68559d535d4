// Owns what `plexus serve` runs: a runtime for the gateway and for each workspace, the gateway over them, and its port. Reading
// flags and printing is the command's.

import { pathToFileURL } from 'node:url';
import { partsOf, type Runtime, type RuntimeOptions } from '../api.ts';
import { createRuntimeOf, loadConfigAt } from '../runtime.ts';
import { type Authenticate, inHostHeader, isLoopback, loopbackHosts, withoutToken } from '../serving/access.ts';
import type { HttpHandler } from '../serving/http-exchange.ts';
import { type ListenHttpOptions, type ListeningServer, listenHttp } from '../serving/http-listener.ts';
import { withDefaults } from '../serving/serving-limits.ts';
import { createGateway, type Gateway, type GatewayOptions, gatewayHandlers } from './gateway.ts';
import { DEFAULT_PROFILE, openProfile } from './profiles.ts';

export interface ServedGatewayOptions
  extends Pick<GatewayOptions, 'authenticate' | 'refuses' | 'origins' | 'stateKey' | 'onError'> {
  /** As for `createRuntime`: where the configuration is. */
  readonly runtime: RuntimeOptions;
  /** Shows search tools in place of all tools, on the default route. */
  readonly expose?: 'all' | 'search' | undefined;
}

/** A gateway with its runtimes, not listening yet. */
export interface ServedGateway {
  readonly gateway: Gateway;
  readonly runtime: Runtime;
  /** The port that the configuration names. */
  readonly port: number;
  listen(options: ListenGatewayOptions): Promise<ListeningServer>;
  /** Ends running calls within a bounded time, then all servers. */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

export interface ListenGatewayOptions {
  readonly host: string;
  readonly port: number;
  /** Further addresses beside the gateway's own, by their paths. */
  readonly routes?: ReadonlyMap<string, HttpHandler>;
  readonly upgrade?: ListenHttpOptions['upgrade'];
}

/** Opens the runtime of the gateway. `host`: where it will listen; roots of sessions count on loopback only. */
export async function openServedGateway(
  options: ServedGatewayOptions & { readonly host: string; readonly authenticate: Authenticate },
): Promise<ServedGateway> {
  const { host, authenticate, expose } = options;
  if (authenticate === withoutToken && !isLoopback(host))
    throw new TypeError(`A gateway without a token listens on loopback only, not on ${host}`);
  const opened = (folder?: string) => openRuntime(options.runtime, folder);
  const runtime = await opened();
  const { serving } = partsOf(runtime).servers.registry.config().settings;
  const { port, profiles, sampling: _, idleStopMs: __, queuedCalls, ...limits } = serving;
  const chosen = profiles[DEFAULT_PROFILE] ?? openProfile;
  const gateway = createGateway(runtime, {
    ...options,
    hosts: isLoopback(host) ? loopbackHosts : [...loopbackHosts, inHostHeader(host)],
    profiles: { ...profiles, [DEFAULT_PROFILE]: expose === undefined ? chosen : { ...chosen, expose } },
    openWorkspace: opened,
    folder: options.runtime.cwd ?? process.cwd(),
    trustsRoots: isLoopback(host),
    limits: { ...limits, queuedCalls },
  });
  const listeners: ListeningServer[] = [];
  return {
    gateway,
    runtime,
    port,
    async listen({ host: at, port: wanted, routes, upgrade }) {
      const route = (path: string) => routes?.get(path) ?? gateway.handler;
      const listener = await listenHttp({
        ...{ host: at, port: wanted, path: '/mcp', route, upgrade },
        limits: withDefaults(limits),
      });
      listeners.push(listener);
      return listener;
    },
    async close(how) {
      await gateway.close(how);
      await Promise.all(listeners.map((listener) => listener.close()));
      await runtime.close();
    },
  };
}

/** Servers start with their first call; those whose tools are not known yet start once, to list them. */
async function openRuntime(options: RuntimeOptions, folder: string | undefined): Promise<Runtime> {
  const roots = folder === undefined ? [] : [{ uri: pathToFileURL(folder).href }];
  const given = { ...options, ...(folder !== undefined && { cwd: folder }) };
  const { sampling } = (await loadConfigAt(given)).settings.serving;
  const standing = { stopsIdle: true, sharesRemote: true } as const;
  return createRuntimeOf(standing, {
    startup: { whenCached: 'leave', whenUncached: 'background', lazyList: 'at-start' },
    interactive: false,
    required: 'report',
    ...gatewayHandlers({ roots, sampling }),
    ...given,
  });
}
