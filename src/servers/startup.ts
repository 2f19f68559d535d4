// Owns how a runtime starts: applies the first configuration, then waits until all servers have settled, or for `startup.gateMs`
// (interactive) or `startup.waitMs` (headless). Servers whose tools are cached are not waited for.

import type { LoadedConfig } from '../config/load.ts';
import type { Emit } from '../kernel/emitter.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ServerDefinition } from '../model/server.ts';
import type { Fleet, WaitOptions } from './fleet.ts';
import type { Host, ServerEvent } from './host.ts';
import { startupSettings } from './load-config.ts';
import { installerOf } from './open-session.ts';
import type { Servers } from './servers.ts';
import type { FleetStatus, Readiness } from './status.ts';

/** When the host's signal aborts, or a required server is missing, everything opened is closed before this rejects. */
export async function startUp(host: Host, servers: Servers, config: LoadedConfig): Promise<void> {
  const { options, clock, startedAt, emit } = host;
  const { fleet, connections, status } = servers;
  const { signal } = options;
  const { interactive, whenUncached, gateMs, waitMs, requiredWaitMs } = startupSettings(options, config.settings);
  const required = config.definitions.filter(({ settings }) => settings.required && settings.enabled);
  // An installation under way outlives a start that is given up, as it outlives the host.
  const giveUp = (reason: unknown) => {
    host.closing.abort(reason);
    return connections.close();
  };
  const stop = () => void giveUp(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  const leftOf = (limitMs: number) => Math.max(0, startedAt + limitMs - clock.now());
  // A slow disk has its own limit: counted against the gate, a busy machine would start without the tools it knows.
  const { cacheReadMs } = await fleet.apply(config, options.startup);
  const awaited = fleet.uncached();
  if (awaited.length > 0) fleet.connectCached();
  await fleet.settled({
    timeoutMs: whenUncached === 'wait' ? waitMs : leftOf(gateMs + cacheReadMs),
    servers: awaited,
    signal,
  });
  // In a terminal a person sees which required servers are missing, so the start does not wait for them.
  const { required: onMissing = interactive ? 'report' : 'enforce' } = options;
  const { platform } = host.environment;
  const { installTimeoutMs } = config.settings.startup;
  const wait = { timeoutMs: requiredWaitMs, signal, platform, installTimeoutMs };
  const missing = onMissing === 'enforce' ? await missingOf(fleet, required, wait) : [];
  signal?.removeEventListener('abort', stop);
  if (signal?.aborted) await giveUp(signal.reason);
  signal?.throwIfAborted();
  reportStart(fleet, status, emit);
  if (missing.length > 0) {
    const failure = new RuntimeError('REQUIRED_NOT_READY', { missing });
    await giveUp(failure);
    throw failure;
  }
  // Let `await createRuntime()` return before connecting servers whose tools are cached.
  setImmediate(() => fleet.connectCached());
}

/** Emits one line for a status bar: how many servers are ready, and the state of each that is not. */
export function reportStart(fleet: Fleet, status: FleetStatus, emit: Emit<ServerEvent>): void {
  const readiness = status.readiness();
  const { ready, notReady } = readiness;
  const known = fleet.cachedToConnect();
  const others = [
    ...(known.length > 0 ? [`${known.length} known from last time`] : []),
    ...notReady.map(({ server, state }) => `${server} is ${state}`),
  ];
  const total = ready.length + known.length + notReady.length;
  const line = [`${ready.length} of ${total} servers ready`, ...others].join('; ');
  emit({ type: 'startup.completed', ...readiness, known, line });
}

interface RequiredWait extends Pick<WaitOptions, 'timeoutMs' | 'signal'> {
  readonly platform: NodeJS.Platform;
  readonly installTimeoutMs: number;
}

/** Waits for required servers as long as their own limits allow, further attempts included, and no longer than `timeoutMs`. */
async function missingOf(
  fleet: Fleet,
  required: readonly ServerDefinition[],
  { timeoutMs: most, signal, platform, installTimeoutMs }: RequiredWait,
): Promise<Readiness['notReady']> {
  if (required.length === 0) return [];
  // 0 turns a server's own limit off; a server that is installed first has a limit for that too.
  const own = required.map(({ settings: { startupTimeoutMs }, launch }) => {
    if (startupTimeoutMs === 0) return Number.POSITIVE_INFINITY;
    return installerOf(launch, platform) === undefined
      ? startupTimeoutMs
      : Math.max(startupTimeoutMs, installTimeoutMs);
  });
  const timeoutMs = Math.min(most, Math.max(...own));
  const servers = required.map(({ name }) => name);
  const { notReady } = await fleet.ready({ timeoutMs, servers, untilDecided: true, signal });
  return notReady;
}
