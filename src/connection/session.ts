// Owns one open session: a wire over one channel and what the handshake agreed on, opened and closed as one.
// `Session` is what other folders use. Failures of the handshake get their error code here.

import type { Clock } from '../kernel/clock.ts';
import { createDeferred } from '../kernel/deferred.ts';
import type { Unsubscribe } from '../kernel/emitter.ts';
import type { JsonObject } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import { type ClientInfo, newestProtocol } from '../model/identity.ts';
import type { ServerName } from '../model/names.ts';
import type { Channel, ChannelReport, Launch, LogLevel } from '../model/server.ts';
import type { ElicitationPolicy } from './client-handlers.ts';
import { HandshakeLost, initializeLegacy, negotiate } from './handshake.ts';
import type { Agreement, Era, ServerInfo } from './handshake-answers.ts';
import type { LeaseHandlers } from './lease-handlers.ts';
import { answerPingOnly, answerWith } from './legacy-requests.ts';
import { startLimit } from './live-limit.ts';
import type { QuestionPace } from './question-limits.ts';
import { type ClientHandlers, capabilitiesOf, ServerRequestRouter } from './requests.ts';
import { type CallOptions, performCall } from './tool-call.ts';
import { type NotificationListener, type RequestOptions, type RequestOutcome, Wire } from './wire.ts';

export type { Era, ServerInfo } from './handshake-answers.ts';
export type { CallOptions } from './tool-call.ts';
export type { NotificationListener, Progress, RequestOutcome } from './wire.ts';

export interface Session {
  /** The same for all leases of a session. */
  readonly origin: object;
  readonly era: Era;
  /** The transport in use; for a launch of kind `auto`, the negotiated one. */
  readonly transport: Exclude<Launch['kind'], 'auto'>;
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  readonly serverInfo: ServerInfo | undefined;
  readonly pid: number | undefined;
  request(method: string, params?: JsonObject, options?: RequestOptions, owner?: object): Promise<RequestOutcome>;
  /** Calls a tool, including the rounds in which the server asks for input. */
  callTool(tool: string, args: JsonObject, options: CallOptions, owner?: object): Promise<RequestOutcome>;
  /** Any other request during which the server may ask for input, such as `prompts/get`. */
  requestWithInput(method: string, params: JsonObject, options: CallOptions, owner?: object): Promise<RequestOutcome>;
  /** Cancels the open requests of this owner; requests of other owners go on. */
  cancelRequestsOf(owner: object): void;
  notify(method: string, params: JsonObject): void;
  /** Passes the server's notifications to the listener. Returns how to stop. */
  onNotification(listener: NotificationListener): () => void;
  /** Whether any message arrived since the last call of this function. */
  takeActivity(): boolean;
  usage(): Usage;
  /** How many calls are in flight: those of this lease, where several share the session. */
  callsInFlight(): number;
  /** Resolves when none of them is in flight any more. */
  whenQuiet(): Promise<void>;
  /** Keeps the session from being stopped as idle while no calls are made. Returns how to release it. */
  keep(): () => void;
  /** Whether other leases use this session as well. */
  isShared(): boolean;
  /** Calls back when the server asks for roots while leases of several folders share the session. Returns how to stop. */
  onParted(listener: () => void): Unsubscribe;
  /** Called by the health check: ends the session as lost. */
  markLost(reason: string): void;
  /** Resolves with the reason when the session ends. */
  readonly ended: Promise<RuntimeError>;
  report(): ChannelReport;
  /** Resolves when nothing of the session is left, its process included. Calls that are cut by it are told the reason. */
  close(reason?: string): Promise<void>;
}

export interface Usage {
  readonly isBusy: boolean;
  /** Kept up by `keep()`, for example by a resource subscription. */
  readonly isKept: boolean;
  /** When the last call ended, or the session began. */
  readonly quietSince: number;
  /** Calls answered so far. */
  readonly served: number;
}

export interface SessionOptions {
  readonly server: ServerName;
  readonly transport: Launch['kind'];
  /** The era of the last session: a server known as legacy is not probed again. */
  readonly knownEra?: Era | undefined;
  /** Called once, with the server's first message. */
  readonly onAnswer?: () => void;
  /** Opens a fresh channel. Called again if the server exited on the era probe, or no longer speaks the era that is known. */
  readonly channel: () => Promise<Channel>;
  readonly identity: ClientInfo;
  /** The server is told only of the capabilities that these handlers can answer. */
  readonly handlers: ClientHandlers;
  /** Those that answer it while no call is in flight. */
  readonly leases: LeaseHandlers;
  /** Whether elicitations reach a person, or are declined whatever handlers there are. */
  readonly elicitation?: ElicitationPolicy | undefined;
  /** How often the server may ask, in all its sessions. */
  readonly pace: QuestionPace | undefined;
  /** Asked again whenever settings have changed during the attempt. */
  readonly startupTimeoutMs: () => number;
  /** Calls back when settings have changed. */
  readonly onSettings?: ((changed: () => void) => Unsubscribe) | undefined;
  /** The limit until the first message of a server that may have to be installed; `startupTimeoutMs` counts from then on. */
  readonly installTimeoutMs?: number | undefined;
  /** The lowest level of log messages that the server is asked for. */
  readonly logLevel?: LogLevel | undefined;
  readonly clock: Clock;
  /** Aborting it closes everything opened so far. */
  readonly signal: AbortSignal;
}

