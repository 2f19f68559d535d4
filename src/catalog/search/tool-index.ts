// Owns the search index: the tools of each server, and which of them match a query, the best first.

import { nearest } from '../../kernel/nearest.ts';
import { limits } from '../../model/limits.ts';
import { type Effect, effectOf, lean, wishOf } from './effect.ts';
import type { Findable } from './fields.ts';
import { type Posting, Postings } from './postings.ts';
import { parseQuery, unknownWords } from './query.ts';
import { Scorer } from './scorer.ts';
import { Spellings } from './spellings.ts';
import { weigh } from './weigh.ts';

export type { Findable } from './fields.ts';

export interface IndexHit {
  readonly key: string;
  /** Higher is better; comparable within one search only. */
  readonly score: number;
}

export interface IndexSearchOptions {
  readonly limit?: number;
  /** Whether the caller may see this tool; others are skipped. */
  readonly isSeen?: (key: string) => boolean;
}

interface IndexedTool {
  readonly tool: Pick<Findable, 'key' | 'server' | 'name'>;
  readonly words: readonly Posting[];
  readonly effect: Effect | undefined;
}

export class ToolIndex {
  readonly #postings = new Postings();
  readonly #entries: (IndexedTool | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #slices = new Map<string, readonly number[]>();
  readonly #spellings = new Spellings();
  readonly #scorer = new Scorer();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Sets the server's tools; an empty list removes the server. The cost depends on this server's tools only. */
  replace(server: string, tools: readonly Findable[]): void {
    this.#remove(this.#slices.get(server) ?? []);
    const slots = tools.map((tool) => this.#add(tool));
    if (slots.length > 0) this.#slices.set(server, slots);
    else this.#slices.delete(server);
  }

  /** Equal tools and an equal query give an equal result, whatever was added and removed before. */
  search(query: string, { limit = 10, isSeen = () => true }: IndexSearchOptions = {}): readonly IndexHit[] {
    const parsed = parseQuery(query, this.#postings);
    const extent = { tools: this.#size, slots: this.#entries.length, named: this.#spellings.find(query) };
    const scores = this.#scorer.score(parsed, extent);
    const wish = wishOf(query, limits.ranking.queryChars);
    lean(scores, wish, (slot) => this.#entries[slot]?.effect, extent.named);
    return this.#best(scores, limit, isSeen);
  }

  /** For a query that found nothing: its words that no tool uses, each with the closest words that tools do use. */
  missing(query: string): readonly { readonly word: string; readonly near: readonly string[] }[] {
    return (
      unknownWords(query, this.#postings)
        .slice(0, limits.ranking.explainedWords)
        // A word of one letter is close to every other one.
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
    this.#entries[slot] = { tool: { key, server, name }, words, effect: effectOf(tool) };
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

  /** Keeps the best in order while scanning: few tools ever get among them, so few are moved. */
  #best(scores: Float32Array, limit: number, isSeen: (key: string) => boolean): readonly IndexHit[] {
    const best: IndexHit[] = [];
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

/** Ties are broken by key, so that the order of arrival does not show. */
function compare(a: IndexHit, b: IndexHit): number {
  return b.score - a.score || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}

function placeIn(best: readonly IndexHit[], hit: IndexHit): number {
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
