// Owns putting the stations of a call together, in order, and nothing else:
// config → trust → connection → catalog → turn → call → shaping. Every name below is a folder or a file.

import { homedir } from 'node:os';
import type { Runtime, RuntimeOptions } from './api.ts';
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
import { stateFolder } from './config/scopes.ts';
import { watchFiles } from './config/watch.ts';
import { Connections } from './connection/connections.ts';
import type { RuntimeEvent } from './events.ts';
import { Fleet } from './fleet.ts';
import { createBackoff } from './kernel/backoff.ts';
import { systemClock } from './kernel/clock.ts';
import { Emitter } from './kernel/emitter.ts';
import { canonicalJson } from './kernel/json.ts';
import type { Diagnostic } from './model/diagnostic.ts';
import { limits } from './model/limits.ts';
import type { ServerDefinition } from './model/server.ts';
import { createOpening } from './opening.ts';
import { createLoader, startUp } from './starting.ts';
import { createFileStore } from './store/file.ts';
import { definitionHash } from './trust/fingerprint.ts';
import { createPolicyTrust } from './trust/policy-trust.ts';
import { createSecretsFor, createTrust } from './trusting.ts';
import { createView } from './view.ts';

export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  const { clock = systemClock, approve = approveNothing } = options;
  const onError = harmless(options.onError ?? warn);
  const around = surroundings(options);
  const emitter = new Emitter<RuntimeEvent>(onError);
  const { emit } = emitter;
  if (options.onEvent) emitter.on(options.onEvent);

  const store = options.store ?? createFileStore(stateFolder(around), clock);
  const catalog = new Catalog(clock, emit);
  const breakers = new Breakers(clock, limits.breaker);
  const connections: Connections = new Connections({
    open: createOpening({
      ...{ around, approve, askInput: options.askInput, launcher: options.launcher, inputs: options },
      gate: createTrust(around, store, clock),
      secrets: createSecretsFor(around, store),
      circumstances: () => fleet.circumstances(),
      onPrepared: (server, prepared) => fleet.prepared(server, prepared),
      ...{ clock, emit, onError },
    }),
    keyOf: (definition) => definitionHash(definition) + canonicalJson(definition.settings),
    delayFor: createBackoff(limits.reconnect),
    onReady: (definition, session) => {
      breakers.recovered(definition.name);
      catalog.list(definition, session).catch(onError);
    },
    onRemoved: (server) => catalog.remove(server),
    clock,
    emit,
    onError,
  });
  const fleet: Fleet = new Fleet({ connections, catalog, clock });
  const perform = compose(
    [
      observe(emit, clock),
      shape(fleet.maxResultChars),
      resolve(fleet),
      validate(),
      authorize({
        refusal: fleet.refusal,
        isStranger: fleet.isStranger,
        rules: fleet.rules,
        approve,
        clock,
        emit,
        onError,
      }),
      guard(breakers),
      deadline(fleet.callLimits, clock),
    ],
    invoke(fleet),
  );
  const load = createLoader({ options, around, policy: createPolicyTrust(store), emit });
  const config = await load();
  const starting = startUp({ options, config, fleet, connections, emit });
  // One after the other, and none before the start: the configuration that was read last is the one that stays.
  let applying: Promise<unknown> = starting;
  const readAgain = () => load().then((next) => fleet.apply(next));
  const changed = () => {
    applying = applying.then(readAgain).catch(onError);
  };
  const isWatching = options.watch ?? options.discover !== false;
  // From now on, and not only once the start is over: a file may be mended while a server is slow to come up.
  const stopWatching = isWatching ? watchFiles({ files: () => fleet.watched(), clock, changed }) : undefined;
  const close = () => {
    stopWatching?.();
    return connections.close();
  };
  const { waitMs } = await starting.catch((error: unknown) => {
    stopWatching?.();
    throw error;
  });

  return {
    ...createView({ snapshot: () => catalog.snapshot(), perform, inputs: options }),
    on: (listener) => emitter.on(listener),
    status: () => fleet.status(),
    ready: ({ timeoutMs = waitMs, ...waiting } = {}) => fleet.ready({ timeoutMs, ...waiting }),
    reload: () => {
      const applied = applying.then(readAgain);
      applying = applied.catch(onError);
      return applied;
    },
    reconnect: (server) => {
      breakers.reset(server);
      fleet.reconnect(server);
    },
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

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
