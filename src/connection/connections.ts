// Owns all connections of a runtime: definitions in, connections out. Unchanged ones are kept, changed ones replaced.

import type { DelayFor } from '../kernel/backoff.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Emit } from '../kernel/emitter.ts';
import { settleWithin } from '../kernel/settle.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { labelOf, type ServerDefinition } from '../model/server.ts';
import { Connection } from './connection.ts';
import type { ConnectionEvent } from './events.ts';
import type { Session } from './session.ts';
import type { ConnectionState } from './state.ts';

export interface ConnectionsOptions {
  readonly open: (definition: ServerDefinition, signal: AbortSignal) => Promise<Session>;
  /** Equal keys mean: the same server, nothing to replace. */
  readonly keyOf: (definition: ServerDefinition) => string;
  readonly delayFor: DelayFor;
  readonly clock: Clock;
  readonly emit: Emit<ConnectionEvent>;
  readonly onReady: (definition: ServerDefinition, session: Session) => void;
  readonly onRemoved: (server: ServerName) => void;
  readonly onError: (error: unknown) => void;
}

export interface ManagedConnection {
  readonly definition: ServerDefinition;
  readonly connection: Connection;
}

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #entries = new Map<ServerName, ManagedConnection & { readonly key: string }>();
  /** Per server, the ending of all that it has ended so far. */
  readonly #leaving = new Map<ServerName, Promise<void>>();
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

  /** Makes the fleet equal to the definitions, wakes what is new and tries again what was blocked. Resolves when what had to go is gone. */
  async reconcile(definitions: readonly ServerDefinition[]): Promise<void> {
    if (this.#closing) return;
    const wanted = new Map(definitions.map((definition) => [definition.name, definition]));
    const gone = [...this.#entries.values()].filter((entry) => {
      const definition = wanted.get(entry.definition.name);
      return definition === undefined || this.#options.keyOf(definition) !== entry.key;
    });
    for (const { definition } of gone) this.#entries.delete(definition.name);
    const leaving = gone.map((entry) => this.#end(entry));
    // What blocked a server may have been cured since: it was approved, or its variable is set.
    for (const { connection } of this.#entries.values()) connection.unblock();
    for (const definition of definitions) {
      if (!this.#entries.has(definition.name)) this.#add(definition).wake();
    }
    await Promise.all(leaving);
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
    const leaving = [...ending, ...this.#leaving.values()];
    if (await settleWithin(leaving, { limitMs: limits.closeMs, clock: this.#options.clock })) return;
    this.#options.onError(
      new RuntimeError('INTERNAL', { problem: `servers are left after ${limits.closeMs} ms of closing` }),
    );
  }

  #add(definition: ServerDefinition): Connection {
    const { open, keyOf, delayFor, clock, onReady, onError } = this.#options;
    const connection = new Connection({
      server: definition.name,
      open: (signal) => open(definition, signal),
      former: this.#leaving.get(definition.name),
      delayFor,
      clock,
      onError,
      onChange: (state, before) => {
        this.#report(definition, state, before);
        if (state.kind === 'ready' && connection.session) onReady(definition, connection.session);
      },
    });
    this.#entries.set(definition.name, { definition, connection, key: keyOf(definition) });
    return connection;
  }

  #end({ definition, connection }: ManagedConnection): Promise<void> {
    const { name } = definition;
    this.#options.onRemoved(name);
    const left = Promise.all([this.#leaving.get(name), connection.close()]).then(() => {
      if (this.#leaving.get(name) === left) this.#leaving.delete(name);
    });
    this.#leaving.set(name, left);
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
