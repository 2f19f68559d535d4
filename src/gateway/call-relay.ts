// Owns handing on the calls of clients: the limits of each server, who approves, what became of the call and how that is told. The
// hot path of the gateway.

import { Heartbeat } from '../call/heartbeat.ts';
import type { OutcomeDraft } from '../call/pipeline.ts';
import type { Cancellation } from '../kernel/cancellation.ts';
import type { Clock } from '../kernel/clock.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { asRuntimeError, RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { Tool, ToolOutcome } from '../model/tool.ts';
import { codes, ProtocolError } from '../serving/protocol.ts';
import type { ServedCall } from '../serving/service.ts';
import type { ApprovalAnswer, ApprovalRequest, QuestionOptions } from '../trust/approval.ts';
import { toolHash } from '../trust/tool-pin.ts';
import type { RelayedCallOptions } from '../turn.ts';
import { askClient } from './approval.ts';
import { type GatewayClient, refusalOf } from './client.ts';
import { failureAnswer } from './commands/told-failure.ts';
import { failureResult } from './failures.ts';
import { type CallEnding, countEnd, type Measures, type ServerMeasures } from './measures.ts';
import { passedMeta, type RelayCaller, ServedRelay } from './served-relay.ts';
import type { ServerLine } from './server-line.ts';
import type { Round, RoundPlace, RoundSeal } from './state-of-round.ts';

export interface CallRelaysDeps {
  readonly seal: RoundSeal;
  readonly measures: Measures;
  readonly clock: Clock;
  /** How many calls may wait for one server. */
  readonly queuedCalls: number;
}

const NO_ARGUMENTS: JsonObject = Object.freeze({});

const argumentsOf = ({ params: { arguments: args } }: ServedCall): JsonObject => (isObject(args) ? args : NO_ARGUMENTS);

export class CallRelays {
  readonly #deps: CallRelaysDeps;
  readonly #heartbeat: Heartbeat;

  constructor(deps: CallRelaysDeps) {
    this.#deps = deps;
    this.#heartbeat = new Heartbeat(deps.clock, limits.relay.progressMs);
  }

  readonly isOwnState = (requestState: unknown): boolean =>
    requestState !== undefined && this.#deps.seal.isOwn(requestState);

