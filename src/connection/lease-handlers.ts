// Owns the handlers that answer a server while no call is in flight: those of the leases of its session. They are known from
// the moment a lease is asked for, since a server may ask as soon as it is told `initialized`, before the opening has returned.

import type { ServerRequestMethod, ViewHandlers } from './client-handlers.ts';
import { RequestTarget } from './request-target.ts';

export interface RootsQuestion {
  /** Whether all leases have the same roots. */
  readonly haveSameRoots: boolean;
  /** The lease whose calls are in flight, if it is the only one. */
  readonly caller: object | undefined;
}

export class LeaseHandlers {
  #targets: readonly RequestTarget[] = [];
  readonly #onRootsAsked: ((question: RootsQuestion) => boolean) | undefined;

  /** `onRootsAsked`: for a session that several folders may share. Says whether the question is answered. */
  constructor(onRootsAsked?: (question: RootsQuestion) => boolean) {
    this.#onRootsAsked = onRootsAsked;
  }

  /** Leases of several folders may share the session. */
  get isOfFolders(): boolean {
    return this.#onRootsAsked !== undefined;
  }

  /** Returns how to remove them; open requests are withdrawn then. */
  add(handlers: ViewHandlers): () => void {
    const target = new RequestTarget(handlers);
    this.#targets = [...this.#targets, target];
    return () => {
      this.#targets = this.#targets.filter((other) => other !== target);
      target.withdraw();
    };
  }

  /** The server asks for roots. Whether there is one answer: leases of several folders have different roots. */
  admitRoots(caller: object | undefined): boolean {
    if (this.#onRootsAsked === undefined) return true;
    const haveSameRoots = new Set(this.#targets.map(({ handlers }) => handlers.roots)).size <= 1;
    return this.#onRootsAsked({ haveSameRoots, caller });
  }

  /**
   * The only lease. If several share the session, none of them is asked, except for `roots/list`: those of one folder have the same
   * roots, and `admitRoots` refuses the question to others.
   */
  targetOf(method: ServerRequestMethod): RequestTarget {
    const [target, another] = this.#targets;
    return target === undefined || (another !== undefined && method !== 'roots/list') ? new RequestTarget({}) : target;
  }
}
