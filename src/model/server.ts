// Owns what a server is once every dialect has been read: one normalized, frozen definition and where it came from.

import type { ServerName } from './names.ts';

/** Where a definition was found, strongest first. What lies in the workspace starts nothing before a person approved it. */
export type Scope = 'enterprise' | 'host' | 'local' | 'project' | 'user' | 'plugin' | 'imported';

export interface Provenance {
  readonly scope: Scope;
  /** Absent for servers given in code. */
  readonly file?: string;
  /** The path of the entry inside its file, for messages and for finding its line. */
  readonly key: readonly string[];
  readonly line?: number;
}

/** What a child process may see of the host's environment besides what its entry names. */
export type InheritEnv = 'safe' | 'all' | readonly string[];

export interface StdioLaunch {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** Placeholders unresolved: secrets exist only inside an open transport. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly inheritEnv: InheritEnv;
}

export interface RemoteLaunch {
  readonly kind: 'http' | 'sse' | 'ws' | 'auto';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bearerTokenEnvVar?: string;
}

/** A server that runs inside the host: it is given the other end of a channel. */
export interface InProcessLaunch {
  readonly kind: 'in-process';
  readonly serve: (channel: Channel) => void | Promise<void>;
}

export type Launch = StdioLaunch | RemoteLaunch | InProcessLaunch;

/** The effective settings of one server: every default already applied. */
export interface ServerSettings {
  readonly enabled: boolean;
  readonly description?: string;
  /** 0 turns the limit off. */
  readonly startupTimeoutMs: number;
  readonly toolTimeoutMs: number;
  /** Silence allowed during a call; `undefined` means the transport's default (only remote servers have one). */
  readonly toolIdleTimeoutMs?: number;
  readonly enabledTools?: readonly string[];
  readonly disabledTools: readonly string[];
  readonly maxResultChars: number;
  readonly maxMessageBytes: number;
}

export interface ServerDefinition {
  readonly name: ServerName;
  readonly launch: Launch;
  readonly settings: ServerSettings;
  readonly provenance: Provenance;
}

export type Message = { readonly [key: string]: unknown };

/** One end of a connection that carries JSON-RPC messages; what the SDK calls a transport has this shape. */
export interface Channel {
  start(): Promise<void>;
  /** Resolves when the message was handed on; rejects when it certainly was not. */
  send(message: Message): Promise<void>;
  close(): Promise<void>;
  onmessage?: ((message: Message) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
}
