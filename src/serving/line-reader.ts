// Owns reading a client's messages from a pipe: one per line, however the bytes were cut. A line over the limit is dropped while
// it arrives, and only its id is read.

import type { MessageId } from '../model/server.ts';
import { IdScanner } from '../transport/id-scanner.ts';
import { Pieces } from '../transport/pieces.ts';

export type ReadLine =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'too-long'; readonly id: MessageId | null };

const NEWLINE = 0x0a;

export class LineReader {
  readonly #maxBytes: number;
  readonly #held = new Pieces();
  #scanner: IdScanner | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that this chunk ends. */
  *push(chunk: Buffer): Generator<ReadLine> {
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to !== -1; to = chunk.indexOf(NEWLINE, from)) {
      this.#hold(chunk.subarray(from, to));
      from = to + 1;
      yield* this.end();
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from));
  }

  /** The line that has been held so far, unless it is blank; also at the end of the input. */
  *end(): Generator<ReadLine> {
    const scanner = this.#scanner;
    this.#scanner = undefined;
    if (scanner !== undefined) yield { kind: 'too-long', id: scanner.id() ?? null };
    else if (this.#held.bytes > 0) {
      const text = this.#held.takeText().trim();
      if (text !== '') yield { kind: 'line', text };
    }
  }

  #hold(piece: Buffer): void {
    if (this.#scanner !== undefined) {
      this.#scanner.push(piece);
      return;
    }
    this.#held.push(piece);
    if (this.#held.bytes <= this.#maxBytes) return;
    this.#scanner = new IdScanner();
    for (const each of this.#held.takeEach()) this.#scanner.push(each);
  }
}
