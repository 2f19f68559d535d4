// Owns how many tasks of a kind may run at once: later ones wait in a queue. The limit may change: it is read at every step.

export class Slots {
  readonly #limit: () => number;
  #taken = 0;
  readonly #queue: (() => void)[] = [];

  constructor(limit: () => number) {
    this.#limit = limit;
  }

  /** Resolves with the function that releases the slot, which may be called twice; rejects when the signal aborts first. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#taken < this.#limit() && this.#queue.length === 0) this.#taken++;
    else await this.#wait(signal);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#taken--;
      this.#admit();
    };
  }

  /** Takes the slot in the name of those it admits, so that no later caller takes it first. */
  #admit(): void {
    while (this.#taken < this.#limit()) {
      const enter = this.#queue.shift();
      if (enter === undefined) return;
      this.#taken++;
      enter();
    }
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
