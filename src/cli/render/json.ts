// Owns what `--json` prints: one document, nothing else; and with `--jsonl` one a line.

import { replaceHidden } from '../../kernel/clean-text.ts';

/** What a terminal could take for a command, or would hide, is escaped; the document means the same. */
export function documentText(data: unknown): string {
  return `${replaceHidden(JSON.stringify(data, undefined, 2), escaped)}\n`;
}

/** The same on one line, for one document of many. */
export function lineText(data: unknown): string {
  return replaceHidden(JSON.stringify(data), escaped);
}

const escaped = (character: string) =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
