// Owns fetching a server's list of resources, templates or prompts, page by page within limits.

import type { RequestOutcome, Session } from '../../connection/session.ts';
import { Cancellation } from '../../kernel/cancellation.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';
import type { Prompt, Resource, ResourceTemplate } from '../../model/resource.ts';
import type { ListCapability } from '../listing.ts';
import { fewProblems, pageFrom, walkPages } from '../pages.ts';
import { checkPrompt, checkResource, checkTemplate, type DefinitionCheck } from './resource-definition.ts';

/** One kind of list: how it is requested, and how its items are checked. */
export interface ListKind<Item> {
  /** The kind in words, such as "resource templates". */
  readonly called: string;
  readonly method: string;
  /** The key of a page that holds the items. */
  readonly key: string;
  readonly check: DefinitionCheck<Item>;
  /** The identifier of an item, unique within the list. */
  readonly idOf: (item: Item) => string;
  /** A server without such items may not know the request. */
  readonly isOptional?: true;
}

export const resourceKind: ListKind<Resource> = {
  called: 'resources',
  method: 'resources/list',
  key: 'resources',
  check: checkResource,
  idOf: ({ uri }) => uri,
};

export const templateKind: ListKind<ResourceTemplate> = {
  called: 'resource templates',
  method: 'resources/templates/list',
  key: 'resourceTemplates',
  check: checkTemplate,
  idOf: ({ uriTemplate }) => uriTemplate,
  isOptional: true,
};

export const promptKind: ListKind<Prompt> = {
  called: 'prompts',
  method: 'prompts/list',
  key: 'prompts',
  check: checkPrompt,
  idOf: ({ name }) => name,
};

export interface FetchedList<Item> {
  /** By identifier, sorted by it. */
  readonly items: ReadonlyMap<string, Item>;
  readonly problems: readonly string[];
  /** The server's own `ttlMs`, if it sent one. */
  readonly ttlMs?: number;
  /** Every caller gets the same list (`cacheScope`). */
  readonly isPublic?: true;
}

export interface ListRequest {
  readonly server: ServerName;
  readonly session: Session;
  readonly clock: Clock;
  /** Aborting it ends the fetch. */
  readonly signal: AbortSignal;
}

/** One time limit for all pages together, as for tools. */
export async function fetchList<Item>(kind: ListKind<Item>, fetching: ListRequest): Promise<FetchedList<Item>> {
  const { server, session, clock, signal } = fetching;
  const cancellation = new Cancellation();
  const unsubscribe = cancellation.follow(signal);
  const afterMs = limits.listTimeoutMs;
  const timeUp = () => cancellation.cancel(new RuntimeError('REQUEST_TIMEOUT', { server, what: kind.method, afterMs }));
  const cancelTimeout = clock.after(afterMs, timeUp, 'background');
  let ttlMs: number | undefined;
  let isPublic = true;
  try {
    const walked = await walkPages(
      async (cursor) => {
        const params = cursor === undefined ? {} : { cursor };
        const answer = await session.request(kind.method, params, { cancellation, repeatable: true });
        const page = pageOf(answer, kind, fetching);
        if (cursor === undefined) requireList(page, kind, server);
        ttlMs = shorterTtl(ttlMs, page['ttlMs']);
        isPublic &&= page['cacheScope'] === 'public';
        return page;
      },
      kind.key,
      { pages: limits.listPages, items: limits.listItems },
    );
    const cutOff = walked.cutOff === undefined ? [] : [`the list of ${kind.called} was cut off: ${walked.cutOff}`];
    const life = { ...(ttlMs !== undefined && { ttlMs }), ...(isPublic && { isPublic: true as const }) };
    return { ...sorted(kind, walked.items, cutOff, server), ...life };
  } finally {
    unsubscribe();
    cancelTimeout();
  }
}

/** The shortest `ttlMs` of all pages counts for the whole list. */
function shorterTtl(shortest: number | undefined, ttlMs: unknown): number | undefined {
  if (typeof ttlMs !== 'number' || !Number.isFinite(ttlMs) || ttlMs < 0) return shortest;
  return Math.min(shortest ?? ttlMs, ttlMs);
}

function pageOf<Item>(answer: RequestOutcome, kind: ListKind<Item>, { server, session }: ListRequest): JsonObject {
  const onRefusal = (code: number, message: string): JsonObject => {
    if (kind.isOptional && code === METHOD_NOT_FOUND) return { [kind.key]: [] };
    throw new RuntimeError('REQUEST_REFUSED', {
      server,
      reason: message.slice(0, limits.refusalChars),
      list: kind.called,
    });
  };
  return pageFrom(answer, { server, session, called: kind.called, onRefusal });
}

const METHOD_NOT_FOUND = -32601;

/** Throws if even the first page holds no list: the catalog then keeps the list it had. */
function requireList<Item>(page: JsonObject, { key, method: what }: ListKind<Item>, server: ServerName): void {
  if (Array.isArray(page[key])) return;
  throw new RuntimeError('ANSWER_BROKEN', { server, what, problem: `its answer holds no list of ${key}` });
}

function sorted<Item>(
  { called, check, idOf }: ListKind<Item>,
  listed: readonly unknown[],
  cutOff: readonly string[],
  server: ServerName,
): Pick<FetchedList<Item>, 'items' | 'problems'> {
  const found = new Map<string, Item>();
  const problems = [...cutOff];
  for (const each of listed) {
    const checked = check(each, server);
    if (typeof checked === 'string') problems.push(checked);
    else if (found.has(idOf(checked)))
      problems.push(`"${idOf(checked).slice(0, 100)}" is listed twice among the ${called}; the first one counts`);
    else found.set(idOf(checked), checked);
  }
  const items = new Map([...found].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  return { items, problems: fewProblems(problems) };
}

/** Whether the server declares that it sends `list_changed`. */
export function announcesChanges({ capabilities }: Session, capability: ListCapability): boolean {
  const declared = capabilities[capability];
  return isObject(declared) && declared['listChanged'] === true;
}
