// Owns all connections of a runtime: definitions in, connections out. Unchanged ones are kept, changed ones replaced.

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
  /** Equal keys mean: the same server, nothing to replace. */
  readonly keyOf: (definition: ServerDefinition) => string;
  readonly clock: Clock;
  readonly emit: Emit<ConnectionEvent>;
  readonly onReady: (definition: ServerDefinition, session: Session) => void;
  /** It was up and is not any more; it may come back. */
  readonly onDown: (server: ServerName) => void;
  /** Somebody must do something before it can start. */
  readonly onBlocked: (server: ServerName, cause: RuntimeError) => void;
  readonly onNotification: (definition: ServerDefinition, session: Session, ...news: NotificationArgs) => void;
  readonly onRemoved: (server: ServerName) => void;
  /** For tests; the delays of a schedule are spread by it. */
  readonly random?: (() => number) | undefined;
  readonly onError: (error: unknown) => void;
}

export interface Reconciling {
  readonly isWantedAtOnce?: (definition: ServerDefinition) => boolean;
  /** Nothing is kept: every server starts anew. */
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
  /** Per server, the ending of all that it has ended so far. */
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
   * Makes the fleet equal to the definitions, wakes what is new and wanted at once, and tries again what was blocked.
   * Resolves when what had to go is gone.
   */
  async reconcile(
    definitions: readonly ServerDefinition[],
    { isWantedAtOnce = () => true, replaceAll = false }: Reconciling = {},
  ): Promise<void> {
    if (this.#closing) return;
    const leaving = this.retain(replaceAll ? [] : definitions);
    // What blocked a server may have been cured since: it was approved, or its variable is set.
    for (const { connection } of this.#entries.values()) connection.unblock();
    for (const definition of definitions) {
      if (this.#entries.has(definition.name)) continue;
      const connection = this.#add(definition);
      if (isWantedAtOnce(definition)) connection.wake();
    }
    await leaving;
  }

  /** Ends all but these; what is the same as before stays as it is. Resolves when what had to go is gone. */
  async retain(definitions: readonly ServerDefinition[]): Promise<void> {
    const wanted = new Map(definitions.map((definition) => [definition.name, definition]));
    const gone = [...this.#entries.values()].filter((entry) => {
      const definition = wanted.get(entry.definition.name);
      return definition === undefined || this.#options.keyOf(definition) !== entry.key;
    });
    for (const { definition } of gone) this.#entries.delete(definition.name);
    await Promise.all(gone.map((entry) => this.#end(entry)));
  }

  /** Added where it is not there yet, and left alone until somebody needs it. Nothing is added once all are closed. */
  ensure(definition: ServerDefinition): Connection {
    const { name: server } = definition;
    const entry = this.#entries.get(server);
    if (this.#closing) throw new RuntimeError('CONNECTION_LOST', { server, reason: 'it was closed' });
    return entry === undefined || entry.connection.state.kind === 'closed' ? this.#add(definition) : entry.connection;
  }

  /** A fresh start, also for a server that was disconnected. */
  reconnect(server: ServerName): void {
    const entry = this.#entries.get(server);
    if (entry === undefined || this.#closing) return;
    if (entry.connection.state.kind === 'closed') this.#add(entry.definition).wake();
    else entry.connection.reconnect();
  }

  /** It stays in the fleet, stopped, until somebody reconnects it. */
  async disconnect(server: ServerName): Promise<void> {
    const entry = this.#entries.get(server);
    if (entry) await this.#end(entry);
  }

  /** Whoever asks, and however often: resolves when nothing is left, of servers that left earlier too. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const ending = [...this.#entries.values()].map((entry) => this.#end(entry));
    const leaving = [...ending, ...this.#ending.values()];
    if (await settleWithin(leaving, { limitMs: limits.closeMs, clock: this.#options.clock })) return;
    this.#options.onError(
      new RuntimeError('INTERNAL', { problem: `servers are left after ${limits.closeMs} ms of closing` }),
    );
  }

  #add(definition: ServerDefinition): Connection {
    const { open, keyOf, clock, onReady, onDown, onBlocked, onError, random } = this.#options;
    const { kind } = definition.launch;
    const isRemote = kind !== 'stdio' && kind !== 'in-process';
    const connection: Connection = new Connection({
      server: definition.name,
      open: (signal) => open(definition, signal),
      former: this.#ending.get(definition.name),
      recovery: createRecovery(definition.settings.reconnect, isRemote, random),
      isProcess: kind === 'stdio',
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

  /** What is done for a session for as long as it is up; returns how to stop all of it. */
  #watchSession(definition: ServerDefinition, session: Session, connection: Connection): () => void {
    const { clock, emit, onNotification } = this.#options;
    const { health, keepAliveMs, idleStopMs } = definition.settings;
    const onNews = (...news: NotificationArgs) => onNotification(definition, session, ...news);
    const stops = [
      watchHealth(session, { policy: health, keepAliveMs, clock }),
      keepListChangedStream(session, clock, onNews),
      watchLog(definition, session, { clock, emit }),
      session.onNotification(onNews),
    ];
    if (idleStopMs > 0) stops.push(watchIdle(session, { idleStopMs, clock, stop: () => connection.idleStop() }));
    return () => {
      for (const stop of stops) stop();
    };
  }

  #end({ definition, connection }: ManagedConnection): Promise<void> {
    const { name } = definition;
    this.#options.onRemoved(name);
    const left = Promise.all([this.#ending.get(name), connection.close()]).then(() => {
      if (this.#ending.get(name) === left) this.#ending.delete(name);
    });
    this.#ending.set(name, left);
    return left;
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
