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

  /** The same as text. */
  takeText(): string {
    const bytes = this.take();
    return asciiText(bytes) ?? bytes.toString('utf8');
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

/** The text of bytes that are ASCII, as nearly every message is: it is read in half the time. `undefined` for all others. */
export const asciiText = (bytes: Buffer): string | undefined => (isAscii(bytes) ? bytes.toString('latin1') : undefined);
