// Owns putting the parts of the fleet together: registry, opener, connections, catalogs, status, sessions. Each is created from
// those above it.

import { randomUUID } from 'node:crypto';
import { Catalog } from '../catalog/catalog.ts';
import { ResourceCatalog } from '../catalog/resources/resource-catalog.ts';
import type { CatalogSnapshot } from '../catalog/snapshot.ts';
import { createToolCache } from '../catalog/tool-cache.ts';
import { previewLaunch } from '../config/preview.ts';
import { type ClientHandlers, offerOf, offers, permittedHandlers } from '../connection/client-handlers.ts';
import type { Connections } from '../connection/connections.ts';
import { createProtocolCache } from '../connection/protocol-cache.ts';
import { SandboxNotifier } from '../connection/sandbox-state.ts';
import type { ServerStatus } from '../connection/status.ts';
import { Subscriptions } from '../connection/subscriptions.ts';
import { onceOnly } from '../kernel/emitter.ts';
import { settleWithin } from '../kernel/settle.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { ServerDefinition } from '../model/server.ts';
import type { Tool, ToolDefinition } from '../model/tool.ts';
import { redactFailures, redactListed } from '../shaping/redact.ts';
import { definitionHash } from '../trust/fingerprint.ts';
import type { Trust } from '../trust/trust.ts';
import { ServerApprovals } from './approve-server.ts';
import { AwaitedPersons } from './awaited-persons.ts';
import { Breakers } from './breakers.ts';
import { createConnections, createPrivateConnections } from './connect.ts';
import { Fleet } from './fleet.ts';
import type { Host, HostOptions } from './host.ts';
import { startupSettings } from './load-config.ts';
import { createLoginDesk, type LoginDesk } from './log-in-server.ts';
import { endAsk, LoginAsks } from './login-asks.ts';
import { createServerOpener, type ServerOpener } from './open-server.ts';
import { createSessionOpener, startLimitOf } from './open-session.ts';
import { createPrivateSessions, type PrivateSessions } from './private-sessions.ts';
import { ServerRegistry } from './registry.ts';
import { createServerResolver } from './resolve-server.ts';
import { ServerLogins } from './server-logins.ts';
import { SharedSessions } from './sessions.ts';
import { FleetStatus } from './status.ts';

export interface Servers {
  readonly registry: ServerRegistry;
  readonly catalog: Catalog;
  readonly resourceCatalog: ResourceCatalog;
  readonly subscriptions: Subscriptions;
  readonly breakers: Breakers;
  readonly opener: ServerOpener;
  readonly logins: ServerLogins;
  /** Logs in to servers, and out of them. */
  readonly loginDesk: LoginDesk;
  /** Asks a person to log in because a model wants to use a server. */
  readonly loginAsks: LoginAsks;
  readonly connections: Connections;
  readonly status: FleetStatus;
  readonly sessions: SharedSessions;
  readonly fleet: Fleet;
  /** The definition that the server lists for the tool now; the tool of a turn may be older. */
  currentDefinition(tool: Tool): ToolDefinition;
  /** Whether the server has listed its tools in its current session. */
  isListed(server: ServerName): boolean;
  /** Sessions for one view: private where `isPrivate` says so, shared otherwise. */
  openPrivateSessions(handlers: ClientHandlers, isPrivate: (server: ServerName) => boolean): PrivateSessions;
  /** Ends every shared connection. */
  close(): Promise<void>;
  /** Writes what the caches and result files still hold, within a limit: after every connection has ended. */
  flush(): Promise<void>;
}

/** A host function that throws must not break the catalog. */
function tellTools(
  onToolsChanged: HostOptions['onToolsChanged'],
  { tools, revision }: CatalogSnapshot,
  onError: (error: unknown) => void,
): void {
  try {
    onToolsChanged?.({ tools, revision });
  } catch (error) {
    onError(error);
  }
}

/** A server that is configured and has no definition: its entry is not valid, or a policy took it out. */
function unusable({ name: server, error }: ServerStatus): never {
  throw error ?? new RuntimeError('SERVER_DENIED', { server, because: 'its entry cannot be used' });
}

