// Owns one call of a client on its way to a server: counted while it waits and while it runs, and approved by its client's user where
// that is asked for.

import type { Cancellation } from '../kernel/cancellation.ts';
import type { Clock } from '../kernel/clock.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Tool } from '../model/tool.ts';
import type { ServedCall } from '../serving/service.ts';
import type { ApprovalAnswer, ApprovalRequest, QuestionOptions } from '../trust/approval.ts';
import { toolHash } from '../trust/tool-pin.ts';
import { askClient } from './approval.ts';
import type { GatewayClient } from './client.ts';
import { type CallEnding, countEnd, type ServerMeasures } from './measures.ts';
import { type RelayCaller, ServedRelay } from './served-relay.ts';
import type { ServerLine } from './server-line.ts';
import { inputsOf, type Round, type RoundSeal } from './state-of-round.ts';

export interface RelayedCallParts {
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
export class RelayedCall extends ServedRelay {
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

  constructor({ client, caller, served, tool, args, round, seal, line, measures, clock }: RelayedCallParts) {
    const { shaping, approval } = client.route.profile;
    super(caller, served, {
      ...{ server: tool.id.server, isRaw: shaping === 'raw', isOwnOrder: approval === 'client' },
      ...{ inputs: round && inputsOf(served, round), clock },
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
    client.fleet.requestBegan();
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
    if (this.client.route.isOfCommands) return 'once';
    const definition = toolHash(this.client.fleet.servers.currentDefinition(this.tool));
    const isOfRound = this.#round !== undefined && this.#seal.useApproval(this.#round, definition);
    const isKnown = isOfRound || this.approved === definition;
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
    this.client.fleet.requestEnded();
    countEnd(this.#measures, ending, this.#time.now() - this.#startedAt);
  }
}
