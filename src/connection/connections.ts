// Owns all connections of a runtime: one for each server. A changed definition is applied to its connection as it is, restarts it,
// or ends it and begins another, as `changeOf` says.

import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../kernel/clock.ts';
import type { Emit } from '../kernel/emitter.ts';
import { settleWithin } from '../kernel/settle.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { isRemote, labelOf, type ServerDefinition } from '../model/server.ts';
import { Connection } from './connection.ts';
import type { DrainProgress } from './drain.ts';
import type { ConnectionEvent } from './events.ts';
import { createRecovery } from './recovery.ts';
import type { NotificationListener, Session } from './session.ts';
import { type SessionWatch, timersOf, watchSession } from './session-watch.ts';
import type { ConnectionState } from './state.ts';

export interface ConnectionsOptions {
  readonly open: (definition: ServerDefinition, signal: AbortSignal) => Promise<Session>;
  /** Fetches the credentials again that the server refused for this session. Whether there are others. */
  readonly renewCredentials: (definition: ServerDefinition, session: Session, signal: AbortSignal) => Promise<boolean>;
  /** How long a start of the server may take, its installation included; 0 for ever. */
  readonly startLimitMs: (definition: ServerDefinition) => number;
  /** Whether the start waits for a person: for an approval, or for the answer to an input. */
  readonly isPersonAsked: (server: ServerName) => boolean;
  readonly changeOf: (before: ServerDefinition, after: ServerDefinition) => DefinitionChange;
  readonly clock: Clock;
  readonly emit: Emit<ConnectionEvent>;
  readonly onReady: (definition: ServerDefinition, session: Session) => void;
  /** The server was up and is not any more; it may come back. */
  readonly onDown: (server: ServerName) => void;
  /** A person must act before the server can start: approve it, log in, or change its configuration. */
  readonly onBlocked: (server: ServerName, cause: RuntimeError) => void;
  readonly onNotification: (definition: ServerDefinition, session: Session, ...notification: NotificationArgs) => void;
  readonly onRemoved: (server: ServerName) => void;
  /** Settings changed that apply to the server as it is. */
  readonly onEdited: (definition: ServerDefinition) => void;
  /** The definition changed so that the server is started anew: now if it `isUp`, or when it is next needed. */
  readonly onRestart: (definition: ServerDefinition, isUp: boolean) => void;
  /** The session ends now; one that was replaced, only after its calls. */
  readonly onSessionEnded: (server: ServerName, session: Session) => void;
  /** Source of the jitter in retry delays; tests set it. */
  readonly random?: (() => number) | undefined;
  readonly onError: (error: unknown) => void;
}

/** How the connection follows the new definition of its server. */
export type DefinitionChange =
  | 'none'
  /** It applies to the open session, or to the next one. */
  | 'live'
  /** The server starts anew once its calls in flight have finished. */
  | 'restart'
  /** Another entry has taken the name: the server ends at once. */
  | 'replacement';

export interface ReconcileOptions {
  /** Whether a new server is started right away; others wait for their first call. */
  readonly isWantedAtOnce?: (definition: ServerDefinition) => boolean;
  /** Replaces unchanged connections as well: every server starts anew. */
  readonly replaceAll?: boolean | undefined;
}

type NotificationArgs = Parameters<NotificationListener>;

interface DrainedSession {
  readonly definition: ServerDefinition;
  readonly session: Session;
}

export interface ManagedConnection {
  readonly definition: ServerDefinition;
  readonly connection: Connection;
  /** The session whose calls still finish, and its definition. */
  readonly drained?: DrainedSession | undefined;
}

