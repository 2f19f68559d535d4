// Owns how findings look to a person: tables, colors, and text that a server cannot use to drive the terminal.

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

/** Text from a server may hold escapes that move the cursor, set titles or fake output: they are made visible. */
export function printable(text: string): string {
  return text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it is about
    /\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export interface Cell {
  readonly text: string;
  readonly paint?: (text: string) => string;
}

/** Columns as wide as their widest cell; the last one takes what it needs. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[], paint: Paint): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => printable(row[column]?.text ?? '').length)),
  );
  const line = (cells: readonly Cell[]) =>
    cells
      .map(({ text, paint: color = same }, column) => {
        const shown = printable(text);
        const gap = column === cells.length - 1 ? '' : ' '.repeat((widths[column] ?? 0) - shown.length + 2);
        return color(shown) + gap;
      })
      .join('')
      .trimEnd();
  return [line(head.map((text) => ({ text, paint: paint.dim }))), ...rows.map(line)].join('\n');
}

export function indent(text: string, by = '  '): string {
  return text.replace(/^(?=.)/gm, by);
}

/** The first sentence or line of a description: what fits into a table. */
export function firstLine(text: string, maxLength: number): string {
  const [line = ''] = text.trim().split('\n', 1);
  return line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line;
}
