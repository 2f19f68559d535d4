// Owns finding any of many exact strings in a text, the leftmost and of those the longest, in a time that hardly depends on how
// many they are.

import { limits } from '../../model/limits.ts';

/** Of so many characters a hash says how far the next possible end of a needle is. */
const BLOCK = 3;
const HASH_BITS = 16;
const WINDOW = limits.secretChars;

export class NeedleScan<Needle extends { readonly text: string }> {
  readonly #shifts = new Uint8Array(1 << HASH_BITS).fill(WINDOW - BLOCK + 1);
  /** By the hash of the last block of the first `WINDOW` characters; the longest first. */
  readonly #byHash = new Map<number, Needle[]>();

  /** None is shorter than `limits.secretChars`. */
  constructor(needles: readonly Needle[]) {
    for (const needle of [...needles].sort((a, b) => b.text.length - a.text.length)) {
      for (let end = BLOCK - 1; end < WINDOW; end++) {
        const hash = hashAt(needle.text, end);
        this.#shifts[hash] = Math.min(this.#shifts[hash] ?? 0, WINDOW - 1 - end);
        if (end === WINDOW - 1) this.#byHash.set(hash, [...(this.#byHash.get(hash) ?? []), needle]);
      }
    }
  }

  /** Each needle with its place; none overlaps the one before. */
  find(text: string): readonly { readonly needle: Needle; readonly at: number }[] {
    const found: { readonly needle: Needle; readonly at: number }[] = [];
    for (let end = WINDOW - 1; end < text.length; ) {
      const hash = hashAt(text, end);
      const shift = this.#shifts[hash] ?? 0;
      if (shift > 0) {
        end += shift;
        continue;
      }
      const at = end - WINDOW + 1;
      const needle = this.#byHash.get(hash)?.find((each) => text.startsWith(each.text, at));
      if (needle !== undefined) found.push({ needle, at });
      end += needle?.text.length ?? 1;
    }
    return found;
  }
}

/** Of the block that ends here. */
function hashAt(text: string, end: number): number {
  const mixed =
    Math.imul(text.charCodeAt(end), 0x9e3779b1) ^
    Math.imul(text.charCodeAt(end - 1), 0x85ebca6b) ^
    Math.imul(text.charCodeAt(end - 2), 0xc2b2ae35);
  return mixed >>> (32 - HASH_BITS);
}
