// Owns the types of the public surface: what a host may ask for, and what it gets.

import type { Approve } from './call/approval.ts';
import type { Prompts } from './catalog/resources/prompts.ts';
import type { Resources } from './catalog/resources/resources.ts';
import type { ConfigSource } from './config/discover.ts';
import type { AskInput } from './config/inputs.ts';
import type { NativeTool } from './config/native.ts';
import type { HostServer } from './config/server-entry.ts';
import type { NotReady } from './connection/events.ts';
import type { ClientHandlers } from './connection/requests.ts';
import type { SandboxState } from './connection/sandbox-state.ts';
import type { ServerStatus } from './connection/status.ts';
import type { RuntimeEvent } from './events.ts';
import type { Clock } from './kernel/clock.ts';
import type { Unsubscribe } from './kernel/emitter.ts';
import type { Store } from './kernel/store.ts';
import type { ClientInfo } from './model/identity.ts';
import type { ServerName } from './model/names.ts';
import type { Launcher } from './model/server.ts';
import type { Tool, ToolRef } from './model/tool.ts';
import type { PermissionGate } from './policy/gate.ts';
import type { HostRule } from './policy/host-rules.ts';
import type { View, ViewOptions } from './view.ts';

/** Everything is optional: the defaults are the process's own surroundings. */
export interface RuntimeOptions extends ClientHandlers {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly home?: string;
  /** False: no file is read at all. */
  readonly discover?: boolean;
  /** This file only; what it defines is the person's own. */
  readonly config?: string;
  /** Servers given in code, by name: trusted. */
  readonly servers?: Readonly<Record<ServerName, HostServer>>;
  /** Of all that is configured, only these are connected. */
  readonly only?: readonly ServerName[];
  readonly permissions?: readonly HostRule[];
  /** The host's own permission system: asked about every call that no rule denies, before anybody is asked. */
  readonly gate?: PermissionGate;
  /** Only tools exactly as `plexus.lock` holds them may be called. */
  readonly frozen?: boolean;
  /** Asked where no rule allows or denies; the default says no. */
  readonly approve?: Approve;
  readonly startup?: {
    /** How long an interactive start waits for servers whose tools are not known from an earlier one. */
    readonly gateMs?: number;
    readonly whenUncached?: 'background' | 'wait';
    /** How long a headless start waits for them. */
    readonly waitMs?: number;
    /** Whether servers whose tools are known are connected at once (the default), or left until they are called. */
    readonly whenCached?: 'connect' | 'leave';
  };
  /** Further settings, in the shape of a file, such as an editor's own: a layer of scope local. */
  readonly extraSources?: readonly ConfigSource[];
  /** What the host does itself: servers that only do the same are not used. A function is asked at each reload. */
  readonly nativeTools?: readonly NativeTool[] | (() => readonly NativeTool[]);
  /** Answers `${input:id}`; the answer is remembered. Without it, only remembered answers and defaults count. */
  readonly askInput?: AskInput;
  /** Who servers are told they are talking to; the default is Plexus itself. */
  readonly clientInfo?: ClientInfo;
  /** May put a sandbox around every local server before it is started. */
  readonly launcher?: Launcher;
  /** Whether a change of a file is noticed and applied. Default: yes, unless no file is read. */
  readonly watch?: boolean;
  /** What becomes of a start whose `required` servers are not ready. Default: it fails, unless a person is there. */
  readonly required?: 'enforce' | 'report';
  /** Aborting it ends a start that still waits for its servers; what was opened is closed. */
  readonly signal?: AbortSignal;
  /** Default: stdin and stdout are terminals. */
  readonly interactive?: boolean;
  /** Where approvals are remembered; the default is a folder of the user's. */
  readonly store?: Store;
  /** Whether each server has a log in a folder of the user's: its stderr, why it ended. Default: yes, unless there is a `store`. */
  readonly logs?: boolean;
  readonly clock?: Clock;
  /** Hears everything from the very first event on; `on` can only be asked once the runtime is there. */
  readonly onEvent?: (event: RuntimeEvent) => void;
  /** Told what a listener threw, and what went wrong while closing. The default warns on stderr. */
  readonly onError?: (error: unknown) => void;
}

export interface ReloadOptions {
  readonly replaceAll?: boolean;
}

export interface Readiness {
  readonly ready: readonly ServerName[];
  readonly notReady: readonly NotReady[];
}

export interface RuntimeStats {
  readonly servers: number;
  readonly connected: number;
  readonly tools: number;
  readonly toolsByServer: Readonly<Record<ServerName, number>>;
  /** The only server is a container engine's own gateway. */
  readonly isGatewayMode: boolean;
}

export interface Runtime extends View, AsyncDisposable {
  /** One more agent, sub-agent or client on the same fleet. */
  view(options?: ViewOptions): View;
  status(): ServerStatus[];
  /** Resolves when every server has settled, or the time is up: who is not ready is an answer. Rejects only for a name nobody configured. */
  ready(options?: {
    readonly timeoutMs?: number;
    readonly servers?: readonly ServerName[];
    readonly signal?: AbortSignal;
  }): Promise<Readiness>;
  on(listener: (event: RuntimeEvent) => void): Unsubscribe;
  /** Reads the configuration again: unchanged servers keep their connection, unless all are to start anew. */
  reload(options?: ReloadOptions): Promise<void>;
  /** A fresh start for one server, its failures forgotten. */
  reconnect(server: ServerName): void;
  /** Tells servers that want to know what the agent may touch; said again to those that come up later. */
  notifySandboxState(state: SandboxState): void;
  getStats(): RuntimeStats;
  /** The whole catalog of this moment, whatever a turn shows of it. */
  getTools(): readonly Tool[];
  /** Every tool that its server calls so, whichever server that is. */
  findByToolName(tool: string): readonly ToolRef[];
  /**
   * Data or text without the secrets that `results.redact` takes out of what a model reads: for whoever shows a model, or a
   * shell, more of a result than its `text`.
   */
  redact<Value>(value: Value): Value;
  /** Lists anew what the servers offer, or one of them, which must then succeed. */
  refreshTools(server?: ServerName): Promise<void>;
  readonly resources: Resources;
  readonly prompts: Prompts;
  /** Closes one server and takes its tools out of the catalog. */
  disconnect(server: ServerName): Promise<void>;
  /** Resolves when no process, timer or socket of the runtime is left. */
  close(): Promise<void>;
}
