// Owns bytes that come in pieces and are wanted as one: joined once, when the last has come.

/** So many pieces become one: a peer that drips single bytes must not cost an object for each. */
const MERGED_PIECES = 1024;

export class Pieces {
  bytes = 0;
  #pieces: Buffer[] = [];
  #merged = 0;

  push(piece: Buffer): void {
    this.#pieces.push(piece);
    this.bytes += piece.length;
    if (this.#pieces.length < this.#merged + MERGED_PIECES) return;
    this.#pieces.push(Buffer.concat(this.#pieces.splice(this.#merged)));
    this.#merged += 1;
  }

  /** Empty afterwards. */
  take(): Buffer {
    const [only] = this.#pieces;
    const joined = this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.bytes = 0;
    this.#merged = 0;
    return joined;
  }
}
