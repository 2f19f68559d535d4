// Owns how well tools match a query: BM25F over words, with more for tools that match most of the query, and for tools whose
// whole name is matched. A query of several sentences is scored as a whole and sentence by sentence, so that each of several
// requests in it finds its tool.

import type { Posting } from './postings.ts';
import type { ParsedQuery, QueryTerm } from './query.ts';

/** What matching a tool's whole name adds to its score. */
const NAME = 0.3;
/** What the best match of one sentence adds to a tool, compared with the best match of the whole query. */
const SENTENCE = 0.9;

/** An expansion that more tools than this contain is skipped: it would cost most and distinguish least. */
const COMMON = { least: 100, share: 1 / 5 };

export interface IndexExtent {
  /** The number of tools, and the number of slots, some of which are free. */
  readonly tools: number;
  readonly slots: number;
  /** The slots of tools that the query calls by name: they come first, whatever else the words match. */
  readonly named: readonly number[];
}

/** Keeps its tables from query to query: allocating them costs more than filling them. */
export class Scorer {
  readonly #matches = new TermMatches();
  readonly #whole = new Tally();
  readonly #sentences: Tally[] = [];

  /** One score per slot, 0 for a tool that does not match at all. Valid until the next query. */
  score(query: ParsedQuery, { tools, slots, named }: IndexExtent): Float32Array {
    while (this.#sentences.length < query.sentences) this.#sentences.push(new Tally());
    const sentences = this.#sentences.slice(0, query.sentences);
    for (const tally of [this.#whole, ...sentences]) tally.clear(slots);
    this.#matches.grow(slots);
    for (const term of query.terms) {
      const importance = this.#matches.read(term, tools) * term.weight;
      this.#matches.addTo(this.#whole, importance);
      for (const [number, sentence] of sentences.entries())
        if (term.sentences.includes(number)) this.#matches.addTo(sentence, importance);
      this.#matches.clear();
    }
    for (const tally of [this.#whole, ...sentences]) tally.finish();
    fuse(this.#whole, sentences);
    for (const slot of named) this.#whole.lift(slot);
    return this.#whole.sums;
  }
}

/** Adds to each tool its best sentence score. A tool that matches a sentence has a slot in the whole as well. */
function fuse({ sums, covers: added, slots, most }: Tally, sentences: readonly Tally[]): void {
  if (sentences.length === 0) return;
  for (const slot of slots) added[slot] = 0;
  for (const sentence of sentences) {
    const scale = (SENTENCE * most) / (sentence.most || 1);
    for (const slot of sentence.slots) {
      const more = (sentence.sums[slot] ?? 0) * scale;
      if (more > (added[slot] ?? 0)) added[slot] = more;
    }
  }
  for (const slot of slots) sums[slot] = (sums[slot] ?? 0) + (added[slot] ?? 0);
}

/** The tools that one term of the query matches. Of its expansions in a tool only the best counts: three are no better than one. */
class TermMatches {
  readonly #slots: number[] = [];
  readonly #named: number[] = [];
  #scores = new Float32Array(0);
  #covers = new Float32Array(0);
  #shares = new Float32Array(0);

  grow(slots: number): void {
    if (slots <= this.#scores.length) return;
    this.#scores = new Float32Array(slots);
    this.#covers = new Float32Array(slots);
    this.#shares = new Float32Array(slots);
  }

  /** Collects the term's matches; gives how rare the rarest of them is. */
  read({ matches, weight }: QueryTerm, tools: number): number {
    let rarest = 0;
    const [first] = matches;
    const isKnown = first !== undefined && first.worth === weight;
    const own = isKnown ? rarityOf(first.posting.slots.length, tools) : Number.POSITIVE_INFINITY;
    for (const { posting, worth, isSynonym } of matches) {
      const holders = posting.slots.length;
      if (worth < weight && holders > COMMON.least && holders > tools * COMMON.share) continue;
      // A synonym tells no more than the word itself: a foreign word is rare in a fleet that speaks English.
      const rarity = Math.min(rarityOf(holders, tools), isSynonym ? own : Number.POSITIVE_INFINITY);
      rarest = Math.max(rarest, rarity);
      this.#collect(posting, rarity * worth, worth / weight);
      this.#collectNamed(posting, worth);
    }
    return rarest;
  }

  #collect({ slots, worths }: Posting, factor: number, cover: number): void {
    const scores = this.#scores;
    const covers = this.#covers;
    const found = this.#slots;
    for (let at = 0; at < slots.length; at++) {
      const slot = slots[at] ?? 0;
      const score = factor * (worths[at] ?? 0);
      const before = scores[slot] ?? 0;
      if (before === 0) {
        found.push(slot);
        // The likeliest match comes first: no later one covers more.
        covers[slot] = cover;
      }
      if (score > before) scores[slot] = score;
    }
  }

  #collectNamed({ named, shares }: Posting, worth: number): void {
    const ownShares = this.#shares;
    for (let at = 0; at < named.length; at++) {
      const slot = named[at] ?? 0;
      const share = worth * (shares[at] ?? 0);
      const before = ownShares[slot] ?? 0;
      if (before === 0) this.#named.push(slot);
      if (share > before) ownShares[slot] = share;
    }
  }

  addTo(tally: Tally, importance: number): void {
    const scores = this.#scores;
    const ownCovers = this.#covers;
    const ownShares = this.#shares;
    const { sums, covers, shares, slots } = tally;
    tally.possible += importance;
    for (const slot of this.#slots) {
      const sum = sums[slot] ?? 0;
      if (sum === 0) slots.push(slot);
      sums[slot] = sum + (scores[slot] ?? 0);
      covers[slot] = (covers[slot] ?? 0) + (ownCovers[slot] ?? 0) * importance;
    }
    for (const slot of this.#named) shares[slot] = (shares[slot] ?? 0) + (ownShares[slot] ?? 0);
  }

  clear(): void {
    for (const slot of this.#slots) this.#scores[slot] = 0;
    for (const slot of this.#named) this.#shares[slot] = 0;
    this.#slots.length = 0;
    this.#named.length = 0;
  }
}

class Tally {
  sums = new Float32Array(0);
  covers = new Float32Array(0);
  shares = new Float32Array(0);
  /** The slots with a sum. */
  readonly slots: number[] = [];
  /** What matching the whole query would amount to. */
  possible = 0;
  /** The best score, set by `finish`. */
  most = 0;

  clear(slots: number): void {
    this.possible = 0;
    this.most = 0;
    if (slots === this.sums.length) {
      for (const slot of this.slots) {
        this.sums[slot] = 0;
        this.covers[slot] = 0;
        this.shares[slot] = 0;
      }
    } else {
      this.sums = new Float32Array(slots);
      this.covers = new Float32Array(slots);
      this.shares = new Float32Array(slots);
    }
    this.slots.length = 0;
  }

  /** Ranks the slot above all others. */
  lift(slot: number): void {
    const sum = this.sums[slot] ?? 0;
    if (sum === 0) this.slots.push(slot);
    this.sums[slot] = sum + this.most * (1 + SENTENCE) + 1;
  }

  /** Turns the sums into scores. */
  finish(): void {
    const { sums, covers, shares, possible } = this;
    let most = 0;
    for (const slot of this.slots) {
      const named = 1 + NAME * Math.min(1, shares[slot] ?? 0);
      const score = (sums[slot] ?? 0) * named * Math.sqrt((covers[slot] ?? 0) / possible);
      sums[slot] = score;
      if (score > most) most = score;
    }
    this.most = most;
  }
}

function rarityOf(holders: number, tools: number): number {
  return Math.log(1 + (tools - holders + 0.5) / (holders + 0.5));
}
