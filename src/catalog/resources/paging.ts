// Owns handing out a long list in pages. A cursor names the item that was last: the list may change between two pages, and
// nothing is shown twice or lost by it.

import { parseJson } from '../../kernel/json.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor?: string;
}

export interface Paging<Item> {
  /** The parts by which the list is sorted, which no two items share. */
  readonly keyOf: (item: Item) => readonly string[];
  readonly cursor?: string | undefined;
  readonly limit: number;
  /** A page is no longer than this either, unless its first item is. */
  readonly room?: { readonly chars: number; readonly charsOf: (item: Item) => number };
}

/** The items are sorted by their key. */
export function pageOf<Item>(items: readonly Item[], { keyOf, cursor, limit, room }: Paging<Item>): Page<Item> {
  const last = cursor === undefined ? undefined : readCursor(cursor);
  const start = last === undefined ? 0 : items.findIndex((item) => compare(keyOf(item), last) > 0);
  if (start < 0) return { items: [] };
  const most = items.slice(start, start + limit);
  const shown = room === undefined ? most : most.slice(0, howManyFit(most, room));
  const end = shown.at(-1);
  const isLast = end === undefined || start + shown.length >= items.length;
  return isLast ? { items: shown } : { items: shown, nextCursor: writeCursor(keyOf(end)) };
}

function howManyFit<Item>(items: readonly Item[], { chars, charsOf }: NonNullable<Paging<Item>['room']>): number {
  let left = chars;
  const beyond = items.findIndex((item, at) => {
    left -= charsOf(item);
    return left < 0 && at > 0;
  });
  return beyond < 0 ? items.length : beyond;
}

const writeCursor = (key: readonly string[]) => Buffer.from(JSON.stringify(key)).toString('base64url');

function readCursor(cursor: string): readonly string[] {
  const read = cursor.length > limits.cursorBytes ? undefined : parseJson(Buffer.from(cursor, 'base64url').toString());
  const key = read?.ok ? read.value : undefined;
  if (!Array.isArray(key) || key.length === 0 || !key.every((part) => typeof part === 'string'))
    throw new RuntimeError('CURSOR_INVALID', { cursor: cursor.slice(0, limits.refusalChars) });
  return key;
}

/** By code units, as everywhere: no language decides what comes first. */
export function compare(a: readonly string[], b: readonly string[]): number {
  for (const [index, part] of a.entries()) {
    const other = b[index] ?? '';
    if (part !== other) return part < other ? -1 : 1;
  }
  return a.length - b.length;
}
