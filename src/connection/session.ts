// Owns one open session: the SDK's client and our wire over one channel, opened and closed as one.
// `Session` is our own port; nothing above this folder knows the SDK. Failures of the SDK get their code here.

import type { Client } from '@modelcontextprotocol/client';
import type { Clock } from '../kernel/clock.ts';
import { createDeferred } from '../kernel/deferred.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ClientInfo } from '../model/identity.ts';
import type { ServerName } from '../model/names.ts';
import type { Channel, ChannelReport, Launch, LogLevel } from '../model/server.ts';
import type { ElicitationPolicy, ViewHandlers } from './client-handlers.ts';
import { answerWith } from './legacy-requests.ts';
import { type ClientHandlers, capabilitiesOf, ServerRequestRouter } from './requests.ts';
import { type CallOptions, type CallOutcome, performCall } from './tool-call.ts';
import { type NotificationListener, type RequestOptions, type RequestOutcome, Wire } from './wire.ts';

export type { NotificationListener, Progress, RequestOutcome } from './wire.ts';

export type Era = 'legacy' | 'modern';

export interface Session {
  readonly era: Era;
  /** What is spoken, once it is known. */
  readonly transport: Exclude<Launch['kind'], 'auto'>;
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  readonly pid: number | undefined;
  request(method: string, params?: JsonObject, options?: RequestOptions, owner?: object): Promise<RequestOutcome>;
  /** One tool call, rounds of asked-for input included. */
  callTool(tool: string, args: JsonObject, options: CallOptions, owner?: object): Promise<CallOutcome>;
  /** Any other request that somebody waits for and that may ask for input on its way. */
  requestWithInput(method: string, params: JsonObject, options: CallOptions, owner?: object): Promise<RequestOutcome>;
  /** Ends what this owner still waits for; what others wait for goes on. */
  cancelRequestsOf(owner: object): void;
  notify(method: string, params: JsonObject): void;
  /** Hears what the server says unasked. Returns how to stop. */
  onNotification(listener: NotificationListener): () => void;
  /** Whether anything came since the last time somebody asked. */
  takeActivity(): boolean;
  usage(): Usage;
  /** It is needed although nobody calls: it is not stopped for being idle. Returns how to let go. */
  keep(): () => void;
  /** Whether others use it too. */
  isShared(): boolean;
  /** Whose handlers answer when no call says whose; several who share a session are asked nothing of that kind. */
  addHandlers(handlers: ViewHandlers): () => void;
  /** Somebody found out that nobody is there any more. */
  markLost(reason: string): void;
  /** Resolves once, when the session is over, with why. */
  readonly ended: Promise<RuntimeError>;
  report(): ChannelReport;
  /** Resolves when nothing of the session is left. */
  close(): Promise<void>;
}

export interface Usage {
  readonly isBusy: boolean;
  /** Somebody waits for its news. */
  readonly isKept: boolean;
  /** When the last call ended, or the session began. */
  readonly quietSince: number;
  /** Calls answered so far. */
  readonly served: number;
}

export interface SessionOptions {
  readonly server: ServerName;
  readonly transport: Launch['kind'];
  /** What it spoke the last time: a server of the older era is not asked again for the newer one. */
  readonly knownEra?: Era | undefined;
  /** Told once, with the first sign of life. */
  readonly onAnswer?: () => void;
  /** Opens a fresh channel; called a second time only when a server died of the era probe. */
  readonly channel: () => Promise<Channel>;
  readonly identity: ClientInfo;
  /** What is advertised: only what these handlers can answer. */
  readonly handlers: ClientHandlers;
  /** What becomes of its questions to a person, whoever could answer them. */
  readonly elicitation?: ElicitationPolicy | undefined;
  readonly startupTimeoutMs: number;
  /** From which level on the server is asked for its log. */
  readonly logLevel?: LogLevel | undefined;
  readonly clock: Clock;
  /** Aborting it closes whatever has been opened. */
  readonly signal: AbortSignal;
}

/** Longer than any timeout of ours; the SDK's own 60 s must never decide. */
const NEVER_MS = 2_147_483_647;

