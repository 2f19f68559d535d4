// Owns what clients of a served agent have said about their sandbox: in one that only reads, the agent only reads too. Whatever a
// client says, it never gets more than the configured policy.

import { isObject, type JsonObject } from '../kernel/json.ts';
import type { Peer } from '../serving/door.ts';

/** The capability that asks for the message, and the message, which some clients send as a request. */
export const SANDBOX_CAPABILITY = 'codex/sandbox-state';
export const SANDBOX_METHOD = 'codex/sandbox-state/update';

const WRITING: readonly unknown[] = ['workspace-write', 'danger-full-access', 'external-sandbox'];

export class SandboxStates {
  /** By the session of a client of the older era, otherwise by its principal. */
  readonly #readOnly = new Map<unknown, boolean>();

  /** The latest state of a client counts. One that is not understood may be strict, so it counts as such. */
  accept({ sandboxPolicy }: JsonObject, peer: Peer): void {
    this.#readOnly.set(keyOf(peer), !(isObject(sandboxPolicy) && WRITING.includes(sandboxPolicy['type'])));
  }

  isReadOnly(peer: Peer): boolean {
    return this.#readOnly.get(keyOf(peer)) === true;
  }

  forget(peer: Peer): void {
    this.#readOnly.delete(keyOf(peer));
  }
}

const keyOf = ({ session, principal }: Peer): unknown => session ?? principal.id;
