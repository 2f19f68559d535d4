// Owns what a server is once every dialect has been read: one normalized, frozen definition and where it came from.

import type { Schedule } from '../kernel/backoff.ts';
import { shellWord, visible } from '../kernel/shell-word.ts';
import type { RuntimeError } from './errors.ts';
import type { ServerName } from './names.ts';

/** Where a definition was found, strongest first. What lies in the workspace starts nothing before a person approved it. */
export type Scope = 'enterprise' | 'host' | 'local' | 'project' | 'user' | 'plugin' | 'imported';

export interface Provenance {
  readonly scope: Scope;
  /** Whoever wrote the repository wrote it: it starts nothing before a person approved it. */
  readonly inWorkspace?: true;
  /** The app it was imported from, the plugin that brought it, the settings a host put in. */
  readonly provider?: string;
  /** Absent for servers given in code. */
  readonly file?: string;
  /** The path of the entry inside its file, for messages and for finding its line. */
  readonly key: readonly (string | number)[];
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
  /** A file of further variables, read when the server is opened. */
  readonly envFile?: string;
  /** Variables of the host that the entry may read although its scope may not; honored only where a person approved it. */
  readonly envAllow?: readonly string[];
}

export interface RemoteLaunch {
  readonly kind: 'http' | 'sse' | 'ws' | 'auto';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** There is no process to see it: it gives names to parts of the entry's own url and headers. */
  readonly env?: Readonly<Record<string, string>>;
  readonly bearerTokenEnvVar?: string;
  /** The proxy to go through instead of the environment's; `off` for none. */
  readonly proxy?: string;
  /** Files in PEM: who may vouch for the server, and who we are. */
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  /** A command that prints further headers as a JSON map, run when the server is opened. */
  readonly headersHelper?: string;
  readonly envAllow?: readonly string[];
}

/** A server that runs inside the host: it is given the other end of a channel. */
export interface InProcessLaunch {
  readonly kind: 'in-process';
  readonly serve: (channel: Channel) => void | Promise<void>;
}

export type Launch = StdioLaunch | RemoteLaunch | InProcessLaunch;

/** What is about to be started, everything filled in; a host may answer with a sandbox around it. */
export type Launcher = (
  launch: Pick<StdioLaunch, 'command' | 'args' | 'env' | 'cwd'> & { readonly server: ServerName },
) => Pick<StdioLaunch, 'command' | 'args'> & Partial<Pick<StdioLaunch, 'env' | 'cwd'>>;

/** When a server is started: with the fleet, when it is first needed, or only when a person asks. */
export type Lifecycle = 'eager' | 'lazy' | 'manual';

/** How a lost connection is tried again: a schedule, and for remote servers what goes on once it is used up. */
export interface ReconnectPolicy {
  readonly schedule: Schedule;
  readonly background?: { readonly baseMs: number; readonly maxMs: number };
}

/** Whether a quiet server is asked for a sign of life. Servers of the modern era never are: they have no ping. */
export interface HealthPolicy {
  readonly mode: 'remote' | 'all' | 'off';
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** So many in a row, and the session counts as lost. */
  readonly failures: number;
}

/** How a model gets to a tool: it sees it, finds it by searching, or finds it so and calls it through one tool for all. */
export type Exposure = 'load' | 'defer' | 'use_tool';

/** In the protocol's words, the least important first. */
export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

/** When somebody is asked before a tool is called of which no rule speaks; `policy/approval-mode` says what each means. */
export type ApprovalMode = 'prompt' | 'writes' | 'auto' | 'approve';

/** What an entry says of single tools; what it does not say is as its server has it. */
export interface ToolSettings {
  readonly enabled?: boolean;
  readonly alwaysLoad?: boolean;
  readonly exposure?: Exposure;
  readonly toolTimeoutMs?: number;
  readonly toolIdleTimeoutMs?: number;
  readonly maxResultChars?: number;
  readonly maxResultTokens?: number;
  readonly approval?: ApprovalMode;
  /** It sends something to the outside, whatever it says of itself. */
  readonly outbound?: boolean;
}

