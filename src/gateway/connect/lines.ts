// Owns reading lines from a stream of bytes for `plexus connect`. A long line is left to the gateway, which refuses what is too long for
// it; only one that no gateway takes is dropped here. The serving side's reader would be half of this program.

const NEWLINE = 0x0a;
/** A string cannot be much longer, and a limit of a gateway is far below. */
const MOST_BYTES = 256 * 1024 * 1024;

export class Lines {
  readonly #onTooLong: () => void;
  readonly #mostBytes: number;
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** The rest of a line that was too long is still coming. */
  #isDropping = false;

  constructor(onTooLong: () => void, mostBytes = MOST_BYTES) {
    this.#onTooLong = onTooLong;
    this.#mostBytes = mostBytes;
  }

  /** The lines that this chunk ends, without those that are blank. */
  push(chunk: Buffer): readonly string[] {
    const last = chunk.lastIndexOf(NEWLINE);
    if (last === -1) {
      this.#hold(chunk);
      return [];
    }
    const first = chunk.indexOf(NEWLINE);
    this.#hold(chunk.subarray(0, first));
    const lines = this.end();
    this.#hold(chunk.subarray(last + 1));
    return first === last ? lines : [...lines, ...linesIn(chunk.subarray(first + 1, last))];
  }

  /** The line that is held so far; the last one, if the stream has ended without its newline. */
  end(): readonly string[] {
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    this.#isDropping = false;
    return linesIn(held.length === 1 ? (held[0] as Buffer) : Buffer.concat(held));
  }

  #hold(piece: Buffer): void {
    if (this.#isDropping || piece.length === 0) return;
    this.#held.push(piece);
    this.#heldBytes += piece.length;
    if (this.#heldBytes <= this.#mostBytes) return;
    this.#held = [];
    this.#isDropping = true;
    this.#onTooLong();
  }
}

const linesIn = (bytes: Buffer): readonly string[] =>
  bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
