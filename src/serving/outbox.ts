// Owns the order of what is written to one client, and what gives way while the client reads slowly: beyond the limit a progress
// message replaces the one before it and log messages are dropped, both counted. A change that waits already is not queued again.
// Answers and questions always stay.

export interface Outgoing {
  readonly text: string;
  /** Set for messages that may give way. Two with the same key tell the same thing, the later one better. */
  readonly mergeKey?: string;
}

export class Outbox<Entry extends Outgoing> {
  readonly #limit: number;
  readonly #write: (entry: Entry) => boolean;
  #queue: Entry[] = [];
  #isPaused = false;
  #onEmpty: (() => void)[] = [];
  /** How many messages gave way. */
  dropped = 0;

  /** `write` says whether more may follow at once; otherwise `resume` is called when it may. */
  constructor(limit: number, write: (entry: Entry) => boolean) {
    this.#limit = limit;
    this.#write = write;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  push(entry: Entry): void {
    if (!this.#isPaused && this.#queue.length === 0) this.#isPaused = !this.#write(entry);
    else if (entry.mergeKey === undefined) this.#queue.push(entry);
    else if (entry.mergeKey.startsWith(CHANGE)) this.#pushChange(entry);
    else if (this.#queue.length < this.#limit) this.#queue.push(entry);
    else this.#giveWay(entry, entry.mergeKey);
  }

  /** Puts entries before all that waits. */
  putBack(entries: readonly Entry[]): void {
    this.#queue = [...entries, ...this.#queue];
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    let written = 0;
    while (!this.#isPaused && written < this.#queue.length)
      this.#isPaused = !this.#write(this.#queue[written++] as Entry);
    this.#queue.splice(0, written);
    if (this.#queue.length > 0) return;
    const waiting = this.#onEmpty;
    this.#onEmpty = [];
    for (const each of waiting) each();
  }

  /** Resolves when nothing waits to be written. */
  whenEmpty(): Promise<void> {
    if (this.#queue.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onEmpty.push(resolve));
  }

  #pushChange(entry: Entry): void {
    if (this.#queue.some(({ mergeKey }) => mergeKey === entry.mergeKey)) this.dropped++;
    else this.#queue.push(entry);
  }

  #giveWay(entry: Entry, key: string): void {
    this.dropped++;
    const at = key === LOG ? -1 : this.#queue.findIndex(({ mergeKey }) => mergeKey === key);
    if (at >= 0) this.#queue[at] = entry;
  }
}

/** The key of log messages: none can stand for another. */
export const LOG = 'log';

/** How the key of a change begins. */
export const CHANGE = 'change ';
