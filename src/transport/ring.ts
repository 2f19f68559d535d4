// Owns keeping the last bytes of a stream that is not kept as a whole.

const SMALLEST = 1024;
const EMPTY = Buffer.alloc(0);

/** Keeps the newest `capacity` bytes; allocates memory only as bytes are written. */
export class Ring {
  readonly #capacity: number;
  #bytes = EMPTY;
  /** How many bytes were ever written; modulo the capacity, the position of the next byte. */
  #written = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  push(chunk: Buffer): void {
    const kept = chunk.length > this.#capacity ? chunk.subarray(-this.#capacity) : chunk;
    this.#written += chunk.length - kept.length;
    if (this.#written + kept.length > this.#bytes.length) this.#grow(this.#written + kept.length);
    const copied = kept.copy(this.#bytes, this.#written % this.#bytes.length);
    kept.copy(this.#bytes, 0, copied);
    this.#written += kept.length;
  }

  text(): string {
    if (this.#written <= this.#capacity) return this.#bytes.toString('utf8', 0, this.#written);
    const oldest = this.#written % this.#capacity;
    return Buffer.concat([this.#bytes.subarray(oldest), this.#bytes.subarray(0, oldest)]).toString('utf8');
  }

  /** Bytes wrap around only once the buffer has its full size, so growing keeps every byte in its position. */
  #grow(needed: number): void {
    if (this.#bytes.length === this.#capacity) return;
    const doubled = Math.max(SMALLEST, needed, this.#bytes.length * 2);
    const grown = Buffer.alloc(Math.min(doubled, this.#capacity));
    this.#bytes.copy(grown);
    this.#bytes = grown;
  }
}
