// Owns a session that lists tools as the test says, page by page.

import type { RequestOutcome, Session } from '../../../src/connection/session.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { createFakeSession } from '../session.ts';

export interface ListingSession extends Session {
  /** The cursors that were requested, in order. */
  readonly cursors: readonly unknown[];
}

export function createSession(
  answer: (
    params: JsonObject,
    cancellation: { race<Value>(work: Promise<Value>): Promise<Value> },
  ) => RequestOutcome | Promise<RequestOutcome>,
  change: Partial<Pick<Session, 'capabilities' | 'era' | 'transport'>> = {},
): ListingSession {
  const cursors: unknown[] = [];
  return {
    cursors,
    ...createFakeSession({
      async request(method, params = {}, { cancellation } = {}) {
        if (method !== 'tools/list' || cancellation === undefined) throw new TypeError(`${method} was not expected`);
        if (cancellation.cancelled) throw cancellation.reason;
        cursors.push(params['cursor']);
        return answer(params, cancellation);
      },
      ...change,
    }),
  };
}

/** One page of tools with these names. */
export function page(names: readonly string[], nextCursor?: unknown): RequestOutcome {
  const tools = names.map((name) => ({ name, inputSchema: { type: 'object' } }));
  return { kind: 'result', result: { tools, ...(nextCursor !== undefined && { nextCursor }) } };
}
