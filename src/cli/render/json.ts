// Owns what `--json` prints: one document, nothing else.

import { replaceHidden } from '../../catalog/definition/clean-text.ts';

/** What a terminal could take for a command, or would hide, is escaped; the document means the same. */
export function documentText(data: unknown): string {
  return `${replaceHidden(JSON.stringify(data, undefined, 2), escaped)}\n`;
}

const escaped = (character: string) =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
