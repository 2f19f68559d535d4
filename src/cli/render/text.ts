// Owns how results look to a person: tables, colors, and escaping of control characters in a server's text.

import { replaceHidden } from '../../kernel/clean-text.ts';
import type { Paint } from '../command.ts';

export { shellWord } from '../../kernel/shell-word.ts';

const code = (open: number, close: number) => (text: string) => `\u001b[${open}m${text}\u001b[${close}m`;

export const colors: Paint = {
  bold: code(1, 22),
  dim: code(2, 22),
  red: code(31, 39),
  green: code(32, 39),
  yellow: code(33, 39),
};

const same = (text: string) => text;
export const plain: Paint = { bold: same, dim: same, red: same, green: same, yellow: same };

/** Makes control and invisible characters visible: a server's text could move the cursor, set titles or fake output. */
export function printable(text: string): string {
  return replaceHidden(text, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  });
}

export interface Cell {
  readonly text: string;
  readonly paint?: (text: string) => string;
  /** For the last cell of a row: only its first line is shown, cut to the terminal's width, or to this many characters without one. */
  readonly cut?: number;
}

/** A wider cell shifts the rest of its own row only. */
const WIDEST_COLUMN = 72;

/** Columns are as wide as their widest cell, up to a limit; the last column takes the rest of the terminal, and is wrapped or cut there. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[], paint: Paint): string {
  const lines = [head.map((text): Cell => ({ text, paint: paint.dim })), ...rows].map((row) =>
    row.map(({ text, ...cell }) => ({ ...cell, text: cellText(text, cell.cut) })),
  );
  const widths = head.map((_, column) =>
    lines.reduce((widest, row) => Math.max(widest, Math.min(row[column]?.text.length ?? 0, WIDEST_COLUMN)), 0),
  );
  const gapAfter = (text: string, column: number) => ' '.repeat(Math.max(0, (widths[column] ?? 0) - text.length) + 2);
  return lines
    .map((row) => {
      const [last = { text: '' }, others] = [row.at(-1), row.slice(0, -1)];
      const before = others.map((cell, column) => ({ ...cell, gap: gapAfter(cell.text, column) }));
      const offset = before.reduce((sum, { text, gap }) => sum + text.length + gap.length, 0);
      const { paint: color = same } = last;
      const end = lastLines(last, offset, paint.width).map((line) => (line === '' ? '' : color(line)));
      const start = before.map(({ text, gap, paint: paintCell = same }) => paintCell(text) + gap).join('');
      return `${start}${end.join(`\n${' '.repeat(offset)}`)}`.trimEnd();
    })
    .join('\n');
}

const cellText = (text: string, cut: number | undefined) =>
  printable(cut === undefined ? text : firstLine(text, Number.POSITIVE_INFINITY)).replace(/\r?\n/g, '\\n');

/** Narrower than this, a last column is hard to read: the terminal breaks its lines instead. */
const NARROWEST_COLUMN = 20;

function lastLines({ text, cut }: Cell, offset: number, width: number | undefined): readonly string[] {
  const rest = width === undefined ? undefined : Math.max(width - offset, NARROWEST_COLUMN);
  if (cut !== undefined) return [firstLine(text, rest ?? cut)];
  if (rest === undefined || offset + NARROWEST_COLUMN > (width ?? 0)) return [text];
  return wrapLine(text, rest);
}

/** Text for a person, wrapped at words to the width of the terminal. Lines that quote a server's output keep their form. */
export function prose(text: string, { width }: Pick<Paint, 'width'>): string {
  if (width === undefined) return text;
  return text
    .split('\n')
    .flatMap((line) => {
      const [margin = ''] = /^ */.exec(line) ?? [];
      if (QUOTED.test(line)) return [line];
      return wrapLine(line.slice(margin.length), width - margin.length).map((each) => margin + each);
    })
    .join('\n');
}

const QUOTED = /^\s*\| /;

/** A command to copy is one word: a line break in it would run half of it. */
const WORDS = /(?<=: )plexus .*$|[^ ]+/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences that `colors` writes
const SEQUENCES = /\u001b\[\d+m/g;

const shownLength = (text: string) => text.replace(SEQUENCES, '').length;

function wrapLine(line: string, width: number): readonly string[] {
  if (shownLength(line) <= width) return [line];
  const lines: string[] = [];
  let current = '';
  for (const [word] of line.matchAll(WORDS)) {
    const longer = current === '' ? word : `${current} ${word}`;
    if (current !== '' && shownLength(longer) > width) {
      lines.push(current);
      current = word;
    } else current = longer;
  }
  return [...lines, current];
}

/**
 * A question, wrapped at blanks without losing one. What follows a break stands further in than any line of the question, so that
 * quoted text cannot pass for such a line. A word that does not fit stays whole: it may be an address to copy.
 */
export function wrapQuestion(text: string, width: number | undefined): string {
  if (width === undefined) return text;
  return text
    .split('\n')
    .flatMap((line) => {
      const [margin = ''] = /^ */.exec(line) ?? [];
      const inner = `${margin}    `;
      const lines: string[] = [];
      let current = margin;
      for (const [word] of line.slice(margin.length).matchAll(/[^ ]+ *| +/g)) {
        if (current.trim() !== '' && (current + word.trimEnd()).length > width) {
          lines.push(current);
          current = inner;
        }
        current += word;
      }
      return [...lines, current];
    })
    .join('\n');
}

export function indent(text: string, by = '  '): string {
  return text.replace(/^(?=.)/gm, by);
}

/** The first sentence or line of a description: what fits into a table. */
export function firstLine(text: string, maxLength: number): string {
  const [line = ''] = text.trim().split('\n', 1);
  return line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line;
}
