// Owns handing on the calls of clients: the limits of each server, the result as its client is to get it, and how a failure is told.
// The hot path of the gateway; a call on its way is in `relayed-call.ts`.

import { type Beat, Heartbeat } from '../call/heartbeat.ts';
import type { OutcomeDraft } from '../call/pipeline.ts';
import type { Clock } from '../kernel/clock.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import type { RosterEntry } from '../kernel/roster.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Tool, ToolOutcome } from '../model/tool.ts';
import { codes, invalidParams, ProtocolError } from '../serving/protocol.ts';
import type { ServedCall } from '../serving/service.ts';
import type { RelayedCallOptions } from '../turn.ts';
import { type GatewayClient, refusalOf } from './client.ts';
import { failureAnswer } from './commands/told-failure.ts';
import { failureResult } from './failures.ts';
import type { CallEnding, Measures } from './measures.ts';
import { RelayedCall } from './relayed-call.ts';
import { withUrisOf } from './result-uris.ts';
import { passedMeta } from './served-relay.ts';
import type { RoundSeal } from './state-of-round.ts';

export interface CallRelaysDeps {
  readonly seal: RoundSeal;
  readonly measures: Measures;
  readonly clock: Clock;
  /** How many calls may wait for one server. */
  readonly queuedCalls: number;
}

const NO_ARGUMENTS: JsonObject = Object.freeze({});

function argumentsOf({ params: { arguments: given } }: ServedCall): JsonObject {
  const args = given ?? NO_ARGUMENTS;
  if (isObject(args)) return args;
  throw invalidParams('arguments must be an object');
}

export class CallRelays {
  readonly #deps: CallRelaysDeps;
  readonly #heartbeat: Heartbeat;

  constructor(deps: CallRelaysDeps) {
    this.#deps = deps;
    this.#heartbeat = new Heartbeat(deps.clock, limits.relay.progressMs);
  }

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
    const round = served.peer.era === 'modern' ? this.#deps.seal.open(served, client.placeOf(server)) : undefined;
    const turn = line.enter(caller, served, this.#deps.clock);
    const measures = this.#deps.measures.of(server);
    const { seal, clock } = this.#deps;
    const relay = new RelayedCall({ client, caller, served, tool, args, round, seal, line, measures, clock });
    const isHeard = served.meta['progressToken'] !== undefined && !client.route.isOfCommands;
    const beat = isHeard ? this.#heartbeat.begin(relay) : undefined;
    if (turn === undefined) return this.#perform(relay, beat);
    return turn.then(
      () => this.#perform(relay, beat),
      (error: unknown) => {
        if (beat) this.#heartbeat.end(beat);
        relay.ended(error instanceof ProtocolError ? 'refused' : 'cancelled');
        throw error;
      },
    );
  }

  /** A call that could not be handed on; its server is not known, or did not list its tools. */
  failed({ route, fleet }: GatewayClient, error: unknown): JsonObject {
    // A command ends with the failure itself; a model reads it.
    if (route.isOfCommands) throw failureAnswer(error);
    return failureResult(error, fleet.commandOptions());
  }

  #perform(relay: RelayedCall, beat: RosterEntry<Beat> | undefined): Promise<JsonObject> {
    const { client, caller, call: served, tool, args, line } = relay;
    const { isOfCommands } = client.route;
    const meta = passedMeta(served.meta);
    const options: RelayedCallOptions = { relay, ...(meta && { meta }), ...(isOfCommands && COMMAND_LIMIT) };
    const place = caller.begin(tool.id.server, served, relay);
    const over = (isDone: boolean) => {
      caller.end(place, isDone);
      line.leave();
      if (beat) this.#heartbeat.end(beat);
    };
    return client
      .turn()
      .call(tool.name, args, options)
      .then(
        (outcome) => {
          over(!outcome.isError);
          relay.ended(outcome.isError ? 'error' : 'ok');
          const result = withUrisOf(client, tool.id.server, resultOf(outcome));
          return this.#deps.seal.passed(served, client.placeOf(tool.id.server), result, relay.approved);
        },
        (error: unknown) => {
          over(false);
          relay.ended(endingOf(error, relay.isCancelled));
          if (!(error instanceof RuntimeError) && relay.isCancelled) throw error;
          return this.failed(client, error);
        },
      );
  }
}

/** A command has the limit of its call itself, and ends the link when it is over. */
const COMMAND_LIMIT = Object.freeze({ timeoutMs: 0 });

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
  const { code } = error;
  if (code === 'CALL_CANCELLED') return 'cancelled';
  if (code === 'OUTCOME_UNKNOWN') return 'unknown';
  return REFUSALS.includes(code) ? 'refused' : 'failed';
}
