// Owns putting the stations of a call together, in order, and nothing else:
// config → trust → connection → catalog → turn → call → shaping. Every name below is a folder or a file.

import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import type { ReloadOptions, Runtime, RuntimeOptions } from './api.ts';
import { approveNothing } from './call/approval.ts';
import { remember } from './call/caution.ts';
import { deadline } from './call/deadline.ts';
import { Breakers, guard } from './call/guard.ts';
import { invoke } from './call/invoke.ts';
import { observe } from './call/observe.ts';
import { compose } from './call/pipeline.ts';
import { resolve } from './call/resolve.ts';
import { serialize } from './call/serialize.ts';
import { shape } from './call/shape.ts';
import { validate } from './call/validate.ts';
import { Catalog } from './catalog/catalog.ts';
import { createPrompts } from './catalog/resources/prompts.ts';
import { ResourceCatalog } from './catalog/resources/resource-catalog.ts';
import { createResources } from './catalog/resources/resources.ts';
import { findByToolName } from './catalog/tool-meta.ts';
import { cacheFolder, resultsFolder, stateFolder } from './config/scopes.ts';
import { watchFiles } from './config/watch.ts';
import { createConnections, createOwnConnections } from './connecting.ts';
import type { ClientHandlers } from './connection/client-handlers.ts';
import { createProtocolCache } from './connection/protocol-cache.ts';
import { SandboxNews } from './connection/sandbox-state.ts';
import { Subscriptions } from './connection/subscriptions.ts';
import { Fleet } from './fleet.ts';
import { systemClock } from './kernel/clock.ts';
import { settleWithin } from './kernel/settle.ts';
import { trackWrites } from './kernel/track-writes.ts';
import type { Diagnostic } from './model/diagnostic.ts';
import { RuntimeError } from './model/errors.ts';
import { limits } from './model/limits.ts';
import type { ServerName } from './model/names.ts';
import type { ServerDefinition } from './model/server.ts';
import type { Tool } from './model/tool.ts';
import { createOpening } from './opening.ts';
import { createOffering } from './own-tools.ts';
import { createPermitting, createRecheck, Pins } from './permitting.ts';
import { createRedacting } from './redacting.ts';
import { createMemory } from './remembering.ts';
import { findSignals } from './shaping/injection.ts';
import { createRedactor, KnownSecrets } from './shaping/redact.ts';
import { Standing } from './standing.ts';
import { createLoader, reportStart, startUp } from './starting.ts';
import { createArtifacts } from './store/artifacts.ts';
import { createFileStore } from './store/file.ts';
import { createServerLogs } from './store/server-log.ts';
import { createEvents, createOnError, dropped, onceOnly } from './telling.ts';
import { definitionHash } from './trust/fingerprint.ts';
import { createPolicyTrust } from './trust/policy-trust.ts';
import { createAccounts, createGrants, createSecretsFor, createTrust } from './trusting.ts';
import { createViews } from './views.ts';

