// Owns one request of a client on its way to a server: how the server's questions, progress and log messages reach the client that
// sent it and no other, in each of the four combinations of eras. The serving side words both eras alike, so this file speaks of
// questions, whichever way they travel.

import { randomUUID } from 'node:crypto';
import type { Relay } from '../call/pipeline.ts';
import type { RelayedQuestion, ViewHandlers } from '../connection/client-handlers.ts';
import type { Progress } from '../connection/session.ts';
import type { Cancellation } from '../kernel/cancellation.ts';
import type { Clock } from '../kernel/clock.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { Roster, type RosterEntry } from '../kernel/roster.ts';
import type { ServerName } from '../model/names.ts';
import type { LogLevel } from '../model/server.ts';
import { codes, metaKeys, ProtocolError } from '../serving/protocol.ts';
import { isLogLevel } from '../serving/running-call.ts';
import type { Peer, ServedCall } from '../serving/service.ts';
import { canAskDuring } from '../serving/suspended-calls.ts';
import type { GatewayFleet } from './gateway-fleet.ts';

/** The one who asks for a relayed request: a client's session, or a modern request by itself. */
export class RelayCaller {
  readonly fleet: GatewayFleet;
  readonly peer: Peer;
  readonly handlers: ViewHandlers;
  /** The requests under way, the newest last: a legacy server does not say which of them it asks for. */
  readonly #running = new Roster<RunningRequest>();
  #envelope: { readonly level: unknown; readonly declines: boolean; readonly fields: JsonObject } | undefined;

  constructor(fleet: GatewayFleet, peer: Peer) {
    this.fleet = fleet;
    this.peer = peer;
    this.handlers = {
      relay: (question) => this.#answer(question),
      // For a page that has to be visited before a legacy server accepts the call.
      elicit: async ({ server, message, ...page }) => {
        if (page.mode !== 'url') return { action: 'decline' };
        const params = { mode: 'url', message, url: page.url, elicitationId: randomUUID() };
        const { action } = await this.#answer({ server, method: 'elicitation/create', params });
        return action === 'accept' ? { action, isDone: true } : { action: action === 'cancel' ? action : 'decline' };
      },
      onPageDone: ({ server, elicitationId }) => this.#tellDone(server, elicitationId),
      onUnowned: (server) => fleet.lineOf(server).makeExclusive(),
      onError: fleet.parts.host.onError,
    };
  }

  /** The same object for the same level. `declines`: the settings of the server decline its elicitations. */
  envelopeFor(level: unknown, declines: boolean): JsonObject {
    const known = this.#envelope;
    if (known !== undefined && known.level === level && known.declines === declines) return known.fields;
    const fields = envelopeOf(this.peer, level, declines);
    this.#envelope = { level, declines, fields };
    return fields;
  }

  /** From now on the client wants log messages of this level, also of requests that are under way. */
  wantLogLevel(level: LogLevel): void {
    for (const { server } of this.#running.items()) this.fleet.wantLogLevel(server, level);
  }

  begin(server: ServerName, served: ServedCall, relay: ServedRelay): RosterEntry<RunningRequest> {
    return this.#running.add({ server, served, relay, pages: undefined });
  }

  /** `isDone`: the server has done what it was asked for, so that it has seen the pages that were visited. */
  end(entry: RosterEntry<RunningRequest>, isDone: boolean): void {
    this.#running.remove(entry);
    const { served, pages = [] } = entry.item;
    if (isDone) for (const elicitationId of pages) served.notify(PAGE_DONE, { elicitationId });
  }

  /** The newer era has no such message: its client comes back by itself. */
  #tellDone(server: ServerName, elicitationId: string): void {
    const { session } = this.peer;
    if (session !== undefined) (this.#newestAt(server)?.served ?? session).notify(PAGE_DONE, { elicitationId });
  }

  /** A legacy server does not say for which of a client's requests it asks. */
  #newestAt(server: ServerName): RunningRequest | undefined {
    return this.#running.items().findLast((each) => each.server === server);
  }

  /** A client that cannot be asked is answered for at once. */
  async #answer({ server, method, params, key, relay }: RelayedQuestion): Promise<JsonObject> {
    const { fleet, peer } = this;
    const canAnswer = isDeclared(method, params, peer.capabilities);
    // A legacy server is told the folder of the workspace, whichever client calls: its process is shared.
    if (method === 'roots/list' && (key === undefined || !canAnswer)) return { roots: fleet.roots() };
    const asking = relay && this.#running.items().find((each) => each.relay === relay);
    const running = asking ?? this.#newestAt(server);
    if (!canAnswer || running === undefined || !canAskDuring(running.served)) return refuse(method);
    const { served } = running;
    if (peer.era === 'modern') return served.ask(method, params, key === undefined ? {} : { key });
    // A legacy client knows a page by its id, and is told when the call goes on.
    if (params['mode'] !== 'url' || params['elicitationId'] !== undefined) return served.ask(method, params);
    const elicitationId = randomUUID();
    const answer = await served.ask(method, { ...params, elicitationId });
    if (answer['action'] === 'accept') running.pages = [...(running.pages ?? []), elicitationId];
    return answer;
  }
}

export interface RunningRequest {
  readonly server: ServerName;
  readonly served: ServedCall;
  readonly relay: ServedRelay;
  /** The ids of visited pages that the gateway named itself. */
  pages: readonly string[] | undefined;
}

const PAGE_DONE = 'notifications/elicitation/complete';

