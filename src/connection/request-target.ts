// Owns whom a server's question is for – a call, the calls of one caller, or whoever holds the session – and what of it is open.

import type { ViewHandlers } from './client-handlers.ts';

export interface WaitListener {
  /** Told that the server waits for us, and that it does no longer: its silence meanwhile is not its own. */
  readonly onWaiting?: ((isWaiting: boolean) => void) | undefined;
}

export class RequestTarget {
  readonly handlers: ViewHandlers;
  readonly #waiter: WaitListener;
  readonly #openRequests = new Set<AbortController>();

  constructor(handlers: ViewHandlers, waiter: WaitListener = {}) {
    this.handlers = handlers;
    this.#waiter = waiter;
  }

  get isWaiting(): boolean {
    return this.#openRequests.size > 0;
  }

  begin(controller: AbortController): void {
    this.#openRequests.add(controller);
    if (this.#openRequests.size === 1) this.#waiter.onWaiting?.(true);
  }

  end(controller: AbortController): void {
    if (this.#openRequests.delete(controller) && this.#openRequests.size === 0) this.#waiter.onWaiting?.(false);
  }

  /** It is gone: whatever it was asked is moot. It is told before this returns, so that nothing comes after its end. */
  withdraw(): void {
    for (const controller of [...this.#openRequests]) {
      this.end(controller);
      controller.abort();
    }
  }
}
