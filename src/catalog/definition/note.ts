// Owns telling a model in words what has no keyword: at the end of a description, once, and not at any length.

import type { Draft } from './keywords.ts';

const MOST_CHARS = 300;
/** Lists are told instead of an enum, which would be longer. */
const MOST_LIST_CHARS = 1_000;

export function note(draft: Draft, words: string): void {
  if (words.length <= MOST_CHARS) append(draft, words);
}

/** As many of them as there is room for, and how many more there are. Whether all are told. */
export function noteList(draft: Draft, lead: string, items: readonly string[], between = ', '): boolean {
  let words = lead;
  let told = 0;
  for (const item of items) {
    const next = told === 0 ? `${words}${item}` : `${words}${between}${item}`;
    if (next.length > MOST_LIST_CHARS) break;
    words = next;
    told++;
  }
  if (told > 0) append(draft, told === items.length ? words : `${words} and ${items.length - told} more`);
  return told === items.length;
}

function append(draft: Draft, words: string): void {
  const { description } = draft;
  if (typeof description !== 'string' || description === '') draft['description'] = words;
  else if (!description.includes(words)) draft['description'] = `${description} (${words})`;
}