export function createServers(host: Host, trust: Trust): Servers {
  const { options, environment, clock, emit, onError, cache, knownSecrets, redactor, handlers } = host;
  const { gate, accountOf, seal, hasKey, secrets } = trust;
  const { askInput, launcher, clientInfo } = options;
  const registry = new ServerRegistry({
    ...environment,
    processFolder: process.cwd(),
    hasLauncher: launcher !== undefined,
    showsUnapproved: options.showUnapproved === true,
  });
  const config = registry.config;
  // Both caches write to one disk: its failure is reported once.
  const onCacheError = onceOnly(onError);
  const protocolCache = createProtocolCache({ store: cache, seal, clock, onError: onCacheError });
  const toolCache = createToolCache({
    store: cache,
    gate,
    accountOf,
    seal,
    hasKey,
    offerTo: ({ name, settings }) =>
      offerOf(config().unapproved.has(name) ? {} : permittedHandlers(handlers, settings.elicitation)),
    offers,
    clock,
    onError: onCacheError,
  });
  const catalog = new Catalog({
    clock,
    emit: (event) => {
      emit(event);
      if (event.type === 'catalog.changed') tellTools(options.onToolsChanged, catalog.snapshot(), onError);
    },
    sourceOf: definitionHash,
    isSetAside: registry.isSetAside,
    redact: (listing) => redactListed(redactor, listing),
    onListed: toolCache.write,
  });
  const resourceCatalog = new ResourceCatalog({ clock, emit });
  const onUpdated = (server: ServerName, uri: string) => emit({ type: 'resource.updated', server, uri });
  const subscriptions = new Subscriptions({ clock, onError, onUpdated });
  const breakers = new Breakers(clock, limits.breaker);
  const sandbox = new SandboxNotifier();
  const installs = new Map<ServerName, string>();
  const persons = new AwaitedPersons();
  const onLoggedIn = (server: ServerName) => void endAsk(host.store, server).catch(onError);
  const logins = new ServerLogins({
    ...{ environment, tokens: options.tokens, gate, secrets, knownSecrets, onLoggedIn, clock, emit, onError },
  });
  const approvals = new ServerApprovals({
    gate,
    approve: persons.countApprovals(host.approve),
    pinsFiles: () => config().settings.trust.pinFiles,
    preview: (definition) => previewLaunch(definition, environment, secrets),
    clock,
    onError,
  });
  const resolver = createServerResolver({
    environment,
    config,
    secrets,
    askInput: askInput && persons.countInputs(askInput),
    launcher,
    knownSecrets,
    onResolved: (server, resolved) => {
      registry.onResolved(server, resolved);
      catalog.reconsider(server);
    },
    elsewhere: host.standing.elsewhere,
    clock,
    onError,
  });
  const serverOpener = createServerOpener({
    environment,
    logins,
    approvals,
    resolver,
    openSession: createSessionOpener({
      environment,
      connectConcurrency: () => config().settings.connectConcurrency,
      settingsOf: (server) => registry.settings(server),
      onSettings: registry.onApplied,
      installTimeoutMs: () => config().settings.startup.installTimeoutMs,
      installs,
      closing: host.closing.signal,
      protocolCache,
      logs: host.logs,
      clientInfo,
      redactor,
      clock,
      emit,
    }),
    clientInfo,
    handlers,
    sandbox,
    runtimeId: randomUUID(),
    sharesRemote: host.standing.sharesRemote === true,
    onError,
  });
  // Approving and filling in fail with words of the entry, which may hold secrets.
  const opener = redactFailures(redactor, serverOpener);
  const startLimitMs = (definition: ServerDefinition) =>
    startLimitOf(definition, { ...environment, ...config().settings.startup });
  const reporting = { catalog, resourceCatalog, subscriptions, breakers, sandbox, clock, emit, onError };
  const connecting = { opener, startLimitMs, persons, logins, ...reporting };
  const connections = createConnections(connecting);
  const status = new FleetStatus({
    registry,
    connections,
    catalog,
    resourceCatalog,
    breakers,
    installs,
    persons,
    logins,
    redact: redactor.text,
    clock,
  });
  const loginDesk = redactFailures(
    redactor,
    createLoginDesk({
      ...{ environment, approvals, resolver, logins, secrets, knownSecrets, clock, onError },
      emit: (event) => {
        if (event.type === 'login.completed') onLoggedIn(event.server);
        emit(event);
      },
      definitionOf: (server) => registry.definition(server) ?? unusable(status.of(server)),
      closing: host.closing.signal,
    }),
  );
  const isPersonHere = () => startupSettings(options, config().settings).interactive;
  const loginAsks = new LoginAsks({ desk: loginDesk, connections, store: host.store, isPersonHere });
  const sessions = new SharedSessions({ registry, connections, catalog, status, sandbox, clock });
  const fleet = new Fleet({
    registry,
    connections,
    catalog,
    toolCache,
    opener,
    breakers,
    sandbox,
    status,
    sessions,
    clock,
    reservedNames: options.reservedNames ?? [],
  });
  // Also after a start that failed: no list is fetched any more.
  host.closing.signal.addEventListener('abort', () => {
    for (const part of [catalog, resourceCatalog, subscriptions, logins]) part.close();
  });
  return {
    registry,
    catalog,
    resourceCatalog,
    subscriptions,
    breakers,
    opener,
    logins,
    loginDesk,
    loginAsks,
    connections,
    status,
    sessions,
    fleet,
    currentDefinition: ({ id, definition }) => catalog.definitionOf(id) ?? definition,
    isListed: (server) => catalog.get(server)?.freshness === 'live',
    openPrivateSessions: (own, isPrivate) =>
      createPrivateSessions({
        shared: sessions,
        registry,
        connections: createPrivateConnections(connecting, randomUUID(), own),
        opener,
        isPrivate,
      }),
    close: () => connections.close(),
    async flush() {
      // A disk that never answers costs what was not written yet, not the host's time.
      const written = Promise.all([protocolCache.flush(), toolCache.flush()]).then(() => cache.whenWritten());
      const all = [written, logins.flush(), host.artifacts?.settled() ?? written];
      await settleWithin(all, { limitMs: limits.closeMs, clock });
    },
  };
}
