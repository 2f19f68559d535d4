// Owns command lines that Plexus proposes to a person: they read the files that the person's own command read.

import type { Context } from './command.ts';
import { shellWord } from './render/text.ts';

/** `words` as a shell reads them, with the options without which another configuration would be found, or none. */
export function proposedCommand(words: readonly string[], { values }: Pick<Context, 'values'>): string {
  const options = ['config', 'cwd'].flatMap((option) => {
    const value = values[option];
    return typeof value === 'string' ? [`--${option}`, shellWord(value)] : [];
  });
  return ['plexus', ...words, ...options].join(' ');
}
