// Owns the words for how a server is doing: the fine one and the simple one, both derived from the same state.

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
  /** What the model may see; filters of its entry may hide some of what it offers. */
  readonly toolCount: number;
  /** All that it offers, where that is more. */
  readonly toolsOffered?: number;
  /** When its tools were listed, in milliseconds since 1970, and whether that is still from the open connection. */
  readonly listedAt?: number;
  readonly freshness?: Freshness;
  /** When it is started, where that is not at once. */
  readonly lifecycle?: 'lazy' | 'manual';
  readonly scope: Provenance['scope'];
  /** `mcp:<server> via <provider>`: where it comes from, the same words everywhere. */
  readonly label: string;
  readonly provider?: string;
  readonly source?: string;
  readonly title?: string;
  readonly description?: string;
  /** Written as JSON it is `{ code, message, remedy }`. */
  readonly error?: RuntimeError;
  /** What is odd but harmless: tools left out, a list cut off, a variable it goes without. */
  readonly warnings?: readonly string[];
  /** Where on the way the error happened. */
  readonly stage?: Stage;
  /** The latest failure of its connection, also when it has been overcome. */
  readonly lastError?: { readonly code: FailureCode; readonly message: string; readonly at: number };
  /** In this state since, in milliseconds since 1970. */
  readonly since?: number;
  readonly connectedSinceMs?: number;
  readonly protocol?: string;
  readonly era?: Era;
  readonly pid?: number;
  /** Whether calls are let through; absent while nothing is on record against it. */
  readonly breaker?: BreakerStatus;
  /** No attempt of the schedule is left. */
  readonly gaveUp?: true;
  readonly nextRetryInMs?: number;
}

/** The stations of a connection, in the order in which it passes them. */
export type Stage = 'config' | 'trust' | 'login' | 'start' | 'handshake' | 'list' | 'running';

export interface BreakerStatus {
  readonly state: 'counting' | 'open' | 'half-open';
  readonly failures?: number;
  readonly retryInMs?: number;
}

export interface StatusDeps {
  readonly definition: ServerDefinition;
  /** Absent for a server that is not in use. */
  readonly connection: Connection | undefined;
  /** What keeps it out of use, where that is not its own entry. */
  readonly refusal?: string | undefined;
  readonly breaker?: BreakerStatus | undefined;
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

const stages: Partial<Record<FailureCode, Stage>> = {
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
): Stage {
  if (isListing) return 'list';
  return stages[code] ?? (connection?.lastFailure?.wasUp ? 'running' : 'handshake');
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
