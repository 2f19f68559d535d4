// Owns the types of a server: its normalized definition, whatever dialect it was written in, its settings and its channel.

import type { Schedule } from '../kernel/backoff.ts';
import { shellWord, visible } from '../kernel/shell-word.ts';
import type { RuntimeError } from './errors.ts';
import type { ServerName } from './names.ts';

/** Where a definition was found, strongest first. A server defined in the workspace does not start until the user approves it. */
export type Scope = 'enterprise' | 'host' | 'local' | 'project' | 'user' | 'plugin' | 'imported';

export interface Provenance {
  readonly scope: Scope;
  /** The definition comes with the repository, so its server does not start until the user approves it. */
  readonly inWorkspace?: true;
  /** The app that the definition was imported from, the plugin that contains it, or the host's settings. */
  readonly provider?: string;
  /** Absent for servers given in code. */
  readonly file?: string;
  /** The path of the entry inside its file, for messages and to find its line. */
  readonly key: readonly (string | number)[];
  readonly line?: number;
}

/** The host's variables that a server process inherits besides those that its entry names. */
export type InheritEnv = 'safe' | 'all' | readonly string[];

export interface StdioLaunch {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** With unresolved placeholders: secrets exist only inside an open transport. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly inheritEnv: InheritEnv;
  /** A file with further variables, read when the server is opened. */
  readonly envFile?: string;
  /** Host variables that the entry may read although its scope may not; honored only once the user approved the entry. */
  readonly envAllow?: readonly string[];
}

/** How a login to a remote server is obtained. Without any of it, everything is found out from the server. */
export interface OAuthSettings {
  /** A person logs in with the browser, which is the default, or a machine by itself. */
  readonly grant?: 'authorization_code' | 'client_credentials' | 'jwt_bearer' | 'enterprise';
  readonly clientId?: string;
  /** A reference such as `${VAR}` until the server is opened, like every secret here. */
  readonly clientSecret?: string;
  /** In PEM, for a client that authenticates with a signed assertion. */
  readonly privateKey?: string;
  readonly assertion?: string;
  readonly idpIssuer?: string;
  readonly idpTokenEndpoint?: string;
  readonly idpClientId?: string;
  readonly idToken?: string;
  readonly scopes?: readonly string[];
  readonly callbackPort?: number;
  readonly redirectUri?: string;
  /** The resource that tokens are requested for: `auto` as the server names it, `off` for none, or a URI. */
  readonly resource?: string;
  readonly clientMetadataUrl?: string;
  readonly metadataUrl?: string;
  /** `assume`: the provider does PKCE with S256 although its metadata does not say so. */
  readonly pkce?: 'required' | 'assume';
  /** The server may name addresses of the network around this machine, although it is a public one. */
  readonly allowPrivateNetwork?: boolean;
  /** Which of several logins: a name, or names by the folders in which they count. */
  readonly account?: string | Readonly<Record<string, string>>;
}

export interface RemoteLaunch {
  readonly kind: 'http' | 'sse' | 'ws' | 'auto';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Values for placeholders in the entry's own url and headers; a remote server has no process to pass them to. */
  readonly env?: Readonly<Record<string, string>>;
  readonly bearerTokenEnvVar?: string;
  /** Replaces the environment's proxy; `off` for none. */
  readonly proxy?: string;
  /** PEM files: the certificate authorities that are trusted for the server, and the client's certificate and key. */
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  /** A command that prints further headers as a JSON object, run when the server is opened. */
  readonly headersHelper?: string;
  readonly envAllow?: readonly string[];
  /** `false`: no stored login is used, and none is offered. */
  readonly oauth?: OAuthSettings | false;
}

/** A server that runs inside the host: it gets the other end of a channel. */
export interface InProcessLaunch {
  readonly kind: 'in-process';
  readonly serve: (channel: Channel) => void | Promise<void>;
  /** In place of `serve`: a channel to where the server runs already. */
  readonly open?: () => Channel;
}

export type Launch = StdioLaunch | RemoteLaunch | InProcessLaunch;

