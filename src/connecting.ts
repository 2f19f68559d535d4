// Owns what a connection's life means for the other stations: its tools go into the catalog, its return closes the breaker,
// and a server that comes up is told what the agent may touch.

import { createHash } from 'node:crypto';
import type { Breakers } from './call/guard.ts';
import type { Catalog } from './catalog/catalog.ts';
import { Connections } from './connection/connections.ts';
import type { ConnectionEvent } from './connection/events.ts';
import type { InputHandlers } from './connection/requests.ts';
import type { SandboxNews } from './connection/sandbox-state.ts';
import type { Session } from './connection/session.ts';
import type { Clock } from './kernel/clock.ts';
import type { Emit } from './kernel/emitter.ts';
import { canonicalJson } from './kernel/json.ts';
import type { ServerDefinition } from './model/server.ts';
import type { Opening } from './opening.ts';
import { definitionHash } from './trust/fingerprint.ts';

export interface ConnectingParts {
  readonly opening: Opening;
  readonly catalog: Catalog;
  readonly breakers: Breakers;
  readonly sandbox: SandboxNews;
  /** Told when a server's tools have been listed. */
  readonly onListed: (definition: ServerDefinition) => Promise<void>;
  readonly clock: Clock;
  readonly emit: Emit<ConnectionEvent>;
  readonly onError: (error: unknown) => void;
}

const LIST_CHANGED = 'notifications/tools/list_changed';

/** Those of the fleet, which everybody shares. */
export function createConnections(parts: ConnectingParts): Connections {
  const { opening, catalog, breakers, sandbox, onListed, clock, emit, onError } = parts;
  const list = (definition: ServerDefinition, session: Session) =>
    void catalog
      .list(definition, session)
      .then(() => onListed(definition))
      .catch(onError);
  return new Connections({
    open: opening.open,
    keyOf,
    onReady: (definition, session) => {
      breakers.recovered(definition.name);
      sandbox.tell(session);
      list(definition, session);
    },
    onDown: (server) => catalog.stale(server),
    onNotification: (definition, session, method) => {
      if (method === LIST_CHANGED) list(definition, session);
    },
    onRemoved: (server) => catalog.remove(server),
    ...{ clock, emit, onError },
  });
}

/** Those of one view: they change nothing that others see. */
export function createOwnConnections(parts: ConnectingParts, id: string, inputs: InputHandlers): Connections {
  const { opening, sandbox, clock, onError } = parts;
  return new Connections({
    open: (definition, signal) => opening.open(definition, signal, { id, inputs }),
    keyOf,
    onReady: (_, session) => sandbox.tell(session),
    onDown: unheard,
    onNotification: unheard,
    onRemoved: unheard,
    emit: unheard,
    ...{ clock, onError },
  });
}

const unheard = (): void => undefined;

/** A server whose entry or settings changed is another one. */
const keyOf = (definition: ServerDefinition) =>
  definitionHash(definition) + createHash('sha256').update(canonicalJson(definition.settings)).digest('base64');
