// Owns fetching one list of a server that is not its tools: resources, templates or prompts, page by page within limits.

import type { RequestOutcome, Session } from '../../connection/session.ts';
import { Cancellation } from '../../kernel/cancellation.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';
import type { Prompt, Resource, ResourceTemplate } from '../../model/offer.ts';
import { pageFrom, walkPages } from '../pages.ts';
import { type Check, checkPrompt, checkResource, checkTemplate } from './offer-definition.ts';

/** What a list is of: how it is asked for, and what makes an item of it. */
export interface OfferKind<Item> {
  /** In words for a person. */
  readonly called: string;
  readonly method: string;
  /** Where the items stand in a page. */
  readonly key: string;
  readonly check: Check<Item>;
  /** What tells one item from another. */
  readonly idOf: (item: Item) => string;
  /** A server that has none may not know the request. */
  readonly isOptional?: true;
}

export const resourceKind: OfferKind<Resource> = {
  ...{ called: 'resources', method: 'resources/list', key: 'resources' },
  check: checkResource,
  idOf: ({ uri }) => uri,
};

export const templateKind: OfferKind<ResourceTemplate> = {
  ...{ called: 'resource templates', method: 'resources/templates/list', key: 'resourceTemplates' },
  check: checkTemplate,
  idOf: ({ uriTemplate }) => uriTemplate,
  isOptional: true,
};

export const promptKind: OfferKind<Prompt> = {
  ...{ called: 'prompts', method: 'prompts/list', key: 'prompts' },
  check: checkPrompt,
  idOf: ({ name }) => name,
};

export interface OfferedList<Item> {
  /** By what tells them apart, in the order of that. */
  readonly items: ReadonlyMap<string, Item>;
  readonly problems: readonly string[];
  /** How long it counts as fresh, by the server's word. */
  readonly ttlMs?: number;
}

export interface Fetching {
  readonly server: ServerName;
  readonly session: Session;
  readonly clock: Clock;
  /** Aborting it ends the fetching. */
  readonly signal: AbortSignal;
}

/** One limit for all pages, as for tools. */
export async function fetchOffered<Item>(kind: OfferKind<Item>, fetching: Fetching): Promise<OfferedList<Item>> {
  const { server, session, clock, signal } = fetching;
  const cancellation = new Cancellation();
  const unsubscribe = cancellation.follow(signal);
  const afterMs = limits.listTimeoutMs;
  const timeUp = () => cancellation.cancel(new RuntimeError('REQUEST_TIMEOUT', { server, what: kind.method, afterMs }));
  const cancelTimeout = clock.after(afterMs, timeUp, 'background');
  let ttlMs: number | undefined;
  try {
    const walked = await walkPages(async (cursor) => {
      const params = cursor === undefined ? {} : { cursor };
      const answer = await session.request(kind.method, params, { cancellation, repeatable: true });
      const page = pageOf(answer, kind, fetching);
      if (cursor === undefined) requireList(page, kind, server);
      ttlMs = shorter(ttlMs, page['ttlMs']);
      return page;
    }, kind.key);
    const cutOff = walked.cutOff === undefined ? [] : [`the list of ${kind.called} was cut off: ${walked.cutOff}`];
    return { ...sorted(kind, walked.items, cutOff, server), ...(ttlMs !== undefined && { ttlMs }) };
  } finally {
    unsubscribe();
    cancelTimeout();
  }
}

/** The page that is old first makes all of it old. */
function shorter(sofar: number | undefined, said: unknown): number | undefined {
  if (typeof said !== 'number' || !Number.isFinite(said) || said < 0) return sofar;
  return Math.min(sofar ?? said, said);
}

function pageOf<Item>(answer: RequestOutcome, kind: OfferKind<Item>, { server, session }: Fetching): JsonObject {
  const onRefusal = (code: number, message: string): JsonObject => {
    if (kind.isOptional && code === METHOD_NOT_FOUND) return { [kind.key]: [] };
    throw new RuntimeError('REQUEST_REFUSED', { server, reason: message.slice(0, limits.refusalChars) });
  };
  return pageFrom(answer, { server, session, called: kind.called, onRefusal });
}

const METHOD_NOT_FOUND = -32601;

/** Without even a first page there is no list, and what was known before is better than nothing. */
function requireList<Item>(page: JsonObject, { key, method: what }: OfferKind<Item>, server: ServerName): void {
  if (Array.isArray(page[key])) return;
  throw new RuntimeError('ANSWER_BROKEN', { server, what, problem: `its answer holds no list of ${key}` });
}

function sorted<Item>(
  { called, check, idOf }: OfferKind<Item>,
  listed: readonly unknown[],
  cutOff: readonly string[],
  server: ServerName,
): Pick<OfferedList<Item>, 'items' | 'problems'> {
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
  return { items, problems: few(problems) };
}

/** Who breaks a thousand definitions is told of a few of them. */
function few(problems: readonly string[]): readonly string[] {
  const { listProblems: most } = limits;
  return problems.length <= most ? problems : [...problems.slice(0, most), `and ${problems.length - most} more`];
}

/** Whether it tells by itself when the list changes. */
export function announcesChanges({ capabilities }: Session, group: 'resources' | 'prompts'): boolean {
  const capability = capabilities[group];
  return isObject(capability) && capability['listChanged'] === true;
}
