// Owns how foreign text is written into a line that a person reads and may paste into a shell: nothing in it runs, ends the
// line or hides the rest of it.

/** What cannot be seen, or moves what can, is written as its number; the word then names it, and no longer is it. */
export function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

/** Within single quotes a shell takes everything as it is; within double quotes it still runs commands. */
export function shellWord(text: string): string {
  return /^[\w./@:=,+-]+$/.test(text) ? text : `'${visible(text).replaceAll("'", "'\\''")}'`;
}
