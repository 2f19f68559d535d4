// Owns the status of a server as hosts see it: a simple word and a fine word, both derived from the connection's state.

import { type FailureCode, RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import { type Launch, labelOf, type Provenance, type ServerDefinition } from '../model/server.ts';
import type { Freshness } from '../model/tool.ts';
import type { Connection } from './connection.ts';
import type { Era } from './session.ts';
import type { ConnectionState } from './state.ts';

export type SimpleStatus = 'connected' | 'connecting' | 'failed' | 'disconnected';

export type FineState =
  | 'invalid'
  | 'disabled'
  | 'blocked'
  | 'needs-approval'
  | 'needs-auth'
  | 'idle'
  | 'connecting'
  | 'connected'
  | 'reconnecting'
  | 'failed'
  | 'stopped';

export interface ServerStatus {
  readonly name: ServerName;
  readonly status: SimpleStatus;
  readonly state: FineState;
  readonly transport: Launch['kind'] | 'unknown';
  /** Tools that the model may see; filters of the entry may hide others. */
  readonly toolCount: number;
  /** All tools that the server offers, if the entry hides some. */
  readonly toolsOffered?: number;
  /** When the tools were listed, in milliseconds since 1970. */
  readonly listedAt?: number;
  /** Whether the list comes from the open connection. */
  readonly freshness?: Freshness;
  /** When the server is started, if not at once. */
  readonly lifecycle?: 'lazy' | 'manual';
  readonly scope: Provenance['scope'];
  /** `mcp:<server> via <provider>`: where the server comes from, in the same words everywhere. */
  readonly label: string;
  readonly provider?: string;
  readonly source?: string;
  readonly title?: string;
  readonly description?: string;
  /** Why a server is not up yet, where no error says it. */
  readonly reason?: string;
  /** Written as JSON it is `{ code, message, remedy }`. */
  readonly error?: RuntimeError;
  /** Problems that do not stop the server: tools left out, a list cut off, a variable that is not set. */
  readonly warnings?: readonly string[];
  /** The stage at which the error happened. */
  readonly stage?: ConnectionStage;
  /** The latest failure of the connection, also after a successful reconnect. */
  readonly lastError?: { readonly code: FailureCode; readonly message: string; readonly at: number };
  /** When the present state began, in milliseconds since 1970. */
  readonly since?: number;
  readonly connectedSinceMs?: number;
  readonly protocol?: string;
  readonly era?: Era;
  readonly pid?: number;
  /** The circuit breaker of the server's calls; absent while it is closed and has counted no failures. */
  readonly breaker?: BreakerStatus;
  /** The reconnect schedule is used up. */
  readonly gaveUp?: true;
  readonly nextRetryInMs?: number;
}

/** The stages of a connection, in order. */
export type ConnectionStage = 'config' | 'trust' | 'login' | 'start' | 'handshake' | 'list' | 'running';

export interface BreakerStatus {
  /** `counting`: closed, with `failures` in a row so far. `half-open`: one call is let through as a test. */
  readonly state: 'counting' | 'open' | 'half-open';
  readonly failures?: number;
  readonly retryInMs?: number;
}

export interface StatusDeps {
  readonly definition: ServerDefinition;
  /** Absent for a disabled or denied server. */
  readonly connection: Connection | undefined;
  /** Why the server is denied, if a policy and not its own entry keeps it from being used. */
  readonly refusal?: string | undefined;
  readonly breaker?: BreakerStatus | undefined;
  /** The runner, such as npx, that has not started the server yet. */
  readonly installer?: string | undefined;
  readonly listing: ListingStatus;
  readonly now: number;
}

export interface ListingStatus {
  readonly toolCount: number;
  readonly hiddenCount: number;
  readonly freshness?: Freshness | undefined;
  readonly listedAt?: number | undefined;
  readonly error?: RuntimeError;
  readonly problems: readonly string[];
}

export function statusOf(deps: StatusDeps): ServerStatus {
  const { definition, connection, refusal, listing } = deps;
  const { name, launch, provenance, settings } = definition;
  const state = connection?.state;
  const session = connection?.session;
  const refused =
    refusal === undefined ? undefined : new RuntimeError('SERVER_DENIED', { server: name, because: refusal });
  const error = (state && 'cause' in state ? state.cause : undefined) ?? listing.error ?? refused;
  return {
    name,
    status: state ? simple(state) : 'disconnected',
    state: state ? fine(state) : 'disabled',
    transport: session?.transport ?? launch.kind,
    toolCount: listing.toolCount,
    ...(listing.hiddenCount > 0 && { toolsOffered: listing.toolCount + listing.hiddenCount }),
    ...(listing.freshness && { freshness: listing.freshness }),
    ...(listing.listedAt !== undefined && { listedAt: listing.listedAt }),
    scope: provenance.scope,
    label: labelOf(definition),
    ...(settings.lifecycle !== 'eager' && { lifecycle: settings.lifecycle }),
    ...(provenance.provider && { provider: provenance.provider }),
    ...(provenance.file && { source: provenance.file }),
    ...(settings.title !== undefined && { title: settings.title }),
    ...(settings.description !== undefined && { description: settings.description }),
    ...(state?.kind === 'connecting' &&
      deps.installer !== undefined && { reason: `${deps.installer} is still installing it` }),
    ...(error && { error }),
    ...(listing.problems.length > 0 && { warnings: listing.problems }),
    ...(error && { stage: stageOf(error, { isListing: error === listing.error, connection }) }),
    ...(connection && liveness(connection, deps)),
  };
}

function liveness(connection: Connection, { breaker, now }: StatusDeps): Partial<ServerStatus> {
  const { state, session, since, lastFailure } = connection;
  return {
    since,
    ...(lastFailure && {
      lastError: { code: lastFailure.cause.code, message: lastFailure.cause.message, at: lastFailure.at },
    }),
    ...(state.kind === 'ready' && { connectedSinceMs: now - state.since }),
    ...(session && { protocol: session.protocolVersion, era: session.era }),
    ...(session?.pid !== undefined && { pid: session.pid }),
    ...(breaker && { breaker }),
    ...(state.kind === 'failed' && { gaveUp: true }),
    ...('retryAt' in state && { nextRetryInMs: Math.max(0, state.retryAt - now) }),
  };
}

const connectionStages: Partial<Record<FailureCode, ConnectionStage>> = {
  CONFIG_INVALID: 'config',
  ENV_MISSING: 'config',
  INPUT_MISSING: 'config',
  SERVER_DENIED: 'config',
  SERVER_UNTRUSTED: 'trust',
  AUTH_REQUIRED: 'login',
  AUTH_FAILED: 'login',
  SPAWN_FAILED: 'start',
};

function stageOf(
  { code }: RuntimeError,
  { isListing, connection }: { isListing: boolean; connection: Connection | undefined },
): ConnectionStage {
  if (isListing) return 'list';
  return connectionStages[code] ?? (connection?.lastFailure?.wasUp ? 'running' : 'handshake');
}

function simple(state: ConnectionState): SimpleStatus {
  switch (state.kind) {
    case 'ready':
      return 'connected';
    case 'connecting':
    case 'waiting':
      return 'connecting';
    case 'failed':
      return 'failed';
    case 'blocked':
      return fine(state) === 'blocked' ? 'failed' : 'disconnected';
    case 'idle':
    case 'closed':
      return 'disconnected';
  }
}

function fine(state: ConnectionState): FineState {
  switch (state.kind) {
    case 'ready':
      return 'connected';
    case 'connecting':
      return state.attempt === 1 ? 'connecting' : 'reconnecting';
    case 'waiting':
      return 'reconnecting';
    case 'blocked':
      return blockedBy(state.cause);
    case 'closed':
      return 'stopped';
    case 'idle':
    case 'failed':
      return state.kind;
  }
}

function blockedBy({ code }: RuntimeError): FineState {
  if (code === 'SERVER_UNTRUSTED') return 'needs-approval';
  return code === 'AUTH_REQUIRED' || code === 'AUTH_FAILED' ? 'needs-auth' : 'blocked';
}
