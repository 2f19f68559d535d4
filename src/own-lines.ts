// Owns the connections that one view has for itself: opened at its first call, closed with it. Everything else it shares.

import type { Lines } from './call/lines.ts';
import type { Connections } from './connection/connections.ts';
import type { Session } from './connection/session.ts';
import type { Fleet } from './fleet.ts';
import { RuntimeError } from './model/errors.ts';
import type { ServerName } from './model/names.ts';
import type { Standing } from './standing.ts';

export interface OwnLines extends Lines {
  /** The configuration has changed: what is gone from it, or is another one now, is ended here too. */
  follow(): Promise<void>;
  sessions(): readonly Session[];
  close(): Promise<void>;
}

export interface OwnLinesDeps {
  readonly fleet: Fleet;
  readonly standing: Standing;
  readonly connections: Connections;
  readonly isOwn: (server: ServerName) => boolean;
}

export function createOwnLines({ fleet, standing, connections, isOwn }: OwnLinesDeps): OwnLines {
  const ownConnection = (server: ServerName) => {
    const definition = standing.used().find(({ name }) => name === server);
    fleet.requireStartable(server);
    if (definition) return connections.ensure(definition);
    throw new RuntimeError('SERVER_DENIED', { server, because: standing.refusal(server) ?? 'it is not in use' });
  };
  return {
    open: (server) => (isOwn(server) ? connections.get(server)?.connection.session : fleet.open(server)),
    whenReady: async (server) => (isOwn(server) ? ownConnection(server).whenReady() : fleet.whenReady(server)),
    whenReplaced: async (server, lost) =>
      isOwn(server) ? ownConnection(server).whenReplaced(lost) : fleet.whenReplaced(server, lost),
    // What its tools are is known from the fleet's own connection.
    whenListed: (server) => fleet.whenListed(server),
    isRepeatable: (tool) => fleet.isRepeatable(tool),
    metaFor: (session) => fleet.metaFor(session),
    maxMessageBytes: (server) => fleet.maxMessageBytes(server),
    follow: () => connections.retain(standing.used()),
    sessions: () => connections.all().flatMap(({ connection }) => connection.session ?? []),
    close: () => connections.close(),
  };
}