export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  const { clock = systemClock, approve = approveNothing } = options;
  const askedAt = clock.now();
  const environment = surroundings(options);
  const known = new KnownSecrets();
  const redactor = createRedactor(known);
  const redacting = createRedacting(redactor, () => standing.shaping());
  const onError = createOnError(options.onError, redactor);
  const { emit, on } = createEvents(onError, redactor);
  if (options.onEvent) on(options.onEvent);

  const store = options.store ?? createFileStore(stateFolder(environment), clock);
  const cache = trackWrites(options.store ?? createFileStore(cacheFolder(environment), clock, dropped(onError)));
  const closing = new AbortController();
  const hasLogs = options.logs ?? options.store === undefined;
  const gate = createTrust(environment, store, clock);
  const handlers = { ...handlersOf(options), emit, onError };
  const artifacts = options.store
    ? undefined
    : createArtifacts({ folder: resultsFolder(environment), clock, redact: redactor.text });
  const catalog = new Catalog({
    clock,
    emit,
    sourceOf: definitionHash,
    redact: redacting.listing,
    onListed: (...listed) => void memory.remember(...listed).catch(onError),
  });
  const offers = new ResourceCatalog({ clock, emit });
  const onUpdated = (server: ServerName, uri: string) => emit({ type: 'resource.updated', server, uri });
  const subscriptions = new Subscriptions({ clock, onError, onUpdated });
  const standing = new Standing({
    ...environment,
    ownFolder: process.cwd(),
    hasLauncher: options.launcher !== undefined,
  });
  const pins = new Pins({ folder: folderOfLock(options, environment), isFrozen: options.frozen === true, onError });
  const breakers = new Breakers(clock, limits.breaker);
  const sandbox = new SandboxNews();
  // Both write to one disk: what is wrong with it is told once.
  const onCacheError = onceOnly(onError);
  const protocolCache = createProtocolCache(cache, clock, onCacheError);
  const opening = createOpening({
    ...{ environment, approve, askInput: options.askInput, launcher: options.launcher, handlers, known, redactor },
    id: randomUUID(),
    clientInfo: options.clientInfo,
    gate,
    secrets: createSecretsFor(environment, store),
    sandbox,
    protocolCache,
    logs: hasLogs ? createServerLogs(stateFolder(environment), clock, onError) : undefined,
    config: () => standing.config(),
    onPrepared: (server, prepared) => standing.prepared(server, prepared),
    ...{ clock, emit, onError },
  });
  const connecting = { opening, catalog, offers, subscriptions, breakers, sandbox, clock, emit, onError };
  const connections = createConnections(connecting);
  const memory = createMemory({
    ...{ store: cache, gate, clock, onError: onCacheError },
    accountOf: createAccounts(environment, store),
  });
  const fleet: Fleet = new Fleet({ standing, connections, catalog, offers, memory, opening, breakers, sandbox, clock });
  const present = ({ id, definition }: Tool) => catalog.definitionOf(id) ?? definition;
  const trustsAnnotations = (tool: Tool) => fleet.trustsAnnotations(tool);
  const deciding = { standing, pins, trustsAnnotations, present, gate: options.gate, clock, onError };
  const isListed = (server: ServerName) => catalog.get(server)?.freshness === 'live';
  const { requirePermitted, requireSame } = createRecheck({ ...deciding, isListed });
  const perform = compose(
    [
      observe({ emit, clock, onError, redact: redactor.error }),
      remember(),
      shape({
        limitsOf: standing.resultLimits,
        settings: standing.shaping,
        redactor,
        findSignals,
        onSignals: ({ callId, tool }, signals) =>
          tool && emit({ type: 'signal.raised', callId, ...tool.id, surface: 'tool_output', signals }),
        artifacts,
        hasVision: ({ caller }) => caller.hasVision === true,
      }),
      resolve({
        ...{ isHidden: standing.isHidden, isReplaced: standing.isReplaced },
        whyMissing: (name) => fleet.whyMissing(name),
      }),
      validate(),
      createPermitting({
        ...{ ...deciding, approve, emit },
        grants: createGrants(environment, { store, clock, gate }),
        redact: redactor.value,
        closing: closing.signal,
      }),
      serialize({ isSerial: standing.isSerial, requireStill: requirePermitted }),
      guard(breakers),
      deadline(standing.callLimits, clock),
    ],
    invoke(fleet, requireSame),
  );
  const resources = createResources({ offers, reach: fleet, subscriptions, handlers, clock });
  const prompts = createPrompts({ offers, reach: fleet, handlers, clock, emit });
  const views = createViews({
    ...{ fleet, standing, handlers },
    shared: { perform, ...createOffering({ catalog, fleet, standing, offers, subscriptions, clock }) },
    createConnections: (id, handlers) => createOwnConnections(connecting, id, handlers),
  });
  const gatewayWait = { clock, askedAt, closing: closing.signal, onLateGateway: () => changed() };
  const load = createLoader({ options, environment, policy: createPolicyTrust(store), emit, gatewayWait });
  /** What was begun for a runtime that does not come to be ends as well. */
  const giveUp = (error: unknown) => {
    closing.abort(error);
    throw error;
  };
  const [config] = await Promise.all([load(), pins.read()]).catch(giveUp);
  const starting = startUp({ options, config, fleet, connections, clock, askedAt, emit });
  // One after the other, and none before the start: the configuration that was read last is the one that stays.
  let applying: Promise<unknown> = starting;
  const readAgain = async (reload?: ReloadOptions) => {
    if (reload?.replaceAll) opening.renew();
    const [config] = await Promise.all([load(), pins.read()]);
    await fleet.apply(config, reload);
    fleet.openExpected();
    await views.follow();
    void fleet
      .settled({ timeoutMs: standing.config().settings.startup.waitMs })
      .then(() => closing.signal.aborted || reportStart(fleet, emit));
  };
  const changed = () => {
    applying = applying.then(() => readAgain()).catch(onError);
  };
  const isWatching = options.watch ?? options.discover !== false;
  // From now on, and not only once the start is over: a file may be mended while a server is slow to come up.
  const stopWatching = isWatching
    ? watchFiles({ files: () => [...standing.watched(), ...pins.watched()], clock, changed })
    : undefined;
  const end = async () => {
    stopWatching?.();
    for (const part of [catalog, offers, subscriptions]) part.close();
    closing.abort(new RuntimeError('CALL_CANCELLED', {}));
    await Promise.all([views.close(), connections.close()]);
    // A disk that never answers costs what was not written yet, and nobody's time.
    const written = protocolCache.flush().then(() => cache.whenWritten());
    await settleWithin([written, artifacts?.settled() ?? written], { limitMs: limits.closeMs, clock });
  };
  let ended: Promise<void> | undefined;
  const close = () => {
    ended ??= end();
    return ended;
  };
  const { waitMs } = await starting.catch((error: unknown) => {
    stopWatching?.();
    return giveUp(error);
  });

  return {
    ...views.root,
    view: (asked) => views.open(asked),
    on,
    status: () => fleet.status(),
    ready: ({ timeoutMs = waitMs, ...waiting } = {}) => fleet.ready({ timeoutMs, ...waiting }),
    reload: (asked) => {
      const applied = applying.then(() => readAgain(asked));
      applying = applied.catch(onError);
      return applied;
    },
    reconnect: (server) => {
      breakers.reset(server);
      opening.renew(server);
      fleet.reconnect(server);
    },
    notifySandboxState: (state) => fleet.announce(state, views.sessions()),
    getStats: () => fleet.stats(),
    getTools: () => catalog.snapshot().tools,
    redact: redacting.result,
    findByToolName: (tool) => findByToolName(catalog.snapshot().tools, tool),
    refreshTools: (server) => fleet.refreshTools(server),
    resources,
    prompts,
    disconnect: (server) => fleet.disconnect(server),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What is configured, and what is wrong with it; starts and connects nothing. */
export async function discoverMCPServers(
  options: Pick<RuntimeOptions, 'cwd' | 'home' | 'env' | 'config'> = {},
): Promise<{ servers: readonly ServerDefinition[]; diagnostics: readonly Diagnostic[] }> {
  const environment = surroundings(options);
  const policy = createPolicyTrust(createFileStore(stateFolder(environment), systemClock));
  const { definitions, diagnostics } = await createLoader({ options, environment, policy, emit: () => undefined })();
  return { servers: definitions, diagnostics };
}

/** What is pinned counts where files are read at all, or where nothing else counts. */
function folderOfLock({ discover = true, frozen = false }: RuntimeOptions, { cwd }: { cwd: string }) {
  return discover || frozen ? cwd : undefined;
}

function handlersOf({ elicit, sample, roots }: RuntimeOptions): ClientHandlers {
  return { ...(elicit && { elicit }), ...(sample && { sample }), ...(roots && { roots }) };
}

/** What a host does not say is the process's own; everything below is handed it. */
function surroundings({ cwd, env, home }: RuntimeOptions) {
  return { cwd: cwd ?? process.cwd(), env: env ?? process.env, home: home ?? homedir(), platform: process.platform };
}
