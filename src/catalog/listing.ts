// Owns one server's tools: fetching them from a session, and telling healthy definitions from broken ones.

import type { Answer, Session } from '../connection/session.ts';
import { Cancellation } from '../kernel/cancellation.ts';
import type { Clock } from '../kernel/clock.ts';
import type { JsonObject } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { ServerDefinition } from '../model/server.ts';
import type { ToolDefinition } from '../model/tool.ts';
import { isExposed } from './filter.ts';
import { asPage, walkPages } from './pages.ts';
import { checkDefinition } from './tool-definition.ts';

export interface Listing {
  readonly tools: readonly ToolDefinition[];
  /** Offered by the server, kept back by its entry's filters. */
  readonly hidden: readonly string[];
  /** What was left out or cut off, in words for a person. */
  readonly problems: readonly string[];
}

export interface Patience {
  readonly clock: Clock;
  /** Aborting it ends the fetching. */
  readonly signal: AbortSignal;
}

/** One overall limit for all pages: a server that answers each page in time but never ends is cut off as well. */
export async function fetchTools(
  session: Session,
  definition: ServerDefinition,
  { clock, signal }: Patience,
): Promise<Listing> {
  if (session.capabilities['tools'] === undefined) return { tools: [], hidden: [], problems: [] };
  const { name, settings } = definition;
  const cancellation = new Cancellation();
  const letGo = cancellation.follow(signal);
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
      const answer = await session.request('tools/list', cursor === undefined ? {} : { cursor }, {
        cancellation,
        repeatable: true,
      });
      return pageOf(resultOf(answer, name, session), name, cursor === undefined);
    }, 'tools');
    const problems = walked.cutOff === undefined ? [] : [`the list of tools was cut off: ${walked.cutOff}`];
    const tools = new Map<string, ToolDefinition>();
    const hidden: string[] = [];
    for (const item of walked.items) {
      const checked = checkDefinition(item, { mirrorsArguments: mirrorsArguments(session) });
      if (typeof checked === 'string') problems.push(checked);
      else if (tools.has(checked.name))
        problems.push(`the tool "${checked.name}" is listed twice; the first one counts`);
      else if (isExposed(checked.name, settings)) tools.set(checked.name, checked);
      else hidden.push(checked.name);
    }
    return { tools: [...tools.values()], hidden, problems };
  } finally {
    letGo();
    cancelTimeout();
  }
}

/** Only there do arguments become headers, and only there may a tool not be used when it declares them wrongly. */
function mirrorsArguments({ era, transport }: Session): boolean {
  return era === 'modern' && transport === 'http';
}

/** Without even a first page there is no list, and what was known before is better than nothing. */
function pageOf(result: unknown, server: ServerName, isFirst: boolean): JsonObject {
  const page = asPage(result);
  if (!isFirst || Array.isArray(page['tools'])) return page;
  throw new RuntimeError('PROTOCOL_BROKEN', { server, reason: 'its answer to tools/list holds no list of tools' });
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
      if (answer.cause instanceof RuntimeError) throw answer.cause;
      throw new RuntimeError('CONNECTION_LOST', { server, ...session.report() });
    case 'oversized':
      throw new RuntimeError('LIST_TOO_LONG', {
        server,
        reason: 'one page of its tools is larger than a message may be',
      });
  }
}
