// Owns the `requestState` of a modern server on its way through the gateway: sealed, so that only the client that got it can bring
// it back, with the same request, at the same address, to the same server, and not for ever. The key may be stored, so that a restart
// keeps open rounds. The state may hold that the client's user has agreed to the call: that counts for one call of the same tool only,
// however often the state comes.

import { createHash, randomUUID } from 'node:crypto';
import type { Clock } from '../kernel/clock.ts';
import { canonicalJson, isObject, type JsonObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import { invalidParams } from '../serving/protocol.ts';
import type { ServedCall } from '../serving/service.ts';
import { StateSeal } from '../serving/state-seal.ts';

/** A round of questions, as far as it matters when its client comes back. */
export interface Round {
  /** As the server sent it; it may have sent none. */
  readonly state?: string;
  /** The yes of the client's user, for `useApproval`. */
  readonly approval?: RoundApproval;
}

interface RoundApproval {
  readonly id: string;
  /** The hash of the tool's definition that the user agreed to. */
  readonly definition: string;
}

/** The place that a round is bound to beside its request: a name alone may mean another server at another address, or after an edit. */
export interface RoundPlace {
  /** The path of the route. */
  readonly path: string;
  /** The identity of the server. */
  readonly server: string;
}

export interface RoundToSeal {
  readonly state?: string;
  /** The hash of the tool's definition to which the client's user has agreed. */
  readonly approved?: string | undefined;
}

export interface RoundSealOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly key?: Buffer | undefined;
}

const NO_ROUND: Round = {};
const AGAIN = 'send the request again without requestState and inputResponses';

export class RoundSeal {
  readonly #seal: StateSeal;
  readonly #clock: Pick<Clock, 'now'>;
  /** The approvals that no call has used yet, the oldest first, with their ends. A used one is forgotten: nothing is kept to know it. */
  readonly #approvals = new Map<string, number>();
  /** Tells the approvals of this gateway from those of one before it, which are not known. */
  readonly #gateway = randomUUID();

  constructor({ clock, key }: RoundSealOptions) {
    this.#clock = clock;
    this.#seal = new StateSeal(key);
  }

  /** Whether the state was sealed here; any other is of a call that the serving side suspended. */
  readonly isOwn = (requestState: unknown): boolean => this.#open(requestState) !== undefined;

  seal(served: ServedCall, place: RoundPlace, { state, approved }: RoundToSeal): string {
    const until = this.#clock.now() + limits.relay.roundMs;
    const added = approved !== undefined && { approval: this.#addApproval(until), definition: approved };
    return this.#seal.seal({
      ...{ round: bindingOf(served, place), until },
      ...(added && { ...added, gateway: this.#gateway }),
      ...(state !== undefined && { state }),
    });
  }

  /** The round that the request continues. Throws -32602 for a state of another client, request or server, an old one, and a used one. */
  open(served: ServedCall, place: RoundPlace): Round {
    const opened = this.#open(served.params['requestState']);
    if (opened === undefined) return NO_ROUND;
    const { round, until, state, approval, definition, gateway } = opened;
    if (round !== bindingOf(served, place)) throw invalidParams('requestState belongs to another request');
    if (typeof until !== 'number' || until <= this.#clock.now())
      throw invalidParams(`requestState has expired: ${AGAIN}`);
    const passed = typeof state === 'string' ? { state } : NO_ROUND;
    // Whether a call has used the approval of an earlier gateway is not known: its client is asked again.
    if (typeof approval !== 'string' || typeof definition !== 'string' || gateway !== this.#gateway) return passed;
    if (!this.#approvals.has(approval)) throw invalidParams(`requestState was used already: ${AGAIN}`);
    return { ...passed, approval: { id: approval, definition } };
  }

  /** The result for the client: where it is a question to a modern one, its state is sealed. `approved`: as for `seal`. */
  passed(served: ServedCall, place: RoundPlace, result: JsonObject, approved?: string): JsonObject {
    const { resultType, requestState } = result;
    if (resultType !== 'input_required' || served.peer.era !== 'modern') return result;
    if (typeof requestState !== 'string' && approved === undefined) return result;
    const state = typeof requestState === 'string' ? { state: requestState } : NO_ROUND;
    return { ...result, requestState: this.seal(served, place, { ...state, approved }) };
  }

  /** Whether the round has a yes for this definition of the tool that was not used yet. From now on it is used. */
  useApproval({ approval }: Round, definition: string): boolean {
    return approval !== undefined && this.#approvals.delete(approval.id) && approval.definition === definition;
  }

  /** Old ones, and beyond a number the oldest, are forgotten: their clients have to begin again. */
  #addApproval(until: number): string {
    for (const [approval, end] of this.#approvals) {
      if (end > this.#clock.now() && this.#approvals.size < limits.relay.approvedRounds) break;
      this.#approvals.delete(approval);
    }
    const added = randomUUID();
    this.#approvals.set(added, until);
    return added;
  }

  #open(state: unknown): JsonObject | undefined {
    const opened = typeof state === 'string' ? this.#seal.open(state) : undefined;
    return opened?.ok && isObject(opened.value) && typeof opened.value['round'] === 'string' ? opened.value : undefined;
  }
}

/** The answers of the client and the state of its round, as the server is to get them. */
export function inputsOf({ params: { inputResponses } }: ServedCall, { state }: Round): JsonObject | undefined {
  if (inputResponses === undefined && state === undefined) return undefined;
  return {
    ...(inputResponses !== undefined && { inputResponses }),
    ...(state !== undefined && { requestState: state }),
  };
}

function bindingOf({ method, params, peer }: ServedCall, { path, server }: RoundPlace): string {
  const { _meta: _, inputResponses: __, requestState: ___, ...own } = params;
  const text = canonicalJson({ method, principal: peer.principal.id, path, server, own });
  return createHash('sha256').update(text).digest('base64url');
}