/** An elicitation is declined, since that is an answer; for sampling there is none. */
function refuse(method: RelayedQuestion['method']): JsonObject {
  const reason = 'the client that called cannot be asked';
  if (method === 'elicitation/create') return { action: 'decline', _meta: { 'plexus/reason': reason } };
  throw new ProtocolError(codes.methodNotFound, `${method} is not answered: ${reason}`);
}

function isDeclared(method: RelayedQuestion['method'], { mode }: JsonObject, capabilities: JsonObject): boolean {
  const { elicitation, sampling, roots } = capabilities;
  if (method === 'sampling/createMessage') return isObject(sampling);
  if (method === 'roots/list') return isObject(roots);
  if (!isObject(elicitation)) return false;
  return mode === 'url'
    ? elicitation['url'] !== undefined
    : elicitation['form'] !== undefined || elicitation['url'] === undefined;
}

export interface RelayOptions {
  readonly server: ServerName;
  readonly isRaw: boolean;
  readonly isOwnOrder: boolean;
  /** Of an earlier round, as the server is to get them. */
  readonly inputs: JsonObject | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

export class ServedRelay implements Relay {
  readonly handlers: ViewHandlers;
  readonly isRaw: boolean;
  readonly isOwnOrder: boolean;
  readonly inputs: JsonObject | undefined;
  readonly envelope: JsonObject;
  readonly passesInput: boolean;
  readonly passesRefusals: boolean;
  protected readonly served: ServedCall;
  readonly #clock: Pick<Clock, 'now'>;
  #latest: Progress = NO_PROGRESS;
  /** The client was told of more than the server has reported. */
  #isAhead = false;
  /** For the heartbeat: when the client was last told of progress. */
  lastAt: number;

  constructor(caller: RelayCaller, served: ServedCall, options: RelayOptions) {
    const { peer } = caller;
    this.handlers = caller.handlers;
    this.isRaw = options.isRaw;
    this.isOwnOrder = options.isOwnOrder;
    this.inputs = options.inputs;
    const { fleet } = caller;
    const declines = fleet.servers.registry.settings(options.server)?.elicitation === 'decline';
    this.passesInput = peer.era === 'modern' && !declines;
    this.passesRefusals = peer.era === 'legacy';
    const level = peer.era === 'modern' ? served.meta[metaKeys.logLevel] : peer.session?.level;
    if (isLogLevel(level)) fleet.wantLogLevel(options.server, level);
    this.envelope = caller.envelopeFor(level, declines);
    this.served = served;
    this.#clock = options.clock;
    this.lastAt = this.#clock.now();
  }

  begin(cancellation: Cancellation): void {
    this.served.onCancel((reason) => cancellation.cancel(reason));
  }

  onSent(): void {
    // A request that is no call is not counted.
  }

  onProgress(progress: Progress): void {
    const { progress: told } = this.#latest;
    // The server does not know how far the client was told: it must not go back for that.
    this.#latest = this.#isAhead && progress.progress <= told ? { ...progress, progress: grown(told) } : progress;
    this.#isAhead &&= this.#latest !== progress;
    this.lastAt = this.#clock.now();
    this.served.progress(this.#latest);
  }

  onNotification(method: string, params: JsonObject): void {
    const { level, data, logger } = params;
    if (method !== 'notifications/message') this.served.notify(method, params);
    else if (isLogLevel(level)) this.served.log(level, data, typeof logger === 'string' ? logger : undefined);
  }

  /** No progress came for a while: the client is told that the call still runs. Progress must grow, so it grows by next to nothing. */
  tell(): void {
    this.#latest = { ...this.#latest, progress: grown(this.#latest.progress) };
    this.#isAhead = true;
    this.served.progress(this.#latest);
  }
}

const NO_PROGRESS: Progress = { progress: 0 };
const LEAST_PROGRESS = 1e-6;

/** By next to nothing, but so that it differs also where numbers are so large that a millionth is lost. */
const grown = (progress: number): number => progress + Math.max(LEAST_PROGRESS, Math.abs(progress) * Number.EPSILON);

/** A modern server is told what this client can do, not what the gateway can. */
function envelopeOf({ era, capabilities }: Peer, level: unknown, declines: boolean): JsonObject {
  const able = era === 'modern' ? capabilities : askable(capabilities);
  const { elicitation: _, ...others } = able;
  const told = declines ? others : able;
  return { [metaKeys.clientCapabilities]: told, ...(level !== undefined && { [metaKeys.logLevel]: level }) };
}

const askableOf = new WeakMap<JsonObject, JsonObject>();

/** Of a legacy client's capabilities, those that the modern era has too. */
function askable(capabilities: JsonObject): JsonObject {
  const known = askableOf.get(capabilities);
  if (known !== undefined) return known;
  const { elicitation, sampling, roots, extensions } = capabilities;
  const told = {
    ...(isObject(elicitation) && { elicitation: Object.keys(elicitation).length === 0 ? { form: {} } : elicitation }),
    ...(isObject(sampling) && { sampling }),
    ...(isObject(roots) && { roots: {} }),
    ...(isObject(extensions) && { extensions }),
  };
  askableOf.set(capabilities, told);
  return told;
}

const OWN_META = 'io.modelcontextprotocol/';

/** The client's `_meta` for the server: without what belongs to this hop. */
export function passedMeta(meta: JsonObject): JsonObject | undefined {
  let passed: Record<string, unknown> | undefined;
  for (const key of Object.keys(meta)) {
    if (key === 'progressToken' || key.startsWith(OWN_META)) continue;
    passed ??= {};
    passed[key] = meta[key];
  }
  return passed;
}
