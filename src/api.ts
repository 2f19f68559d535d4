// Owns the public surface of a runtime: the types that a host sees, and the object that carries them out.

import type { LoginPreview } from './auth/login-request.ts';
import type { CallEvent } from './call/events.ts';
import { createPrompts, type Prompts } from './catalog/resources/prompts.ts';
import { createResources, type Resources } from './catalog/resources/resources.ts';
import { findByToolName } from './catalog/tool-meta.ts';
import type { SandboxState } from './connection/sandbox-state.ts';
import type { ServerStatus } from './connection/status.ts';
import type { RuntimeEvent } from './events.ts';
import type { Unsubscribe } from './kernel/emitter.ts';
import { once } from './kernel/once.ts';
import type { Diagnostic } from './model/diagnostic.ts';
import { RuntimeError } from './model/errors.ts';
import type { ServerName } from './model/names.ts';
import type { Tool, ToolRef } from './model/tool.ts';
import type { ConfigLoop, ReloadOptions } from './servers/config-loop.ts';
import type { HostOptions, ListeningHost } from './servers/host.ts';
import { startupSettings } from './servers/load-config.ts';
import type { LoginInfo, LoginOptions } from './servers/log-in-server.ts';
import type { Servers } from './servers/servers.ts';
import type { StartupReport } from './servers/startup.ts';
import type { CallCounts, FleetStatus, Readiness, RuntimeStats } from './servers/status.ts';
import { redactFailures, redactResult } from './shaping/redact.ts';
import type { View, ViewOptions, Views } from './view.ts';

export type { LoginPreview } from './auth/login-request.ts';
export type { ReloadOptions } from './servers/config-loop.ts';
export type { LoginInfo, LoginOptions } from './servers/log-in-server.ts';
export type { StartupReport } from './servers/startup.ts';
export type { Readiness, RuntimeStats } from './servers/status.ts';

export interface RuntimeOptions extends HostOptions {
  /** Receives every event from the very first one; `on` can only be called once the runtime exists. */
  readonly onEvent?: (event: RuntimeEvent) => void;
  /** The types that `onEvent` receives, if not all. An event that no listener hears is not searched for secrets, which takes time. */
  readonly eventTypes?: readonly EventType[];
}

type EventType = RuntimeEvent['type'];
/** The event with that `type`. */
export type EventOf<Type extends EventType> = Extract<RuntimeEvent, { readonly type: Type }>;

