// Owns rewriting keywords of older JSON Schema drafts into those of the current one.

import type { JsonObject } from '../../kernel/json.ts';
import type { SchemaDraft } from './keywords.ts';

const open: JsonObject = Object.freeze({});

export const bounds = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
] as const;

/** In draft 4 a boolean beside the limit says whether the limit itself is excluded. */
export function spellBound(draft: SchemaDraft, bound: string, limit: string): false {
  const isExcluded = draft[bound] === true && typeof draft[limit] === 'number';
  if (isExcluded) draft[bound] = draft[limit];
  else delete draft[bound];
  if (isExcluded) delete draft[limit];
  return false;
}

/** Draft 7 lists the first items in `items`. Allowing no further items is the same as a `maxItems`. */
export function spellTuple(draft: SchemaDraft): false {
  if (Array.isArray(draft['items'])) {
    const { items, additionalItems } = draft;
    delete draft['additionalItems'];
    delete draft['items'];
    if (items.length > 0) draft['prefixItems'] = items;
    if (additionalItems !== undefined) draft['items'] = additionalItems === true ? open : additionalItems;
  }
  if (draft['items'] === false) {
    const { prefixItems, maxItems } = draft;
    const most = Array.isArray(prefixItems) ? prefixItems.length : 0;
    delete draft['items'];
    draft['maxItems'] = typeof maxItems === 'number' ? Math.min(maxItems, most) : most;
  }
  return false;
}

export function lacksItems({ type, items }: SchemaDraft): boolean {
  return items === undefined && (type === 'array' || (Array.isArray(type) && type.includes('array')));
}
