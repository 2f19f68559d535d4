// Owns opening one server, step by step: approve it, fill in its placeholders, then open a session or share one that is open.
// Each step is a file of its own; this one puts them in order.

import type { HostEnvironment } from '../config/scopes.ts';
import { type ClientHandlers, permittedHandlers } from '../connection/client-handlers.ts';
import { connectionKey } from '../connection/connection-key.ts';
import type { SandboxNotifier } from '../connection/sandbox-state.ts';
import type { Session } from '../connection/session.ts';
import { type LeaseRequest, sessionPool } from '../connection/session-pool.ts';
import { Cancellation } from '../kernel/cancellation.ts';
import { isFailure, isRefusedLogin, RuntimeError } from '../model/errors.ts';
import type { ClientInfo } from '../model/identity.ts';
import type { ServerName } from '../model/names.ts';
import { isRemote, type Launch, type ServerDefinition } from '../model/server.ts';
import { definitionHash } from '../trust/fingerprint.ts';
import { type ApprovalChange, type GrantedVariables, lacksApproval, type ServerApprovals } from './approve-server.ts';
import { Credentials } from './credentials.ts';
import type { OpenSession } from './open-session.ts';
import type { ServerResolver } from './resolve-server.ts';
import type { ServerLogins } from './server-logins.ts';

export interface OpenerDeps {
  readonly environment: HostEnvironment;
  readonly approvals: ServerApprovals;
  readonly resolver: ServerResolver;
  readonly openSession: OpenSession;
  readonly logins: Pick<ServerLogins, 'signerFor'>;
  readonly clientInfo?: ClientInfo | undefined;
  readonly handlers: ClientHandlers;
  readonly sandbox: Pick<SandboxNotifier, 'state' | 'exclude'>;
  /** Tells this runtime from others in the process, for servers that are not shared. */
  readonly runtimeId: string;
  /** A session with a remote server is shared with other folders, unless the server asks for roots. */
  readonly sharesRemote: boolean;
  readonly onError: (error: unknown) => void;
}

/** A view with private connections: its id and its client handlers. */
export interface PrivateClient {
  readonly id: string;
  readonly handlers: ClientHandlers;
}

export interface ServerOpener {
  /** Opens one session, or shares one that is open. When the signal aborts, nothing stays open. */
  open(definition: ServerDefinition, signal: AbortSignal, client?: PrivateClient): Promise<Session>;
  /** How the approval has changed since the session was opened. One that cannot be read any more counts as revoked. */
  approvalChange(definition: ServerDefinition, session: Session): Promise<ApprovalChange>;
  /** Whether the server would be opened now without asking anybody. */
  mayOpen(definition: ServerDefinition): Promise<boolean>;
  /** After a 401 for this session: whether its commands now print other values, with which the next opening begins. */
  renewCredentials(definition: ServerDefinition, session: Session, signal: AbortSignal): Promise<boolean>;
  /** The next opening of the server, or of all servers, shares no session that is open now and runs its commands again. */
  renew(server?: ServerName): void;
}

