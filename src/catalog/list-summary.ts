// Owns reading the summaries of stored tool lists, for commands that show how many tools a server has and not which. A list without
// a usable summary is read as a whole, which loads what checks and presents tools.

import { isObject, parseJson } from '../kernel/json.ts';
import type { Store } from '../kernel/store.ts';
import type { CachedListsDeps } from './cached-lists.ts';
import { LIST_VERSION, listKey, type StoredSummary, storedProblems, summaryBy } from './list-form.ts';

export interface ListSummary extends Omit<StoredSummary, 'by'> {
  readonly problems: readonly string[];
  readonly listedAt: number;
}

export function createListSummaries(
  store: Pick<Store, 'get' | 'set' | 'delete'>,
): CachedListsDeps<ListSummary>['lists'] {
  return {
    async read(key) {
      const text = await store.get(listKey(key));
      return text === undefined ? undefined : (parseSummary(text) ?? summarizeList(store, key));
    },
  };
}

function parseSummary(text: string): ListSummary | undefined {
  const read = parseJson(text);
  if (!read.ok || !isObject(read.value)) return undefined;
  const { version, summary, problems, listedAt } = read.value;
  if (version !== LIST_VERSION || !isSummary(summary) || typeof listedAt !== 'number') return undefined;
  const { names, reduced } = summary;
  return { names, reduced, listedAt, problems: storedProblems(Array.isArray(problems) ? problems : []) };
}

const isSummary = (value: unknown): value is StoredSummary =>
  isObject(value) && value['by'] === summaryBy && areTexts(value['names']) && areTexts(value['reduced']);

const areTexts = (value: unknown) => Array.isArray(value) && value.every((each) => typeof each === 'string');

async function summarizeList(
  store: Pick<Store, 'get' | 'set' | 'delete'>,
  key: string,
): Promise<ListSummary | 'unreadable' | undefined> {
  const { createStoredLists, summarized } = await import('./tool-cache.ts');
  const listing = await createStoredLists(store).read(key);
  if (listing === undefined || listing === 'unreadable') return listing;
  const { problems, listedAt } = listing;
  return { ...summarized(listing), problems, listedAt };
}
