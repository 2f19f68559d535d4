// Owns the sessions of a view with private connections: opened at its first call, closed with the view. Servers that are not
// private to the view are reached through the shared sessions.

import type { Connections } from '../connection/connections.ts';
import type { Session } from '../connection/session.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { ServerOpener } from './open-server.ts';
import type { ServerRegistry } from './registry.ts';
import { closeRejudged } from './rejudged.ts';
import type { SessionProvider, SharedSessions } from './sessions.ts';

export interface PrivateSessions extends SessionProvider {
  /** After a change of the configuration: private connections follow the entries of their servers. */
  follow(): Promise<void>;
  sessions(): readonly Session[];
  close(): Promise<void>;
}

export interface PrivateSessionsDeps {
  readonly shared: SharedSessions;
  readonly registry: ServerRegistry;
  readonly connections: Connections;
  readonly opener: Pick<ServerOpener, 'approvalChange'>;
  readonly isPrivate: (server: ServerName) => boolean;
}

export function createPrivateSessions({
  shared,
  registry,
  connections,
  opener,
  isPrivate,
}: PrivateSessionsDeps): PrivateSessions {
  const connectionTo = (server: ServerName) => {
    const definition = registry.used().find(({ name }) => name === server);
    shared.requireStartable(server);
    if (definition) return connections.ensure(definition);
    throw new RuntimeError('SERVER_DENIED', { server, because: registry.refusal(server) ?? 'it is not in use' });
  };
  return {
    open: (server) => (isPrivate(server) ? connections.get(server)?.connection.session : shared.open(server)),
    whenReady: async (server) => (isPrivate(server) ? connectionTo(server).whenReady() : shared.whenReady(server)),
    waitFailure: (server, afterMs, cause) =>
      (isPrivate(server) ? connections.get(server)?.connection.waitFailure(afterMs, cause) : undefined) ??
      shared.waitFailure(server, afterMs, cause),
    whenReplaced: async (server, lost) =>
      isPrivate(server) ? connectionTo(server).whenReplaced(lost) : shared.whenReplaced(server, lost),
    // The catalog lists tools over the shared connection.
    whenListed: (server) => shared.whenListed(server),
    isRepeatable: (tool) => shared.isRepeatable(tool),
    metaFor: (session) => shared.metaFor(session),
    maxMessageBytes: (server) => shared.maxMessageBytes(server),
    callLimits: (server) => shared.callLimits(server),
    follow: async () => {
      const used = registry.used();
      // No longer private: calls in flight finish, the next ones take the shared connection.
      for (const { name } of used) if (!isPrivate(name)) connections.retire(name);
      await Promise.all([connections.retain(used), closeRejudged(connections, opener)]);
    },
    sessions: () => connections.all().flatMap(({ connection }) => connection.session ?? []),
    close: () => connections.close(),
  };
}