export function createServerOpener(deps: OpenerDeps): ServerOpener {
  const { resolver, onError } = deps;
  const keys = new Map<ServerName, readonly string[]>();
  const launches = new WeakMap<Session, Launch>();
  const grantsOf = new WeakMap<Session, { readonly grants: GrantedVariables }>();
  /** Launches with new credentials, for the next opening of their servers. */
  const renewed = new Map<ServerDefinition, Launch>();
  const resolve = async (definition: ServerDefinition, signal: AbortSignal) =>
    resolver.resolve(definition, await deps.approvals.require(definition, signal), signal);
  const credentials = new Credentials({
    resolve,
    forget: ({ name }) => resolver.forgetOutputs(name),
    onError,
  });
  /** An approval that cannot be read is none; it must not keep the rest of a configuration from being applied either. */
  const known = <Verdict>(judged: Promise<Verdict>, otherwise: Verdict) =>
    judged.catch((error: unknown) => {
      onError(error);
      return otherwise;
    });
  const takeRenewed = (definition: ServerDefinition) => {
    const launch = renewed.get(definition);
    renewed.delete(definition);
    return launch;
  };

  const lease = async (definition: ServerDefinition, launch: Launch, { signal, client, grants }: Opening) => {
    const { elicitation, perClient, share } = definition.settings;
    const isUnapproved = lacksApproval(definition, grants);
    const permitted = isUnapproved ? NOTHING : permittedHandlers((client ?? deps).handlers, elicitation);
    // A process of all workspaces belongs to none: it runs in the home folder, and there is no root to tell it.
    const handlers = share === 'machine' ? withoutRoots(permitted) : permitted;
    const cwd = share === 'machine' ? deps.environment.home : deps.environment.cwd;
    const clientId = client?.id ?? (perClient ? deps.runtimeId : undefined);
    const signer = await deps.logins.signerFor(definition, launch, grants);
    const shown = { launch, cwd, handlers, clientId, isUnapproved, login: signer?.id };
    const keyInFolder = keyOf(deps, definition, shown);
    const isOfAllFolders = deps.sharesRemote && isRemote(definition) && clientId === undefined && share !== 'machine';
    const keyOfAll = isOfAllFolders ? keyOf(deps, definition, { ...shown, cwd: undefined }) : undefined;
    if (client === undefined) keys.set(definition.name, keyOfAll ? [keyOfAll, keyInFolder] : [keyInFolder]);
    const open: LeaseRequest['open'] = (until, leases) =>
      deps.openSession(
        { definition, launch, cwd, handlers, leases, isPublicOnly: isUnapproved, login: signer?.login },
        until,
      );
    const key = keyOfAll === undefined ? { key: keyInFolder } : { key: keyOfAll, keyInFolder };
    const session = await sessionPool.lease({ ...key, open, handlers, signal });
    launches.set(session, launch);
    grantsOf.set(session, { grants });
    if (isUnapproved) deps.sandbox.exclude(session);
    return session;
  };

  const openGranted = async (definition: ServerDefinition, opening: Opening) => {
    const { signal, grants } = opening;
    const launch =
      takeRenewed(definition) ?? (await untilAborted(resolver.resolve(definition, grants, signal), signal));
    try {
      return await lease(definition, launch, opening);
    } catch (error) {
      if (!isRefusedLogin(error)) throw error;
      const next = await untilAborted(credentials.renew(definition, launch, signal), signal);
      if (next === undefined) throw withoutLogin(launch, error);
      return lease(definition, next, opening);
    }
  };

  return {
    async open(definition, signal, client) {
      const grants = await deps.approvals.require(definition, signal);
      try {
        return await openGranted(definition, { signal, client, grants });
      } catch (error) {
        if (!lacksApproval(definition, grants) || !isUntrusted(error)) throw error;
        const answered = await deps.approvals.require(definition, signal, { isLocal: true });
        return openGranted(definition, { signal, client, grants: answered });
      }
    },
    approvalChange: async (definition, session) => {
      const opened = grantsOf.get(session);
      return opened ? known(deps.approvals.changeSince(definition, opened.grants), 'revoked') : 'revoked';
    },
    mayOpen: (definition) => known(deps.approvals.isApproved(definition), false),
    async renewCredentials(definition, session, signal) {
      const refused = launches.get(session);
      const launch = refused && (await credentials.renew(definition, refused, signal));
      if (launch === undefined) return false;
      renewed.set(definition, launch);
      return true;
    },
    renew(server) {
      resolver.forgetOutputs(server);
      for (const definition of renewed.keys())
        if (server === undefined || definition.name === server) renewed.delete(definition);
      for (const [name, known] of keys)
        if (server === undefined || name === server) for (const key of known) sessionPool.forget(key);
    },
  };
}

interface Opening {
  readonly signal: AbortSignal;
  readonly client: PrivateClient | undefined;
  readonly grants: GrantedVariables;
}

/** A server that nobody approved is told of no capability, so it has nothing to ask for. */
const NOTHING: ClientHandlers = {};

/** The address turned out to lead to this machine or to the network around it. */
const isUntrusted = (error: unknown) => error instanceof RuntimeError && error.code === 'SERVER_UNTRUSTED';

/** A person who has switched logins off for the server is not told to log in. */
function withoutLogin(launch: Launch, error: RuntimeError): RuntimeError {
  const isLoginOff = launch.kind !== 'stdio' && launch.kind !== 'in-process' && launch.oauth === false;
  if (!isLoginOff || !isFailure(error, 'AUTH_REQUIRED')) return error;
  return new RuntimeError('AUTH_REQUIRED', { ...error.data, isLoginOff: true }, { cause: error });
}

/** Stops waiting at once; commands and questions that still run are bounded by their own limits. */
async function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const cancellation = new Cancellation();
  const unsubscribe = cancellation.follow(signal);
  return cancellation.race(work).finally(unsubscribe);
}

function withoutRoots({ roots: _, ...others }: ClientHandlers): ClientHandlers {
  return others;
}

interface Shown {
  readonly launch: Launch;
  /** The folder that the server runs in, unless its entry names one; absent where all folders share its session. */
  readonly cwd: string | undefined;
  readonly handlers: ClientHandlers;
  readonly clientId: string | undefined;
  readonly isUnapproved: boolean;
  readonly login: string | undefined;
}

/** Everything a server can see of its client: only openings with equal keys share a session. */
function keyOf(
  { environment: { env }, clientInfo, sandbox }: OpenerDeps,
  definition: ServerDefinition,
  { launch, cwd, handlers, clientId: client, isUnapproved, login }: Shown,
): string {
  const { name: server, settings } = definition;
  const { maxMessageBytes, logLevel, elicitation } = settings;
  return connectionKey({
    server,
    definition: cwd === undefined ? definitionHash(definition) : undefined,
    launch,
    cwd,
    env,
    maxMessageBytes,
    logLevel,
    elicitation,
    handlers,
    clientInfo,
    sandbox: isUnapproved ? undefined : sandbox.state,
    isUnapproved,
    login,
    client,
  });
}
