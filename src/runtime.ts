// Owns putting the parts of a runtime together, each from those above it, and nothing else. Every name below is a folder or a
// file. A call travels turn → call (its stages, below) → servers, and its result the same way back.

import { resolve as resolvePath } from 'node:path';
import { createApi, type Runtime, type RuntimeOptions } from './api.ts';
import { authorize, wouldAsk } from './call/authorize/authorize.ts';
import { createDecider } from './call/authorize/decide.ts';
import { createRecheck } from './call/authorize/recheck.ts';
import { deadline } from './call/deadline.ts';
import type { CallEvent } from './call/events.ts';
import { guard } from './call/guard.ts';
import { invoke } from './call/invoke.ts';
import { observe } from './call/observe.ts';
import { type CallPath, compose, type ToolCall } from './call/pipeline.ts';
import { resolve } from './call/resolve.ts';
import { serialize } from './call/serialize.ts';
import { shape } from './call/shape.ts';
import { trackTaint } from './call/track-taint.ts';
import { repairCall, validate } from './call/validate.ts';
import { type HostEnvironment, stateFolder } from './config/scopes.ts';
import { findWorkspace } from './config/workspace.ts';
import { systemClock } from './kernel/clock.ts';
import { homeFolder } from './kernel/home-folder.ts';
import type { Diagnostic } from './model/diagnostic.ts';
import type { ServerDefinition } from './model/server.ts';
import { ConfigLoop } from './servers/config-loop.ts';
import { createHost, type Host, type Standing } from './servers/host.ts';
import { createLoader } from './servers/load-config.ts';
import { createServers, type Servers } from './servers/servers.ts';
import { createFileStore } from './store/file.ts';
import { createTrust, type Trust } from './trust/trust.ts';
import { createViews } from './view.ts';

/** Reads the configuration, starts the servers and resolves when the start has waited long enough for them. `close()` ends all of it. */
export function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  return createRuntimeOf({}, options);
}

/** The same for a gateway, and for a command beside one. */
export async function createRuntimeOf(standing: Standing, options: RuntimeOptions): Promise<Runtime> {
  const host = createHost<CallEvent>(options, environmentOf(options), standing); // environment, clock, stores, redactor, events
  const trust = createTrust({ ...host, lock: lockOptions(host) }); // server approvals, tool grants, plexus.lock
  const servers = createServers(host, trust); // registry, opener, connections, catalog, sessions, status
  const calls = createCallPath(host, trust, servers); // the stages of a call
  const views = createViews(host, servers, calls); // the root view, child views, private sessions
  const config = new ConfigLoop(host, trust, servers, views); // load, apply, watch, reload
  const startup = await config.start();
  return createApi({ host, servers, views, config, startup, counts: calls.counts });
}

/** A call passes these stages from top to bottom, and its outcome passes them back. */
function createCallPath(host: Host<CallEvent>, trust: Trust, servers: Servers): CallPath {
  const { emit, clock, onError, redactor, artifacts, approve } = host;
  const { registry, breakers, sessions, currentDefinition } = servers;
  const closing = host.closing.signal;
  const deciding = { registry, lock: trust.lock, currentDefinition, gate: host.options.gate, closing, clock, onError };
  const decider = createDecider(deciding);
  const recheck = createRecheck({ ...deciding, decider, isListed: servers.isListed });
  const { grants } = trust;
  const asking = { ...deciding, decider, recheck, grants, approve, redact: redactor.value, emit };
  const counts = { calls: 0, failedCalls: 0 };
  const perform = compose(
    [
      observe({ emit, isHeard: host.isHeard, clock, closing, counts, onError, redact: redactor.error }),
      trackTaint(emit),
      shape({ registry, redactor, emit, artifacts }),
      resolve(servers),
      validate(),
      authorize(asking),
      serialize(registry, recheck),
      guard(breakers),
      deadline(registry, clock),
    ],
    invoke(sessions, recheck),
  );
  const wouldBeAsked = (call: ToolCall) => {
    repairCall(call);
    return wouldAsk(asking, call);
  };
  return { perform, counts, wouldAsk: wouldBeAsked };
}

/** The configured servers and what is wrong with their files; starts and connects nothing. */
export async function discoverMCPServers(
  options: Pick<RuntimeOptions, 'cwd' | 'home' | 'env' | 'config'> = {},
): Promise<{ servers: readonly ServerDefinition[]; diagnostics: readonly Diagnostic[] }> {
  const { definitions, diagnostics } = await loadConfigAt(options);
  return { servers: definitions, diagnostics };
}

/** The configuration alone, for a host that needs it before its runtime is made. */
export function loadConfigAt(
  options: Pick<RuntimeOptions, 'cwd' | 'home' | 'env' | 'config'>,
): ReturnType<ReturnType<typeof createLoader>> {
  const environment = environmentOf(options);
  const store = createFileStore(stateFolder(environment), systemClock);
  const trust = createTrust({ environment, store, clock: systemClock });
  return createLoader({ options, environment, ...trust, emit: () => undefined })();
}

/** The workspace of a runtime with these options: the folder whose files it would read. */
export const workspaceAt = (options: Pick<RuntimeOptions, 'cwd' | 'home' | 'env' | 'config' | 'discover'>): string =>
  environmentOf(options).cwd;

/** `plexus.lock` counts where files are read at all, or where the host demands it with `frozen`. */
function lockOptions({ options: { discover = true, frozen = false }, environment, onError }: Host<CallEvent>) {
  return { folder: discover || frozen ? environment.cwd : undefined, isFrozen: frozen, onError };
}

/** The process's own environment, where the host gives none. A host that wants no files, or one, is taken at its word. */
function environmentOf({ cwd = process.cwd(), env, home = homeFolder(), discover = true, config }: RuntimeOptions) {
  const { platform } = process;
  const isSearched = discover && config === undefined;
  const folder = isSearched ? findWorkspace({ cwd: resolvePath(cwd), home, platform }) : cwd;
  return { cwd: folder, env: env ?? process.env, home, platform } satisfies HostEnvironment;
}
