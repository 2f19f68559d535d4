// Owns finding any of many exact strings in a text: leftmost first, then longest, in a time that hardly depends on how many
// strings there are (the algorithm of Wu and Manber).

import { atOnce, type Slices } from '../../kernel/slices.ts';

/** A hash of so many characters tells how far away the next possible end of a needle is. */
const BLOCK = 3;
const HASH_MASK = 0xffff;
/** The scan compares this much of each needle's beginning; a shorter needle shortens the window for all. */
const LONGEST_WINDOW = 32;
const CHUNK = 32 * 1024;
/** Shared by all scans, which are synchronous. Wide characters lose a byte here, so a hit is compared in the text itself. */
const bytes = Buffer.alloc(CHUNK);

export interface FoundNeedle<Needle> {
  readonly needle: Needle;
  readonly at: number;
}

export class NeedleScan<Needle extends { readonly text: string }> {
  readonly #window: number;
  readonly #shifts: Uint8Array;
  /** By the hash of the window's last block; the longest needle first. */
  readonly #byHash = new Map<number, Needle[]>();

  /** No needle may be shorter than a block. */
  constructor(needles: readonly Needle[]) {
    this.#window = Math.min(LONGEST_WINDOW, ...needles.map(({ text }) => text.length));
    this.#shifts = new Uint8Array(HASH_MASK + 1).fill(this.#window - BLOCK + 1);
    for (const needle of [...needles].sort((a, b) => b.text.length - a.text.length)) {
      for (let end = BLOCK - 1; end < this.#window; end++) {
        const hash = hashAt(needle.text, end);
        this.#shifts[hash] = Math.min(this.#shifts[hash] ?? 0, this.#window - 1 - end);
        if (end === this.#window - 1) this.#byHash.set(hash, [...(this.#byHash.get(hash) ?? []), needle]);
      }
    }
  }

  /** Whether the text holds a needle: several times as fast as `find`, and the answer is nearly always no. */
  isIn(text: string): boolean {
    return text.length <= CHUNK ? this.#nextPart(text, 0) === undefined : atOnce(this.isInSlices(text));
  }

  *isInSlices(text: string): Slices<boolean> {
    for (let begin: number | undefined = 0; begin + this.#window <= text.length; ) {
      begin = this.#nextPart(text, begin);
      if (begin === undefined) return true;
      yield CHUNK;
    }
    return false;
  }

  /** The place at which the search goes on behind this part of the text; `undefined` at a needle. */
  #nextPart(text: string, begin: number): number | undefined {
    if (begin + this.#window > text.length) return text.length;
    const part = text.length <= CHUNK ? text : text.slice(begin, begin + CHUNK);
    const next = this.#passed(bytes.write(part, 'latin1'), text, begin);
    return next === 0 ? undefined : begin + next - (this.#window - 1);
  }

  /** Scans two halves in one loop, because the steps of one half depend on each other. Returns 0 at a needle. */
  #passed(size: number, text: string, begin: number): number {
    const shifts = this.#shifts;
    const first = this.#window - 1;
    const middle = (first + size) >> 1;
    let [one, two] = [first, middle];
    while (one < middle && two < size) {
      const step = shifts[hashOfBytes(one)] as number;
      const other = shifts[hashOfBytes(two)] as number;
      if (step === 0 && this.#needleAt(text, begin + one) !== undefined) return 0;
      if (other === 0 && this.#needleAt(text, begin + two) !== undefined) return 0;
      one += step || 1;
      two += other || 1;
    }
    return this.#passedFrom(one, middle, text, begin) && this.#passedFrom(two, size, text, begin);
  }

  #passedFrom(from: number, end: number, text: string, begin: number): number {
    let at = from;
    while (at < end) {
      const step = this.#shifts[hashOfBytes(at)] as number;
      if (step === 0 && this.#needleAt(text, begin + at) !== undefined) return 0;
      at += step || 1;
    }
    return at;
  }

  /** Every needle with its position, without overlaps. */
  find(text: string): readonly FoundNeedle<Needle>[] {
    return atOnce(this.findInSlices(text));
  }

  *findInSlices(text: string): Slices<readonly FoundNeedle<Needle>[]> {
    const found: FoundNeedle<Needle>[] = [];
    let yielded = 0;
    for (let end = this.#window - 1; end < text.length; ) {
      const shift = this.#shifts[hashAt(text, end)] ?? 0;
      const needle = shift === 0 ? this.#needleAt(text, end) : undefined;
      if (needle !== undefined) found.push({ needle, at: end - this.#window + 1 });
      end += needle?.text.length ?? (shift || 1);
      if (end - yielded < CHUNK) continue;
      yield end - yielded;
      yielded = end;
    }
    return found;
  }

  /** The needle whose window ends at `end`. */
  #needleAt(text: string, end: number): Needle | undefined {
    const at = end - this.#window + 1;
    return this.#byHash.get(hashAt(text, end))?.find((each) => text.startsWith(each.text, at));
  }
}

/** The hash of the block of bytes that ends at `end`. */
const hashOfBytes = (end: number) =>
  (((bytes[end] as number) << 8) ^ ((bytes[end - 1] as number) << 4) ^ (bytes[end - 2] as number)) & HASH_MASK;

/** The same hash from the text, with the lower byte of each character. */
const hashAt = (text: string, end: number) =>
  (((text.charCodeAt(end) & 0xff) << 8) ^
    ((text.charCodeAt(end - 1) & 0xff) << 4) ^
    (text.charCodeAt(end - 2) & 0xff)) &
  HASH_MASK;