/** Called with the resolved command before it starts; the host may return another command, such as a sandbox around it. */
export type Launcher = (
  launch: Pick<StdioLaunch, 'command' | 'args' | 'env' | 'cwd'> & { readonly server: ServerName },
) => Pick<StdioLaunch, 'command' | 'args'> & Partial<Pick<StdioLaunch, 'env' | 'cwd'>>;

/** When a server is started: at startup, when it is first needed, or only when the user asks. */
export type Lifecycle = 'eager' | 'lazy' | 'manual';

/** How a lost connection is retried: a schedule, and for remote servers slower attempts once the schedule is used up. */
export interface ReconnectPolicy {
  readonly schedule: Schedule;
  readonly background?: { readonly baseMs: number; readonly maxMs: number };
}

/** Whether a quiet server is pinged. Servers of the modern era never are: their protocol has no ping. */
export interface HealthPolicy {
  readonly mode: 'remote' | 'all' | 'off';
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** After so many failed pings in a row the session counts as lost. */
  readonly failures: number;
}

/** How a model reaches a tool: it sees the tool, finds it by searching, or finds it and calls it through `mcp_call`. */
export type Exposure = 'load' | 'defer' | 'use_tool';

/** The protocol's levels, least important first. */
export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

/** When the user is asked before a call that no rule decides; `policy/approval-mode` says what each mode means. */
export type ApprovalMode = 'prompt' | 'writes' | 'auto' | 'approve';

