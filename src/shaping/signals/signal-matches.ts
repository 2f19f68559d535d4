// Owns the signals found so far while a text is searched: a few matches for each name, without overlaps.

/** Where a text may come from; `tool_output` is the default. */
export const surfaces = ['tool_output', 'tool_description', 'prompt', 'instructions', 'direct'] as const;
export type Surface = (typeof surfaces)[number];

export interface SignalMatch {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const MOST_PER_NAME = 3;

export class SignalMatches {
  /** Created with the first match, which most texts do not have. */
  #byName: Map<string, SignalMatch[]> | undefined;

  get isEmpty(): boolean {
    return this.#byName === undefined;
  }

  /** Further matches of this name are dropped: a search for it can stop. */
  isFull(name: string): boolean {
    return (this.#byName?.get(name)?.length ?? 0) >= MOST_PER_NAME;
  }

  /** Overlapping matches of one name count once. */
  add(name: string, start: number, end: number): void {
    this.#byName ??= new Map();
    const same = this.#byName.get(name);
    if (same === undefined) this.#byName.set(name, [{ name, start, end }]);
    else if (!this.isFull(name) && same.every((each) => start >= each.end || end <= each.start))
      same.push({ name, start, end });
  }

  inTextOrder(): readonly SignalMatch[] {
    return [...(this.#byName?.values() ?? [])].flat().sort((a, b) => a.start - b.start);
  }
}