export interface Runtime extends View, AsyncDisposable {
  /** One more agent, sub-agent or client on the same servers. */
  view(options?: ViewOptions): View;
  /** Every configured server, also those that cannot be used. */
  status(): ServerStatus[];
  /** One of them. Throws `SERVER_UNKNOWN` where there is none of that name. */
  status(server: ServerName): ServerStatus;
  /** How the start ended, for a host that could not listen yet: which servers are ready, which are not, and why. */
  readonly startup: StartupReport;
  /** Problems of the configuration in effect: files that cannot be read, entries and rules that are not valid. */
  diagnostics(): readonly Diagnostic[];
  /**
   * Resolves when every server has settled, or after `timeoutMs` (default: `startup.waitMs`, 10 s), with the servers that are not
   * ready. Rejects for an unknown name and, with `orThrow`, with `SERVERS_NOT_READY` unless all of them are ready.
   */
  ready(options?: ReadyOptions): Promise<Readiness>;
  /** Calls the listener for every event. Returns a function that unsubscribes. */
  on(listener: (event: RuntimeEvent) => void): Unsubscribe;
  /** The same for the events of one type. */
  on<Type extends EventType>(type: Type, listener: (event: EventOf<Type>) => void): Unsubscribe;
  /**
   * Loads the configuration again. Settings apply to servers as they are, or restart them after their calls in flight, which is not
   * waited for. With `replaceAll` every server starts over at once.
   */
  reload(options?: ReloadOptions): Promise<void>;
  /** Replaces the servers that were given in code with `servers`, and applies the change; those of files stay. */
  setServers(servers: NonNullable<RuntimeOptions['servers']>): Promise<void>;
  /** A fresh start for one server, its failures forgotten. Rejects with what went wrong; the server may still come up later. */
  reconnect(server: ServerName): Promise<ServerStatus>;
  /** Tells servers that asked for it what the agent may touch; servers that connect later are told too. */
  notifySandboxState(state: SandboxState): void;
  /** Counts of servers, tools and calls. */
  getStats(): RuntimeStats;
  /** The whole catalog as it is now, whatever a turn shows of it: also tools of servers that nobody approved. For people. */
  getTools(): readonly Tool[];
  /** Every tool whose own name this is, whichever server has it. */
  findByToolName(tool: string): readonly ToolRef[];
  /**
   * The value without the secrets that `results.redact` takes out of what a model reads. For a host that shows a model or a
   * shell more of a result than its `text`. `atLeast: 'known'` takes the values that Plexus filled in out also where the setting
   * is `off`: for what a host writes to a disk.
   */
  redact<Value>(value: Value, options?: { readonly atLeast?: 'known' }): Value;
  /** Lists the tools of all servers again, or of one server, whose failure is then thrown. */
  refreshTools(server?: ServerName): Promise<void>;
  /** Forgets the tool lists that were stored for later starts, of one server or of all. */
  clearCache(server?: ServerName): Promise<void>;
  /** Servers that cannot be used, or that fail to list their tools, with why. */
  failures(): readonly ServerFailure[];
  /** Lists, reads and subscribes to what servers offer as resources. */
  readonly resources: Resources;
  /** Lists and fills in the prompts of servers. */
  readonly prompts: Prompts;
  /**
   * Logs in to a remote server: opens the page of its authorization server, waits for the answer and stores the login. Servers that
   * wait for it go on by themselves. A machine, with another `oauth.grant`, needs no page.
   */
  login(server: ServerName, options?: LoginOptions): Promise<LoginInfo>;
  /**
   * The page of a login for a person whose browser is elsewhere; `finishLogin` ends it within ten minutes, in any process.
   * `undefined` for a machine, which needs no page: `login` does all of it.
   */
  beginLogin(
    server: ServerName,
    options?: Pick<LoginOptions, 'account' | 'scopes' | 'signal'>,
  ): Promise<LoginPreview | undefined>;
  /** `answer`: the address at which the browser ended, or the code that the page showed. */
  finishLogin(
    server: ServerName,
    answer: string,
    options?: Pick<LoginOptions, 'account' | 'signal'>,
  ): Promise<LoginInfo>;
  /** Removes the login, and revokes it where its authorization server offers that. Returns what was removed. */
  logout(server: ServerName, options?: Pick<LoginOptions, 'account' | 'signal'>): Promise<readonly LoginInfo[]>;
  /** Every stored login, without its tokens. */
  logins(): Promise<readonly LoginInfo[]>;
  /** Closes one server, or all of them, and takes their tools out of the catalog. `reconnect` brings one back; the runtime stays usable. */
  disconnect(server?: ServerName): Promise<void>;
  /** Resolves when no process, timer or socket of the runtime is left. */
  close(): Promise<void>;
}

export interface ServerFailure {
  readonly server: ServerName;
  readonly error: RuntimeError;
}

export interface ReadyOptions {
  /** How long to wait at most. Default: `startup.waitMs`, 10 s. */
  readonly timeoutMs?: number;
  /** Wait for these only. */
  readonly servers?: readonly ServerName[];
  /** Aborting it rejects with the signal's reason; the servers go on starting. */
  readonly signal?: AbortSignal;
  /** Reject unless all of them are ready. */
  readonly orThrow?: boolean;
}

export interface ApiDeps {
  readonly host: ListeningHost<CallEvent>;
  readonly servers: Servers;
  readonly views: Views;
  readonly config: ConfigLoop;
  readonly startup: StartupReport;
  readonly counts: CallCounts;
}

/** By the resources of each runtime: a host may have copied the runtime itself. */
const partsOfRuntimes = new WeakMap<Resources, ApiDeps>();

/** The parts behind a runtime: a gateway hands on whole requests, which a host has no need for. */
export function partsOf({ resources }: Pick<Runtime, 'resources'>): ApiDeps {
  const parts = partsOfRuntimes.get(resources);
  if (parts === undefined) throw new TypeError('this is no runtime of createRuntime()');
  return parts;
}

