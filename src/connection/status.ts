// Owns the status of a server as hosts see it: a simple word and a fine word, both derived from the connection's state and from
// whether the session has listed its tools, and for a server that is not ready the reason.

import { type FailureCode, RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import { type Launch, labelOf, type Provenance, type ServerDefinition } from '../model/server.ts';
import type { Freshness } from '../model/tool.ts';
import type { Era, ServerInfo } from './session.ts';
import type { ConnectionState } from './state.ts';
import { type ConnectionFacts, disabledReason, failureReason, reasonOf, type Sentence } from './status-reason.ts';

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

/** Both words for one state. Only a server that is up and has listed its tools needs no reason. */
export type ServerStatus =
  | (StatusFields & { readonly status: 'connected'; readonly state: 'connected'; readonly reason?: undefined })
  | (StatusFields &
      NotReadyWords & {
        /** The cause, and what to do about it or when Plexus tries again. */
        readonly reason: Sentence;
      });

export type NotReadyState = Exclude<FineState, 'connected'>;

interface NotReadyWords {
  readonly status: Exclude<SimpleStatus, 'connected'>;
  readonly state: NotReadyState;
}

export interface StatusFields {
  /** The name in the configuration. */
  readonly name: ServerName;
  /** How the server is reached; `unknown` where its entry cannot be read. */
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
  /** The scope of the file that defines the server. */
  readonly scope: Provenance['scope'];
  /** `mcp:<server> via <provider>`: where the server comes from, in the same words everywhere. */
  readonly label: string;
  /** The program whose file it is, or the plugin. */
  readonly provider?: string;
  /** The file that defines it. */
  readonly source?: string;
  /** The title of the entry, for people. */
  readonly title?: string;
  /** The description of the entry, for people. */
  readonly description?: string;
  /**
   * A remote server of the workspace that nobody approved. `listed-only`: it is connected with nothing of the user's, and no turn
   * holds its tools. `over-cap`: it is not connected, because there are too many of them.
   */
  readonly unapproved?: 'listed-only' | 'over-cap';
  /** The login that a remote server uses. */
  readonly login?: LoginStatus;
  /** The runner, such as npx, that is still installing the server. */
  readonly installer?: string;
  /** Written as JSON it is `{ code, message, remedy }`. */
  readonly error?: RuntimeError;
  /** Problems that do not stop the server: tools left out, a list cut off, a variable that is not set. */
  readonly warnings?: readonly string[];
  /** The stage at which the error happened. */
  readonly stage?: ConnectionStage;
  /** The latest failure of the connection, also after a successful reconnect. */
  readonly lastError?: { readonly code: FailureCode; readonly message: string; readonly at: number };
  /** How often it was started anew after it had been up; absent if it never was. */
  readonly restarts?: number;
  /** When the present state began, in milliseconds since 1970. */
  readonly since?: number;
  readonly connectedSinceMs?: number;
  readonly protocol?: string;
  readonly era?: Era;
  /** The name and version that the server gave itself in the handshake of the open session. */
  readonly serverInfo?: ServerInfo;
  readonly pid?: number;
  /** The end of what the open session's process wrote on stderr. */
  readonly stderrTail?: string;
  /** The circuit breaker of the server's calls; absent while it is closed and has counted no failures. */
  readonly breaker?: BreakerStatus;
  /** The reconnect schedule is used up. */
  readonly gaveUp?: true;
  readonly nextRetryInMs?: number;
}

export interface LoginStatus {
  /** Which of several logins counts in this folder; absent for the one without a name. */
  readonly account?: string;
  /** The authorization server; absent while no stored login is in use. */
  readonly issuer?: string;
  /** When its token ends, in milliseconds since 1970; it is refreshed before that. */
  readonly expiresAt?: number;
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
  readonly connection: ConnectionFacts | undefined;
  /** Why the server is denied, if a policy and not its own entry keeps it from being used. */
  readonly refusal?: string | undefined;
  readonly breaker?: BreakerStatus | undefined;
  /** The runner, such as npx, that has not started the server yet. */
  readonly installer?: string | undefined;
  readonly unapproved?: ServerStatus['unapproved'];
  readonly login?: LoginStatus | undefined;
  /** The start waits for a person: for an approval, or for the answer to an input. */
  readonly isPersonAsked?: boolean | undefined;
  readonly listing: ListingStatus;
  /** Takes secrets out of what a server wrote. */
  readonly redact: (text: string) => string;
  readonly now: number;
  readonly extent: StatusExtent;
}

/** `brief` leaves out what the open session tells of itself, such as its last output: that has to be searched for secrets. */
export type StatusExtent = 'whole' | 'brief';

export interface ListingStatus {
  /** Whether the first list of the open session has come, or has failed. */
  readonly isListed: boolean;
  readonly toolCount: number;
  readonly hiddenCount: number;
  readonly freshness?: Freshness | undefined;
  readonly listedAt?: number | undefined;
  readonly error?: RuntimeError;
  readonly problems: readonly string[];
}

export function statusOf(deps: StatusDeps): ServerStatus {
  const { definition, connection, refusal, listing } = deps;
  const { name } = definition;
  const state = connection?.state;
  const refused =
    refusal === undefined ? undefined : new RuntimeError('SERVER_DENIED', { server: name, because: refusal });
  const error = (state && 'cause' in state ? state.cause : undefined) ?? listing.error ?? refused;
  const words = state === undefined ? DISABLED : wordsOf(state, listing.isListed);
  const fields = { ...statusFields(deps, words.status === 'connected'), ...(error && errorFields(error, deps)) };
  if (words.status === 'connected') return { ...fields, ...words };
  if (connection === undefined)
    return { ...fields, ...words, reason: refused ? failureReason(refused) : disabledReason };
  return { ...fields, ...words, reason: reasonOf({ ...deps, connection }) };
}

function statusFields(deps: StatusDeps, isConnected: boolean): StatusFields {
  const { definition, connection, listing, installer } = deps;
  const { name, launch, provenance, settings } = definition;
  return {
    name,
    transport: connection?.session?.transport ?? launch.kind,
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
    ...(deps.unapproved && { unapproved: deps.unapproved }),
    ...(deps.login && { login: deps.login }),
    ...(connection?.state.kind === 'connecting' && installer !== undefined && { installer }),
    ...(listing.problems.length > 0 && { warnings: listing.problems }),
    ...(connection && deps.extent === 'whole' && liveness(connection, deps, isConnected)),
  };
}

function errorFields(error: RuntimeError, { listing, connection }: StatusDeps): Partial<StatusFields> {
  return { error, stage: stageOf(error, { isListing: error === listing.error, connection }) };
}

function liveness(
  connection: ConnectionFacts,
  { breaker, redact, now }: StatusDeps,
  isConnected: boolean,
): Partial<StatusFields> {
  const { state, session, since, lastFailure, restarts } = connection;
  const { stderr: stderrTail } = session?.report() ?? {};
  return {
    since,
    ...(restarts > 0 && { restarts }),
    ...(lastFailure && {
      lastError: { code: lastFailure.cause.code, message: lastFailure.cause.message, at: lastFailure.at },
    }),
    ...(state.kind === 'ready' && isConnected && { connectedSinceMs: now - state.since }),
    ...(session && { protocol: session.protocolVersion, era: session.era }),
    ...(session?.serverInfo && { serverInfo: session.serverInfo }),
    ...(session?.pid !== undefined && { pid: session.pid }),
    ...(stderrTail && { stderrTail: redact(stderrTail) }),
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
  LOGINS_UNUSABLE: 'login',
  AUTH_REQUIRED: 'login',
  AUTH_FAILED: 'login',
  LOGIN_FAILED: 'login',
  LOGIN_UNAVAILABLE: 'login',
  SPAWN_FAILED: 'start',
};

function stageOf(
  { code }: RuntimeError,
  { isListing, connection }: { isListing: boolean; connection: ConnectionFacts | undefined },
): ConnectionStage {
  if (isListing) return 'list';
  return connectionStages[code] ?? (connection?.lastFailure?.wasUp ? 'running' : 'handshake');
}

const CONNECTED = { status: 'connected', state: 'connected' } as const;
const DISABLED: NotReadyWords = { status: 'disconnected', state: 'disabled' };

/** A session counts once it has listed its tools: until then it is on its way, for `status()` and for `ready()`. */
function wordsOf(state: ConnectionState, isListed: boolean): typeof CONNECTED | NotReadyWords {
  switch (state.kind) {
    case 'ready':
      return isListed ? CONNECTED : underWay(state.attempt);
    case 'connecting':
      return underWay(state.attempt);
    case 'waiting':
      return { status: 'connecting', state: 'reconnecting' };
    case 'blocked':
      return blockedBy(state.cause);
    case 'failed':
      return { status: 'failed', state: 'failed' };
    case 'idle':
      return { status: 'disconnected', state: 'idle' };
    case 'closed':
      return { status: 'disconnected', state: 'stopped' };
  }
}

const underWay = (attempt: number): NotReadyWords => ({
  status: 'connecting',
  state: attempt === 1 ? 'connecting' : 'reconnecting',
});

/** A person who approves or logs in is all that is missing; any other block is a failure. */
function blockedBy({ code }: RuntimeError): NotReadyWords {
  if (code === 'SERVER_UNTRUSTED') return { status: 'disconnected', state: 'needs-approval' };
  const isLogin = code === 'AUTH_REQUIRED' || code === 'AUTH_FAILED' || code === 'LOGIN_FAILED';
  return isLogin ? { status: 'disconnected', state: 'needs-auth' } : { status: 'failed', state: 'blocked' };
}