  /** `args`: those of the tool, where the request names another one that carries it. */
  call(client: GatewayClient, served: ServedCall, tool: Tool, args = argumentsOf(served)): Promise<JsonObject> {
    const { server } = tool.id;
    const line = client.fleet.lineOf(server);
    if (line.queued >= this.#deps.queuedCalls)
      throw new ProtocolError(codes.overloaded, `Too many calls wait for server "${server}"`, undefined, {
        status: 429,
      });
    const refusal = refusalOf(client, server);
    if (refusal !== undefined) return Promise.resolve(this.failed(client, refusal));
    const caller = client.callerOf(served.peer);
    const round = this.roundOf(client, served, server);
    const turn = line.enter(caller, served, this.#deps.clock);
    const measures = this.#deps.measures.of(server);
    const { seal, clock } = this.#deps;
    const relay = new CallRelay({ client, caller, served, tool, args, round, seal, line, measures, clock });
    if (turn === undefined) return this.#perform(relay);
    return turn.then(
      () => this.#perform(relay),
      (error: unknown) => {
        relay.ended(error instanceof ProtocolError ? 'refused' : 'cancelled');
        throw error;
      },
    );
  }

  /** A call that could not be handed on; its server is not known, or did not list its tools. */
  failed({ route, fleet }: GatewayClient, error: unknown): JsonObject {
    // A command ends with the failure itself; a model reads it.
    if (route.isOwn) throw failureAnswer(error);
    return failureResult(error, fleet.commandOptions());
  }

  #perform(relay: CallRelay): Promise<JsonObject> {
    const { client, caller, call: served, tool, args, line } = relay;
    const { meta } = served;
    const { isOwn } = client.route;
    const options: RelayedCallOptions = { relay, ...passed(meta), ...(isOwn && OWN_LIMIT) };
    const place = caller.begin(tool.id.server, served);
    const beat = meta['progressToken'] === undefined || isOwn ? undefined : this.#heartbeat.begin(relay);
    const over = () => {
      caller.end(place);
      line.leave();
      if (beat) this.#heartbeat.end(beat);
    };
    return client
      .turn()
      .call(tool.name, args, options)
      .then(
        (outcome) => {
          over();
          relay.ended(outcome.isError ? 'error' : 'ok');
          return this.sealed(relay, tool.id.server, resultOf(outcome));
        },
        (error: unknown) => {
          over();
          relay.ended(endingOf(error, relay.isCancelled));
          if (!(error instanceof RuntimeError) && relay.isCancelled) throw error;
          return this.failed(client, error);
        },
      );
  }

  /** The earlier round that a request of a modern client goes on with. */
  roundOf(client: GatewayClient, served: ServedCall, server: ServerName): Round | undefined {
    return served.peer.era === 'modern' ? this.#deps.seal.open(served, placeOf(client, server)) : undefined;
  }

  /** Whether the user of the client has said yes to this in the earlier round; a yes counts once. */
  useApproval(round: Round | undefined, to: string): boolean {
    return round !== undefined && this.#deps.seal.useApproval(round, to);
  }

  /** A server's question that passes to a modern client: its state is sealed. */
  sealed({ client, call, approved }: RelayedCall, server: ServerName, result: JsonObject): JsonObject {
    const { resultType, requestState } = result;
    if (resultType !== 'input_required' || call.peer.era !== 'modern') return result;
    if (typeof requestState !== 'string' && approved === undefined) return result;
    const state = typeof requestState === 'string' ? { state: requestState } : {};
    return { ...result, requestState: this.#deps.seal.seal(call, placeOf(client, server), { ...state, approved }) };
  }
}

/** A request of a client, and what its user has agreed to: of a tool, the hash of its definition. */
interface RelayedCall {
  readonly client: GatewayClient;
  readonly call: ServedCall;
  readonly approved?: string | undefined;
}

const placeOf = ({ route, fleet }: GatewayClient, server: ServerName): RoundPlace => ({
  path: route.path,
  server: fleet.servers.registry.identity(server),
});

const passed = (meta: JsonObject): { readonly meta?: JsonObject } => {
  const own = passedMeta(meta);
  return own === undefined ? NOTHING : { meta: own };
};

const NOTHING = Object.freeze({});
/** A command has the limit of its call itself, and ends the link when it is over. */
const OWN_LIMIT = Object.freeze({ timeoutMs: 0 });

interface CallRelayOptions {
  readonly client: GatewayClient;
  readonly caller: RelayCaller;
  readonly served: ServedCall;
  readonly tool: Tool;
  readonly args: JsonObject;
  readonly round: Round | undefined;
  readonly seal: RoundSeal;
  readonly line: ServerLine;
  readonly measures: ServerMeasures;
  readonly clock: Clock;
}

/** One call of a client while it runs: counted, and approved by its client where that is asked for. */
class CallRelay extends ServedRelay {
  readonly client: GatewayClient;
  readonly caller: RelayCaller;
  readonly tool: Tool;
  readonly args: JsonObject;
  readonly line: ServerLine;
  /** The hash of the definition to which the client's user has said yes, in this round or an earlier one. */
  approved: string | undefined;
  isCancelled = false;
  readonly #round: Round | undefined;
  readonly #seal: RoundSeal;
  readonly #time: Clock;
  readonly #measures: ServerMeasures;
  readonly #startedAt: number;
  #isQueued = true;

  constructor({ client, caller, served, tool, args, round, seal, line, measures, clock }: CallRelayOptions) {
    const { shaping, approval } = client.route.profile;
    super(caller, served, {
      ...{ server: tool.id.server, isRaw: shaping === 'raw', isOwnOrder: approval === 'client' },
      ...{ inputs: round && inputsOf(served.params, round.state), clock },
    });
    this.client = client;
    this.caller = caller;
    this.tool = tool;
    this.args = args;
    this.line = line;
    this.#round = round;
    this.#seal = seal;
    this.#time = clock;
    this.#measures = measures;
    this.#startedAt = clock.now();
    measures.inFlight++;
    measures.queued++;
    line.queued++;
  }

  get call(): ServedCall {
    return this.served;
  }

  override begin(cancellation: Cancellation): void {
    this.served.onCancel((reason) => {
      this.isCancelled = true;
      cancellation.cancel(reason);
    });
  }

  async approve(request: ApprovalRequest, options: QuestionOptions): Promise<ApprovalAnswer> {
    if (this.client.route.isOwn) return 'once';
    const definition = toolHash(this.client.fleet.servers.currentDefinition(this.tool));
    const isKnown = this.#round !== undefined && this.#seal.useApproval(this.#round, definition);
    const answer = isKnown ? 'once' : await askClient(this.served, this.client.isNamed)(request, options);
    if (answer !== 'no') this.approved = definition;
    return answer;
  }

  override onSent(): void {
    if (!this.#isQueued) return;
    this.#isQueued = false;
    this.#measures.queued--;
    this.line.queued--;
  }

  ended(ending: CallEnding): void {
    this.onSent();
    countEnd(this.#measures, ending, this.#time.now() - this.#startedAt);
  }
}

/** The inputs of an earlier round, as the server is to get them. */
export function inputsOf({ inputResponses }: JsonObject, requestState: string | undefined): JsonObject | undefined {
  if (inputResponses === undefined && requestState === undefined) return undefined;
  return {
    ...(inputResponses !== undefined && { inputResponses }),
    ...(requestState !== undefined && { requestState }),
  };
}

/** The server's own answer, or what a model is to read of it. */
function resultOf(outcome: ToolOutcome): JsonObject {
  const { answer, text, content, isError } = outcome as OutcomeDraft;
  if (answer?.kind === 'error') throw new ProtocolError(answer.code, answer.message, answer.data);
  if (answer?.kind === 'result') {
    if (isObject(answer.result)) return answer.result;
    throw new ProtocolError(codes.internal, 'The server sent a result that is no object');
  }
  const pictures = content.filter(({ type }) => type === 'image' || type === 'audio');
  return { content: [{ type: 'text', text }, ...pictures], ...(isError && { isError }) };
}

const REFUSALS: readonly string[] = [
  'CALL_DENIED',
  'APPROVAL_REFUSED',
  'SERVER_DENIED',
  'SERVER_UNTRUSTED',
  'TOOL_DRIFTED',
];

function endingOf(error: unknown, isCancelled: boolean): CallEnding {
  if (!(error instanceof RuntimeError)) return isCancelled ? 'cancelled' : 'failed';
  const { code } = asRuntimeError(error);
  if (code === 'CALL_CANCELLED') return 'cancelled';
  if (code === 'OUTCOME_UNKNOWN') return 'unknown';
  return REFUSALS.includes(code) ? 'refused' : 'failed';
}
