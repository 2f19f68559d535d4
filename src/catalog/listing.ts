// Owns one server's list of tools: fetching it from a session, page by page, and what the server says of how long it holds.

import type { Session } from '../connection/session.ts';
import { Cancellation } from '../kernel/cancellation.ts';
import type { Clock } from '../kernel/clock.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { visible } from '../kernel/shell-word.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { ServerDefinition } from '../model/server.ts';
import type { ToolDefinition } from '../model/tool.ts';
import { checkDefinition } from './definition/check.ts';
import { present } from './definition/present.ts';
import { pageFrom, walkPages } from './pages.ts';
import { type Suspicion, suspicionsOf, suspicionTexts } from './suspicion.ts';

export interface Listing {
  /** Every healthy one, also those that the entry's filters keep back. */
  readonly tools: readonly ToolDefinition[];
  /** What was left out or cut off, in words for a person. */
  readonly problems: readonly string[];
  /** What looks like an order in it; among the problems as well. Not kept from one start to the next. */
  readonly suspicions?: readonly Suspicion[];
  /** What the server says about its use. */
  readonly instructions?: string;
  /** What else it has. */
  readonly offers?: readonly Offering[];
  /** When it was fetched, in milliseconds since 1970. */
  readonly listedAt: number;
  /** How long it holds, where the server says so. */
  readonly ttlMs?: number;
  /** The server tells when it changes. */
  readonly isAnnounced?: true;
}

export type Offering = 'resources' | 'prompts';

export const offerings: readonly Offering[] = ['resources', 'prompts'];

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
  const { instructions } = session;
  const offers = offerings.filter((each) => session.capabilities[each] !== undefined);
  const about = {
    listedAt: clock.now(),
    ...(instructions !== undefined && { instructions }),
    ...(offers.length > 0 && { offers }),
  };
  const capability = session.capabilities['tools'];
  if (capability === undefined) return { tools: [], ...remarked([], [], instructions), ...about };
  const { name } = definition;
  const cancellation = new Cancellation();
  const unsubscribe = cancellation.follow(signal);
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
  let ttlMs = Number.POSITIVE_INFINITY;
  try {
    const walked = await walkPages(async (cursor) => {
      const answer = await session.request('tools/list', cursor === undefined ? {} : { cursor }, {
        cancellation,
        repeatable: true,
      });
      const onRefusal = (_code: number, message: string) => refuse(name, message);
      const listed = pageFrom(answer, { server: name, session, called: 'tools', onRefusal });
      const page = requirePage(listed, name, cursor === undefined);
      if (typeof page['ttlMs'] === 'number' && page['ttlMs'] >= 0) ttlMs = Math.min(ttlMs, page['ttlMs']);
      return page;
    }, 'tools');
    const cutOff = walked.cutOff === undefined ? [] : [`the list of tools was cut off: ${walked.cutOff}`];
    const { tools, problems } = healthyOnes(walked.items, { mirrorsArguments: mirrorsArguments(session) });
    return {
      ...{ tools, ...remarked([...cutOff, ...problems], tools, instructions), ...about },
      ...(Number.isFinite(ttlMs) && { ttlMs }),
      ...(isObject(capability) && capability['listChanged'] === true && { isAnnounced: true }),
    };
  } finally {
    unsubscribe();
    cancelTimeout();
  }
}

function remarked(
  problems: readonly string[],
  tools: readonly ToolDefinition[],
  instructions: string | undefined,
): Pick<Listing, 'problems' | 'suspicions'> {
  const suspicions = suspicionsOf(tools, instructions);
  return suspicions.length === 0
    ? { problems }
    : { problems: [...problems, ...suspicionTexts(suspicions)], suspicions };
}

/** One broken definition costs itself and never its neighbors. */
export function healthyOnes(
  items: readonly unknown[],
  how: { readonly mirrorsArguments?: boolean } = {},
): Pick<Listing, 'tools' | 'problems'> {
  const tools = new Map<string, ToolDefinition>();
  const problems: string[] = [];
  for (const item of items) {
    const checked = checkDefinition(item, how);
    if (typeof checked === 'string') problems.push(checked);
    else if (tools.has(checked.name))
      problems.push(`the tool "${visible(checked.name)}" is listed twice; the first one counts`);
    else if (!isShowable(checked, problems)) continue;
    else tools.set(checked.name, checked);
  }
  const { listProblems } = limits;
  if (problems.length > listProblems)
    problems.splice(listProblems, Infinity, `and ${problems.length - listProblems} more`);
  return { tools: [...tools.values()], problems };
}

/** Tried here, once: whatever no model could be shown must not break the catalog of everybody. */
function isShowable(definition: ToolDefinition, problems: string[]): boolean {
  try {
    present(definition, 'any');
    return true;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    problems.push(`the tool "${visible(definition.name)}" was left out: it cannot be shown to a model (${reason})`);
    return false;
  }
}

/** Until when a list counts as fresh: the server's own word counts most, and who tells of changes is not asked for them. */
export function freshUntil({ listedAt, ttlMs, isAnnounced }: Listing, defaultTtlMs: number): number {
  if (ttlMs !== undefined) return listedAt + Math.max(limits.shortestTtlMs, ttlMs);
  return isAnnounced || defaultTtlMs === 0 ? Number.POSITIVE_INFINITY : listedAt + defaultTtlMs;
}

/** Only there do arguments become headers, and only there may a tool not be used when it declares them wrongly. */
function mirrorsArguments({ era, transport }: Session): boolean {
  return era === 'modern' && transport === 'http';
}

/** Without even a first page there is no list, and what was known before is better than nothing. */
function requirePage(page: JsonObject, server: ServerName, isFirst: boolean): JsonObject {
  if (!isFirst || Array.isArray(page['tools'])) return page;
  throw new RuntimeError('PROTOCOL_BROKEN', { server, reason: 'its answer to tools/list holds no list of tools' });
}

function refuse(server: ServerName, message: string): never {
  throw new RuntimeError('PROTOCOL_BROKEN', { server, reason: `it answered tools/list with an error (${message})` });
}
