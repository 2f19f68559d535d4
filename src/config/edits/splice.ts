// Owns cutting and inserting in a text by position, and looking around a position: its line, its indent, its line ending.

export interface Range {
  readonly start: number;
  readonly end: number;
}

/** What stands between `start` and `end` becomes `text`. */
export interface Splice extends Range {
  readonly text: string;
}

export const cut = ({ start, end }: Range): Splice => ({ start, end, text: '' });
export const insertAt = (at: number, text: string): Splice => ({ start: at, end: at, text });

/** They must not overlap; those at one place come in the order given. */
export function applySplices(text: string, splices: readonly Splice[]): string {
  let result = '';
  let done = 0;
  for (const each of splices.toSorted((a, b) => a.start - b.start)) {
    result += text.slice(done, each.start) + each.text;
    done = each.end;
  }
  return result + text.slice(done);
}

export const lineStart = (text: string, at: number) => text.lastIndexOf('\n', at - 1) + 1;

/** Where the line after this one begins. */
export function nextLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end + 1;
}

/** What a line begins with, up to `at`, when that is nothing but space. */
export function indentBefore(text: string, at: number): string | undefined {
  const before = text.slice(lineStart(text, at), at);
  return /^[ \t]*$/.test(before) ? before : undefined;
}

export const indentOfLine = (text: string, at: number) =>
  /^[ \t]*/.exec(text.slice(lineStart(text, at), nextLine(text, at)))?.[0] ?? '';

export const isBlankLine = (text: string, start: number) => /^\s*$/.test(text.slice(start, nextLine(text, start)));

/** The line ending in use where `at` is; a file may mix them. */
export function eolAt(text: string, at: number): string {
  const after = text.indexOf('\n', at);
  const end = after < 0 ? text.lastIndexOf('\n') : after;
  return text[end - 1] === '\r' ? '\r\n' : '\n';
}

/** Where the space before `at` begins. */
export function endOfInk(text: string, at: number): number {
  let end = at;
  while (end > 0 && /\s/.test(text.charAt(end - 1))) end--;
  return end;
}
