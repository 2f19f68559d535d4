// Owns what `--json` prints (one document) and `--jsonl` (one document per line).

import { replaceHidden } from '../../kernel/clean-text.ts';

/** Control and invisible characters are escaped, so that a terminal cannot act on them; the document's meaning stays the same. */
export function documentText(data: unknown): string {
  return `${replaceHidden(JSON.stringify(data, undefined, 2), escaped)}\n`;
}

/** The same on one line. */
export function lineText(data: unknown): string {
  return replaceHidden(JSON.stringify(data), escaped);
}

const escaped = (character: string) =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
