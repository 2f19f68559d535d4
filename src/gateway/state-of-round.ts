// Owns the `requestState` of a modern server on its way through the gateway: sealed, so that only the client that got it can bring
// it back, with the same request, to the same server. The key may be stored, so that a restart keeps open rounds.

import { createHash } from 'node:crypto';
import { canonicalJson, isObject, type JsonObject } from '../kernel/json.ts';
import { invalidParams } from '../serving/protocol.ts';
import type { ServedCall } from '../serving/service.ts';
import { StateSeal } from '../serving/state-seal.ts';

/** A round of questions, as far as it matters when its client comes back. */
export interface Round {
  /** As the server sent it; it may have sent none. */
  readonly state?: string;
  /** The client's user has agreed to the call. */
  readonly isApproved: boolean;
}

const NO_ROUND: Round = { isApproved: false };

export class RoundSeal {
  readonly #seal: StateSeal;

  constructor(key?: Buffer) {
    this.#seal = new StateSeal(key);
  }

  /** Whether the state was sealed here; any other is of a call that the serving side suspended. */
  readonly isOwn = (requestState: unknown): boolean => this.#open(requestState) !== undefined;

  seal(served: ServedCall, { state, isApproved }: Round): string {
    return this.#seal.seal({ round: bindingOf(served), isApproved, ...(state !== undefined && { state }) });
  }

  /** The round that the request continues. Throws -32602 for a state of another client or request. */
  open(served: ServedCall): Round {
    const opened = this.#open(served.params['requestState']);
    if (opened === undefined) return NO_ROUND;
    const { round, state, isApproved } = opened;
    if (round !== bindingOf(served)) throw invalidParams('requestState belongs to another request');
    return { isApproved: isApproved === true, ...(typeof state === 'string' && { state }) };
  }

  #open(state: unknown): JsonObject | undefined {
    const opened = typeof state === 'string' ? this.#seal.open(state) : undefined;
    return opened?.ok && isObject(opened.value) && typeof opened.value['round'] === 'string' ? opened.value : undefined;
  }
}

function bindingOf({ method, params, peer }: ServedCall): string {
  const { _meta: _, inputResponses: __, requestState: ___, ...own } = params;
  const text = canonicalJson({ method, principal: peer.principal.id, own });
  return createHash('sha256').update(text).digest('base64url');
}
