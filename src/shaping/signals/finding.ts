// Owns what was found while a text is searched: a few places for each name, none inside another.

/** Where a text may come from; the first is the ordinary case. */
export const surfaces = ['tool_output', 'tool_description', 'prompt', 'instructions', 'direct'] as const;
export type Surface = (typeof surfaces)[number];

export interface Finding {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const MOST_OF_A_NAME = 3;

export class Findings {
  readonly #byName = new Map<string, Finding[]>();

  get isEmpty(): boolean {
    return this.#byName.size === 0;
  }

  /** Whoever searches on for this name works for nothing. */
  isFull(name: string): boolean {
    return (this.#byName.get(name)?.length ?? 0) >= MOST_OF_A_NAME;
  }

  /** Two phrases that overlap and mean the same are one. */
  add(name: string, start: number, end: number): void {
    const same = this.#byName.get(name);
    if (same === undefined) this.#byName.set(name, [{ name, start, end }]);
    else if (!this.isFull(name) && same.every((each) => start >= each.end || end <= each.start))
      same.push({ name, start, end });
  }

  inOrder(): readonly Finding[] {
    return [...this.#byName.values()].flat().sort((a, b) => a.start - b.start);
  }
}
