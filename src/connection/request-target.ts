// Owns the target of server requests: the handlers of one call, of a view's calls or of a lease, and the requests that are
// open there.

import type { ViewHandlers } from './client-handlers.ts';

export interface WaitListener {
  /** Called with true while a person is asked, so that the time this takes does not count against the call's timeout. */
  onWaiting?(isWaiting: boolean): void;
}

export class RequestTarget {
  readonly handlers: ViewHandlers;
  readonly #listener: WaitListener;
  readonly #openRequests = new Set<AbortController>();
  /** Those of the open requests that a person answers. */
  readonly #forPerson = new Set<AbortController>();

  constructor(handlers: ViewHandlers, listener: WaitListener = {}) {
    this.handlers = handlers;
    this.#listener = listener;
  }

  get isWaiting(): boolean {
    return this.#forPerson.size > 0;
  }

  begin(controller: AbortController, isForPerson: boolean): void {
    this.#openRequests.add(controller);
    if (!isForPerson) return;
    this.#forPerson.add(controller);
    if (this.#forPerson.size === 1) this.#listener.onWaiting?.(true);
  }

  end(controller: AbortController): void {
    this.#openRequests.delete(controller);
    if (this.#forPerson.delete(controller) && this.#forPerson.size === 0) this.#listener.onWaiting?.(false);
  }

  /** Aborts every open request: the call or lease has ended. `onWaiting` is called before this returns, and not after it. */
  withdraw(): void {
    for (const controller of [...this.#openRequests]) {
      this.end(controller);
      controller.abort();
    }
  }
}
