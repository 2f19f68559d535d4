// Owns remembering which tools a server has, for servers that are not started before somebody calls one of them.

import { isObject, parseJson } from '../kernel/json.ts';
import type { Store } from '../kernel/store.ts';
import type { Listing } from './listing.ts';
import { checkDefinition } from './tool-definition.ts';

export interface KnownTools {
  /** Nothing where it was never listed, or what was kept cannot be read. */
  recall(key: string): Promise<Listing | undefined>;
  remember(key: string, listing: Listing): Promise<void>;
}

export function createKnownTools(store: Pick<Store, 'get' | 'set'>, onError: (error: unknown) => void): KnownTools {
  const toolsOf = (key: string) => `tools:${key}`;
  return {
    async recall(key) {
      const found = await store.get(toolsOf(key)).catch((error: unknown) => onError(error));
      const read = found === undefined ? undefined : parseJson(found);
      return read?.ok ? listingOf(read.value) : undefined;
    },
    remember: (key, { tools, hidden }) =>
      store.set(toolsOf(key), JSON.stringify({ tools, hidden })).then(() => undefined, onError),
  };
}

/** It comes from a disk: read with the same care as from a server. */
function listingOf(value: unknown): Listing | undefined {
  if (!isObject(value) || !Array.isArray(value['tools']) || !Array.isArray(value['hidden'])) return undefined;
  const tools = value['tools'].map((each) => checkDefinition(each)).filter((each) => typeof each !== 'string');
  const hidden = value['hidden'].filter((each) => typeof each === 'string');
  return { tools, hidden, problems: [] };
}