/** Opens one session. When the signal aborts or the time is up, nothing stays open. */
export async function openSession(options: SessionOptions): Promise<Session> {
  if (options.knownEra === 'legacy') {
    try {
      return requireSession(await attempt(options, 'legacy'));
    } catch (error) {
      // The server may have been updated and no longer speak the legacy era: probe it again.
      if (!(error instanceof RuntimeError) || error.code !== 'PROTOCOL_BROKEN') throw error;
    }
  }
  const first = await attempt(options, 'probe');
  return first === 'died-of-probe' ? requireSession(await attempt(options, 'legacy')) : first;
}

function requireSession(outcome: Session | 'died-of-probe'): Session {
  if (outcome === 'died-of-probe') throw new TypeError('a legacy handshake sends no probe');
  return outcome;
}

async function attempt(options: SessionOptions, era: 'probe' | 'legacy'): Promise<Session | 'died-of-probe'> {
  const { server, clock, signal, installTimeoutMs = 0 } = options;
  const channel = await options.channel();
  signal.throwIfAborted();
  const wire = new Wire(channel, clock);
  const { handlers: advertised, leases, elicitation: policy, pace } = options;
  const router = new ServerRequestRouter({ server, clock, advertised, leases, policy, pace });
  const stop = createDeferred<never>();
  wire.onrequest = answerWith(router);
  const onAbort = () => stop.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const giveUp = (afterMs: number) =>
    stop.reject(new RuntimeError('STARTUP_TIMEOUT', { server, afterMs, ...reportOf(channel) }));
  const startTimeout = (leastMs: number) => {
    const { startupTimeoutMs } = options;
    const limitMs = () => startupTimeoutMs() && Math.max(startupTimeoutMs(), leastMs);
    return startLimit({ clock, limitMs, expire: giveUp });
  };
  let timeout = startTimeout(installTimeoutMs);
  const unsubscribe = options.onSettings?.(() => timeout.recheck());
  wire.onfirstmessage = () => {
    options.onAnswer?.();
    if (installTimeoutMs === 0) return;
    timeout.cancel();
    timeout = startTimeout(0);
  };
  try {
    const envelope = envelopeOf(options);
    const shaking = shakeHands({ wire, channel, envelope }, options, era);
    const agreement = await Promise.race([shaking, stop.promise]);
    return new OpenedSession({ agreement, envelope, wire, channel, router, options });
  } catch (error) {
    const diedOfProbe = isDeathOfProbe(error, channel);
    // Read the report before closing the channel, or it would describe our own closing.
    const failure = diedOfProbe || signal.aborted ? error : connectFailure(error, server, wire, channel);
    router.close();
    await channel.close();
    if (diedOfProbe && !signal.aborted) return 'died-of-probe';
    throw failure;
  } finally {
    timeout.cancel();
    unsubscribe?.();
    signal.removeEventListener('abort', onAbort);
    // The promise that lost the race must not surface as an unhandled rejection.
    stop.promise.catch(ignore);
  }
}

const ignore = (): void => undefined;

interface Opening {
  readonly wire: Wire;
  readonly channel: Channel;
  readonly envelope: JsonObject;
}

async function shakeHands(
  { wire, channel, envelope }: Opening,
  { clock, identity, handlers }: SessionOptions,
  era: 'probe' | 'legacy',
): Promise<Agreement> {
  await channel.start();
  const deps = { wire, clock, identity, capabilities: capabilitiesOf(handlers), envelope };
  return era === 'legacy' ? initializeLegacy(deps) : negotiate(deps);
}

/** Over HTTP a probe cannot have killed the server: it was not reachable in the first place. */
function isDeathOfProbe(error: unknown, { hasRequestStreams }: Channel): boolean {
  return error instanceof HandshakeLost && error.hasOpenProbe && error.cause === undefined && !hasRequestStreams;
}

/** Tells an error of the runtime, a channel that went down, and a server that broke the protocol apart. */
function connectFailure(thrown: unknown, server: ServerName, wire: Wire, channel: Channel): unknown {
  const error = thrown instanceof HandshakeLost ? (thrown.cause ?? thrown) : thrown;
  if (error instanceof RuntimeError) return error;
  const report = reportOf(channel);
  if (wire.down) return new RuntimeError('CONNECTION_LOST', { server, ...report }, { cause: error });
  const reason = `the handshake failed (${error instanceof Error ? error.message : String(error)})`;
  return new RuntimeError('PROTOCOL_BROKEN', { server, ...report, reason }, { cause: error });
}

function reportOf(channel: Channel): ChannelReport {
  return channel.report?.() ?? { reason: 'it gave no reason' };
}

interface SessionDeps extends Opening {
  readonly agreement: Agreement;
  readonly router: ServerRequestRouter;
  readonly options: SessionOptions;
}

