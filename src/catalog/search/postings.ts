// Owns which tools contain which word, and what the word is worth in each. A tool is a slot here: a number that is reused.

import { latePattern } from '../../kernel/late-pattern.ts';
import { stem } from './stem.ts';

export interface Posting {
  readonly stem: string;
  /** The first word with this stem, to show to people: a stem is no word. */
  readonly word: string;
  /** The tools that contain the word, and at the same index its worth there. */
  readonly slots: number[];
  readonly worths: number[];
  /** The tools whose name contains the word, and at the same index its share of the name. */
  readonly named: number[];
  readonly shares: number[];
  /** The sums for the tool that is being read. */
  readonly sum: { worth: number; share: number };
}

const letters = latePattern(String.raw`^\p{L}+$`, 'u');
const SHORTEST_BEGINNING = 4;
const SHORTEST_TYPO = 5;
const MOST_SIMILAR = 5;
/** Words of removed tools only cost memory; beyond this number they are dropped. */
const MOST_UNUSED = 20_000;

export class Postings {
  readonly #postings = new Map<string, Posting>();
  /** The same words come in every tool: for most of them this lookup is the only cost. */
  readonly #byWord = new Map<string, Posting>();
  /** By the first two letters: similar words are looked for among those that begin alike. */
  readonly #initials = new Map<string, Posting[]>();
  #unused = 0;

  /** `undefined` for a word that no tool contains. */
  get(stemmed: string): Posting | undefined {
    const posting = this.#postings.get(stemmed);
    return posting && isUsed(posting) ? posting : undefined;
  }

  /** The posting that counts a word of a tool. */
  of(word: string): Posting {
    const cached = this.#byWord.get(word);
    if (cached) return cached;
    const stemmed = stem(word);
    const posting = this.#postings.get(stemmed) ?? this.#open(stemmed, word);
    this.#byWord.set(word, posting);
    return posting;
  }

  /** Moves the sums of a tool into the postings. */
  add(slot: number, words: Iterable<Posting>): void {
    for (const posting of words) {
      const { worth, share } = posting.sum;
      if (!isUsed(posting)) this.#unused--;
      posting.slots.push(slot);
      posting.worths.push(worth);
      if (share > 0) {
        posting.named.push(slot);
        posting.shares.push(share);
      }
      posting.sum.worth = 0;
      posting.sum.share = 0;
    }
  }

  /** Goes once through each of these postings, however many tools are removed. */
  remove(slots: readonly number[], words: Iterable<Posting>): void {
    const leaving = new Uint8Array(slots.reduce((most, slot) => Math.max(most, slot + 1), 0));
    for (const slot of slots) leaving[slot] = 1;
    for (const posting of words) {
      keepOthers(posting.slots, posting.worths, leaving);
      keepOthers(posting.named, posting.shares, leaving);
      if (!isUsed(posting)) this.#unused++;
    }
    if (this.#unused > MOST_UNUSED) this.#forgetUnused();
  }

  /** Words that an unknown word may stand for: a longer one, a shorter one, or one that differs by a typing mistake. */
  similar(stemmed: string): readonly Posting[] {
    if (stemmed.length < SHORTEST_BEGINNING || !letters().test(stemmed)) return [];
    const alike = this.#initials.get(stemmed.slice(0, 2)) ?? [];
    return alike
      .filter((posting) => looksLike(stemmed, posting.stem) && isUsed(posting))
      .sort(byUse)
      .slice(0, MOST_SIMILAR);
  }

  *words(): Generator<string> {
    for (const posting of this.#postings.values()) if (isUsed(posting)) yield posting.word;
  }

  #open(stemmed: string, word: string): Posting {
    const posting = emptyPosting(stemmed, word);
    this.#postings.set(stemmed, posting);
    const alike = this.#initials.get(stemmed.slice(0, 2));
    if (alike) alike.push(posting);
    else this.#initials.set(stemmed.slice(0, 2), [posting]);
    this.#unused++;
    return posting;
  }

  #forgetUnused(): void {
    for (const [stemmed, posting] of this.#postings) if (!isUsed(posting)) this.#postings.delete(stemmed);
    for (const [initial, alike] of this.#initials) this.#initials.set(initial, alike.filter(isUsed));
    this.#byWord.clear();
    this.#unused = 0;
  }
}

const isUsed = ({ slots }: Posting) => slots.length > 0;

function emptyPosting(stemmed: string, word: string): Posting {
  return { stem: stemmed, word, slots: [], worths: [], named: [], shares: [], sum: { worth: 0, share: 0 } };
}

function keepOthers(slots: number[], figures: number[], leaving: Uint8Array): void {
  let kept = 0;
  for (let at = 0; at < slots.length; at++) {
    const slot = slots[at] ?? 0;
    if (leaving[slot] === 1) continue;
    if (kept < at) {
      slots[kept] = slot;
      figures[kept] = figures[at] ?? 0;
    }
    kept++;
  }
  slots.length = kept;
  figures.length = kept;
}

/** The most used word is the likeliest; the order of arrival never counts. */
function byUse(a: Posting, b: Posting): number {
  return b.slots.length - a.slots.length || (a.stem < b.stem ? -1 : 1);
}

function looksLike(written: string, known: string): boolean {
  if (known.length > written.length && known.startsWith(written)) return true;
  if (known.length >= SHORTEST_TYPO && written.startsWith(known)) return true;
  return written.length >= SHORTEST_TYPO && isOneSlip(written, known);
}

/** One letter too many, too few or wrong, or two neighbors exchanged. */
function isOneSlip(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let endA = a.length;
  let endB = b.length;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA--;
    endB--;
  }
  if (endA - start <= 1 && endB - start <= 1) return true;
  const isPair = endA - start === 2 && endB - start === 2;
  return isPair && a[start] === b[start + 1] && a[start + 1] === b[start];
}