/** The effective settings of one server: every default already applied. */
export interface ServerSettings {
  readonly enabled: boolean;
  readonly title?: string;
  readonly description?: string;
  /** 0 turns the limit off. */
  readonly startupTimeoutMs: number;
  readonly toolTimeoutMs: number;
  /** Silence allowed during a call; `undefined` means the transport's default (only remote servers have one). */
  readonly toolIdleTimeoutMs?: number;
  readonly enabledTools?: readonly string[];
  readonly disabledTools: readonly string[];
  /** By name or pattern; the closest counts. */
  readonly tools?: Readonly<Record<string, ToolSettings>>;
  /** Absent: decided by how much all tools weigh. */
  readonly exposure?: Exposure;
  /** The model sees its tools even while others must be searched for. */
  readonly alwaysLoad: boolean;
  /** What it says about its use is put before the model. */
  readonly instructions: boolean;
  /** Its list of tools may be kept on disk. */
  readonly cacheable: boolean;
  /** How long that list counts as fresh; `undefined` means as for all servers. */
  readonly toolCacheTtlMs?: number;
  /** It is asked to tell when a resource that was read changes. */
  readonly subscriptions: boolean;
  /** From which level on it is asked for its log; `undefined` leaves it to the server. */
  readonly logLevel?: LogLevel;
  readonly maxResultChars: number;
  readonly maxResultTokens: number;
  readonly maxMessageBytes: number;
  readonly lifecycle: Lifecycle;
  /** After so long without a call the server is stopped, its tools staying listed; 0 means never. */
  readonly idleStopMs: number;
  /** A start without a person waits for it, and fails without it. */
  readonly required: boolean;
  /** Every view gets a connection of its own. */
  readonly perClient: boolean;
  /** What its tools say of themselves (read-only, idempotent) is believed. */
  readonly trustHints: boolean;
  readonly approval?: ApprovalMode;
  /** What becomes of a question that it has for the person. */
  readonly elicitation: 'ask' | 'decline';
  /** Several calls may run at once. */
  readonly parallel: boolean;
  readonly reconnect: ReconnectPolicy;
  readonly health: HealthPolicy;
  /** A remote session of the older era that was quiet for so long is pinged to keep it open; 0 means never. */
  readonly keepAliveMs: number;
}

/** How long one call may take, and how long its server may be silent. 0 turns a limit off. */
export interface CallLimits {
  readonly totalMs: number;
  readonly silenceMs: number;
}

/** The limits of a tool; its own entry counts before its server's. A builtin tool without a server has none. */
export function callLimits(settings: ServerSettings | undefined, tool: ToolSettings = {}): CallLimits {
  if (settings === undefined) return { totalMs: 0, silenceMs: 0 };
  return {
    totalMs: tool.toolTimeoutMs ?? settings.toolTimeoutMs,
    silenceMs: tool.toolIdleTimeoutMs ?? settings.toolIdleTimeoutMs ?? 0,
  };
}

export interface ServerDefinition {
  readonly name: ServerName;
  readonly launch: Launch;
  readonly settings: ServerSettings;
  readonly provenance: Provenance;
}

/** `mcp:<server> via <provider>`: how a person is told where a server comes from, the same everywhere. */
export function labelOf({ name, provenance }: Pick<ServerDefinition, 'name' | 'provenance'>): string {
  return `mcp:${name} via ${provenance.provider ?? provenance.scope}`;
}

export type Message = { readonly [key: string]: unknown };

/** Why a channel is down, or slow to come up: what it was doing, and the end of what the server wrote on stderr. */
export interface ChannelReport {
  readonly reason: string;
  readonly stderr?: string;
  /** There is no process to look at: what is said about it speaks of an address. */
  readonly isRemote?: true;
}

export type MessageId = string | number;

export interface SendOptions {
  /** HTTP headers for this one message; channels without headers overlook them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Doing it twice does no harm: it may be sent again where it is unclear whether it arrived. */
  readonly repeatable?: boolean;
}

/** A request that gets no answer any more, although the channel as a whole is up. */
export interface RequestFailure {
  /** Whether the other side may have seen it, and acted on it. */
  readonly sent: boolean;
  readonly cause: RuntimeError;
  /** What an HTTP server answered instead. */
  readonly status?: number;
}

/** One end of a connection that carries JSON-RPC messages; what the SDK calls a transport has this shape. */
export interface Channel {
  start(): Promise<void>;
  /** Resolves when the message was handed on; rejects when it certainly was not. */
  send(message: Message, options?: SendOptions): Promise<void>;
  /** Nobody waits for the answer to this request any more: what is still open for it is closed. */
  abandon?(id: MessageId): void;
  /** Each request has a stream of its own, so that abandoning it tells a server of the modern era all it needs. */
  readonly hasRequestStreams?: boolean;
  /** Resolves only when nothing of the other side is left: no process, no socket. */
  close(): Promise<void>;
  readonly pid?: number | undefined;
  /** What is really spoken, where the launch left it open. */
  readonly negotiatedTransport?: 'http' | 'sse' | undefined;
  report?(): ChannelReport;
  onmessage?: ((message: Message) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onfailed?: ((id: MessageId, failure: RequestFailure) => void) | undefined;
  /** One message was over the limit and dropped; the id it answered, where it could be read. */
  onoversized?: ((id: MessageId | undefined) => void) | undefined;
  /** Something came on the stream of this request, be it only a comment that keeps it open. */
  onsign?: ((id: MessageId) => void) | undefined;
}

/** What would run or be reached, as a person would type it: variables and folder included, since both decide what runs. */
export function commandLine(launch: Launch): string {
  if (launch.kind === 'in-process') return 'code of the host program';
  if (launch.kind !== 'stdio') return visible(launch.url);
  const variables = Object.entries(launch.env).map(([name, value]) => `${shellWord(name)}=${shellWord(value)}`);
  const command = [...variables, ...[launch.command, ...launch.args].map(shellWord)].join(' ');
  return launch.cwd === undefined ? command : `${command} (in ${shellWord(launch.cwd)})`;
}

/** Strongest first: who wins when several name the same server or tool. */
export const scopeOrder: readonly Scope[] = ['enterprise', 'host', 'local', 'project', 'user', 'plugin', 'imported'];
