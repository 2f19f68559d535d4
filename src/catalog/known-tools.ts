// Owns what is remembered of servers' lists from one start to the next, so that a model has its tools before a server is up.

import { createHash } from 'node:crypto';
import { isObject, parseJson } from '../kernel/json.ts';
import type { Store } from '../kernel/store.ts';
import { limits } from '../model/limits.ts';
import { digestOf } from './definition/digest.ts';
import { healthyOnes, type Listing, offerings } from './listing.ts';

export interface KnownTools {
  /** Nothing where it was never listed, or that is too long ago; what cannot be read is dropped. */
  recall(key: string): Promise<Listing | 'unreadable' | undefined>;
  /** Writes only what is news. */
  remember(key: string, listing: Listing): Promise<void>;
}

/** Counts up whenever the form changes: what another version wrote is not read. */
const VERSION = 1;

export function createKnownTools(store: Pick<Store, 'get' | 'set' | 'delete'>): KnownTools {
  const written = new Map<string, Listing>();
  const placeOf = (key: string) => `tools:${key}`;
  return {
    async recall(key) {
      const found = await store.get(placeOf(key));
      if (found === undefined) return undefined;
      const listing = listingOf(found);
      if (listing) written.set(key, listing);
      else await store.delete(placeOf(key));
      return listing ?? 'unreadable';
    },
    async remember(key, listing) {
      if (isKept(listing, written.get(key))) return;
      const { tools, instructions, offers, listedAt } = listing;
      const problems = keptOf(listing.problems);
      const text = JSON.stringify({ version: VERSION, listedAt, instructions, offers, problems, tools });
      written.set(key, listing);
      try {
        await store.set(placeOf(key), text, limits.knownTools.keptMs);
      } catch (error) {
        written.delete(key);
        throw error;
      }
    },
  };
}

/** Compared only now: a start has no time for it. */
function isKept(listing: Listing, before: Listing | undefined): boolean {
  if (before === undefined || listing.listedAt - before.listedAt >= limits.knownTools.writeAgainMs) return false;
  return summaryOf(listing) === summaryOf(before);
}

/** It comes from a disk: read with the same care as from a server. */
function listingOf(text: string): Listing | undefined {
  const read = parseJson(text);
  if (!read.ok || !isObject(read.value)) return undefined;
  const { version, tools, listedAt, instructions, offers, problems } = read.value;
  if (version !== VERSION || !Array.isArray(tools) || typeof listedAt !== 'number') return undefined;
  const healthy = healthyOnes(tools.slice(0, limits.listItems));
  return {
    tools: healthy.tools,
    problems: keptOf([...(Array.isArray(problems) ? problems : []), ...healthy.problems]),
    listedAt,
    ...(typeof instructions === 'string' && { instructions }),
    ...(Array.isArray(offers) && { offers: offerings.filter((each) => offers.includes(each)) }),
  };
}

/** Why tools are missing is asked long after they were listed. A list that was cut off says so beside what is told of single ones. */
function keptOf(problems: readonly unknown[]): readonly string[] {
  const texts = problems.filter((problem) => typeof problem === 'string');
  return texts.slice(0, limits.listProblems + 2).map((text) => text.slice(0, limits.knownTools.problemChars));
}

function summaryOf({ tools, instructions = '', offers = [], problems }: Listing): string {
  return createHash('sha256')
    .update([...offers, instructions, ...keptOf(problems), ...tools.map(digestOf)].join('\n'))
    .digest('base64');
}
