// Owns bytes that arrive in pieces and are needed as one: they are joined once, after the last piece.

import { isAscii } from 'node:buffer';

/** So many pieces are merged into one: a server that sends single bytes must not cost an object for each. */
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

  /** All bytes as one; nothing is kept. */
  take(): Buffer {
    const pieces = this.takeEach();
    const [only] = pieces;
    return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
  }

  /**
   * All bytes as text, where they are ASCII as nearly every message is; otherwise `undefined`, and nothing is taken. Each piece is
   * read where it lies, since joining the bytes first would copy them once more.
   */
  takeAscii(): string | undefined {
    if (!this.#pieces.every((piece) => isAscii(piece))) return undefined;
    return this.takeEach()
      .map((piece) => piece.toString('latin1'))
      .join('');
  }

  /** All bytes without joining them; nothing is kept. */
  takeEach(): readonly Buffer[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.bytes = 0;
    this.#merged = 0;
    return pieces;
  }
}
