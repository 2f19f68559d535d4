// Owns walking a paged list within limits: a server that pages for ever, repeats itself or names too much is cut off.

import { isObject, type JsonObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';

/** One page: the items under the list's key and where the next one begins. */
export type FetchPage = (cursor: string | undefined) => Promise<JsonObject>;

export interface Walked {
  readonly items: readonly unknown[];
  /** Why the walk ended before the server said so; what was listed until then is kept. */
  readonly cutOff?: string;
}

export async function walkPages(fetchPage: FetchPage, key: string): Promise<Walked> {
  const items: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 1; ; page++) {
    const answer = await fetchPage(cursor);
    const found = answer[key];
    if (!Array.isArray(found)) return { items, cutOff: `page ${page} holds no list of ${key}` };
    for (const item of found) items.push(item);
    if (items.length > limits.listItems) {
      return { items: items.slice(0, limits.listItems), cutOff: `it has more than ${limits.listItems} ${key}` };
    }
    const next = answer['nextCursor'];
    if (next === undefined || next === null || next === '') return { items };
    if (typeof next !== 'string') return { items, cutOff: 'a cursor is not a text' };
    if (Buffer.byteLength(next) > limits.cursorBytes)
      return { items, cutOff: `a cursor is longer than ${limits.cursorBytes} bytes` };
    if (seen.has(next)) return { items, cutOff: 'it repeats a cursor' };
    if (page === limits.listPages) return { items, cutOff: `it has more than ${limits.listPages} pages` };
    seen.add(next);
    cursor = next;
  }
}

/** What a list request answered, if it has the shape of a page at all. */
export function asPage(result: unknown): JsonObject {
  return isObject(result) ? result : {};
}
