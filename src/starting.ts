// Owns the beginning of a runtime: what a host asked for joined with what its files say, and how long to wait for servers.

import type { RuntimeOptions } from './api.ts';
import type { LoadedConfig } from './config/load.ts';
import type { Surroundings } from './config/scopes.ts';
import type { Connections } from './connection/connections.ts';
import type { ConnectionEvent } from './connection/events.ts';
import type { Fleet } from './fleet.ts';
import type { Emit } from './kernel/emitter.ts';
import type { ServerDefinition } from './model/server.ts';

/** The parsers and the schema are loaded when they are first needed, not when the library is imported. */
export async function loadFor(options: RuntimeOptions, around: Surroundings): Promise<LoadedConfig> {
  const { loadConfig } = await import('./config/load.ts');
  const config = await loadConfig({
    ...around,
    discover: options.discover ?? true,
    ...(options.config !== undefined && { configFile: options.config }),
    ...(options.servers && { servers: options.servers }),
  });
  const definitions = config.definitions.map((each) =>
    options.only?.includes(each.name) === false ? switchedOff(each) : each,
  );
  const own = (options.permissions ?? []).map((rule) => ({ ...rule, provenance: { scope: 'host' as const, key: [] } }));
  return { ...config, definitions, rules: [...own, ...config.rules] };
}

const switchedOff = (each: ServerDefinition) => ({ ...each, settings: { ...each.settings, enabled: false } });

export interface StartParts {
  readonly options: RuntimeOptions;
  readonly config: LoadedConfig;
  readonly fleet: Fleet;
  readonly connections: Connections;
  readonly emit: Emit<ConnectionEvent>;
}

/** Starts the fleet and waits as long as was asked for. Aborting ends both, and rejects when nothing is left of it. */
export async function startUp({ options, config, fleet, connections, emit }: StartParts): Promise<{ waitMs: number }> {
  const { signal, interactive = Boolean(process.stdin.isTTY && process.stdout.isTTY) } = options;
  const {
    gateMs,
    waitMs,
    whenUncached = interactive ? 'background' : 'wait',
  } = {
    ...config.settings.startup,
    ...options.startup,
  };
  const stop = () => void connections.close();
  signal?.addEventListener('abort', stop, { once: true });
  await fleet.apply(config);
  const readiness = await fleet.ready({ timeoutMs: whenUncached === 'wait' ? waitMs : gateMs, signal });
  signal?.removeEventListener('abort', stop);
  if (signal?.aborted) await connections.close();
  signal?.throwIfAborted();
  emit({ type: 'startup.completed', ...readiness });
  return { waitMs };
}
