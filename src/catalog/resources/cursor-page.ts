// Owns cutting a long list into pages. A cursor names the last item of its page, so that a list which changes between two
// pages neither repeats nor loses an item.

import { parseJson } from '../../kernel/json.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';

export interface CursorPage<Item> {
  readonly items: readonly Item[];
  readonly nextCursor?: string;
}

export interface CursorPageOptions<Item> {
  /** The sort key of an item; no two items have the same. */
  readonly keyOf: (item: Item) => readonly string[];
  readonly cursor?: string | undefined;
  readonly limit: number;
  /** A page has at most `chars` characters as well, unless its first item alone is longer. */
  readonly room?: { readonly chars: number; readonly charsOf: (item: Item) => number };
}

/** `items` must be sorted by their key. */
export function cursorPageOf<Item>(
  items: readonly Item[],
  { keyOf, cursor, limit, room }: CursorPageOptions<Item>,
): CursorPage<Item> {
  const last = cursor === undefined ? undefined : readCursor(cursor);
  const start = last === undefined ? 0 : items.findIndex((item) => compareKeys(keyOf(item), last) > 0);
  if (start < 0) return { items: [] };
  const most = items.slice(start, start + limit);
  const shown = room === undefined ? most : most.slice(0, howManyFit(most, room));
  const end = shown.at(-1);
  const isLast = end === undefined || start + shown.length >= items.length;
  return isLast ? { items: shown } : { items: shown, nextCursor: writeCursor(keyOf(end)) };
}

function howManyFit<Item>(
  items: readonly Item[],
  { chars, charsOf }: NonNullable<CursorPageOptions<Item>['room']>,
): number {
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

/** Compares code units, so that the order does not depend on a locale. */
export function compareKeys(a: readonly string[], b: readonly string[]): number {
  for (const [index, part] of a.entries()) {
    const other = b[index] ?? '';
    if (part !== other) return part < other ? -1 : 1;
  }
  return a.length - b.length;
}
