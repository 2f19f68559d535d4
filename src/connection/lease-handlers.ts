// Owns the handlers that answer a server while no call is in flight: those of the leases of its session. They are known from
// the moment a lease is asked for, since a server may ask as soon as it is told `initialized`, before the opening has returned.

import type { ServerRequestMethod, ViewHandlers } from './client-handlers.ts';
import { RequestTarget } from './request-target.ts';

export class LeaseHandlers {
  #targets: readonly RequestTarget[] = [];

  /** Returns how to remove them; open requests are withdrawn then. */
  add(handlers: ViewHandlers): () => void {
    const target = new RequestTarget(handlers);
    this.#targets = [...this.#targets, target];
    return () => {
      this.#targets = this.#targets.filter((other) => other !== target);
      target.withdraw();
    };
  }

  /**
   * The only lease. If several share the session, none of them is asked, except for `roots/list`: leases share a session only if
   * their roots are the same.
   */
  targetOf(method: ServerRequestMethod): RequestTarget {
    const [target, another] = this.#targets;
    return target === undefined || (another !== undefined && method !== 'roots/list') ? new RequestTarget({}) : target;
  }
}