/** An entry's settings for single tools; absent ones are inherited from the server. */
export interface ToolSettings {
  readonly enabled?: boolean;
  readonly alwaysLoad?: boolean;
  readonly exposure?: Exposure;
  readonly toolTimeoutMs?: number;
  readonly toolIdleTimeoutMs?: number;
  readonly maxResultChars?: number;
  readonly maxResultTokens?: number;
  readonly approval?: ApprovalMode;
  /** The tool sends data to the outside, whatever its annotations claim. */
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
  /** By name or pattern; the most specific one applies. */
  readonly tools?: Readonly<Record<string, ToolSettings>>;
  /** Absent: decided by the size of all tools together. */
  readonly exposure?: Exposure;
  /** The model sees the server's tools even while others must be searched for. */
  readonly alwaysLoad: boolean;
  /** The server's instructions are shown to the model. */
  readonly instructions: boolean;
  /** The list of tools may be cached on disk. */
  readonly cacheable: boolean;
  /** How long the cached list is fresh; `undefined`: as for all servers. */
  readonly toolCacheTtlMs?: number;
  /** Subscribes to changes of resources that were read. */
  readonly subscriptions: boolean;
  /** The lowest level of log messages that the server is asked for; `undefined` leaves it to the server. */
  readonly logLevel?: LogLevel;
  readonly maxResultChars: number;
  readonly maxResultTokens: number;
  readonly maxMessageBytes: number;
  readonly lifecycle: Lifecycle;
  /** After so long without a call the server is stopped; its tools stay listed. 0 means never. */
  readonly idleStopMs?: number;
  /** A non-interactive start waits for the server, and fails if it does not become ready. */
  readonly required: boolean;
  /** Every view gets its own connection. */
  readonly perClient: boolean;
  /** `machine`: one process for all workspaces, which runs in none of them and is told no roots. */
  readonly share: 'workspace' | 'machine';
  /** The annotations of its tools (read-only, idempotent) are trusted. */
  readonly trustHints: boolean;
  readonly approval?: ApprovalMode;
  /** Whether the server's questions reach the user. */
  readonly elicitation: 'ask' | 'decline';
  /** Whether several calls may run at once. */
  readonly parallel: boolean;
  readonly reconnect: ReconnectPolicy;
  readonly health: HealthPolicy;
  /** A remote session of the older era is pinged after so long without traffic, to keep it open; 0 means never. */
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

/** A value that a file asks the user for. */
export interface InputRequest {
  readonly id: string;
  readonly type?: string | undefined;
  readonly description?: string | undefined;
  /** Proposed to the user. In the user's own files it also fills the input where there is no answer. */
  readonly default?: string | undefined;
  /** The answer is hidden while it is typed. */
  readonly password: boolean;
  readonly options?: readonly string[] | undefined;
}

export interface ServerDefinition {
  readonly name: ServerName;
  readonly launch: Launch;
  /** The inputs that the entry reads, as its own file declares them: an approval is bound to them too. */
  readonly inputs?: readonly InputRequest[];
  readonly settings: ServerSettings;
  readonly provenance: Provenance;
}

/** Whether the server is reached at an address. */
export const isRemote = ({ launch }: Pick<ServerDefinition, 'launch'>): boolean =>
  launch.kind !== 'stdio' && launch.kind !== 'in-process';

/** `mcp:<server> via <provider>`: how users are told where a server comes from. */
export function labelOf({ name, provenance }: Pick<ServerDefinition, 'name' | 'provenance'>): string {
  return `mcp:${name} via ${provenance.provider ?? provenance.scope}`;
}

export type Message = { readonly [key: string]: unknown };

/** Why a channel is down, or slow to open: what it was doing, and the end of the server's stderr. */
export interface ChannelReport {
  readonly reason: string;
  readonly stderr?: string;
  /** A runner such as npx has not started the server yet. */
  readonly isInstalling?: true;
  /** The server has no local process: messages speak of its address. */
  readonly isRemote?: true;
}

export type MessageId = string | number;

export interface SendOptions {
  /** HTTP headers for this one message; channels without headers ignore them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The message may be sent again where it is unclear whether it arrived: handling it twice does no harm. */
  readonly repeatable?: boolean;
  /** Called each time the message is sent once more, by the transport or because it was refused. */
  readonly onRepeat?: (() => void) | undefined;
}

/** A request that will get no response, although the channel is up. */
export interface RequestFailure {
  /** Whether the server may have received the request and acted on it. */
  readonly sent: boolean;
  readonly cause: RuntimeError;
  /** The HTTP status of the failed response. */
  readonly status?: number;
}

/** The promise of every send that was handed on at once: its failure need not be listened for, which costs more than the send. */
export const HANDED_ON = Promise.resolve();

/** One end of a connection that carries JSON-RPC messages. */
export interface Channel {
  start(): Promise<void>;
  /** Resolves when the message was handed to the transport; rejects when it certainly was not. */
  send(message: Message, options?: SendOptions): Promise<void>;
  /** The caller no longer waits for the response to this request: closes what is still open for it. */
  abandon?(id: MessageId): void;
  /** Each request has its own stream: closing the stream cancels the request on a server of the modern era. */
  readonly hasRequestStreams?: boolean;
  /** Resolves only when no process and no socket of the server is left. */
  close(): Promise<void>;
  readonly pid?: number | undefined;
  /** The transport that was negotiated, where the launch left it open. */
  readonly negotiatedTransport?: 'http' | 'sse' | undefined;
  report?(): ChannelReport;
  /** `request`: on the stream of which request the message came, where each has its own. */
  onmessage?: ((message: Message, request?: MessageId) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onfailed?: ((id: MessageId, failure: RequestFailure) => void) | undefined;
  /** A message over the size limit was dropped; `id` is the request it answered, where that could be read. */
  onoversized?: ((id: MessageId | undefined) => void) | undefined;
  /** Data arrived on the stream of this request, be it only a comment that keeps it open. */
  onsign?: ((id: MessageId) => void) | undefined;
}

/** The command or address as a user would type it, with variables and folder, since both decide what runs. */
export function commandLine(launch: Launch): string {
  if (launch.kind === 'in-process') return 'code of the host program';
  if (launch.kind !== 'stdio') return visible(launch.url);
  const variables = Object.entries(launch.env).map(([name, value]) => `${shellWord(name)}=${shellWord(value)}`);
  const command = [...variables, ...[launch.command, ...launch.args].map(shellWord)].join(' ');
  return launch.cwd === undefined ? command : `${command} (in ${shellWord(launch.cwd)})`;
}

/** Strongest first: which scope wins when several define the same server or rule. */
export const scopeOrder: readonly Scope[] = ['enterprise', 'host', 'local', 'project', 'user', 'plugin', 'imported'];
