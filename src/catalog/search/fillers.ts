// Owns the lookup of query words that say little about a tool. The words themselves stand in `fillers.json`, many to a line.

import lines from './fillers.json' with { type: 'json' };

const wordSet = (texts: readonly string[]): ReadonlySet<string> => new Set(texts.flatMap((text) => text.split(' ')));

/** Grammar and politeness. They count only in a query that has nothing else. */
export const fillers = wordSet(lines.fillers);

/** Dates, and words that fit every tool: they count a little. Numbers and single letters are treated alike. */
export const faintWords = wordSet(lines.faintWords);