/** Opens one session. When the signal aborts or the time is up, nothing stays open. */
export async function openSession(options: SessionOptions): Promise<Session> {
  if (options.knownEra === 'legacy') {
    try {
      return requireSession(await attempt(options, 'legacy'));
    } catch (error) {
      // It may have learned since: what it does not speak any more is found out by asking anew.
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
  const { server, clock, signal, startupTimeoutMs } = options;
  const channel = await options.channel();
  signal.throwIfAborted();
  const wire = new Wire(channel, clock);
  const router = new ServerRequestRouter({ server, clock, advertised: options.handlers, policy: options.elicitation });
  const stop = createDeferred<never>();
  wire.onfirstmessage = options.onAnswer;
  wire.onrequest = answerWith(router);
  // Whatever the SDK would make of it: no answer to the handshake is the end of it.
  wire.onfailure = ({ cause }) => stop.reject(cause);
  const onAbort = () => stop.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const timeUp = () =>
    stop.reject(new RuntimeError('STARTUP_TIMEOUT', { server, afterMs: startupTimeoutMs, ...reportOf(channel) }));
  const cancelTimeout = startupTimeoutMs > 0 ? clock.after(startupTimeoutMs, timeUp) : () => undefined;
  try {
    const client = await Promise.race([connect(wire, options, era), stop.promise]);
    return createSession({ client, wire, channel, router, options });
  } catch (error) {
    // A request of its own cannot kill a server that is asked over HTTP: it was not there to begin with.
    const diedOfProbe = era === 'probe' && wire.diedDuringProbe && !channel.hasRequestStreams;
    // The report is read before the channel is ended, or it would speak of our own ending.
    const failure = diedOfProbe || signal.aborted ? error : connectFailure(error, server, wire, channel);
    router.close();
    await channel.close();
    if (diedOfProbe && !signal.aborted) return 'died-of-probe';
    throw failure;
  } finally {
    cancelTimeout();
    signal.removeEventListener('abort', onAbort);
    // Whichever of the two did not win must not surface as an unhandled rejection.
    stop.promise.catch(ignoreLoser);
    stop.reject(new DOMException('settled', 'AbortError'));
  }
}

const ignoreLoser = (): void => undefined;

/** The process starts while the SDK is still being loaded: neither waits for the other. */
async function connect(wire: Wire, options: SessionOptions, era: 'probe' | 'legacy'): Promise<Client> {
  const [sdk] = await Promise.all([import('@modelcontextprotocol/client'), wire.start()]);
  const capabilities = capabilitiesOf(options.handlers);
  const create = () => new sdk.Client(options.identity, { capabilities, versionNegotiation: { mode: 'auto' } });
  const client = create();
  const limit = { timeout: NEVER_MS };
  try {
    await client.connect(wire as never, era === 'legacy' ? { ...limit, prior: { kind: 'legacy' } } : limit);
    return client;
  } catch (error) {
    const discover = wire.down ? undefined : await wire.lateDiscovery();
    if (wire.down || !isObject(discover)) throw error;
    const modern = create();
    await modern.connect(wire as never, { ...limit, prior: { kind: 'modern', discover: discover as never } });
    return modern;
  }
}

/** Who gave the failure its kind: us, the process, or a server that answered what the protocol does not allow. */
function connectFailure(error: unknown, server: ServerName, wire: Wire, channel: Channel): unknown {
  if (error instanceof RuntimeError) return error;
  const report = reportOf(channel);
  if (wire.down) return new RuntimeError('CONNECTION_LOST', { server, ...report }, { cause: error });
  const reason = `the handshake failed (${error instanceof Error ? error.message : String(error)})`;
  return new RuntimeError('PROTOCOL_BROKEN', { server, ...report, reason }, { cause: error });
}

function reportOf(channel: Channel): ChannelReport {
  return channel.report?.() ?? { reason: 'it gave no reason' };
}

interface SessionDeps {
  readonly client: Client;
  readonly wire: Wire;
  readonly channel: Channel;
  readonly router: ServerRequestRouter;
  readonly options: SessionOptions;
}

function createSession({ client, wire, channel, router, options }: SessionDeps): Session {
  const { server, clock, transport } = options;
  const era = client.getProtocolEra() ?? 'legacy';
  const protocolVersion = client.getNegotiatedProtocolVersion() ?? '';
  const listeners = new Set<NotificationListener>();
  const keepers = new Set<object>();
  const ended = createDeferred<RuntimeError>();
  let loss: ChannelReport | undefined;
  /** The first reason counts: what follows is our own clearing up. */
  const end = (report: ChannelReport) => {
    loss ??= report;
    router.close();
    ended.resolve(new RuntimeError('CONNECTION_LOST', { server, ...report }));
  };
  wire.detachSdk();
  wire.onclose = () => end(reportOf(channel));
  if (wire.down) end(reportOf(channel));
  // A login that is asked for concerns the whole server; any other refusal only the request it answers.
  wire.onfailure = ({ cause, status }) => status === 401 && ended.resolve(cause);
  wire.onnotification = (method, params) => {
    if (method === 'notifications/elicitation/complete') router.completions.record(params['elicitationId']);
    for (const listener of listeners) listener(method, params);
  };
  if (era === 'modern') {
    wire.envelope = envelopeOf(options, protocolVersion);
    // It asks within its answers; a request of its own is none of that era.
    wire.onrequest = undefined;
  }

  return {
    era,
    transport: transport === 'auto' ? (channel.negotiatedTransport ?? 'http') : transport,
    protocolVersion,
    capabilities: { ...client.getServerCapabilities() },
    instructions: client.getInstructions(),
    pid: channel.pid,
    ended: ended.promise,
    report: () => loss ?? reportOf(channel),
    request: (method, params, options, owner) => wire.request(method, params, options, owner),
    callTool: (tool, args, call, owner) =>
      performCall(
        { wire, router, clock, owner },
        { method: 'tools/call', params: { name: tool, arguments: args } },
        call,
      ),
    requestWithInput: (method, params, call, owner) =>
      performCall({ wire, router, clock, owner }, { method, params }, call),
    isShared: () => false,
    cancelRequestsOf: (owner) => wire.cancelRequestsOf(owner),
    notify: (method, params) => wire.notify(method, params),
    onNotification: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    takeActivity: () => {
      const { sawActivity: heard } = wire;
      wire.sawActivity = false;
      return heard;
    },
    usage: () => ({
      ...{ isBusy: router.isBusy, isKept: keepers.size > 0 },
      ...{ quietSince: router.quietSince, served: router.served },
    }),
    keep: () => {
      const keeper = {};
      keepers.add(keeper);
      return () => keepers.delete(keeper);
    },
    addHandlers: (handlers) => router.addHandlers(handlers),
    markLost: (reason) => end({ ...reportOf(channel), reason }),
    close: () => channel.close(),
  };
}

const metaKey = (name: string) => `io.modelcontextprotocol/${name}`;

/** What every request of the modern era says about us; the older era said it once, at initialize. */
function envelopeOf(options: SessionOptions, protocolVersion: string): JsonObject {
  return {
    [metaKey('protocolVersion')]: protocolVersion,
    [metaKey('clientInfo')]: options.identity,
    [metaKey('clientCapabilities')]: capabilitiesOf(options.handlers),
    ...(options.logLevel !== undefined && { [metaKey('logLevel')]: options.logLevel }),
  };
}
