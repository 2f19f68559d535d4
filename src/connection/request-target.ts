// Owns the target of server requests: the handlers of one call, of a view's calls or of a lease, and the requests that are
// open there.

import type { ViewHandlers } from './client-handlers.ts';

export interface WaitListener {
  /** Called with true while a person is asked, so that the time this takes does not count against the call's timeout. */
  onWaiting?(isWaiting: boolean): void;
}

export class RequestTarget {
  readonly handlers: ViewHandlers;
  readonly #listener: WaitListener | undefined;
  /** With whether a person answers them. Made with the first request; most servers send none. */
  #openRequests: Map<AbortController, boolean> | undefined;
  #forPerson = 0;

  constructor(handlers: ViewHandlers, listener?: WaitListener) {
    this.handlers = handlers;
    this.#listener = listener;
  }

  get isWaiting(): boolean {
    return this.#forPerson > 0;
  }

  begin(controller: AbortController, isForPerson: boolean): void {
    this.#openRequests ??= new Map();
    this.#openRequests.set(controller, isForPerson);
    if (!isForPerson) return;
    this.#forPerson++;
    if (this.#forPerson === 1) this.#listener?.onWaiting?.(true);
  }

  end(controller: AbortController): void {
    const isForPerson = this.#openRequests?.get(controller) ?? false;
    this.#openRequests?.delete(controller);
    if (!isForPerson) return;
    this.#forPerson--;
    if (this.#forPerson === 0) this.#listener?.onWaiting?.(false);
  }

  /** Aborts every open request: the call or lease has ended. `onWaiting` is called before this returns, and not after it. */
  withdraw(): void {
    for (const controller of [...(this.#openRequests?.keys() ?? [])]) {
      this.end(controller);
      controller.abort();
    }
  }
}
