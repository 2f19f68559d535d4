// Owns one attempt to open a session with a server whose launch is resolved: waits for a slot, starts its log, opens the channel
// and performs the handshake. The handshake itself is `connection/session.ts`.

import { runnerOf } from '../config/runner.ts';
import type { HostEnvironment } from '../config/scopes.ts';
import type { ClientHandlers } from '../connection/client-handlers.ts';
import type { ConnectionEvent } from '../connection/events.ts';
import type { LeaseHandlers } from '../connection/lease-handlers.ts';
import { openLogged } from '../connection/logged-session.ts';
import type { ProtocolCache } from '../connection/protocol-cache.ts';
import { QuestionPace } from '../connection/question-limits.ts';
import { openSession, type Session, type SessionOptions } from '../connection/session.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Emit } from '../kernel/emitter.ts';
import { Slots } from '../kernel/slots.ts';
import { type ClientInfo, identity } from '../model/identity.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { Channel, Launch, ServerDefinition, ServerSettings } from '../model/server.ts';
import type { Redactor } from '../shaping/redact.ts';
import type { ServerLog, ServerLogs } from '../store/server-log.ts';
import { openChannel } from '../transport/open.ts';
import { printable } from '../transport/printable.ts';
import type { RequestLogin } from '../transport/signed-client.ts';
import { definitionHash } from '../trust/fingerprint.ts';

export interface SessionDeps {
  readonly environment: HostEnvironment;
  readonly connectConcurrency: () => Readonly<Record<'stdio' | 'remote', number>>;
  /** The settings in effect now: an edit may come while the server starts. */
  readonly settingsOf: (server: ServerName) => Pick<ServerSettings, 'startupTimeoutMs'> | undefined;
  /** Calls back when a configuration was applied. */
  readonly onSettings?: SessionOptions['onSettings'];
  /** How long a runner such as npx may take to install a server, until its first answer. */
  readonly installTimeoutMs: () => number;
  /** The servers that may be being installed now, with the runner that does it. */
  readonly installs: Map<ServerName, string>;
  /** Aborted when the host ends: an installation then goes on without it. */
  readonly closing: AbortSignal;
  /** Which protocol era and transport each server spoke last time. */
  readonly protocolCache: ProtocolCache;
  /** A log file per server: its stderr and why it ended. Without it, nothing is written. */
  readonly logs?: ServerLogs | undefined;
  /** How the host introduces itself to servers; the default is Plexus. */
  readonly clientInfo?: ClientInfo | undefined;
  readonly redactor: Pick<Redactor, 'text' | 'value' | 'error'>;
  readonly clock: Clock;
  readonly emit: Emit<ConnectionEvent>;
}

interface Target {
  readonly definition: ServerDefinition;
  readonly launch: Launch;
  /** The folder that the server runs in, unless its entry names one. */
  readonly cwd: string;
  readonly handlers: ClientHandlers;
  /** The server is not approved, and so not reached on this machine or in the network around it. */
  readonly isPublicOnly?: boolean;
  /** Signs each request to a remote server. */
  readonly login?: RequestLogin | undefined;
  readonly leases: LeaseHandlers;
}

interface Attempt extends Pick<SessionOptions, 'signal' | 'onAnswer' | 'pace'> {
  readonly log?: ServerLog | undefined;
}

/** Opens one session. When the signal aborts, nothing stays open. */
export type OpenSession = (target: Target, signal: AbortSignal) => Promise<Session>;

export function createSessionOpener(deps: SessionDeps): OpenSession {
  const slots = new Map<'stdio' | 'remote', Slots>();
  const slotsFor = (kind: 'stdio' | 'remote') => {
    const known = slots.get(kind) ?? new Slots(() => deps.connectConcurrency()[kind]);
    slots.set(kind, known);
    return known;
  };
  const paces = new Map<ServerName, QuestionPace>();
  const paceOf = (server: ServerName) => {
    const known = paces.get(server) ?? new QuestionPace(deps.clock);
    paces.set(server, known);
    return known;
  };
  return (target, signal) => {
    const pace = paceOf(target.definition.name);
    if (target.launch.kind === 'in-process') return connect(deps, target, { signal, pace });
    const free = slotsFor(target.launch.kind === 'stdio' ? 'stdio' : 'remote');
    return withSlot(free, deps.clock, signal, (onAnswer) =>
      withLog(deps, target, { signal, onAnswer, pace }, (attempt) => connect(deps, target, attempt)),
    );
  };
}

/** Holds a slot until the server has answered, or for a while: a slow server must not keep others waiting. */
async function withSlot<Value>(
  slots: Slots,
  clock: Clock,
  signal: AbortSignal,
  work: (leave: () => void) => Promise<Value>,
): Promise<Value> {
  const leave = await slots.take(signal);
  const cancel = clock.after(limits.slotMs, leave, 'background');
  try {
    return await work(leave);
  } finally {
    cancel();
    leave();
  }
}

function withLog(
  { logs, redactor, clock }: SessionDeps,
  { definition }: Target,
  attempt: Attempt,
  work: (attempt: Attempt) => Promise<Session>,
): Promise<Session> {
  const log = logs?.open(definition.name, { redact: redactor.text, clean: printable });
  const open = () => work({ ...attempt, log });
  return log ? openLogged({ log, clock, signal: attempt.signal }, open) : open();
}

