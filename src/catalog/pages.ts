// Owns walking a paged list within limits: a server that never ends its pages, repeats a cursor or lists too much is cut off.

import type { RequestOutcome, Session } from '../connection/session.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';

/** Fetches one page: the items under the list's key, and the cursor of the next page. */
export type FetchPage = (cursor: string | undefined) => Promise<JsonObject>;

export interface WalkedPages {
  readonly items: readonly unknown[];
  /** Why the walk ended before the server's last page; the items until then are kept. */
  readonly cutOff?: string;
}

export interface PageLimits {
  readonly pages: number;
  readonly items: number;
}

export async function walkPages(fetchPage: FetchPage, key: string, most: PageLimits): Promise<WalkedPages> {
  const items: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 1; ; page++) {
    const answer = await fetchPage(cursor);
    const listed = answer[key];
    if (!Array.isArray(listed)) return { items, cutOff: `page ${page} holds no list of ${key}` };
    for (const item of listed) items.push(item);
    if (items.length > most.items)
      return { items: items.slice(0, most.items), cutOff: `it has more than ${most.items} ${key}` };
    const next = answer['nextCursor'];
    if (next === undefined || next === null || next === '') return { items };
    if (typeof next !== 'string') return { items, cutOff: 'a cursor is not a text' };
    if (Buffer.byteLength(next) > limits.cursorBytes)
      return { items, cutOff: `a cursor is longer than ${limits.cursorBytes} bytes` };
    if (seen.has(next)) return { items, cutOff: 'it repeats a cursor' };
    if (page === most.pages) return { items, cutOff: `it has more than ${most.pages} pages` };
    seen.add(next);
    cursor = next;
  }
}

/** Of a thousand broken definitions only the first few are reported. */
export function fewProblems(problems: readonly string[]): readonly string[] {
  const { listProblems: most } = limits;
  return problems.length <= most ? problems : [...problems.slice(0, most), `and ${problems.length - most} more`];
}

export interface ListedPages {
  readonly server: ServerName;
  readonly session: Pick<Session, 'report'>;
  /** The kind of list in words, such as "resource templates". */
  readonly called: string;
  /** Turns the server's JSON-RPC error into a page, or throws. */
  readonly onRefusal: (code: number, message: string) => JsonObject;
}

/** The page in the server's answer to a list request; an answer of another shape counts as an empty page. */
export function pageFrom(answer: RequestOutcome, { server, session, called, onRefusal }: ListedPages): JsonObject {
  switch (answer.kind) {
    case 'result':
      return isObject(answer.result) ? answer.result : {};
    case 'error':
      return onRefusal(answer.code, answer.message);
    case 'lost':
      if (answer.cause instanceof RuntimeError) throw answer.cause;
      throw new RuntimeError('CONNECTION_LOST', { server, ...session.report() });
    case 'oversized':
      throw new RuntimeError('LIST_TOO_LONG', {
        server,
        reason: `one page of its ${called} is larger than a message may be`,
      });
  }
}
