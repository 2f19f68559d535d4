// Owns writing untrusted text into a line that a person reads and may paste into a shell: the text can neither run a command nor
// end the line or hide the rest of it.

import { latePattern } from './late-pattern.ts';

const unseen = latePattern(String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]`, 'gu');

/** Invisible and direction-changing characters are written as `\uXXXX`; the result is for reading and no longer the same word. */
export function visible(text: string): string {
  return text.replace(unseen(), (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

/** Single quotes, because within double quotes a shell still runs commands. */
export function shellWord(text: string): string {
  return /^[\w./@:=,+-]+$/.test(text) ? text : `'${visible(text).replaceAll("'", "'\\''")}'`;
}
