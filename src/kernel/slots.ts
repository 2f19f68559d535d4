// Owns how many of a kind may be under way at once: who comes later waits in line.

export class Slots {
  readonly #limit: number;
  #taken = 0;
  readonly #line: (() => void)[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Resolves with how to give the slot back, which may be done more than once; rejects when the signal aborts first. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    // Whoever gives a slot back hands it to the next in line, so that nobody can slip in between.
    if (this.#taken >= this.#limit) await this.#turn(signal);
    else this.#taken++;
    let isMine = true;
    return () => {
      if (!isMine) return;
      isMine = false;
      const next = this.#line.shift();
      if (next) next();
      else this.#taken--;
    };
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.#line.splice(this.#line.indexOf(enter), 1);
        reject(signal.reason);
      };
      this.#line.push(enter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}
