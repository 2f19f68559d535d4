// Owns putting the stations of a call together, in order, and nothing else:
// config → trust → connection → catalog → turn → call → shaping. Every name below is a folder or a file.

import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import type { ReloadOptions, Runtime, RuntimeOptions } from './api.ts';
import { approveNothing } from './call/approval.ts';
import { authorize } from './call/authorize.ts';
import { deadline } from './call/deadline.ts';
import { Breakers, guard } from './call/guard.ts';
import { invoke } from './call/invoke.ts';
import { observe } from './call/observe.ts';
import { compose } from './call/pipeline.ts';
import { resolve } from './call/resolve.ts';
import { shape } from './call/shape.ts';
import { validate } from './call/validate.ts';
import { Catalog } from './catalog/catalog.ts';
import { Offers } from './catalog/offers/offers.ts';
import { createPrompts } from './catalog/offers/prompts.ts';
import { createResources } from './catalog/offers/resources.ts';
import { findByToolName } from './catalog/tool-meta.ts';
import { cacheFolder, stateFolder } from './config/scopes.ts';
import { watchFiles } from './config/watch.ts';
import { createConnections, createOwnConnections } from './connecting.ts';
import { SandboxNews } from './connection/sandbox-state.ts';
import { Subscriptions } from './connection/subscriptions.ts';
import { createVerdicts } from './connection/verdicts.ts';
import type { RuntimeEvent } from './events.ts';
import { Fleet } from './fleet.ts';
import { systemClock } from './kernel/clock.ts';
import { Emitter } from './kernel/emitter.ts';
import { settleWithin } from './kernel/settle.ts';
import { trackWrites } from './kernel/track-writes.ts';
import type { Diagnostic } from './model/diagnostic.ts';
import { RuntimeError } from './model/errors.ts';
import { limits } from './model/limits.ts';
import type { ServerName } from './model/names.ts';
import type { ServerDefinition } from './model/server.ts';
import { createOpening } from './opening.ts';
import { createOffering } from './own-tools.ts';
import { createMemory } from './remembering.ts';
import { Standing } from './standing.ts';
import { createLoader, reportStart, startUp } from './starting.ts';
import { createFileStore } from './store/file.ts';
import { createServerLogs } from './store/server-log.ts';
import { definitionHash } from './trust/fingerprint.ts';
import { createPolicyTrust } from './trust/policy-trust.ts';
import { createAccounts, createSecretsFor, createTrust } from './trusting.ts';
import { createViews } from './views.ts';