class OpenedSession implements Session {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  readonly serverInfo: ServerInfo | undefined;
  readonly transport: Session['transport'];
  readonly pid: number | undefined;
  readonly #server: ServerName;
  readonly #clock: Clock;
  readonly #wire: Wire;
  readonly #channel: Channel;
  readonly #router: ServerRequestRouter;
  readonly #listeners = new Set<NotificationListener>();
  readonly #ended = createDeferred<RuntimeError>();
  #keepers = 0;
  #loss: ChannelReport | undefined;

  constructor({ agreement, envelope, wire, channel, router, options }: SessionDeps) {
    const { server, clock, transport } = options;
    this.era = agreement.era;
    this.protocolVersion = agreement.protocolVersion;
    this.capabilities = agreement.capabilities;
    this.instructions = agreement.instructions;
    this.serverInfo = agreement.serverInfo;
    this.transport = transport === 'auto' ? (channel.negotiatedTransport ?? 'http') : transport;
    this.pid = channel.pid;
    this.#server = server;
    this.#clock = clock;
    this.#wire = wire;
    this.#channel = channel;
    this.#router = router;
    wire.onclose = () => this.#end(reportOf(channel));
    if (wire.down) this.#end(reportOf(channel));
    // A 401 concerns the whole server and ends the session; any other status only fails its request.
    wire.onfailure = ({ cause, status }) => status === 401 && this.#ended.resolve(cause);
    wire.onnotification = (method, params) => this.#hear(method, params);
    if (agreement.era === 'modern') {
      wire.envelope = envelope;
      // A modern server asks for input within its results. One that sends requests all the same is told so, or it would wait.
      wire.onrequest = answerPingOnly;
    }
  }

  get ended(): Promise<RuntimeError> {
    return this.#ended.promise;
  }

  /** The first reason counts: later ones come from our own cleanup. */
  #end(report: ChannelReport): void {
    this.#loss ??= report;
    this.#router.close();
    this.#ended.resolve(new RuntimeError('CONNECTION_LOST', { server: this.#server, ...report }));
  }

  #hear(method: string, params: JsonObject): void {
    if (method === 'notifications/elicitation/complete') this.#router.completions.record(params['elicitationId']);
    if (RELAYED.has(method)) this.#router.relayNotification(method, params);
    for (const listener of this.#listeners) listener(method, params);
  }

  report(): ChannelReport {
    return this.#loss ?? reportOf(this.#channel);
  }

  request(method: string, params?: JsonObject, options?: RequestOptions, owner?: object): Promise<RequestOutcome> {
    return this.#wire.request(method, params, options, owner);
  }

  callTool(tool: string, args: JsonObject, call: CallOptions, owner?: object): Promise<RequestOutcome> {
    return this.#perform('tools/call', { name: tool, arguments: args }, call, owner);
  }

  requestWithInput(method: string, params: JsonObject, call: CallOptions, owner?: object): Promise<RequestOutcome> {
    return this.#perform(method, params, call, owner);
  }

  #perform(method: string, params: JsonObject, call: CallOptions, owner?: object): Promise<RequestOutcome> {
    return performCall({ wire: this.#wire, router: this.#router, clock: this.#clock, owner }, method, params, call);
  }

  get origin(): object {
    return this;
  }

  isShared(): boolean {
    return false;
  }

  onParted(): Unsubscribe {
    return () => undefined;
  }

  cancelRequestsOf(owner: object): void {
    this.#wire.cancelRequestsOf(owner);
  }

  notify(method: string, params: JsonObject): void {
    this.#wire.notify(method, params);
  }

  onNotification(listener: NotificationListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  takeActivity(): boolean {
    const { sawActivity } = this.#wire;
    this.#wire.sawActivity = false;
    return sawActivity;
  }

  usage(): Usage {
    const { isBusy, quietSince, served } = this.#router;
    return { isBusy, isKept: this.#keepers > 0, quietSince, served };
  }

  callsInFlight(): number {
    return this.#router.callsInFlight;
  }

  whenQuiet(): Promise<void> {
    return this.#router.whenQuiet();
  }

  keep(): () => void {
    this.#keepers++;
    let isReleased = false;
    return () => {
      if (!isReleased) this.#keepers--;
      isReleased = true;
    };
  }

  markLost(reason: string): void {
    this.#end({ ...reportOf(this.#channel), reason });
  }

  close(): Promise<void> {
    return this.#channel.close();
  }
}

/** Notifications that may belong to a call. */
const RELAYED: ReadonlySet<string> = new Set(['notifications/message', 'notifications/elicitation/complete']);

const metaKey = (name: string) => `io.modelcontextprotocol/${name}`;

/** The client's data that every modern request carries, the era probe included; a legacy session sends it with `initialize`. */
function envelopeOf({ identity, handlers, logLevel }: SessionOptions): JsonObject {
  return {
    [metaKey('protocolVersion')]: newestProtocol,
    [metaKey('clientInfo')]: identity,
    [metaKey('clientCapabilities')]: capabilitiesOf(handlers),
    ...(logLevel !== undefined && { [metaKey('logLevel')]: logLevel }),
  };
}
