// Owns how well tools answer a question: BM25F over words, more for tools that answer to most of it, and to their whole name.
// A question of several sentences is asked as a whole and sentence by sentence, so that each of several wishes is heard.

import type { Posting } from './postings.ts';
import type { Asked, Question } from './question.ts';

/** What covering the whole name adds. */
const NAME = 0.3;
/** What the best answer to one sentence adds to a tool, against the best answer to the whole. */
const PART = 0.7;

/** What a word may also mean is passed over where so many tools hold it: it would cost most and tell least. */
const COMMON = { least: 100, share: 1 / 5 };

export interface Extent {
  /** How many tools there are, and how many places for them. */
  readonly tools: number;
  readonly slots: number;
  /** The tools that the question calls by name. Who does wants them, whatever else the words mean. */
  readonly named: readonly number[];
}

/** Keeps its tables from question to question: making them costs more than filling them. */
export class Scoring {
  readonly #answer = new Answer();
  readonly #whole = new Tally();
  readonly #parts: Tally[] = [];

  /** One score a slot, 0 for what does not answer at all. Good until the next question. */
  score(question: Question, { tools, slots, named }: Extent): Float32Array {
    while (this.#parts.length < question.parts) this.#parts.push(new Tally());
    const parts = this.#parts.slice(0, question.parts);
    for (const tally of [this.#whole, ...parts]) tally.clear(slots);
    this.#answer.grow(slots);
    for (const asked of question.asked) {
      const importance = this.#answer.read(asked, tools) * asked.weight;
      this.#answer.addTo(this.#whole, importance);
      for (const [number, part] of parts.entries())
        if (asked.parts.includes(number)) this.#answer.addTo(part, importance);
      this.#answer.clear();
    }
    for (const tally of [this.#whole, ...parts]) tally.finish();
    fuse(this.#whole, parts);
    for (const slot of named) this.#whole.lift(slot);
    return this.#whole.sums;
  }
}

/** Of all that the sentences add to a tool, the most counts. Whatever answers to a sentence has answered to the whole. */
function fuse({ sums, covers: added, slots, most }: Tally, parts: readonly Tally[]): void {
  if (parts.length === 0) return;
  for (const slot of slots) added[slot] = 0;
  for (const part of parts) {
    const scale = (PART * most) / (part.most || 1);
    for (const slot of part.slots) {
      const more = (part.sums[slot] ?? 0) * scale;
      if (more > (added[slot] ?? 0)) added[slot] = more;
    }
  }
  for (const slot of slots) sums[slot] = (sums[slot] ?? 0) + (added[slot] ?? 0);
}

/** What one word of the question finds. Of all that it may mean, the best counts: a tool is not better for having three of them. */
class Answer {
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

  /** How rare the rarest of the answers is. */
  read({ answers, weight }: Asked, tools: number): number {
    let rarest = 0;
    for (const { posting, worth } of answers) {
      const holders = posting.slots.length;
      if (worth < weight && holders > COMMON.least && holders > tools * COMMON.share) continue;
      const rarity = rarityOf(holders, tools);
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
        // The likeliest meaning comes first: no later one covers more.
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
  /** Those that hold something. */
  readonly slots: number[] = [];
  /** What covering the whole question would amount to. */
  possible = 0;
  /** The best score, once it is finished. */
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

  /** Above all others. */
  lift(slot: number): void {
    const sum = this.sums[slot] ?? 0;
    if (sum === 0) this.slots.push(slot);
    this.sums[slot] = sum + this.most * (1 + PART) + 1;
  }

  /** Makes scores of the sums. */
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
