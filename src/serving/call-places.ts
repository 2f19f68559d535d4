// Owns how many calls run at once and how many wait for their turn. A call that waits for its client's answer gives its place
// away meanwhile, and takes one back without waiting: otherwise calls that ask could block the reader of their own answers.

import { codes, ProtocolError } from './protocol.ts';

export class CallPlaces {
  readonly #inFlight: number;
  readonly #waiting: number;
  readonly #queue: (() => void)[] = [];
  #running = 0;
  #onRoom: (() => void)[] = [];
  #onIdle: (() => void)[] = [];

  constructor(inFlight: number, waiting: number) {
    this.#inFlight = inFlight;
    this.#waiting = waiting;
  }

  get running(): number {
    return this.#running;
  }

  /** No further call can wait. */
  get isFull(): boolean {
    return this.#queue.length >= this.#waiting;
  }

  /**
   * Resolves when the call may run; nothing to wait for if it may at once. Throws when too many wait already. A call that is
   * cancelled while it waits leaves the queue, and the promise rejects with the reason.
   */
  enter(call: { readonly signal: AbortSignal }): Promise<void> | undefined {
    if (this.#running < this.#inFlight) {
      this.#running++;
      return undefined;
    }
    if (this.isFull) throw new ProtocolError(codes.overloaded, 'Too many requests wait already; try again later');
    const { signal } = call;
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const onTurn = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = () => {
        this.#queue.splice(this.#queue.indexOf(onTurn), 1);
        reject(signal.reason);
        notifyAll(this.#onRoom.splice(0));
      };
      this.#queue.push(onTurn);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  leave(): void {
    const next = this.#queue.shift();
    // The place goes to the next one, unless calls that came back from a question are in its way.
    if (next !== undefined && this.#running <= this.#inFlight) next();
    else {
      this.#running--;
      if (next !== undefined) this.#queue.unshift(next);
    }
    if (!this.isFull) notifyAll(this.#onRoom.splice(0));
    if (this.#running === 0) notifyAll(this.#onIdle.splice(0));
  }

  /** Takes a place without waiting. */
  reenter(): void {
    this.#running++;
  }

  /** Resolves when another call can wait. */
  whenRoom(): Promise<void> {
    return this.isFull ? new Promise((resolve) => this.#onRoom.push(resolve)) : Promise.resolve();
  }

  /** Resolves when no call runs. */
  whenIdle(): Promise<void> {
    return this.#running > 0 ? new Promise((resolve) => this.#onIdle.push(resolve)) : Promise.resolve();
  }
}

function notifyAll(listeners: readonly (() => void)[]): void {
  for (const listener of listeners) listener();
}
