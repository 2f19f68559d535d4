// Owns reading lines from a stream of bytes for `plexus connect`. Says nothing about their length: the gateway refuses what is too
// long for it. The serving side's reader does that, and would be half of this program.

const NEWLINE = 0x0a;

export class Lines {
  #held: Buffer[] = [];

  /** The lines that this chunk ends, without those that are blank. */
  push(chunk: Buffer): readonly string[] {
    const last = chunk.lastIndexOf(NEWLINE);
    if (last === -1) {
      this.#held.push(chunk);
      return [];
    }
    const whole = [...this.#held, chunk.subarray(0, last)];
    this.#held = last + 1 < chunk.length ? [chunk.subarray(last + 1)] : [];
    return linesIn(whole);
  }

  /** The last line, if the stream has ended without its newline. */
  end(): readonly string[] {
    const rest = this.#held;
    this.#held = [];
    return linesIn(rest);
  }
}

function linesIn(pieces: readonly Buffer[]): readonly string[] {
  const bytes = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  return bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
}
