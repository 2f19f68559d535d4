// Owns the public surface of a runtime: the types that a host sees, and the object that carries them out.

import type { CallEvent } from './call/events.ts';
import { createPrompts, type Prompts } from './catalog/resources/prompts.ts';
import { createResources, type Resources } from './catalog/resources/resources.ts';
import { findByToolName } from './catalog/tool-meta.ts';
import type { SandboxState } from './connection/sandbox-state.ts';
import type { ServerStatus } from './connection/status.ts';
import type { RuntimeEvent } from './events.ts';
import type { Unsubscribe } from './kernel/emitter.ts';
import { RuntimeError } from './model/errors.ts';
import type { ServerName } from './model/names.ts';
import type { Tool, ToolRef } from './model/tool.ts';
import type { ConfigLoop, ReloadOptions } from './servers/config-loop.ts';
import type { HostOptions, ListeningHost } from './servers/host.ts';
import { startupSettings } from './servers/load-config.ts';
import type { Servers } from './servers/servers.ts';
import type { Readiness, RuntimeStats } from './servers/status.ts';
import { redactFailures, redactResult } from './shaping/redact.ts';
import type { View, ViewOptions, Views } from './view.ts';

export type { ReloadOptions } from './servers/config-loop.ts';
export type { Readiness, RuntimeStats } from './servers/status.ts';

export interface RuntimeOptions extends HostOptions {
  /** Receives every event from the very first one; `on` can only be called once the runtime exists. */
  readonly onEvent?: (event: RuntimeEvent) => void;
}

export interface Runtime extends View, AsyncDisposable {
  /** One more agent, sub-agent or client on the same servers. */
  view(options?: ViewOptions): View;
  status(): ServerStatus[];
  /** Resolves when every server has settled or the time is up, with the servers that are not ready. Rejects only for an unknown name. */
  ready(options?: {
    readonly timeoutMs?: number;
    readonly servers?: readonly ServerName[];
    readonly signal?: AbortSignal;
  }): Promise<Readiness>;
  on(listener: (event: RuntimeEvent) => void): Unsubscribe;
  /** Loads the configuration again: unchanged servers keep their connection, unless `replaceAll` is set. */
  reload(options?: ReloadOptions): Promise<void>;
  /** A fresh start for one server, its failures forgotten. */
  reconnect(server: ServerName): void;
  /** Tells servers that asked for it what the agent may touch; servers that connect later are told too. */
  notifySandboxState(state: SandboxState): void;
  getStats(): RuntimeStats;
  /** The whole catalog as it is now, whatever a turn shows of it. */
  getTools(): readonly Tool[];
  /** Every tool whose own name this is, whichever server has it. */
  findByToolName(tool: string): readonly ToolRef[];
  /**
   * The value without the secrets that `results.redact` takes out of what a model reads. For a host that shows a model or a
   * shell more of a result than its `text`.
   */
  redact<Value>(value: Value): Value;
  /** Lists the tools of all servers again, or of one server, whose failure is then thrown. */
  refreshTools(server?: ServerName): Promise<void>;
  readonly resources: Resources;
  readonly prompts: Prompts;
  /** Closes one server and takes its tools out of the catalog. */
  disconnect(server: ServerName): Promise<void>;
  /** Resolves when no process, timer or socket of the runtime is left. */
  close(): Promise<void>;
}

export interface ApiDeps {
  readonly host: ListeningHost<CallEvent>;
  readonly servers: Servers;
  readonly views: Views;
  readonly config: ConfigLoop;
}

export function createApi(deps: ApiDeps): Runtime {
  const { host, servers, views, config } = deps;
  const { registry, catalog, resourceCatalog, subscriptions, fleet, status, sessions } = servers;
  const { clock, emit, handlers, options, redactor } = host;
  const reaching = { resourceCatalog, reach: sessions, handlers, clock };
  const settings = () => registry.config().settings;
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= closeAll(deps);
    return closed;
  };
  return {
    ...views.root,
    view: (asked) => views.open(asked),
    on: host.on,
    status: () => status.all(),
    ...redactFailures<Pick<Runtime, 'ready' | 'reload' | 'reconnect' | 'refreshTools' | 'disconnect'>>(redactor, {
      ready: ({ timeoutMs = startupSettings(options, settings()).waitMs, ...rest } = {}) =>
        fleet.ready({ timeoutMs, ...rest }),
      reload: (asked) => config.reload(asked),
      reconnect: (server) => fleet.reconnect(server),
      refreshTools: (server) => fleet.refreshTools(server),
      disconnect: (server) => fleet.disconnect(server),
    }),
    notifySandboxState: (state) => fleet.announceSandbox(state, views.sessions()),
    getStats: () => status.stats(),
    getTools: () => catalog.snapshot().tools,
    redact: (value) => redactResult(redactor, settings().results.redact, value),
    findByToolName: (tool) => findByToolName(catalog.snapshot().tools, tool),
    resources: redactFailures(redactor, createResources({ ...reaching, subscriptions })),
    prompts: redactFailures(redactor, createPrompts({ ...reaching, emit })),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function closeAll({ host, servers, views, config }: ApiDeps): Promise<void> {
  config.close();
  host.closing.abort(new RuntimeError('CALL_CANCELLED', {}));
  await Promise.all([views.close(), servers.close()]);
  await servers.flush();
}
