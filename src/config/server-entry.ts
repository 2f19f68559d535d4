// Owns the type of one server as a host or a file writes it, in plain TypeScript, for the host's compiler and editor.
// `schema.ts` defines the keys, their defaults and their meaning; the compiler checks that the two have the same keys.

import type {
  ApprovalMode,
  Exposure,
  HealthPolicy,
  InheritEnv,
  InProcessLaunch,
  Lifecycle,
  LogLevel,
  OAuthSettings,
  ToolSettings,
} from '../model/server.ts';

/** How a lost connection is retried, where none of the five presets fits. */
export interface ReconnectEntry {
  delaysMs?: readonly number[] | undefined;
  initialMs?: number | undefined;
  multiplier?: number | undefined;
  maxMs?: number | undefined;
  maxAttempts?: number | undefined;
  jitter?: number | undefined;
  background?: false | { baseMs?: number | undefined; maxMs?: number | undefined } | undefined;
}

export type HealthEntry = { -readonly [Key in keyof HealthPolicy]?: HealthPolicy[Key] | undefined };

/** Settings of a single tool. */
export type ToolEntry = { -readonly [Key in keyof ToolSettings]?: ToolSettings[Key] | undefined };

export interface CommonEntry {
  enabled?: boolean | undefined;
  title?: string | undefined;
  description?: string | undefined;
  startupTimeoutMs?: number | undefined;
  toolTimeoutMs?: number | undefined;
  toolIdleTimeoutMs?: number | undefined;
  enabledTools?: readonly string[] | undefined;
  disabledTools?: readonly string[] | undefined;
  tools?: Readonly<Record<string, boolean | ToolEntry>> | undefined;
  exposure?: Exposure | undefined;
  alwaysLoad?: boolean | undefined;
  instructions?: boolean | undefined;
  cacheable?: boolean | undefined;
  toolCacheTtlMs?: number | undefined;
  subscriptions?: boolean | undefined;
  logLevel?: LogLevel | undefined;
  maxResultChars?: number | undefined;
  maxResultTokens?: number | undefined;
  maxMessageBytes?: number | undefined;
  lifecycle?: Lifecycle | undefined;
  idleStopMs?: number | undefined;
  required?: boolean | undefined;
  perClient?: boolean | undefined;
  share?: 'workspace' | 'machine' | undefined;
  trustHints?: boolean | undefined;
  approval?: ApprovalMode | undefined;
  elicitation?: 'ask' | 'decline' | undefined;
  parallel?: boolean | undefined;
  reconnect?: 'doubling' | 'quick' | 'steady' | 'patient' | 'none' | ReconnectEntry | undefined;
  health?: HealthPolicy['mode'] | false | HealthEntry | undefined;
  keepAliveMs?: number | undefined;
}

/** One server as a host or a file writes it. */
export interface ServerEntry extends CommonEntry {
  command?: string | undefined;
  args?: readonly string[] | undefined;
  env?: Readonly<Record<string, string>> | undefined;
  cwd?: string | undefined;
  inheritEnv?: InheritEnv | undefined;
  envFile?: string | undefined;
  envAllow?: readonly string[] | undefined;
  url?: string | undefined;
  transport?: 'stdio' | 'http' | 'sse' | 'ws' | 'auto' | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  headersHelper?: string | undefined;
  bearerTokenEnvVar?: string | undefined;
  proxy?: string | undefined;
  caFile?: string | undefined;
  certFile?: string | undefined;
  keyFile?: string | undefined;
  oauth?: false | OAuthEntry | undefined;
}

/** How to log in to a remote server; `scopes` may be one text with spaces. */
export type OAuthEntry = {
  -readonly [Key in keyof Omit<OAuthSettings, 'scopes'>]?: OAuthSettings[Key] | undefined;
} & { scopes?: readonly string[] | string | undefined };

/** A server that runs inside the host. */
export interface InProcessEntry extends CommonEntry, Pick<InProcessLaunch, 'serve'> {}

export type HostServer = ServerEntry | InProcessEntry;