export function createApi(deps: ApiDeps): Runtime {
  const { host, servers, views, startup, counts } = deps;
  const { registry, catalog, resourceCatalog, subscriptions, fleet, status, sessions } = servers;
  const { clock, emit, handlers, redactor } = host;
  const reaching = { resourceCatalog, reach: sessions, handlers, clock };
  const settings = () => registry.config().settings;
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= closeAll(deps);
    return closed;
  };
  const redactedStartup = once(() => redactor.value(startup));
  const changes = redactFailures(redactor, createChanges(deps));
  const runtime: Runtime = {
    ...views.root,
    view: (asked) => views.open(asked),
    on: createOn(host),
    status: createStatus(status),
    failures: () => status.all().flatMap(({ name, error }) => (error ? [{ server: name, error }] : [])),
    get startup() {
      return redactedStartup();
    },
    diagnostics: () => redactor.value(registry.config().diagnostics),
    ...changes,
    reconnect: (server) => handled(changes.reconnect(server)),
    notifySandboxState: (state) => fleet.announceSandbox(state, views.sessions()),
    getStats: () => ({ ...status.stats(), ...counts }),
    getTools: () => catalog.everything(),
    redact: (value, { atLeast } = {}) => {
      const { redact } = settings().results;
      return redactResult(redactor, redact === 'off' ? (atLeast ?? redact) : redact, value);
    },
    findByToolName: (tool) => findByToolName(catalog.everything(), tool),
    resources: redactFailures(redactor, createResources({ ...reaching, subscriptions })),
    prompts: redactFailures(redactor, createPrompts({ ...reaching, emit })),
    close,
    [Symbol.asyncDispose]: close,
  };
  partsOfRuntimes.set(runtime.resources, deps);
  return runtime;
}

type Changes = Pick<
  Runtime,
  | 'ready'
  | 'reload'
  | 'setServers'
  | 'reconnect'
  | 'refreshTools'
  | 'clearCache'
  | 'disconnect'
  | 'login'
  | 'beginLogin'
  | 'finishLogin'
  | 'logout'
  | 'logins'
>;

/** The methods with which a host changes its servers, or waits for them. */
function createChanges({ host, servers, config }: ApiDeps): Changes {
  const { fleet, registry, loginDesk } = servers;
  const defaultWaitMs = () => startupSettings(host.options, registry.config().settings).waitMs;
  return {
    ready: async ({ timeoutMs = defaultWaitMs(), orThrow = false, ...rest } = {}) => {
      const readiness = await fleet.ready({ timeoutMs, ...rest });
      const { notReady: missing } = readiness;
      if (orThrow && missing.length > 0) throw new RuntimeError('SERVERS_NOT_READY', { missing });
      return readiness;
    },
    reload: (asked) => config.reload(asked),
    setServers: (given) => config.setServers(given),
    reconnect: (server) => fleet.reconnect(server),
    refreshTools: (server) => fleet.refreshTools(server),
    clearCache: (server) => fleet.clearCache(server),
    disconnect: (server) => fleet.disconnect(server),
    login: (server, asked) => loginDesk.login(server, asked),
    beginLogin: (server, asked) => loginDesk.begin(server, asked),
    finishLogin: (server, answer, asked) => loginDesk.finish(server, answer, asked),
    logout: (server, asked) => loginDesk.logout(server, asked),
    logins: () => loginDesk.list(),
  };
}

function createOn({ on }: ApiDeps['host']): Runtime['on'] {
  return (first: EventType | ((event: RuntimeEvent) => void), listener?: (event: never) => void) => {
    if (typeof first === 'function') return on(first);
    return on((event) => listener?.(event as never), [first]);
  };
}

function createStatus(status: FleetStatus): Runtime['status'] {
  function statusOf(): ServerStatus[];
  function statusOf(server: ServerName): ServerStatus;
  function statusOf(server?: ServerName) {
    return server === undefined ? status.all() : status.of(server);
  }
  return statusOf;
}

/** A host that does not wait for the answer must not be ended by its rejection. */
function handled<Value>(work: Promise<Value>): Promise<Value> {
  void Promise.allSettled([work]);
  return work;
}

async function closeAll({ host, servers, views, config }: ApiDeps): Promise<void> {
  config.close();
  host.closing.abort(new RuntimeError('CALL_CANCELLED', {}));
  // Most of what is to be written is known before the servers have ended.
  await Promise.all([views.close(), servers.close(), servers.flush()]);
  await servers.flush();
}
