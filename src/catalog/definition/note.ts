// Owns notes at the end of a description, which tell a model what its provider has no keyword for: each once, of bounded length.

import type { SchemaDraft } from './keywords.ts';

const MOST_CHARS = 300;
/** A list replaces an enum, which would be longer still. */
const MOST_LIST_CHARS = 1_000;

export function note(draft: SchemaDraft, words: string): void {
  if (words.length <= MOST_CHARS) append(draft, words);
}

/** Notes as many items as there is room for, and how many are missing. Gives whether all of them are noted. */
export function noteList(draft: SchemaDraft, lead: string, items: readonly string[], between = ', '): boolean {
  let words = lead;
  let noted = 0;
  for (const item of items) {
    const next = noted === 0 ? `${words}${item}` : `${words}${between}${item}`;
    if (next.length > MOST_LIST_CHARS) break;
    words = next;
    noted++;
  }
  if (noted > 0) append(draft, noted === items.length ? words : `${words} and ${items.length - noted} more`);
  return noted === items.length;
}

function append(draft: SchemaDraft, words: string): void {
  const { description } = draft;
  if (typeof description !== 'string' || description === '') draft['description'] = words;
  else if (!description.includes(words)) draft['description'] = `${description} (${words})`;
}
