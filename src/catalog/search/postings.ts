// Owns which tools hold which word, and what the word is worth in each of them. Tools are slots here: numbers, used again.

import { stem } from './stem.ts';

export interface Posting {
  readonly stem: string;
  /** A word as it was met, for people: a stem is no word. */
  readonly word: string;
  /** Who holds it, and place by place what it is worth there. */
  readonly slots: number[];
  readonly worths: number[];
  /** Whose name holds it, and place by place how much of the name it is. */
  readonly named: number[];
  readonly shares: number[];
  /** What is being summed up for the tool that is read at the moment. */
  readonly sum: { worth: number; share: number };
}

const SHORTEST_BEGINNING = 4;
const SHORTEST_TYPO = 5;
const MOST_SIMILAR = 5;
/** Words of tools that have left cost nothing but room; beyond so many they are forgotten. */
const MOST_UNUSED = 20_000;

export class Postings {
  readonly #postings = new Map<string, Posting>();
  /** The same words come in every tool: finding them here is all that most of them cost. */
  readonly #byWord = new Map<string, Posting>();
  /** By the first two letters: what looks like an unknown word is among those that begin like it. */
  readonly #initials = new Map<string, Posting[]>();
  #unused = 0;

  /** Only what some tool holds. */
  get(stemmed: string): Posting | undefined {
    const posting = this.#postings.get(stemmed);
    return posting && isUsed(posting) ? posting : undefined;
  }

  /** Where a word of a tool is counted. */
  of(word: string): Posting {
    const known = this.#byWord.get(word);
    if (known) return known;
    const stemmed = stem(word);
    const posting = this.#postings.get(stemmed) ?? this.#open(stemmed, word);
    this.#byWord.set(word, posting);
    return posting;
  }

  /** Takes over what was summed up for a tool. */
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

  /** Goes once through each of these postings, however many tools leave. */
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

  /** What somebody who wrote an unknown word may have meant: a longer one, a shorter one, or the same without a slip. */
  similar(stemmed: string): readonly Posting[] {
    if (stemmed.length < SHORTEST_BEGINNING || !/^\p{L}+$/u.test(stemmed)) return [];
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

/** The commonest is the likeliest; never by order of arrival. */
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
