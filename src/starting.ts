// Owns the beginning of a runtime: what a host asked for joined with what its files say, and how long to wait for servers.

import type { Readiness, RuntimeOptions } from './api.ts';
import type { LoadOptions } from './config/discover.ts';
import type { ConfigEvent } from './config/events.ts';
import type { LoadedConfig } from './config/load.ts';
import type { Settings } from './config/schema.ts';
import type { HostEnvironment } from './config/scopes.ts';
import type { Connections } from './connection/connections.ts';
import type { ConnectionEvent } from './connection/events.ts';
import type { Fleet } from './fleet.ts';
import type { Clock } from './kernel/clock.ts';
import type { Emit } from './kernel/emitter.ts';
import { RuntimeError } from './model/errors.ts';
import type { ServerDefinition } from './model/server.ts';
import { hostRules } from './policy/host-rules.ts';
import { withRulesReviewed } from './reviewing.ts';
import type { PolicyTrust } from './trust/policy-trust.ts';

export interface LoaderDeps {
  readonly options: RuntimeOptions;
  readonly environment: HostEnvironment;
  readonly policy: PolicyTrust;
  readonly emit: Emit<ConfigEvent>;
  /** For a runtime, which does not wait for Docker as long as Docker may take. */
  readonly gatewayWait?: GatewayWait;
}

interface GatewayWait {
  readonly clock: Clock;
  /** When the host asked for the runtime. */
  readonly askedAt: number;
  /** Docker's gateway came, went or changed after the reading that it was too late for. */
  readonly onLateGateway: () => void;
  /** Aborted when the runtime is closed, or did not come to be. */
  readonly closing: AbortSignal;
}

let modules: Promise<[typeof import('./config/load.ts'), typeof import('./config/native.ts')]> | undefined;

/** The parsers and the schema are loaded when they are first needed, not when the library is imported. */
export function createLoader({
  options,
  environment,
  policy,
  emit,
  gatewayWait,
}: LoaderDeps): () => Promise<LoadedConfig> {
  const remembered: LoadOptions['remembered'] = new Map();
  const waitBudget = gatewayWait && createWaitBudget(options, gatewayWait);
  return async () => {
    modules ??= Promise.all([import('./config/load.ts'), import('./config/native.ts')]);
    const [{ loadConfig }, { replaceNative }] = await modules;
    const loaded = await loadConfig({
      ...environment,
      discover: options.discover ?? true,
      configFile: options.config,
      servers: options.servers,
      extraSources: options.extraSources,
      isApproved: (file, text) => policy.isApproved(file, text),
      remembered,
      waitBudget: waitBudget?.(),
    });
    const config = withRulesReviewed(loaded, environment);
    emit({ type: 'config.loaded', files: config.files, diagnostics: config.diagnostics });
    const natives = typeof options.nativeTools === 'function' ? options.nativeTools() : (options.nativeTools ?? []);
    const replaced = replaceNative(config.definitions, natives, environment.env);
    const own = hostRules(options.permissions ?? []);
    return {
      ...config,
      definitions: config.definitions.map((each) =>
        replaced.has(each.name) || options.only?.includes(each.name) === false
          ? switchedOff(each)
          : options.only === undefined
            ? each
            : askedFor(each),
      ),
      refused: new Map([...replaced, ...config.refused]),
      rules: [...own, ...config.rules],
    };
  };
}

/** One for each reading: the first has what is left of the start, the later ones as much from their own beginning. */
function createWaitBudget(options: RuntimeOptions, gatewayWait: GatewayWait): () => LoadOptions['waitBudget'] {
  const { clock, askedAt, onLateGateway: onLate, closing: signal } = gatewayWait;
  const known = {};
  let isFirst = true;
  return () => {
    const since = isFirst ? askedAt : clock.now();
    isFirst = false;
    const limitMs = (settings: Settings) => {
      const { whenUncached, gateMs, waitMs } = paceOf(options, settings);
      return Math.max(0, since + (whenUncached === 'wait' ? waitMs : gateMs) - clock.now());
    };
    return { limitMs, known, onLate, clock, signal };
  };
}

