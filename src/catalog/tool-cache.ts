// Owns the tool lists that are kept on disk from one start to the next, so that a model has its tools before a server is up: how a
// list is written and read back. Whose list it is, and for which servers it may be used, says `cached-lists.ts`; how long a list is
// kept is `limits.toolCache`.

import { createHash } from 'node:crypto';
import type { CancelTimer } from '../kernel/clock.ts';
import { isObject, parseJson } from '../kernel/json.ts';
import type { Store } from '../kernel/store.ts';
import { limits } from '../model/limits.ts';
import type { ServerDefinition } from '../model/server.ts';
import { type Cached, type CachedLists, type CachedListsDeps, createCachedLists, isCached } from './cached-lists.ts';
import { digestOf } from './definition/digest.ts';
import { present } from './definition/present.ts';
import { LIST_VERSION, listKey, type StoredSummary, storedProblems, summaryBy } from './list-form.ts';
import { healthyTools, listCapabilities, type ToolListing } from './listing.ts';

export interface ToolCache extends Pick<CachedLists<ToolListing>, 'read'> {
  /** Forgets the lists of these servers. */
  clear(definitions: readonly ServerDefinition[]): Promise<void>;
  /** Has a list that has changed written, a moment later together with others: a start has no time for the disk. */
  write(definition: ServerDefinition, listing: ToolListing): void;
  /** Writes what waits. A full disk costs the cache and nothing else. */
  flush(): Promise<void>;
}

export type CachedTools = Cached<ToolListing>;

export interface ToolCacheDeps extends Omit<CachedListsDeps<ToolListing>, 'lists'> {
  readonly store: Pick<Store, 'get' | 'set' | 'delete'>;
}

export function createToolCache({ store, ...deps }: ToolCacheDeps): ToolCache {
  const { offerTo, offers, clock, onError } = deps;
  const lists = createStoredLists(store);
  const { read, keysOf } = createCachedLists({ ...deps, lists });
  /** The latest list of each server that is not written yet. */
  const waiting = new Map<ServerDefinition, { readonly listing: ToolListing; readonly offer: string }>();
  let cancelWrite: CancelTimer | undefined;
  const flush = async () => {
    cancelWrite?.();
    cancelWrite = undefined;
    const writing = [...waiting].map(async ([definition, { listing, offer }]) =>
      lists.write((await keysOf(definition))(offer), listing),
    );
    waiting.clear();
    await Promise.all(writing.map((each) => each.catch(onError)));
  };
  return {
    async read(definitions, onLate) {
      await flush();
      return read(definitions, onLate);
    },
    async clear(definitions) {
      const cleared = definitions.filter(isCached).map(async (definition) => {
        waiting.delete(definition);
        const keyFor = await keysOf(definition);
        await Promise.all(offers.map((offer) => lists.delete(keyFor(offer))));
      });
      await Promise.all(cleared);
    },
    write(definition, listing) {
      if (!isCached(definition)) return;
      waiting.set(definition, { listing, offer: offerTo(definition) });
      cancelWrite ??= clock.after(limits.cacheWriteMs, () => void flush(), 'background');
    },
    flush,
  };
}

export interface StoredLists {
  /** `undefined` where the list was never stored or has expired. A list that cannot be read is deleted. */
  read(key: string): Promise<ToolListing | 'unreadable' | undefined>;
  delete(key: string): Promise<void>;
  /** Writes only when the list differs from the stored one, or the stored one is a day old. */
  write(key: string, listing: ToolListing): Promise<void>;
}

export function createStoredLists(store: Pick<Store, 'get' | 'set' | 'delete'>): StoredLists {
  const stored = new Map<string, ToolListing>();
  return {
    async read(key) {
      const text = await store.get(listKey(key));
      if (text === undefined) return undefined;
      const listing = parseListing(text);
      if (listing) stored.set(key, listing);
      else await store.delete(listKey(key));
      return listing ?? 'unreadable';
    },
    async delete(key) {
      stored.delete(key);
      await store.delete(listKey(key));
    },
    async write(key, listing) {
      if (isStored(listing, stored.get(key))) return;
      const { tools, instructions, capabilities, listedAt } = listing;
      const problems = storedProblems(listing.problems);
      const text = JSON.stringify({
        version: LIST_VERSION,
        listedAt,
        summary: summarized(listing),
        instructions,
        offers: capabilities,
        problems,
        tools,
      });
      stored.set(key, listing);
      try {
        await store.set(listKey(key), text, limits.toolCache.keptMs);
      } catch (error) {
        stored.delete(key);
        throw error;
      }
    },
  };
}

/** Compares lists when one is written, not when it is read: a start has no time for it. */
function isStored(listing: ToolListing, before: ToolListing | undefined): boolean {
  if (before === undefined || listing.listedAt - before.listedAt >= limits.toolCache.writeAgainMs) return false;
  return digestOfList(listing) === digestOfList(before);
}

/** A list from the disk is checked as carefully as one from a server. */
function parseListing(text: string): ToolListing | undefined {
  const read = parseJson(text);
  if (!read.ok || !isObject(read.value)) return undefined;
  const { version, tools, listedAt, instructions, offers, problems } = read.value;
  if (version !== LIST_VERSION || !Array.isArray(tools) || typeof listedAt !== 'number') return undefined;
  const healthy = healthyTools(tools.slice(0, limits.listItems));
  return {
    tools: healthy.tools,
    problems: storedProblems([...(Array.isArray(problems) ? problems : []), ...healthy.problems]),
    listedAt,
    ...(typeof instructions === 'string' && { instructions }),
    ...(Array.isArray(offers) && { capabilities: listCapabilities.filter((each) => offers.includes(each)) }),
  };
}

/** Presenting a definition a second time costs nothing: what the catalog shows was made of the same object. */
export const summarized = ({ tools }: ToolListing): StoredSummary => ({
  by: summaryBy,
  names: tools.map(({ name }) => name),
  reduced: tools.filter((tool) => present(tool).changes.length > 0).map(({ name }) => name),
});

function digestOfList({ tools, instructions = '', capabilities = [], problems }: ToolListing): string {
  return createHash('sha256')
    .update([...capabilities, instructions, ...storedProblems(problems), ...tools.map(digestOf)].join('\n'))
    .digest('base64');
}
