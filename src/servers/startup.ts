// Owns how a runtime starts: applies the first configuration, then waits until all servers have settled, or for `startup.gateMs`
// (interactive) or `startup.waitMs` (headless). Servers whose tools are cached are not waited for.

import type { Emit } from '../kernel/emitter.ts';
import { type FailureData, RuntimeError } from '../model/errors.ts';
import type { ServerDefinition } from '../model/server.ts';
import type { ServerEvent } from './events.ts';
import type { WaitOptions } from './fleet.ts';
import type { Host } from './host.ts';
import type { JudgedConfig } from './judge-config.ts';
import { startupSettings } from './load-config.ts';
import { startLimitOf } from './open-session.ts';
import type { Servers } from './servers.ts';
import type { FleetStatus } from './status.ts';

/** How a start ended; the event `startup.completed` carries the same. */
export type StartupReport = Omit<Extract<ServerEvent, { type: 'startup.completed' }>, 'type'>;

/** When the host's signal aborts, or a required server is missing, everything opened is closed before this rejects. */
export async function startUp(host: Host, servers: Servers, config: JudgedConfig): Promise<StartupReport> {
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
  const missing = onMissing === 'enforce' ? await missingOf(servers, required, wait) : [];
  signal?.removeEventListener('abort', stop);
  if (signal?.aborted) await giveUp(signal.reason);
  signal?.throwIfAborted();
  const report = reportStart(status, emit);
  if (missing.length > 0) {
    const failure = new RuntimeError('REQUIRED_NOT_READY', { missing });
    await giveUp(failure);
    throw failure;
  }
  // Let `await createRuntime()` return before connecting servers whose tools are cached.
  setImmediate(() => fleet.connectCached());
  return report;
}

/** Emits one line for a status bar: how many servers are ready, and the state of each that is not. Lazy servers are left out. */
export function reportStart(status: FleetStatus, emit: Emit<ServerEvent>): StartupReport {
  const { ready, notReady, known } = status.startReport();
  const others = [
    ...(known.length > 0 ? [`${known.length} known from last time`] : []),
    ...notReady.map(({ server, state }) => `${server} is ${state}`),
  ];
  const total = ready.length + known.length + notReady.length;
  const line = [`${ready.length} of ${total} servers ready`, ...others].join('; ');
  const report = { ready, notReady, known, line };
  emit({ type: 'startup.completed', ...report });
  return report;
}

interface RequiredWait extends Pick<WaitOptions, 'timeoutMs' | 'signal'> {
  readonly platform: NodeJS.Platform;
  readonly installTimeoutMs: number;
}

/** Waits for required servers as long as their own limits allow, further attempts included, and no longer than `timeoutMs`. */
async function missingOf(
  { fleet, status }: Pick<Servers, 'fleet' | 'status'>,
  required: readonly ServerDefinition[],
  { timeoutMs: most, signal, platform, installTimeoutMs }: RequiredWait,
): Promise<FailureData<'REQUIRED_NOT_READY'>['missing']> {
  if (required.length === 0) return [];
  // 0 turns a server's own limit off.
  const own = required.map((each) => startLimitOf(each, { platform, installTimeoutMs }) || Number.POSITIVE_INFINITY);
  const timeoutMs = Math.min(most, Math.max(...own));
  const servers = required.map(({ name }) => name);
  const { notReady } = await fleet.ready({ timeoutMs, servers, untilDecided: true, signal });
  // The reason of a server may promise another attempt, which a start that fails does not make: its failure does not.
  const statuses = new Map(status.all().map((each) => [each.name, each]));
  return notReady.map(({ server, state, message }) => {
    const known = statuses.get(server);
    return { server, state, message: (known?.error ?? known?.lastError)?.message ?? message };
  });
}