async function connect(deps: SessionDeps, target: Target, { log, ...attempt }: Attempt): Promise<Session> {
  const { clock, protocolCache, clientInfo = identity } = deps;
  const { definition, launch, handlers, leases } = target;
  const key = definitionHash(definition);
  const cached = launch.kind === 'in-process' ? {} : await protocolCache.recall(key);
  const installer = installerOf(launch, deps.environment.platform);
  const installed = installer === undefined ? () => undefined : noteInstall(deps, definition.name, installer);
  let { negotiatedTransport } = cached;
  try {
    const session = await openSession({
      server: definition.name,
      transport: launch.kind,
      channel: () =>
        channelTo(deps, target, {
          log,
          installer,
          negotiatedTransport,
          onNegotiated: (transport) => (negotiatedTransport = transport),
        }),
      knownEra: cached.era,
      identity: clientInfo,
      handlers,
      leases,
      elicitation: definition.settings.elicitation,
      startupTimeoutMs: () => (deps.settingsOf(definition.name) ?? definition.settings).startupTimeoutMs,
      onSettings: deps.onSettings,
      installTimeoutMs: installer === undefined ? undefined : deps.installTimeoutMs(),
      logLevel: definition.settings.logLevel,
      clock,
      signal: attempt.signal,
      pace: attempt.pace,
      onAnswer: () => {
        installed();
        attempt.onAnswer?.();
      },
    });
    const { era } = session;
    const isNews = cached.era !== era || cached.negotiatedTransport !== negotiatedTransport;
    if (launch.kind !== 'in-process' && isNews)
      protocolCache.remember(key, { era, ...(negotiatedTransport && { negotiatedTransport }) });
    return session;
  } catch (error) {
    if (cached.era !== undefined) protocolCache.forget(key);
    throw deps.redactor.error(error);
  } finally {
    installed();
  }
}

/** The runner that may have to install the server before it starts it. */
function installerOf(launch: Launch, platform: NodeJS.Platform): string | undefined {
  const runner = launch.kind === 'stdio' ? runnerOf([launch.command, ...launch.args], platform) : undefined;
  return runner?.installs ? runner.name : undefined;
}

/** How long a start of the server may take, its installation included; 0 for ever. */
export function startLimitOf(
  { launch, settings: { startupTimeoutMs } }: ServerDefinition,
  { platform, installTimeoutMs }: { readonly platform: NodeJS.Platform; readonly installTimeoutMs: number },
): number {
  const isInstalled = startupTimeoutMs > 0 && installerOf(launch, platform) !== undefined;
  return isInstalled ? Math.max(startupTimeoutMs, installTimeoutMs) : startupTimeoutMs;
}

/** Notes that the server may be being installed, and emits it when that takes a while. Returns how to end the note. */
function noteInstall({ installs, clock, emit }: SessionDeps, server: ServerName, installer: string): () => void {
  installs.set(server, installer);
  const tell = () => emit({ type: 'connection.install-awaited', server, installer });
  const cancel = clock.after(limits.installNoticeMs, tell, 'background');
  return () => {
    cancel();
    installs.delete(server);
  };
}

interface ChannelOptions {
  readonly negotiatedTransport: 'http' | 'sse' | undefined;
  readonly onNegotiated: (transport: 'http' | 'sse') => void;
  readonly log: ServerLog | undefined;
  readonly installer: string | undefined;
}

async function channelTo(
  { environment, clock, emit, redactor, closing }: SessionDeps,
  { definition: { name: server, settings }, launch, cwd, isPublicOnly, login }: Target,
  { negotiatedTransport, onNegotiated, log, installer }: ChannelOptions,
): Promise<Channel> {
  const channel = await openChannel(launch, {
    server,
    env: launch.kind === 'stdio' ? launch.env : {},
    hostEnv: environment.env,
    cwd,
    platform: environment.platform,
    isPublicOnly,
    login,
    maxMessageBytes: settings.maxMessageBytes,
    clock,
    negotiatedTransport,
    onNegotiated,
    onNoise: (line) => emit({ type: 'connection.noise-received', server, line }),
    onStart: (pid) => log?.noteOwn(`started, pid ${pid}`),
    onStderr: (chunk) => log?.take(chunk),
    redact: redactor.text,
    installer: installer === undefined ? undefined : leftBehind(installer, { closing, log }),
  });
  const report = channel.report?.bind(channel);
  if (report) channel.report = () => redactor.value(report());
  return channel;
}

/** An installation that is ended in the middle leaves the runner's cache broken, so it outlives its host: nothing else does. */
function leftBehind(name: string, { closing, log }: { closing: AbortSignal; log: ServerLog | undefined }) {
  const goesOn = () => {
    if (closing.aborted)
      log?.note(`left behind: ${name} goes on installing it, for ${limits.installGoesOnMs / 60_000} min at most`);
    return closing.aborted;
  };
  return { name, goesOn, limitMs: limits.installGoesOnMs };
}
