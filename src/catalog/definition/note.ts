// Owns telling a model in words what has no keyword: at the end of a description, once, and not at any length.

import type { Draft } from './keywords.ts';

const MOST_CHARS = 300;

export function note(draft: Draft, words: string): void {
  if (words.length > MOST_CHARS) return;
  const { description } = draft;
  if (typeof description !== 'string' || description === '') draft['description'] = words;
  else if (!description.includes(words)) draft['description'] = `${description} (${words})`;
}
