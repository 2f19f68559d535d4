// Owns how many calls run at once and how many wait for their turn. A call that waits for its client's answer gives its place
// away meanwhile, and takes one back without waiting: otherwise calls that ask could block the reader of their own answers.

import { codes, ProtocolError } from './protocol.ts';

/** The places of all servers that share them. */
export class SharedPlaces {
  readonly inFlight: number;
  readonly waiting: number;
  running = 0;
  readonly queue: (() => void)[] = [];
  readonly onRoom: (() => void)[] = [];

  constructor(inFlight: number, waiting: number) {
    this.inFlight = inFlight;
    this.waiting = waiting;
  }

  /** No further call can wait. */
  get isFull(): boolean {
    return this.queue.length >= this.waiting;
  }
}

export class CallPlaces {
  readonly #shared: SharedPlaces;
  #running = 0;
  readonly #onIdle: (() => void)[] = [];

  constructor(shared: SharedPlaces) {
    this.#shared = shared;
  }

  /** Of this server. */
  get running(): number {
    return this.#running;
  }

  get isFull(): boolean {
    return this.#shared.isFull;
  }

  /**
   * Resolves when the call may run; nothing to wait for if it may at once. Throws when too many wait already. A call that is
   * cancelled while it waits leaves the queue, and the promise rejects with the reason.
   */
  enter(call: { readonly signal: AbortSignal }): Promise<void> | undefined {
    const shared = this.#shared;
    if (shared.running < shared.inFlight) {
      this.reenter();
      return undefined;
    }
    if (shared.isFull) throw new ProtocolError(codes.overloaded, 'Too many requests wait already; try again later');
    const { signal } = call;
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const onTurn = () => {
        signal.removeEventListener('abort', onAbort);
        this.reenter();
        resolve();
      };
      const onAbort = () => {
        shared.queue.splice(shared.queue.indexOf(onTurn), 1);
        reject(signal.reason);
        notifyAll(shared.onRoom);
      };
      shared.queue.push(onTurn);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  leave(): void {
    const shared = this.#shared;
    shared.running--;
    this.#running--;
    // The place goes to the next one, unless calls that came back from a question are in its way.
    if (shared.running < shared.inFlight) shared.queue.shift()?.();
    if (!shared.isFull) notifyAll(shared.onRoom);
    if (this.#running === 0) notifyAll(this.#onIdle);
  }

  /** Takes a place without waiting. */
  reenter(): void {
    this.#shared.running++;
    this.#running++;
  }

  /** Resolves when another call can wait, unless one that has waited longer is faster. */
  whenRoom(): Promise<void> {
    const { isFull, onRoom } = this.#shared;
    return isFull ? new Promise((resolve) => onRoom.push(resolve)) : Promise.resolve();
  }

  /** Resolves when no call of this server runs. */
  whenIdle(): Promise<void> {
    return this.#running > 0 ? new Promise((resolve) => this.#onIdle.push(resolve)) : Promise.resolve();
  }
}

function notifyAll(listeners: (() => void)[]): void {
  if (listeners.length === 0) return;
  for (const listener of listeners.splice(0)) listener();
}
