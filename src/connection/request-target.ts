// Owns whom a server's question is for – a call, the calls of one caller, or whoever holds the session – and what of it is open.

import type { ViewHandlers } from './client-handlers.ts';

export interface Waiter {
  /** Told that the server waits for us, and that it does no longer: its silence meanwhile is not its own. */
  readonly onWaiting?: ((isWaiting: boolean) => void) | undefined;
}

export class RequestTarget {
  readonly handlers: ViewHandlers;
  readonly #waiter: Waiter;
  readonly #open = new Set<AbortController>();

  constructor(handlers: ViewHandlers, waiter: Waiter = {}) {
    this.handlers = handlers;
    this.#waiter = waiter;
  }

  get isWaiting(): boolean {
    return this.#open.size > 0;
  }

  begin(question: AbortController): void {
    this.#open.add(question);
    if (this.#open.size === 1) this.#waiter.onWaiting?.(true);
  }

  end(question: AbortController): void {
    if (this.#open.delete(question) && this.#open.size === 0) this.#waiter.onWaiting?.(false);
  }

  /** It is gone: whatever it was asked is moot. It is told before this returns, so that nothing comes after its end. */
  withdraw(): void {
    for (const question of [...this.#open]) {
      this.end(question);
      question.abort();
    }
  }
}