export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  const { clock = systemClock, approve = approveNothing } = options;
  const askedAt = clock.now();
  const onError = harmless(options.onError ?? warn);
  const around = surroundings(options);
  const emitter = new Emitter<RuntimeEvent>(onError);
  const { emit } = emitter;
  if (options.onEvent) emitter.on(options.onEvent);

  const store = options.store ?? createFileStore(stateFolder(around), clock);
  const cache = trackWrites(options.store ?? createFileStore(cacheFolder(around), clock, dropped(onError)));
  const closing = new AbortController();
  const hasLogs = options.logs ?? options.store === undefined;
  const gate = createTrust(around, store, clock);
  const catalog = new Catalog({
    clock,
    emit,
    sourceOf: definitionHash,
    onListed: (...listed) => void memory.remember(...listed).catch(onError),
  });
  const offers = new Offers({ clock, emit });
  const onUpdated = (server: ServerName, uri: string) => emit({ type: 'resource.updated', server, uri });
  const subscriptions = new Subscriptions({ clock, onError, onUpdated });
  const standing = new Standing();
  const breakers = new Breakers(clock, limits.breaker);
  const sandbox = new SandboxNews();
  // Both write to one disk: what is wrong with it is told once.
  const onCacheError = onceOnly(onError);
  const verdicts = createVerdicts(cache, clock, onCacheError);
  const opening = createOpening({
    ...{ around, approve, askInput: options.askInput, launcher: options.launcher, inputs: options },
    id: randomUUID(),
    clientInfo: options.clientInfo,
    gate,
    secrets: createSecretsFor(around, store),
    sandbox,
    verdicts,
    logs: hasLogs ? createServerLogs(stateFolder(around), clock, onError) : undefined,
    circumstances: () => standing.circumstances(),
    onPrepared: (server, prepared) => standing.prepared(server, prepared),
    ...{ clock, emit, onError },
  });
  const connecting = { opening, catalog, offers, subscriptions, breakers, sandbox, clock, emit, onError };
  const connections = createConnections(connecting);
  const memory = createMemory({
    ...{ store: cache, gate, clock, onError: onCacheError },
    accountOf: createAccounts(around, store),
  });
  const fleet: Fleet = new Fleet({ standing, connections, catalog, offers, memory, opening, breakers, sandbox, clock });
  const perform = compose(
    [
      observe({ emit, clock, onError }),
      shape(standing.maxResultChars),
      resolve({
        ...{ isHidden: standing.isHidden, isReplaced: standing.isReplaced },
        whyMissing: (name) => fleet.whyMissing(name),
      }),
      validate(),
      authorize({
        refusal: standing.refusal,
        isStranger: standing.isStranger,
        identity: standing.identity,
        closing: closing.signal,
        rules: standing.rules,
        approve,
        clock,
        emit,
        onError,
      }),
      guard(breakers),
      deadline(standing.callLimits, clock),
    ],
    invoke(fleet, standing.requireStill),
  );
  const resources = createResources({ offers, reach: fleet, subscriptions, inputs: options, clock });
  const prompts = createPrompts({ offers, reach: fleet, inputs: options, clock });
  const views = createViews({
    ...{ fleet, standing, inputs: options },
    shared: { perform, ...createOffering({ catalog, fleet, standing, offers, subscriptions, clock }) },
    createConnections: (id, inputs) => createOwnConnections(connecting, id, inputs),
  });
  const living = { clock, askedAt, closing: closing.signal, onLateGateway: () => changed() };
  const load = createLoader({ options, around, policy: createPolicyTrust(store), emit, living });
  /** What was begun for a runtime that does not come to be ends as well. */
  const giveUp = (error: unknown) => {
    closing.abort(error);
    throw error;
  };
  const config = await load().catch(giveUp);
  const starting = startUp({ options, config, fleet, connections, clock, askedAt, emit });
  // One after the other, and none before the start: the configuration that was read last is the one that stays.
  let applying: Promise<unknown> = starting;
  const readAgain = async (reload?: ReloadOptions) => {
    if (reload?.replaceAll) opening.renew();
    await fleet.apply(await load(), reload);
    fleet.openExpected();
    await views.follow();
    void fleet
      .settled({ timeoutMs: standing.circumstances().settings.startup.waitMs })
      .then(() => closing.signal.aborted || reportStart(fleet, emit));
  };
  const changed = () => {
    applying = applying.then(() => readAgain()).catch(onError);
  };
  const isWatching = options.watch ?? options.discover !== false;
  // From now on, and not only once the start is over: a file may be mended while a server is slow to come up.
  const stopWatching = isWatching ? watchFiles({ files: () => standing.watched(), clock, changed }) : undefined;
  const end = async () => {
    stopWatching?.();
    for (const part of [catalog, offers, subscriptions]) part.close();
    closing.abort(new RuntimeError('CALL_CANCELLED', {}));
    await Promise.all([views.close(), connections.close()]);
    // A disk that never answers costs what was not written yet, and nobody's time.
    const written = verdicts.flush().then(() => cache.whenWritten());
    await settleWithin([written], { limitMs: limits.closeMs, clock });
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
    on: (listener) => emitter.on(listener),
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
  const around = surroundings(options);
  const policy = createPolicyTrust(createFileStore(stateFolder(around), systemClock));
  const { definitions, diagnostics } = await createLoader({ options, around, policy, emit: () => undefined })();
  return { servers: definitions, diagnostics };
}

/** What a host does not say is the process's own; everything below is handed it. */
function surroundings({ cwd, env, home }: RuntimeOptions) {
  return { cwd: cwd ?? process.cwd(), env: env ?? process.env, home: home ?? homedir(), platform: process.platform };
}

/** A host that throws where it is only told something must not break what tells it. */
function harmless(onError: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    try {
      onError(error);
    } catch (thrown) {
      warn(thrown);
    }
  };
}

/** For what goes wrong each time in the same way, such as a disk that is full. */
function onceOnly(onError: (error: unknown) => void): (error: unknown) => void {
  let isTold = false;
  return (error) => {
    if (!isTold) onError(error);
    isTold = true;
  };
}

/** Nothing of worth is lost with a file of the cache; that one broke is worth a word. */
function dropped(onError: (error: unknown) => void): (file: string) => void {
  return (file) => onError(new RuntimeError('STORE_UNREADABLE', { what: file }));
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
