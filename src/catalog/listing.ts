// Owns one server's list of tools: fetching it from a session, page by page, and how long it counts as fresh.

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
import { type FlaggedText, flaggedTextSentences } from './flagged-sentences.ts';
import { flaggedTextsOf } from './flagged-text.ts';
import { fewProblems, pageFrom, walkPages } from './pages.ts';

/** How long a list holds, and for whom, as its server says. */
export interface ListLife {
  /** When the list was fetched, in milliseconds since 1970. */
  readonly listedAt: number;
  /** The server's own `ttlMs`, if it sent one. */
  readonly ttlMs?: number;
  /** Every caller gets the same list (`cacheScope`). */
  readonly isPublic?: true;
}

export interface ToolListing extends ListLife {
  /** Every healthy definition, also those that the filters of the server's entry hide. */
  readonly tools: readonly ToolDefinition[];
  /** Parts that were left out or cut off, as sentences for a person. */
  readonly problems: readonly string[];
  /** Text that looks like orders to a model; also told among the problems. Not written to the tool cache. */
  readonly flaggedTexts?: readonly FlaggedText[];
  /** The server's own text about its use, from `initialize`. */
  readonly instructions?: string;
  /** The capabilities besides tools that the server declares. */
  readonly capabilities?: readonly ListCapability[];
  /** The server declares that it sends `list_changed`. */
  readonly isAnnounced?: true;
}

/** The capabilities besides tools that come with lists. */
export type ListCapability = 'resources' | 'prompts';

export const listCapabilities: readonly ListCapability[] = ['resources', 'prompts'];

export interface FetchToolsOptions {
  readonly clock: Clock;
  /** Aborting it ends the fetch. */
  readonly signal: AbortSignal;
}

/** One time limit for all pages together: a server that answers each page in time but never ends is cut off as well. */
export async function fetchTools(
  session: Session,
  definition: ServerDefinition,
  { clock, signal }: FetchToolsOptions,
): Promise<ToolListing> {
  const { instructions } = session;
  const capabilities = listCapabilities.filter((each) => session.capabilities[each] !== undefined);
  const about = {
    listedAt: clock.now(),
    ...(instructions !== undefined && { instructions }),
    ...(capabilities.length > 0 && { capabilities }),
  };
  const declared = session.capabilities['tools'];
  if (declared === undefined) return { tools: [], ...withFlaggedTexts([], [], instructions), ...about };
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
  let isPublic = true;
  try {
    const walked = await walkPages(
      async (cursor) => {
        const answer = await session.request('tools/list', cursor === undefined ? {} : { cursor }, {
          cancellation,
          repeatable: true,
        });
        const onRefusal = (_code: number, message: string) => refuse(name, message);
        const listed = pageFrom(answer, { server: name, session, called: 'tools', onRefusal });
        const page = requirePage(listed, name, cursor === undefined);
        if (typeof page['ttlMs'] === 'number' && page['ttlMs'] >= 0) ttlMs = Math.min(ttlMs, page['ttlMs']);
        isPublic &&= page['cacheScope'] === 'public';
        return page;
      },
      'tools',
      limits.toolList,
    );
    const cutOff = walked.cutOff === undefined ? [] : [`the list of tools was cut off: ${walked.cutOff}`];
    const { tools, problems } = healthyTools(walked.items, { mirrorsArguments: mirrorsArguments(session) });
    return {
      tools,
      ...withFlaggedTexts([...cutOff, ...problems], tools, instructions),
      ...about,
      ...(Number.isFinite(ttlMs) && { ttlMs }),
      ...(isPublic && { isPublic: true }),
      ...(isObject(declared) && declared['listChanged'] === true && { isAnnounced: true }),
    };
  } finally {
    unsubscribe();
    cancelTimeout();
  }
}

function withFlaggedTexts(
  problems: readonly string[],
  tools: readonly ToolDefinition[],
  instructions: string | undefined,
): Pick<ToolListing, 'problems' | 'flaggedTexts'> {
  const flaggedTexts = flaggedTextsOf(tools, instructions);
  return flaggedTexts.length === 0
    ? { problems }
    : { problems: [...problems, ...flaggedTextSentences(flaggedTexts)], flaggedTexts };
}

/** A broken definition is left out and reported; the others stay. */
export function healthyTools(
  items: readonly unknown[],
  how: { readonly mirrorsArguments?: boolean } = {},
): Pick<ToolListing, 'tools' | 'problems'> {
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
  return { tools: [...tools.values()], problems: fewProblems(problems) };
}

/** Tries once to present the definition: one that cannot be presented must not break the whole catalog later. */
function isShowable(definition: ToolDefinition, problems: string[]): boolean {
  try {
    present(definition);
    return true;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    problems.push(`the tool "${visible(definition.name)}" was left out: it cannot be shown to a model (${reason})`);
    return false;
  }
}

/** Until when a list counts as fresh: the server's own `ttlMs` counts most, and a server that announces changes is not polled. */
export function freshUntil({ listedAt, ttlMs, isAnnounced }: ToolListing, defaultTtlMs: number): number {
  if (ttlMs !== undefined) return listedAt + Math.max(limits.shortestTtlMs, ttlMs);
  return isAnnounced || defaultTtlMs === 0 ? Number.POSITIVE_INFINITY : listedAt + defaultTtlMs;
}

/** Modern HTTP sessions copy arguments into headers; only there is a tool refused that declares those headers wrongly. */
function mirrorsArguments({ era, transport }: Session): boolean {
  return era === 'modern' && transport === 'http';
}

/** Throws if even the first page holds no list: the catalog then keeps the list it had. */
function requirePage(page: JsonObject, server: ServerName, isFirst: boolean): JsonObject {
  if (!isFirst || Array.isArray(page['tools'])) return page;
  throw new RuntimeError('PROTOCOL_BROKEN', { server, reason: 'its answer to tools/list holds no list of tools' });
}

function refuse(server: ServerName, message: string): never {
  throw new RuntimeError('PROTOCOL_BROKEN', { server, reason: `it answered tools/list with an error (${message})` });
}
