// Owns what a connection's life means for the rest of the runtime: its tools go into the catalog, its return closes the breaker,
// and a server that comes up is told what the agent may touch.

import type { Catalog } from '../catalog/catalog.ts';
import type { ResourceCatalog } from '../catalog/resources/resource-catalog.ts';
import type { ClientHandlers } from '../connection/client-handlers.ts';
import { Connections } from '../connection/connections.ts';
import type { ConnectionEvent } from '../connection/events.ts';
import type { SandboxNotifier } from '../connection/sandbox-state.ts';
import type { Session } from '../connection/session.ts';
import type { Subscriptions } from '../connection/subscriptions.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Emit } from '../kernel/emitter.ts';
import type { FailureCode, RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { ServerDefinition } from '../model/server.ts';
import { definitionHash } from '../trust/fingerprint.ts';
import type { AwaitedPersons } from './awaited-persons.ts';
import type { Breakers } from './breakers.ts';
import { changeOf } from './definition-change.ts';
import type { ServerOpener } from './open-server.ts';
import type { ServerLogins } from './server-logins.ts';

export interface ConnectDeps {
  readonly opener: ServerOpener;
  /** How long a start of the server may take, its installation included; 0 for ever. */
  readonly startLimitMs: (definition: ServerDefinition) => number;
  readonly persons: Pick<AwaitedPersons, 'isAsked'>;
  readonly logins: Pick<ServerLogins, 'onBlocked'>;
  readonly catalog: Catalog;
  readonly resourceCatalog: ResourceCatalog;
  readonly subscriptions: Subscriptions;
  readonly breakers: Breakers;
  readonly sandbox: SandboxNotifier;
  readonly clock: Clock;
  readonly emit: Emit<ConnectionEvent>;
  readonly onError: (error: unknown) => void;
}

const LIST_CHANGED = 'notifications/tools/list_changed';

const announcedLists: ReadonlyMap<string, 'tools' | 'resources' | 'prompts'> = new Map([
  [LIST_CHANGED, 'tools'],
  ['notifications/resources/list_changed', 'resources'],
  ['notifications/prompts/list_changed', 'prompts'],
]);

/** The connections that all views share. */
export function createConnections(deps: ConnectDeps): Connections {
  const { opener, startLimitMs, persons, logins, catalog, resourceCatalog, subscriptions, breakers, sandbox } = deps;
  const { clock, emit, onError } = deps;
  const forget = (server: ServerName) => {
    for (const part of [resourceCatalog, subscriptions]) part.onRemoved(server);
    catalog.remove(server);
  };
  const tellListed = (server: ServerName, session: Session) => {
    if (!catalog.hasListed(server, session)) return;
    const toolCount = catalog.get(server)?.tools.length ?? 0;
    const { serverInfo } = session;
    emit({ type: 'connection.listed', server, toolCount, ...(serverInfo && { serverInfo }) });
  };
  const connections: Connections = new Connections({
    open: opener.open,
    renewCredentials: opener.renewCredentials,
    startLimitMs,
    isPersonAsked: (server) => persons.isAsked(server),
    changeOf,
    onReady: (definition, session) => {
      breakers.recovered(definition.name);
      sandbox.tell(session);
      subscriptions.onReady(definition.name, session);
      // Tools before resources and prompts: a model waits for tools.
      const listed = catalog
        .list(definition, session)
        .then(() => tellListed(definition.name, session))
        .catch(onError);
      void resourceCatalog.onReady(definition, session, listed);
    },
    onDown: (server) => {
      resourceCatalog.onDown(server);
      catalog.stale(server);
    },
    onSessionEnded: (server, session) => subscriptions.onSessionEnded(server, session),
    onEdited: (definition) => {
      resourceCatalog.onEdited(definition);
      if (!definition.settings.subscriptions) subscriptions.unfollow(definition.name);
      catalog.edit(definition);
    },
    // While it starts anew its tools stay, so that calls wait for it. A server that is not up may list others when it is next started.
    onRestart: (definition, isUp) => {
      const isSame = catalog.get(definition.name)?.source === definitionHash(definition);
      if (isUp || isSame) catalog.edit(definition);
      else forget(definition.name);
    },
    onBlocked: (server, cause) => {
      // Cached tools were shown before it was known that the server may not start.
      if (isRefusal(cause.code)) forget(server);
      awaitLogin(connections, logins, server, cause);
    },
    onNotification: (definition, session, method, params) => {
      if (method === LIST_CHANGED) catalog.announce(definition, session);
      const list = announcedLists.get(method);
      if (list !== undefined) emit({ type: 'connection.list-announced', server: definition.name, list });
      resourceCatalog.onNotification(definition, session, method);
      subscriptions.onNotification(definition.name, session, method, params);
    },
    onRemoved: forget,
    clock,
    emit,
    onError,
  });
  return connections;
}

/** The private connections of one view: they change nothing that other views see. */
export function createPrivateConnections(
  { opener, startLimitMs, persons, logins, sandbox, clock, onError }: ConnectDeps,
  id: string,
  handlers: ClientHandlers,
): Connections {
  const connections: Connections = new Connections({
    open: (definition, signal) => opener.open(definition, signal, { id, handlers }),
    renewCredentials: opener.renewCredentials,
    startLimitMs,
    isPersonAsked: (server) => persons.isAsked(server),
    changeOf,
    onReady: (_, session) => sandbox.tell(session),
    onDown: ignore,
    onBlocked: (server, cause) => awaitLogin(connections, logins, server, cause),
    onNotification: ignore,
    onRemoved: ignore,
    onSessionEnded: ignore,
    onEdited: ignore,
    onRestart: ignore,
    emit: ignore,
    clock,
    onError,
  });
  return connections;
}

function awaitLogin(
  connections: Connections,
  logins: ConnectDeps['logins'],
  server: ServerName,
  cause: RuntimeError,
): void {
  const entry = connections.get(server);
  if (entry) logins.onBlocked(entry.definition, cause, () => entry.connection.unblock());
}

const isRefusal = (code: FailureCode) => code === 'SERVER_UNTRUSTED' || code === 'SERVER_DENIED';

const ignore = (): void => undefined;
