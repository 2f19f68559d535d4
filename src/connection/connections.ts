// Owns all connections of a runtime: definitions in, connections out. Unchanged ones are kept, changed ones replaced.

import type { DelayFor } from '../kernel/backoff.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Emit } from '../kernel/emitter.ts';
import { settleWithin } from '../kernel/settle.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { ServerDefinition } from '../model/server.ts';
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
  #closed = false;

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
    if (this.#closed) return;
    const wanted = new Map(definitions.map((definition) => [definition.name, definition]));
    const gone = [...this.#entries.values()].filter((entry) => {
      const definition = wanted.get(entry.definition.name);
      return definition === undefined || this.#options.keyOf(definition) !== entry.key;
    });
    const closing = gone.map((entry) => this.#remove(entry));
    // What blocked a server may have been cured since: it was approved, or its variable is set.
    for (const { connection } of this.#entries.values()) connection.unblock();
    for (const definition of definitions) {
      if (!this.#entries.has(definition.name)) this.#add(definition).wake();
    }
    await Promise.all(closing);
  }

  async disconnect(server: ServerName): Promise<void> {
    const entry = this.#entries.get(server);
    if (entry) await this.#remove(entry);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const closing = [...this.#entries.values()].map((entry) => this.#remove(entry));
    if (await settleWithin(closing, { limitMs: limits.closeMs, clock: this.#options.clock })) return;
    this.#options.onError(
      new RuntimeError('INTERNAL', { problem: `servers are left after ${limits.closeMs} ms of closing` }),
    );
  }

  #add(definition: ServerDefinition): Connection {
    const { open, keyOf, delayFor, clock, onReady, onError } = this.#options;
    const connection = new Connection({
      server: definition.name,
      open: (signal) => open(definition, signal),
      delayFor,
      clock,
      onError,
      onChange: (state, before) => {
        this.#report(definition.name, state, before);
        if (state.kind === 'ready' && connection.session) onReady(definition, connection.session);
      },
    });
    this.#entries.set(definition.name, { definition, connection, key: keyOf(definition) });
    return connection;
  }

  #remove(entry: ManagedConnection): Promise<void> {
    this.#entries.delete(entry.definition.name);
    this.#options.onRemoved(entry.definition.name);
    return entry.connection.close();
  }

  #report(server: ServerName, state: ConnectionState, before: ConnectionState): void {
    const cause = 'cause' in state ? state.cause : undefined;
    this.#options.emit({
      type: 'connection.changed',
      server,
      from: before.kind,
      to: state.kind,
      ...(cause && { cause: cause.toJSON() }),
    });
  }
}
