// Owns walking a paged list within limits: a server that pages for ever, repeats itself or names too much is cut off.

import type { RequestOutcome, Session } from '../connection/session.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';

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

export interface Listed {
  readonly server: ServerName;
  readonly session: Pick<Session, 'report'>;
  /** What is listed, in words. */
  readonly called: string;
  /** What the server's own "no" means: a page all the same, or a failure to throw. */
  readonly onRefusal: (code: number, message: string) => JsonObject;
}

/** The page that a list request answered; what has not the shape of one is empty. */
export function pageFrom(answer: RequestOutcome, { server, session, called, onRefusal }: Listed): JsonObject {
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
