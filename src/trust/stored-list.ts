// Owns lists of approvals in the store: one JSON text per server, with a version. A list that version 1 wrote is rewritten when it
// is first read.

import { isObject, parseJson } from '../kernel/json.ts';
import type { Store } from '../kernel/store.ts';

const VERSION = 2;

export interface StoredListOptions<Item, Old> {
  readonly store: Pick<Store, 'get' | 'compareAndSet'>;
  readonly isItem: (value: unknown) => value is Item;
  /** Version 1 was a plain JSON list. */
  readonly isOld: (value: unknown) => value is Old;
  readonly renew: (old: Old) => Promise<Item>;
  readonly onRewritten: (key: string, items: readonly Item[]) => void;
  /** Receives why a list could not be rewritten; its items count all the same. */
  readonly onError: (error: unknown) => void;
}

export interface StoredList<Item> {
  /** An item that cannot be read counts for nothing, and so does a list of a later version. */
  read(key: string): Promise<readonly Item[]>;
  /** The items of a text that was read from the store. */
  parse(text: string | undefined): Promise<readonly Item[]>;
  format(items: readonly Item[]): string;
}

export function createStoredList<Item, Old>(options: StoredListOptions<Item, Old>): StoredList<Item> {
  const { store, isItem, isOld, renew, onRewritten, onError } = options;
  const format = (items: readonly Item[]) => JSON.stringify({ version: VERSION, items });
  const parse = async (text: string | undefined): Promise<readonly Item[]> => {
    const parsed = parseJson(text ?? '');
    if (!parsed.ok) return [];
    if (Array.isArray(parsed.value)) return Promise.all(parsed.value.filter(isOld).map(renew));
    if (!isObject(parsed.value) || parsed.value['version'] !== VERSION) return [];
    const { items } = parsed.value;
    return Array.isArray(items) ? items.filter(isItem) : [];
  };
  const rewrite = async (key: string, text: string, items: readonly Item[]) => {
    if (await store.compareAndSet(key, text, format(items))) onRewritten(key, items);
  };
  return {
    format,
    parse,
    async read(key) {
      const text = await store.get(key);
      const items = await parse(text);
      if (text?.startsWith('[')) await rewrite(key, text, items).catch(onError);
      return items;
    },
  };
}
