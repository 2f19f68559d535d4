// Owns making a server's text safe to show in a terminal.

import { stripVTControlCharacters } from 'node:util';
import { latePattern } from '../kernel/late-pattern.ts';

const controls = latePattern(String.raw`(?![\n\t])\p{Cc}`, 'gu');

/** Removes colors, cursor movements and bells; line breaks and tabs stay. */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(controls(), '');
}
