// Owns one open session: the SDK's client and our wire over one channel, opened and closed as one.
// `Session` is our own port; nothing above this folder knows the SDK. Failures of the SDK get their code here.

import type { Client } from '@modelcontextprotocol/client';
import type { Clock } from '../kernel/clock.ts';
import { createDeferred } from '../kernel/deferred.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { Channel, ChannelReport } from '../model/server.ts';
import { capabilitiesOf, InputDesk, type InputHandlers, inputMethods } from './requests.ts';
import { type CallOptions, callTool } from './tool-call.ts';
import { type Answer, type RequestOptions, Wire } from './wire.ts';

export type { Answer, Progress } from './wire.ts';

export type Era = 'legacy' | 'modern';

export interface Session {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  readonly pid: number | undefined;
  request(method: string, params?: JsonObject, options?: RequestOptions): Promise<Answer>;
  /** One tool call, rounds of asked-for input included. */
  callTool(tool: string, args: JsonObject, options: CallOptions): Promise<Answer>;
  /** Resolves once, when the session is over, with why. */
  readonly ended: Promise<RuntimeError>;
  report(): ChannelReport;
  /** Resolves when nothing of the session is left. */
  close(): Promise<void>;
}

export interface SessionOptions {
  readonly server: ServerName;
  /** Opens a fresh channel; called a second time only when a server died of the era probe. */
  readonly channel: () => Channel;
  readonly identity: { readonly name: string; readonly title: string; readonly version: string };
  /** The root view's handlers decide what is advertised. */
  readonly inputs: InputHandlers;
  readonly startupTimeoutMs: number;
  readonly clock: Clock;
  /** Aborting it closes whatever has been opened. */
  readonly signal: AbortSignal;
}

/** Longer than any timeout of ours; the SDK's own 60 s must never decide. */
const NEVER_MS = 2_147_483_647;

/** Opens one session. When the signal aborts or the time is up, nothing stays open. */
export async function openSession(options: SessionOptions): Promise<Session> {
  const first = await attempt(options, 'probe');
  return first === 'died-of-probe' ? requireSession(await attempt(options, 'legacy')) : first;
}

function requireSession(outcome: Session | 'died-of-probe'): Session {
  if (outcome === 'died-of-probe') throw new TypeError('a legacy handshake sends no probe');
  return outcome;
}

async function attempt(options: SessionOptions, era: 'probe' | 'legacy'): Promise<Session | 'died-of-probe'> {
  const { server, clock, signal, startupTimeoutMs } = options;
  signal.throwIfAborted();
  const channel = options.channel();
  const wire = new Wire(channel, clock);
  const desk = new InputDesk(server, options.inputs);
  const stop = createDeferred<never>();
  const onAbort = () => stop.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const timeUp = () =>
    stop.reject(new RuntimeError('STARTUP_TIMEOUT', { server, afterMs: startupTimeoutMs, ...reportOf(channel) }));
  const cancelTimeout = startupTimeoutMs > 0 ? clock.after(startupTimeoutMs, timeUp) : () => undefined;
  try {
    const client = await Promise.race([connect(wire, desk, options, era), stop.promise]);
    return createSession({ client, wire, channel, desk, options });
  } catch (error) {
    const diedOfProbe = era === 'probe' && wire.diedDuringProbe;
    // The report is read before the channel is ended, or it would speak of our own ending.
    const failure = diedOfProbe || signal.aborted ? error : connectFailure(error, server, wire, channel);
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
async function connect(wire: Wire, desk: InputDesk, options: SessionOptions, era: 'probe' | 'legacy'): Promise<Client> {
  const [sdk] = await Promise.all([import('@modelcontextprotocol/client'), wire.start()]);
  const capabilities = capabilitiesOf(options.inputs);
  const create = () => {
    const client = new sdk.Client(options.identity, { capabilities, versionNegotiation: { mode: 'auto' } });
    for (const method of inputMethods) {
      if (capabilities[method.split('/')[0] ?? ''] === undefined) continue;
      // The SDK types each method's result; ours was given by the host's handler and is checked by the SDK itself.
      client.setRequestHandler(
        method as 'roots/list',
        (request) => desk.answerUnaddressed(method, (request.params ?? {}) as JsonObject) as never,
      );
    }
    return client;
  };
  const client = create();
  const limit = { timeout: NEVER_MS };
  try {
    await client.connect(wire as never, era === 'legacy' ? { ...limit, prior: { kind: 'legacy' } } : limit);
    return client;
  } catch (error) {
    if (wire.down || !isObject(wire.lateDiscovery)) throw error;
    const modern = create();
    await modern.connect(wire as never, { ...limit, prior: { kind: 'modern', discover: wire.lateDiscovery as never } });
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

interface Parts {
  readonly client: Client;
  readonly wire: Wire;
  readonly channel: Channel;
  readonly desk: InputDesk;
  readonly options: SessionOptions;
}

function createSession({ client, wire, channel, desk, options }: Parts): Session {
  const { server, clock } = options;
  const era = client.getProtocolEra() ?? 'legacy';
  const protocolVersion = client.getNegotiatedProtocolVersion() ?? '';
  const ended = createDeferred<RuntimeError>();
  const announceEnd = () => ended.resolve(new RuntimeError('CONNECTION_LOST', { server, ...reportOf(channel) }));
  const closeSdk = wire.onclose;
  wire.onclose = () => {
    closeSdk?.();
    announceEnd();
  };
  if (wire.down) announceEnd();
  if (era === 'modern') wire.envelope = envelopeOf(options, protocolVersion);

  return {
    era,
    protocolVersion,
    capabilities: { ...client.getServerCapabilities() },
    instructions: client.getInstructions(),
    pid: channel.pid,
    ended: ended.promise,
    report: () => reportOf(channel),
    request: (method, params, options) => wire.request(method, params, options),
    callTool: (tool, args, call) => callTool({ wire, desk, clock }, { name: tool, arguments: args }, call),
    close: () => channel.close(),
  };
}

const metaKey = (name: string) => `io.modelcontextprotocol/${name}`;

/** What every request of the modern era says about us; the older era said it once, at initialize. */
function envelopeOf(options: SessionOptions, protocolVersion: string): JsonObject {
  return {
    [metaKey('protocolVersion')]: protocolVersion,
    [metaKey('clientInfo')]: options.identity,
    [metaKey('clientCapabilities')]: capabilitiesOf(options.inputs),
  };
}
