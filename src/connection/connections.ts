// Owns all connections of a runtime: one for each server definition. Connections of unchanged definitions are kept, those of
// changed ones are replaced.

import type { Clock } from '../kernel/clock.ts';
import type { Emit } from '../kernel/emitter.ts';
import { settleWithin } from '../kernel/settle.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { labelOf, type ServerDefinition } from '../model/server.ts';
import { Connection } from './connection.ts';
import type { ConnectionEvent } from './events.ts';
import { watchHealth } from './health.ts';
import { watchIdle } from './idle.ts';
import { watchLog } from './log-messages.ts';
import { keepListChangedStream } from './notification-stream.ts';
import { createRecovery } from './recovery.ts';
import type { NotificationListener, Session } from './session.ts';
import type { ConnectionState } from './state.ts';

export interface ConnectionsOptions {
  readonly open: (definition: ServerDefinition, signal: AbortSignal) => Promise<Session>;
  /** Fetches the credentials again that the server refused for this session. Whether there are others. */
  readonly renewCredentials: (definition: ServerDefinition, session: Session, signal: AbortSignal) => Promise<boolean>;
  /** Equal keys mean that the definition is unchanged, so its connection is kept. */
  readonly keyOf: (definition: ServerDefinition) => string;
  readonly clock: Clock;
  readonly emit: Emit<ConnectionEvent>;
  readonly onReady: (definition: ServerDefinition, session: Session) => void;
  /** The server was up and is not any more; it may come back. */
  readonly onDown: (server: ServerName) => void;
  /** A person must act before the server can start: approve it, log in, or change its configuration. */
  readonly onBlocked: (server: ServerName, cause: RuntimeError) => void;
  readonly onNotification: (definition: ServerDefinition, session: Session, ...notification: NotificationArgs) => void;
  readonly onRemoved: (server: ServerName) => void;
  /** Source of the jitter in retry delays; tests set it. */
  readonly random?: (() => number) | undefined;
  readonly onError: (error: unknown) => void;
}

export interface ReconcileOptions {
  /** Whether a new server is started right away; others wait for their first call. */
  readonly isWantedAtOnce?: (definition: ServerDefinition) => boolean;
  /** Replaces unchanged connections as well: every server starts anew. */
  readonly replaceAll?: boolean | undefined;
}

type NotificationArgs = Parameters<NotificationListener>;

