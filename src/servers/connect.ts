// Owns what a connection's life means for the rest of the runtime: its tools go into the catalog, its return closes the breaker,
// and a server that comes up is told what the agent may touch.

import { createHash } from 'node:crypto';
import type { Catalog } from '../catalog/catalog.ts';
import type { ResourceCatalog } from '../catalog/resources/resource-catalog.ts';
import type { ClientHandlers } from '../connection/client-handlers.ts';
import { Connections } from '../connection/connections.ts';
import type { ConnectionEvent } from '../connection/events.ts';
import type { SandboxNotifier } from '../connection/sandbox-state.ts';
import type { Subscriptions } from '../connection/subscriptions.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Emit } from '../kernel/emitter.ts';
import { canonicalJson } from '../kernel/json.ts';
import type { FailureCode } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { ServerDefinition } from '../model/server.ts';
import { definitionHash } from '../trust/fingerprint.ts';
import type { Breakers } from './breakers.ts';
import type { ServerOpener } from './open-server.ts';

export interface ConnectDeps {
  readonly opener: ServerOpener;
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

/** The connections that all views share. */
export function createConnections(deps: ConnectDeps): Connections {
  const { opener, catalog, resourceCatalog, subscriptions, breakers, sandbox, clock, emit, onError } = deps;
  const forget = (server: ServerName) => {
    for (const part of [resourceCatalog, subscriptions]) part.onRemoved(server);
    catalog.remove(server);
  };
  return new Connections({
    open: opener.open,
    renewCredentials: opener.renewCredentials,
    keyOf,
    onReady: (definition, session) => {
      breakers.recovered(definition.name);
      sandbox.tell(session);
      subscriptions.onReady(definition.name, session);
      // Tools before resources and prompts: a model waits for tools.
      const listed = catalog.list(definition, session).catch(onError);
      void resourceCatalog.onReady(definition, session, listed);
    },
    onDown: (server) => {
      for (const part of [resourceCatalog, subscriptions]) part.onDown(server);
      catalog.stale(server);
    },
    // Cached tools were shown before it was known that the server may not start.
    onBlocked: (server, { code }) => isRefusal(code) && forget(server),
    onNotification: (definition, session, method, params) => {
      if (method === LIST_CHANGED) catalog.announce(definition, session);
      resourceCatalog.onNotification(definition, session, method);
      subscriptions.onNotification(definition.name, session, method, params);
    },
    onRemoved: forget,
    clock,
    emit,
    onError,
  });
}

/** The private connections of one view: they change nothing that other views see. */
export function createPrivateConnections(
  { opener, sandbox, clock, onError }: ConnectDeps,
  id: string,
  handlers: ClientHandlers,
): Connections {
  return new Connections({
    open: (definition, signal) => opener.open(definition, signal, { id, handlers }),
    renewCredentials: opener.renewCredentials,
    keyOf,
    onReady: (_, session) => sandbox.tell(session),
    onDown: ignore,
    onBlocked: ignore,
    onNotification: ignore,
    onRemoved: ignore,
    emit: ignore,
    clock,
    onError,
  });
}

const isRefusal = (code: FailureCode) => code === 'SERVER_UNTRUSTED' || code === 'SERVER_DENIED';

const ignore = (): void => undefined;

/** A server whose entry or settings changed is replaced. */
const keyOf = (definition: ServerDefinition) =>
  definitionHash(definition) + createHash('sha256').update(canonicalJson(definition.settings)).digest('base64');