interface Entry extends ManagedConnection {
  definition: ServerDefinition;
  drained: DrainedSession | undefined;
  /** The next `reconcile` decides whether to start the server. */
  isUndecided: boolean;
  watch: SessionWatch | undefined;
}

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #entries = new Map<ServerName, Entry>();
  /** Per server, resolves when all its former connections have closed. */
  readonly #ending = new Map<ServerName, Promise<void>>();
  /** Connections that are not needed any more, while their calls finish. */
  readonly #retiring = new Map<Connection, ServerName>();
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
   * Makes the connections equal to the definitions: ends, restarts and edits as `retain` does, adds and starts new ones, and
   * retries blocked ones. Resolves when the ended connections are closed; calls that drain are not waited for.
   */
  async reconcile(
    definitions: readonly ServerDefinition[],
    { isWantedAtOnce = () => true, replaceAll = false }: ReconcileOptions = {},
  ): Promise<void> {
    if (this.#closing) return;
    const ending = this.retain(replaceAll ? [] : definitions);
    // The reason for the block may be gone: the server was approved, or its variable is set.
    for (const { connection } of this.#entries.values()) connection.unblock();
    for (const definition of definitions) if (!this.#entries.has(definition.name)) this.#add(definition);
    for (const entry of this.#entries.values()) {
      if (entry.isUndecided && isWantedAtOnce(entry.definition)) entry.connection.wake();
      entry.isUndecided = false;
    }
    await ending;
  }

  /** Ends every connection whose server is not in the list, and makes the others follow their definitions. Resolves when the ended are closed. */
  async retain(definitions: readonly ServerDefinition[]): Promise<void> {
    if (this.#closing) return;
    const wanted = new Map(definitions.map((definition) => [definition.name, definition]));
    const ending: Promise<void>[] = [];
    for (const [connection, name] of this.#retiring) if (!wanted.has(name)) connection.endDrain();
    for (const entry of [...this.#entries.values()]) {
      const { name } = entry.definition;
      const definition = wanted.get(name);
      const change = definition && this.#options.changeOf(entry.definition, definition);
      if (definition !== undefined && change !== 'replacement') {
        this.#follow(entry, definition, change ?? 'none');
        continue;
      }
      this.#entries.delete(name);
      ending.push(this.#end(entry));
      if (definition !== undefined) this.#add(definition);
    }
    await Promise.all(ending);
  }

  #follow(entry: Entry, definition: ServerDefinition, change: 'none' | 'live' | 'restart'): void {
    const before = entry.definition;
    entry.definition = definition;
    // A server that a person stopped stays stopped.
    if (change === 'none' || entry.connection.state.kind === 'closed') return;
    entry.connection.recheckLimits();
    if (change === 'restart') this.#restart(entry, before);
    else this.#edit(entry, before);
  }

  #edit(entry: Entry, before: ServerDefinition): void {
    const { connection, definition } = entry;
    const { kind } = connection.state;
    entry.isUndecided ||= before.settings.lifecycle !== definition.settings.lifecycle;
    if (!isDeepStrictEqual(timersOf(before), timersOf(definition))) entry.watch?.restartTimers();
    this.#options.onEdited(definition);
    // A person who edits the entry of a server that failed wants to see whether it works now.
    if (kind === 'waiting' || kind === 'failed') connection.reconnect();
  }

  #restart(entry: Entry, before: ServerDefinition): void {
    const { connection, definition } = entry;
    const isUp = connection.state.kind !== 'idle';
    const { session } = connection;
    if (session) entry.drained = { definition: before, session };
    entry.isUndecided ||= !isUp;
    this.#options.onRestart(definition, isUp);
    connection.restart();
  }

  /** Returns the connection of a definition, added as idle if it is missing. Throws once all are closed. */
  ensure(definition: ServerDefinition): Connection {
    const { name: server } = definition;
    const entry = this.#entries.get(server);
    if (this.#closing) throw new RuntimeError('CONNECTION_LOST', { server, reason: 'it was closed' });
    return entry === undefined || entry.connection.state.kind === 'closed' ? this.#add(definition) : entry.connection;
  }

  /** Starts a server that is up anew once its calls in flight have finished. */
  restart(server: ServerName): void {
    const entry = this.#entries.get(server);
    if (entry !== undefined && !this.#closing) this.#restart(entry, entry.definition);
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

  /** Ends a server that is not needed any more once its calls in flight have finished. */
  retire(server: ServerName): void {
    const entry = this.#entries.get(server);
    if (entry === undefined) return;
    const { connection } = entry;
    this.#entries.delete(server);
    this.#retiring.set(connection, server);
    void this.#end(entry, 'retire').then(() => this.#retiring.delete(connection));
  }

  /** May be called again. Resolves when every connection is closed, including those removed earlier. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { clock } = this.#options;
    for (const connection of this.#retiring.keys()) connection.endDrain();
    const present = [...this.#entries.values()].map((entry) => this.#end(entry));
    const all = [...present, ...this.#ending.values()];
    if (await settleWithin(all, { limitMs: limits.closeMs, clock })) return;
    this.#options.onError(
      new RuntimeError('INTERNAL', { problem: `servers are left after ${limits.closeMs} ms of closing` }),
    );
  }

  #add(definition: ServerDefinition): Connection {
    const { open, renewCredentials, startLimitMs, isPersonAsked, clock, onReady, onDown, onBlocked, onError, random } =
      this.#options;
    const { name } = definition;
    const connection: Connection = new Connection({
      server: name,
      open: (signal) => open(entry.definition, signal),
      former: this.#ending.get(name),
      recovery: () => createRecovery(entry.definition.settings.reconnect, isRemote(entry.definition), random),
      isProcess: () => entry.definition.launch.kind === 'stdio',
      renewCredentials: (session, signal) => renewCredentials(entry.definition, session, signal),
      callWaitMs: (isStarting) =>
        isStarting ? startLimitMs(entry.definition) : entry.definition.settings.startupTimeoutMs,
      isPersonAsked: () => isPersonAsked(name),
      watchSession: (session) => this.#watch(entry, session),
      onDrain: (progress) => this.#reportDrain(entry, progress),
      clock,
      onError,
      onChange: (state, before) => {
        this.#report(entry.definition, state, before);
        if (state.kind === 'ready' && connection.session) onReady(entry.definition, connection.session);
        else if (before.kind === 'ready' && state.kind !== 'closed') onDown(name);
        if (state.kind === 'blocked') onBlocked(name, state.cause);
      },
    });
    const entry: Entry = { definition, connection, drained: undefined, isUndecided: true, watch: undefined };
    this.#entries.set(name, entry);
    return connection;
  }

  #watch(entry: Entry, session: Session): () => void {
    const { clock, emit, onNotification, onSessionEnded } = this.#options;
    const watch = watchSession(session, {
      definition: () => entry.definition,
      onNotification: (...notification) => onNotification(entry.definition, session, ...notification),
      onIdle: () => entry.connection.idleStop(),
      onParted: () => void this.#part(entry, session),
      clock,
      emit,
    });
    entry.watch = watch;
    return () => {
      if (entry.watch === watch) entry.watch = undefined;
      watch.stop();
      onSessionEnded(entry.definition.name, session);
    };
  }

  /** Another session, as soon as no call is in flight: calls are not cut for it, since the server merely gets no roots meanwhile. */
  async #part({ definition, connection }: Entry, session: Session): Promise<void> {
    // A call may begin while the last one ends.
    while (session.callsInFlight() > 0) await session.whenQuiet();
    if (connection.session === session) this.restart(definition.name);
  }

  #end({ definition, connection }: ManagedConnection, how: 'close' | 'retire' = 'close'): Promise<void> {
    const { name } = definition;
    this.#options.onRemoved(name);
    const ended = Promise.all([this.#ending.get(name), connection[how]()]).then(() => {
      if (this.#ending.get(name) === ended) this.#ending.delete(name);
    });
    this.#ending.set(name, ended);
    return ended;
  }

  #reportDrain({ definition: { name: server } }: Entry, progress: DrainProgress): void {
    const { emit } = this.#options;
    if (progress.kind === 'started') emit({ type: 'connection.drain-started', server, calls: progress.calls });
    else emit({ type: 'connection.drained', server, calls: progress.calls, cut: progress.cut });
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
