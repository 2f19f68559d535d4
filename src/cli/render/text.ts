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
}

/** A wider cell shifts the rest of its own row only. */
const WIDEST_COLUMN = 72;

/** Columns are as wide as their widest cell, up to a limit; the last column has none. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[], paint: Paint): string {
  const lines = [head.map((text): Cell => ({ text, paint: paint.dim })), ...rows].map((row) =>
    row.map(({ text, ...cell }) => ({ ...cell, text: printable(text).replace(/\r?\n/g, '\\n') })),
  );
  const widths = head.map((_, column) =>
    lines.reduce((widest, row) => Math.max(widest, Math.min(row[column]?.text.length ?? 0, WIDEST_COLUMN)), 0),
  );
  const gapAfter = (text: string, column: number) => ' '.repeat(Math.max(0, (widths[column] ?? 0) - text.length) + 2);
  return lines
    .map((row) =>
      row
        .map(({ text, paint: color = same }, column) =>
          column === row.length - 1 ? color(text) : color(text) + gapAfter(text, column),
        )
        .join('')
        .trimEnd(),
    )
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
