// Owns how text of a server is made safe to show in a terminal.

import { stripVTControlCharacters } from 'node:util';

/** No colors, no cursor movements, no bells; lines and tabs stay. */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(/(?![\n\t])\p{Cc}/gu, '');
}
