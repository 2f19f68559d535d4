// Owns the order of clients at one server. All of them call at once, until the server asks a question that could be for several of
// them: from then on it has one client at a time.

export class ServerLine {
  #isExclusive = false;
  /** The client whose calls run, once there is one at a time. */
  #holder: object | undefined;
  #running = 0;
  readonly #waiting: { readonly caller: object; readonly enter: () => void }[] = [];

  get isExclusive(): boolean {
    return this.#isExclusive;
  }

  makeExclusive(): void {
    this.#isExclusive = true;
  }

  /** `undefined` where the call may go at once; rejects with the signal's reason. Every call that entered must leave. */
  enter(caller: object, signal: () => AbortSignal): Promise<void> | undefined {
    const isFree = this.#running === 0 || (this.#holder === caller && this.#waiting.length === 0);
    if (this.#isExclusive && !isFree) return this.#wait(caller, signal());
    this.#running++;
    if (this.#isExclusive) this.#holder = caller;
    return undefined;
  }

  leave(): void {
    this.#running--;
    if (this.#running > 0) return;
    this.#holder = undefined;
    const next = this.#waiting[0]?.caller;
    if (next === undefined) return;
    this.#holder = next;
    // All calls of the next client go together.
    for (const each of this.#waiting.filter(({ caller }) => caller === next)) {
      this.#waiting.splice(this.#waiting.indexOf(each), 1);
      this.#running++;
      each.enter();
    }
  }

  #wait(caller: object, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.splice(this.#waiting.indexOf(place), 1);
        reject(signal.reason);
      };
      const enter = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const place = { caller, enter };
      if (signal.aborted) return reject(signal.reason);
      this.#waiting.push(place);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }
}
