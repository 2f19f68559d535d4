// Owns finding tools by words: which tools there are, server by server, and which of them answer a question, the best first.

import { nearest } from '../../kernel/nearest.ts';
import { limits } from '../../model/limits.ts';
import type { Findable } from './fields.ts';
import { type Posting, Postings } from './postings.ts';
import { readQuestion, unknownWords } from './question.ts';
import { Scoring } from './scoring.ts';
import { Spellings } from './spellings.ts';
import { weigh } from './weigh.ts';

export type { Findable } from './fields.ts';

export interface Hit {
  readonly key: string;
  /** The better, the higher; comparable within one answer only. */
  readonly score: number;
}

export interface SearchOptions {
  readonly limit?: number;
  /** Whether whoever asks sees this tool at all; others are passed over. */
  readonly isSeen?: (key: string) => boolean;
}

interface Entry {
  readonly tool: Pick<Findable, 'key' | 'server' | 'name'>;
  readonly words: readonly Posting[];
}

export class ToolIndex {
  readonly #postings = new Postings();
  readonly #entries: (Entry | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #slices = new Map<string, readonly number[]>();
  readonly #spellings = new Spellings();
  readonly #scoring = new Scoring();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** What a server offers from now on; nothing removes it. Costs what its own tools cost, whoever else is there. */
  replace(server: string, tools: readonly Findable[]): void {
    this.#remove(this.#slices.get(server) ?? []);
    const slots = tools.map((tool) => this.#add(tool));
    if (slots.length > 0) this.#slices.set(server, slots);
    else this.#slices.delete(server);
  }

  /** Equal tools and an equal question give an equal answer, whatever came and went before. */
  search(query: string, { limit = 10, isSeen = () => true }: SearchOptions = {}): readonly Hit[] {
    const question = readQuestion(query, this.#postings);
    const extent = { tools: this.#size, slots: this.#entries.length, named: this.#spellings.find(query) };
    return this.#best(this.#scoring.score(question, extent), limit, isSeen);
  }

  /** For whoever found nothing: words of the question that no tool holds, and the words of tools that come closest. */
  missing(query: string): readonly { readonly word: string; readonly near: readonly string[] }[] {
    return (
      unknownWords(query, this.#postings)
        .slice(0, limits.ranking.explainedWords)
        // Every word of one letter is close to every other.
        .map((word) => ({
          word,
          near: word.length === 1 ? [] : nearest(word, this.#postings.words(), limits.suggestions),
        }))
    );
  }

  #add(tool: Findable): number {
    const slot = this.#free.pop() ?? this.#entries.length;
    const words = weigh(tool, this.#postings);
    const { key, server, name } = tool;
    this.#postings.add(slot, words);
    this.#spellings.add(slot, tool);
    this.#entries[slot] = { tool: { key, server, name }, words };
    this.#size++;
    return slot;
  }

  #remove(slots: readonly number[]): void {
    const words = new Set<Posting>();
    for (const slot of slots) {
      const entry = this.#entries[slot];
      if (entry === undefined) continue;
      for (const word of entry.words) words.add(word);
      this.#spellings.remove(slot, entry.tool);
      this.#entries[slot] = undefined;
      this.#free.push(slot);
    }
    this.#postings.remove(slots, words);
    this.#size -= slots.length;
  }

  /** Kept in order all the time: few of many are ever among the best, and so few are moved. */
  #best(scores: Float32Array, limit: number, isSeen: (key: string) => boolean): readonly Hit[] {
    const best: Hit[] = [];
    let least = 0;
    for (let slot = 0; slot < scores.length; slot++) {
      const score = scores[slot] ?? 0;
      if (score === 0 || score < least) continue;
      const key = this.#entries[slot]?.tool.key;
      if (key === undefined || !isSeen(key)) continue;
      const hit = { key, score };
      best.splice(placeIn(best, hit), 0, hit);
      if (best.length > limit) best.pop();
      if (best.length === limit) least = best.at(-1)?.score ?? 0;
    }
    return best;
  }
}

/** Ties by key, so that no order of arrival shows. */
function compare(a: Hit, b: Hit): number {
  return b.score - a.score || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}

function placeIn(best: readonly Hit[], hit: Hit): number {
  let low = 0;
  let high = best.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const there = best[middle];
    if (there !== undefined && compare(there, hit) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
