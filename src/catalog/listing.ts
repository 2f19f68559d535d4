// Owns one server's tools: fetching them from a session, and telling healthy definitions from broken ones.

import type { Answer, Session } from '../connection/session.ts';
import { Cancellation } from '../kernel/cancellation.ts';
import type { Clock } from '../kernel/clock.ts';
import { deepFreeze, isObject, isWithin, type JsonObject } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { ServerDefinition } from '../model/server.ts';
import type { ToolDefinition } from '../model/tool.ts';
import { isExposed } from './filter.ts';
import { asPage, walkPages } from './pages.ts';

export interface Listing {
  readonly tools: readonly ToolDefinition[];
  /** Offered by the server, kept back by its entry's filters. */
  readonly hidden: readonly string[];
  /** What was left out or cut off, in words for a person. */
  readonly problems: readonly string[];
}

const emptySchema: JsonObject = { type: 'object' };

/** One overall limit for all pages: a server that answers each page in time but never ends is cut off as well. */
export async function fetchTools(session: Session, definition: ServerDefinition, clock: Clock): Promise<Listing> {
  if (session.capabilities['tools'] === undefined) return { tools: [], hidden: [], problems: [] };
  const { name, settings } = definition;
  const cancellation = new Cancellation();
  const timeUp = () =>
    cancellation.cancel(
      new RuntimeError('STARTUP_TIMEOUT', {
        server: name,
        afterMs: limits.listTimeoutMs,
        ...session.report(),
        reason: 'it does not list its tools',
      }),
    );
  const cancelTimeout = clock.after(limits.listTimeoutMs, timeUp, 'background');
  try {
    const walked = await walkPages(async (cursor) => {
      const answer = await session.request('tools/list', cursor === undefined ? {} : { cursor }, { cancellation });
      return asPage(resultOf(answer, name, session));
    }, 'tools');
    const problems = walked.cutOff === undefined ? [] : [`the list of tools was cut off: ${walked.cutOff}`];
    const tools = new Map<string, ToolDefinition>();
    const hidden: string[] = [];
    for (const item of walked.items) {
      const checked = checkDefinition(item);
      if (typeof checked === 'string') problems.push(checked);
      else if (tools.has(checked.name))
        problems.push(`the tool "${checked.name}" is listed twice; the first one counts`);
      else if (isExposed(checked.name, settings)) tools.set(checked.name, checked);
      else hidden.push(checked.name);
    }
    return { tools: [...tools.values()], hidden, problems };
  } finally {
    cancelTimeout();
  }
}

/** One broken definition costs itself and never its neighbors. */
function checkDefinition(item: unknown): ToolDefinition | string {
  if (!isObject(item) || typeof item['name'] !== 'string' || item['name'] === '')
    return 'a tool without a name was left out';
  const { name, description, inputSchema = emptySchema, ...rest } = item;
  if (name.length > limits.nameChars)
    return `a tool was left out: its name is longer than ${limits.nameChars} characters`;
  if (!isObject(inputSchema)) return `the tool "${name}" was left out: its inputSchema is not an object`;
  if (!isWithin(item, limits.definition))
    return `the tool "${name}" was left out: its definition is too deep or too large`;
  return deepFreeze({ ...rest, name, inputSchema, ...(typeof description === 'string' && { description }) });
}

function resultOf(answer: Answer, server: ServerName, session: Session): unknown {
  switch (answer.kind) {
    case 'result':
      return answer.result;
    case 'error':
      throw new RuntimeError('PROTOCOL_BROKEN', {
        server,
        reason: `it answered tools/list with an error (${answer.message})`,
      });
    case 'lost':
      throw new RuntimeError('CONNECTION_LOST', { server, ...session.report() });
    case 'oversized':
      throw new RuntimeError('LIST_TOO_LONG', {
        server,
        reason: 'one page of its tools is larger than a message may be',
      });
  }
}
