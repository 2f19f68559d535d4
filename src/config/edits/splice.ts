// Owns cutting and inserting in a text by position, and the line, indent and line ending at a position.

export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Replaces the text between `start` and `end`. */
export interface Splice extends Range {
  readonly text: string;
}

export const cut = ({ start, end }: Range): Splice => ({ start, end, text: '' });
export const insertAt = (at: number, text: string): Splice => ({ start: at, end: at, text });

/** Splices must not overlap; several at one position are applied in the given order. */
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

/** The start of the next line. */
export function nextLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end + 1;
}

/** The beginning of the line up to `at`, when it is only space. */
export function indentBefore(text: string, at: number): string | undefined {
  const before = text.slice(lineStart(text, at), at);
  return /^[ \t]*$/.test(before) ? before : undefined;
}

export const indentOfLine = (text: string, at: number) =>
  /^[ \t]*/.exec(text.slice(lineStart(text, at), nextLine(text, at)))?.[0] ?? '';

export const isBlankLine = (text: string, start: number) => /^\s*$/.test(text.slice(start, nextLine(text, start)));

/** The line ending in use at a position; a file may mix them. */
export function eolAt(text: string, at: number): string {
  const after = text.indexOf('\n', at);
  const end = after < 0 ? text.lastIndexOf('\n') : after;
  return text[end - 1] === '\r' ? '\r\n' : '\n';
}

/** The start of the space before `at`. */
export function endOfInk(text: string, at: number): number {
  let end = at;
  while (end > 0 && /\s/.test(text.charAt(end - 1))) end--;
  return end;
}
