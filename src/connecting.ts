// Owns what a connection's life means for the other stations: its tools go into the catalog, its return closes the breaker,
// and a server that comes up is told what the agent may touch.

import { createHash } from 'node:crypto';
import type { Breakers } from './call/guard.ts';
import type { Catalog } from './catalog/catalog.ts';
import type { ResourceCatalog } from './catalog/resources/resource-catalog.ts';
import { Connections } from './connection/connections.ts';
import type { ConnectionEvent } from './connection/events.ts';
import type { ClientHandlers } from './connection/requests.ts';
import type { SandboxNews } from './connection/sandbox-state.ts';
import type { Subscriptions } from './connection/subscriptions.ts';
import type { Clock } from './kernel/clock.ts';
import type { Emit } from './kernel/emitter.ts';
import { canonicalJson } from './kernel/json.ts';
import type { FailureCode } from './model/errors.ts';
import type { ServerName } from './model/names.ts';
import type { ServerDefinition } from './model/server.ts';
import type { Opening } from './opening.ts';
import { definitionHash } from './trust/fingerprint.ts';

export interface ConnectingDeps {
  readonly opening: Opening;
  readonly catalog: Catalog;
  readonly offers: ResourceCatalog;
  readonly subscriptions: Subscriptions;
  readonly breakers: Breakers;
  readonly sandbox: SandboxNews;
  readonly clock: Clock;
  readonly emit: Emit<ConnectionEvent>;
  readonly onError: (error: unknown) => void;
}

const LIST_CHANGED = 'notifications/tools/list_changed';

/** Those of the fleet, which everybody shares. */
export function createConnections(deps: ConnectingDeps): Connections {
  const { opening, catalog, offers, subscriptions, breakers, sandbox, clock, emit, onError } = deps;
  const forget = (server: ServerName) => {
    for (const part of [offers, subscriptions]) part.onRemoved(server);
    catalog.remove(server);
  };
  return new Connections({
    open: opening.open,
    keyOf,
    onReady: (definition, session) => {
      breakers.recovered(definition.name);
      sandbox.tell(session);
      subscriptions.onReady(definition.name, session);
      // Tools first: they are what a model waits for.
      const listed = catalog.list(definition, session).catch(onError);
      void offers.onReady(definition, session, listed);
    },
    onDown: (server) => {
      for (const part of [offers, subscriptions]) part.onDown(server);
      catalog.stale(server);
    },
    // What was remembered of it was shown in good faith.
    onBlocked: (server, { code }) => isRefusal(code) && forget(server),
    onNotification: (definition, session, method, params) => {
      if (method === LIST_CHANGED) catalog.announce(definition, session);
      offers.onNotification(definition, session, method);
      subscriptions.onNotification(definition.name, session, method, params);
    },
    onRemoved: forget,
    ...{ clock, emit, onError },
  });
}

/** Those of one view: they change nothing that others see. */
export function createOwnConnections(deps: ConnectingDeps, id: string, handlers: ClientHandlers): Connections {
  const { opening, sandbox, clock, onError } = deps;
  return new Connections({
    open: (definition, signal) => opening.open(definition, signal, { id, handlers }),
    keyOf,
    onReady: (_, session) => sandbox.tell(session),
    onDown: unheard,
    onBlocked: unheard,
    onNotification: unheard,
    onRemoved: unheard,
    emit: unheard,
    ...{ clock, onError },
  });
}

const isRefusal = (code: FailureCode) => code === 'SERVER_UNTRUSTED' || code === 'SERVER_DENIED';

const unheard = (): void => undefined;

/** A server whose entry or settings changed is another one. */
const keyOf = (definition: ServerDefinition) =>
  definitionHash(definition) + createHash('sha256').update(canonicalJson(definition.settings)).digest('base64');