/** What the host says counts more than what its files say. */
function paceOf({ startup, interactive = isWatched() }: RuntimeOptions, settings: Settings) {
  const { whenUncached = interactive ? 'background' : 'wait', ...pace } = { ...settings.startup, ...startup };
  return { interactive, whenUncached, ...pace };
}

/** A person sits before it. */
const isWatched = () => Boolean(process.stdin.isTTY && process.stdout.isTTY);

const switchedOff = (each: ServerDefinition) => ({ ...each, settings: { ...each.settings, enabled: false } });

/** Whoever names a server wants it now. */
const askedFor = (each: ServerDefinition): ServerDefinition => ({
  ...each,
  settings: { ...each.settings, lifecycle: 'eager' },
});

export interface StartDeps {
  readonly options: RuntimeOptions;
  readonly config: LoadedConfig;
  readonly fleet: Fleet;
  readonly connections: Connections;
  readonly clock: Clock;
  /** When the host asked for the runtime: the gate counts from there, whatever its files cost. */
  readonly askedAt: number;
  readonly emit: Emit<ConnectionEvent>;
}

/** Starts the fleet and waits as long as was asked for. Aborting ends both, and rejects when nothing is left of it. */
export async function startUp(deps: StartDeps): Promise<{ waitMs: number }> {
  const { options, config, fleet, connections, clock, askedAt, emit } = deps;
  const { signal } = options;
  const { interactive, whenUncached, gateMs, waitMs } = paceOf(options, config.settings);
  const required = config.definitions.filter(({ settings }) => settings.required && settings.enabled);
  const stop = () => void connections.close();
  signal?.addEventListener('abort', stop, { once: true });
  const gateLeftMs = () => Math.max(0, askedAt + gateMs - clock.now());
  await fleet.apply(config, { whenCached: options.startup?.whenCached, recallMs: gateLeftMs() });
  // Whose tools are known is not waited for, and nobody without a person's patience is waited for beyond the gate.
  const awaited = fleet.uncached();
  if (awaited.length > 0) fleet.openExpected();
  await fleet.settled({ timeoutMs: whenUncached === 'wait' ? waitMs : gateLeftMs(), servers: awaited, signal });
  const { required: demand = interactive ? 'report' : 'enforce' } = options;
  // A person sees who is missing, and is not kept waiting for it.
  const missing = demand === 'enforce' ? await requiredMissing(fleet, required, signal) : [];
  signal?.removeEventListener('abort', stop);
  if (signal?.aborted) await connections.close();
  signal?.throwIfAborted();
  reportStart(fleet, emit);
  if (missing.length > 0) {
    await connections.close();
    throw new RuntimeError('REQUIRED_NOT_READY', { missing });
  }
  // Whoever waited for the runtime goes first.
  setImmediate(() => fleet.openExpected());
  return { waitMs };
}

/** One line for a status bar: nothing is lost in silence, and nobody is stopped by it. */
export function reportStart(fleet: Fleet, emit: Emit<ConnectionEvent>): void {
  const readiness = fleet.readiness();
  const { ready, notReady } = readiness;
  const known = fleet.expected();
  const others = [
    ...(known.length > 0 ? [`${known.length} known from last time`] : []),
    ...notReady.map(({ server, state }) => `${server} is ${state}`),
  ];
  const line = [`${ready.length} of ${ready.length + known.length + notReady.length} servers ready`, ...others].join(
    '; ',
  );
  emit({ type: 'startup.completed', ...readiness, known, line });
}

/** They are given as long as their own limits allow, further attempts included: without them there is nothing to do. */
async function requiredMissing(
  fleet: Fleet,
  required: readonly ServerDefinition[],
  signal: AbortSignal | undefined,
): Promise<Readiness['notReady']> {
  if (required.length === 0) return [];
  // 0 turns the limit off.
  const timeoutMs = Math.max(...required.map(({ settings }) => settings.startupTimeoutMs || Number.POSITIVE_INFINITY));
  const servers = required.map(({ name }) => name);
  const { notReady } = await fleet.ready({ timeoutMs, servers, untilDecided: true, signal });
  return notReady;
}
