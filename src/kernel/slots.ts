// Owns how many tasks of a kind may run at once: later ones wait in a queue.

export class Slots {
  readonly #limit: number;
  #taken = 0;
  readonly #queue: (() => void)[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Resolves with the function that releases the slot, which may be called twice; rejects when the signal aborts first. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    // A released slot goes directly to the next in the queue, so that no later caller takes it first.
    if (this.#taken >= this.#limit) await this.#wait(signal);
    else this.#taken++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const next = this.#queue.shift();
      if (next) next();
      else this.#taken--;
    };
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.#queue.splice(this.#queue.indexOf(enter), 1);
        reject(signal.reason);
      };
      this.#queue.push(enter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}
