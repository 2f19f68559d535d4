// Owns how a call reaches its server: the port, and the sessions that all views share. A view with private connections brings
// sessions of its own (`private-sessions.ts`).

import type { Catalog } from '../catalog/catalog.ts';
import type { Connection } from '../connection/connection.ts';
import type { Connections, ManagedConnection } from '../connection/connections.ts';
import type { SandboxNotifier } from '../connection/sandbox-state.ts';
import type { Session } from '../connection/session.ts';
import type { Clock } from '../kernel/clock.ts';
import type { JsonObject } from '../kernel/json.ts';
import { settleWithin } from '../kernel/settle.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { type CallLimits, callLimits } from '../model/server.ts';
import type { Tool } from '../model/tool.ts';
import type { ServerRegistry } from './registry.ts';
import type { FleetStatus } from './status.ts';

export interface SessionProvider {
  /** The session that is up now. */
  open(server: ServerName): Session | undefined;
  /** Wakes the server where it is not up. */
  whenReady(server: ServerName): Promise<Session>;
  /** The failure of a call that has waited so long for the server: why it is not up, and when the next attempt comes. */
  waitFailure(server: ServerName, afterMs: number, cause: unknown): RuntimeError;
  /** The session that follows `lost`. */
  whenReplaced(server: ServerName, lost: Session): Promise<Session>;
  /** Resolves when the current session has listed its tools, or a limit has passed. */
  whenListed(server: ServerName): Promise<void>;
  /** Whether a second execution does no harm: the tool says so, and its annotations are trusted. */
  isRepeatable(tool: Tool): boolean;
  /** The `_meta` that the server asked for with every call. */
  metaFor(session: Session): JsonObject | undefined;
  maxMessageBytes(server: ServerName): number;
  callLimits(server: ServerName): CallLimits;
}

export interface SharedSessionsDeps {
  readonly registry: ServerRegistry;
  readonly connections: Connections;
  readonly catalog: Catalog;
  readonly status: FleetStatus;
  readonly sandbox: SandboxNotifier;
  readonly clock: Clock;
}

export class SharedSessions implements SessionProvider {
  readonly #deps: SharedSessionsDeps;

  constructor(deps: SharedSessionsDeps) {
    this.#deps = deps;
  }

  open(server: ServerName): Session | undefined {
    return this.#deps.connections.get(server)?.connection.session;
  }

  async whenReady(server: ServerName): Promise<Session> {
    return this.#startable(server).whenReady();
  }

  waitFailure(server: ServerName, afterMs: number, cause: unknown): RuntimeError {
    return this.require(server).connection.waitFailure(afterMs, cause);
  }

  async whenReplaced(server: ServerName, lost: Session): Promise<Session> {
    return this.#startable(server).whenReplaced(lost);
  }

  async whenListed(server: ServerName): Promise<void> {
    const { catalog, clock } = this.#deps;
    await settleWithin([catalog.listed(server)], { limitMs: limits.listWaitMs, clock });
  }

  isRepeatable(tool: Tool): boolean {
    const { readOnlyHint, destructiveHint, idempotentHint } = tool.definition.annotations ?? {};
    if (!this.#deps.registry.trustsAnnotations(tool)) return false;
    return idempotentHint === true || (readOnlyHint === true && destructiveHint !== true);
  }

  metaFor(session: Session): JsonObject | undefined {
    return this.#deps.sandbox.metaFor(session);
  }

  maxMessageBytes(server: ServerName): number {
    return this.#deps.registry.settings(server)?.maxMessageBytes ?? 0;
  }

  callLimits(server: ServerName): CallLimits {
    return callLimits(this.#deps.registry.settings(server));
  }

  /** The server's connection. Throws where the name is not configured, or the server is not in use. */
  require(server: ServerName): ManagedConnection {
    const { connections, registry, status } = this.#deps;
    const managed = connections.get(server);
    if (managed) return managed;
    status.requireConfigured(server);
    const because = registry.refusal(server) ?? 'it is disabled, or its entry is not valid';
    throw new RuntimeError('SERVER_DENIED', { server, because });
  }

  /** A server with `lifecycle = "manual"` is started by a person, never by a call. */
  requireStartable(server: ServerName): void {
    const { connection, definition } = this.require(server);
    if (definition.settings.lifecycle !== 'manual' || connection.state.kind !== 'idle') return;
    const because = `it is started by hand only (lifecycle = "manual"), with reconnect(${JSON.stringify(server)})`;
    throw new RuntimeError('SERVER_DENIED', { server, because });
  }

  #startable(server: ServerName): Connection {
    this.requireStartable(server);
    return this.require(server).connection;
  }
}