export interface ManagedConnection {
  readonly definition: ServerDefinition;
  readonly connection: Connection;
}

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #entries = new Map<ServerName, ManagedConnection & { readonly key: string }>();
  /** Per server, resolves when all its former connections have closed. */
  readonly #ending = new Map<ServerName, Promise<void>>();
  #closing: Promise<void> | undefined;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  get(server: ServerName): ManagedConnection | undefined {
    return this.#entries.get(server);
  }

  all(): readonly ManagedConnection[] {
    return [...this.#entries.values()];
  }

  /**
   * Makes the connections equal to the definitions: ends removed and changed ones, adds and starts new ones, and retries
   * blocked ones. Resolves when the ended connections are closed.
   */
  async reconcile(
    definitions: readonly ServerDefinition[],
    { isWantedAtOnce = () => true, replaceAll = false }: ReconcileOptions = {},
  ): Promise<void> {
    if (this.#closing) return;
    const ending = this.retain(replaceAll ? [] : definitions);
    // The reason for the block may be gone: the server was approved, or its variable is set.
    for (const { connection } of this.#entries.values()) connection.unblock();
    for (const definition of definitions) {
      if (this.#entries.has(definition.name)) continue;
      const connection = this.#add(definition);
      if (isWantedAtOnce(definition)) connection.wake();
    }
    await ending;
  }

  /** Ends every connection whose definition is not in the list or has changed. Resolves when those are closed. */
  async retain(definitions: readonly ServerDefinition[]): Promise<void> {
    const wanted = new Map(definitions.map((definition) => [definition.name, definition]));
    const removed = [...this.#entries.values()].filter((entry) => {
      const definition = wanted.get(entry.definition.name);
      return definition === undefined || this.#options.keyOf(definition) !== entry.key;
    });
    for (const { definition } of removed) this.#entries.delete(definition.name);
    await Promise.all(removed.map((entry) => this.#end(entry)));
  }

  /** Returns the connection of a definition, added as idle if it is missing. Throws once all are closed. */
  ensure(definition: ServerDefinition): Connection {
    const { name: server } = definition;
    const entry = this.#entries.get(server);
    if (this.#closing) throw new RuntimeError('CONNECTION_LOST', { server, reason: 'it was closed' });
    return entry === undefined || entry.connection.state.kind === 'closed' ? this.#add(definition) : entry.connection;
  }

  /** Starts a server anew, also one that was disconnected. */
  reconnect(server: ServerName): void {
    const entry = this.#entries.get(server);
    if (entry === undefined || this.#closing) return;
    if (entry.connection.state.kind === 'closed') this.#add(entry.definition).wake();
    else entry.connection.reconnect();
  }

  /** Stops a server. It stays listed as stopped until `reconnect()`. */
  async disconnect(server: ServerName): Promise<void> {
    const entry = this.#entries.get(server);
    if (entry) await this.#end(entry);
  }

  /** May be called again. Resolves when every connection is closed, including those removed earlier. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { clock } = this.#options;
    const present = [...this.#entries.values()].map((entry) => this.#end(entry));
    const all = [...present, ...this.#ending.values()];
    if (await settleWithin(all, { limitMs: limits.closeMs, clock })) return;
    this.#options.onError(
      new RuntimeError('INTERNAL', { problem: `servers are left after ${limits.closeMs} ms of closing` }),
    );
  }

  #add(definition: ServerDefinition): Connection {
    const { open, renewCredentials, keyOf, clock, onReady, onDown, onBlocked, onError, random } = this.#options;
    const { kind } = definition.launch;
    const isRemote = kind !== 'stdio' && kind !== 'in-process';
    const connection: Connection = new Connection({
      server: definition.name,
      open: (signal) => open(definition, signal),
      former: this.#ending.get(definition.name),
      recovery: createRecovery(definition.settings.reconnect, isRemote, random),
      isProcess: kind === 'stdio',
      renewCredentials: (session, signal) => renewCredentials(definition, session, signal),
      watchSession: (session) => this.#watchSession(definition, session, connection),
      clock,
      onError,
      onChange: (state, before) => {
        this.#report(definition, state, before);
        if (state.kind === 'ready' && connection.session) onReady(definition, connection.session);
        else if (before.kind === 'ready' && state.kind !== 'closed') onDown(definition.name);
        if (state.kind === 'blocked') onBlocked(definition.name, state.cause);
      },
    });
    this.#entries.set(definition.name, { definition, connection, key: keyOf(definition) });
    return connection;
  }

  /** Starts what runs while a session is up: pings, notification stream, log, idle stop. Returns how to stop it all. */
  #watchSession(definition: ServerDefinition, session: Session, connection: Connection): () => void {
    const { clock, emit, onNotification } = this.#options;
    const { health, keepAliveMs, idleStopMs } = definition.settings;
    const listener = (...notification: NotificationArgs) => onNotification(definition, session, ...notification);
    const stops = [
      watchHealth(session, { policy: health, keepAliveMs, clock }),
      keepListChangedStream(session, clock, listener),
      watchLog(definition, session, { clock, emit }),
      session.onNotification(listener),
    ];
    if (idleStopMs > 0) stops.push(watchIdle(session, { idleStopMs, clock, stop: () => connection.idleStop() }));
    return () => {
      for (const stop of stops) stop();
    };
  }

  #end({ definition, connection }: ManagedConnection): Promise<void> {
    const { name } = definition;
    this.#options.onRemoved(name);
    const ended = Promise.all([this.#ending.get(name), connection.close()]).then(() => {
      if (this.#ending.get(name) === ended) this.#ending.delete(name);
    });
    this.#ending.set(name, ended);
    return ended;
  }

  #report(definition: ServerDefinition, state: ConnectionState, before: ConnectionState): void {
    const cause = 'cause' in state ? state.cause : undefined;
    this.#options.emit({
      type: 'connection.changed',
      server: definition.name,
      label: labelOf(definition),
      from: before.kind,
      to: state.kind,
      ...(cause && { cause: cause.toJSON() }),
    });
  }
}
